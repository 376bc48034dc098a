/* timeline_values.c - the values of a timeline, and names of arguments. */
/* SPDX-License-Identifier: MIT */
#include "print.h"
#include "timeline.h"

/* The fields of an event, without its arguments. */
static const char *const reserved[FIELDS] = {FIELD_NAMES};

static bool is_reserved(const char *name)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(name, reserved[i]) == 0)
            return true;
    return strncmp(name, "arg", 3) == 0 && isdigit((unsigned char)name[3]);
}

static void value_add(struct timeline *t, const char *option, size_t recorder,
                      const struct value_option *value, bool several)
{
    const char *of = t->call->reader.recorders[recorder]->shown;
    struct timeline_value *add;
    size_t i, size = strlen(of) + strlen(value->name) + 2;
    for (i = 0; i < t->values_count; i++)
        if (t->values[i].recorder == recorder &&
            strcmp(t->values[i].name, value->name) == 0)
            misuse(t->call, "--value %s: %s has a value of that name", option,
                   of);
        else if (t->values[i].recorder == recorder && !value->field &&
                 !t->values[i].field &&
                 t->values[i].argument == value->argument)
            misuse(t->call, "--value %s: %s has a value of that argument",
                   option, of);
    t->values =
        need(realloc(t->values, (t->values_count + 1) * sizeof *t->values));
    add = &t->values[t->values_count++];
    *add = (struct timeline_value){
        .recorder = recorder, .argument = value->argument, .option = option};
    add->name = need(strdup(value->name));
    add->field = value->field ? need(strdup(value->field)) : NULL;
    add->label = need(malloc(size));
    snprintf(add->label, size, several ? "%s %s" : "%s%s", several ? of : "",
             value->name);
}

void timeline_values_open(struct timeline *t, const char *option)
{
    struct reader *reader = &t->call->reader;
    struct value_option value;
    size_t i, matches = 0;
    value_open(t->call, option, &value);
    if (is_reserved(value.name))
        misuse(t->call, "--value %s: %s is something else", option, value.name);
    for (int pass = 0; pass < 2; pass++)
        for (i = 0; i < reader->recorders_count; i++) {
            if (!reader->recorders[i]->chosen ||
                !reader_is_named(reader->recorders[i], value.names))
                continue;
            if (pass == 0)
                matches++;
            else
                value_add(t, option, i, &value, matches > 1);
        }
    if (matches == 0)
        (t->call->title ? warn : fail)(t->call, VALUE_UNKNOWN, option);
    value_close(&value);
}

static bool has_value(const struct timeline *t, const char *option)
{
    for (size_t i = 0; i < t->values_count; i++)
        if (t->values[i].option == option && t->values[i].seen)
            return true;
    return false;
}

void timeline_values_close(struct timeline *t)
{
    for (size_t i = 0; i < t->values_count; i++) {
        const struct timeline_value *v = &t->values[i];
        if (!has_value(t, v->option))
            value_lacks(t->call, t->call->title,
                        t->call->reader.recorders[v->recorder]->name, v->field,
                        v->argument, v->name);
        free(t->values[i].field);
        free(t->values[i].name);
        free(t->values[i].label);
    }
    free(t->values);
}

const struct reader_argument *timeline_value(const struct timeline_value *value,
                                             const struct timeline_event *event)
{
    unsigned i;
    if (value->recorder != event->recorder)
        return NULL;
    i = value_place(value->field, value->argument, event->arguments,
                    event->arguments_count);
    return i < event->arguments_count && value_is_number(&event->arguments[i])
               ? &event->arguments[i]
               : NULL;
}

const char *timeline_name(const struct timeline *t,
                          const struct timeline_event *event, unsigned i)
{
    static const char *const names[] = {"arg1", "arg2",  "arg3",  "arg4",
                                        "arg5", "arg6",  "arg7",  "arg8",
                                        "arg9", "arg10", "arg11", "arg12"};
    for (size_t n = 0; n < t->values_count; n++)
        if (t->values[n].recorder == event->recorder &&
            value_place(t->values[n].field, t->values[n].argument,
                        event->arguments, event->arguments_count) == i)
            return t->values[n].name;
    if (event->arguments[i].name && !is_reserved(event->arguments[i].name))
        return event->arguments[i].name;
    return names[i];
}
