/* value.c - --value RECORDER:N=NAME: an argument that is drawn as a plot. */
/* SPDX-License-Identifier: MIT */
#include "timeline.h"

#include "recorder/regex.h"

/* Finds the ":N" of "REGEX:N=NAME"; the text or a '=' follows. */
static const char *value_colon(const char *option, unsigned long *number,
                               const char **end)
{
    const char *colon = option;
    char *end_of_number;
    while ((colon = strchr(colon, ':'))) {
        *number = isdigit((unsigned char)colon[1])
                      ? strtoul(colon + 1, &end_of_number, 10)
                      : 0;
        if (*number >= 1 && *number <= 12 &&
            (*end_of_number == '=' || *end_of_number == '\0')) {
            *end = end_of_number;
            return colon;
        }
        colon++;
    }
    return NULL;
}

/* Finds the ":FIELD" of "REGEX:FIELD=NAME", the last of them. */
static const char *value_field(const char *option, const char **end)
{
    const char *found = NULL;
    for (const char *colon = option; (colon = strchr(colon, ':')); colon++) {
        const char *at = colon + 1;
        while (isalnum((unsigned char)*at) || *at == '_')
            at++;
        if (at == colon + 1 || isdigit((unsigned char)colon[1]) ||
            (*at && *at != '='))
            continue;
        found = colon;
        *end = at;
    }
    return found;
}

unsigned value_place(const char *field, unsigned argument,
                     const struct reader_argument *arguments, unsigned count)
{
    if (!field)
        return argument < count ? argument : count;
    for (unsigned i = 0; i < count; i++)
        if (arguments[i].name && strcmp(arguments[i].name, field) == 0)
            return i;
    return count;
}

void value_open(const struct call *call, const char *option,
                struct value_option *to)
{
    unsigned long number = 0;
    const char *end, *wrong, *colon = value_colon(option, &number, &end);
    bool by_field = !colon && (colon = value_field(option, &end));
    size_t size = colon ? (size_t)(colon - option) : 0;
    if (!size || (*end == '=' && !end[1]))
        misuse(call,
               "--value %s: it should be RECORDER:N or RECORDER:N=NAME, with N "
               "from 1 to 12, or RECORDER:FIELD, of \"FIELD=%%d\" in formats",
               option);
    to->names = need(strndup(option, size));
    wrong = recorder_regex_check_(to->names);
    if (wrong)
        misuse(call, "--value %s: %s", option, wrong);
    to->argument = (unsigned)number - 1;
    to->field =
        by_field ? need(strndup(colon + 1, (size_t)(end - colon) - 1)) : NULL;
    to->name = need(malloc(strlen(option) + 16));
    if (*end == '=')
        strcpy(to->name, end + 1);
    else if (by_field)
        strcpy(to->name, to->field);
    else
        sprintf(to->name, "argument %lu", number);
}

void value_close(struct value_option *value)
{
    free(value->names);
    free(value->field);
    free(value->name);
}

void value_lacks(const struct call *call, bool another, const char *recorder,
                 const char *field, unsigned argument, const char *name)
{
    char number[32];
    snprintf(number, sizeof number, "as argument %u", argument + 1);
    (another ? warn : fail)(call, "%s has no number %s: no value %s", recorder,
                            field ? field : number, name);
}

bool value_is_number(const struct reader_argument *argument)
{
    return argument->kind == READER_SIGNED ||
           argument->kind == READER_UNSIGNED || argument->kind == READER_REAL ||
           argument->kind == READER_CHARACTER;
}

double value_number(const struct reader_argument *argument)
{
    return argument->kind == READER_REAL       ? argument->real
           : argument->kind == READER_UNSIGNED ? (double)argument->word
                                               : (double)argument->integer;
}
