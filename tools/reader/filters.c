/* filters.c - which events have a text, or arguments, that are wanted. */
/* SPDX-License-Identifier: MIT */
#include "filters.h"
#include "inside.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>

enum { GREPS_MAX = 16, WHERES_MAX = 16, TESTS_MAX = 16 };

/* FIELD OP VALUE. */
struct test {
    char *field;       /* a name; null: by its place */
    unsigned argument; /* from 0 */
    char how;          /* > < = ! & ~, and G, L for >= and <= */
    char *text;        /* of the value */
    bool is_number, is_integer;
    double real;
    int64_t integer; /* its bits, if it is above INT64_MAX: is_big */
    bool is_big;
    regex_t regex; /* of ~ */
};

struct where {
    char *names; /* regular expression of recorders; null: all */
    struct test tests[TESTS_MAX];
    size_t tests_count;
};

struct filters {
    regex_t greps[GREPS_MAX];
    size_t greps_count;
    struct where wheres[WHERES_MAX];
    size_t wheres_count;
};

static char wrong[256]; /* what the last call returned */

/* ----------------------------------------------------------------- parse -- */

/* Compiles an extended expression: letters match either case, unless one is a
 * capital, as in the page. Returns null, or what is wrong. */
static const char *regex_read(regex_t *to, const char *text)
{
    int flags = REG_EXTENDED | REG_NOSUB | REG_ICASE, status;
    for (const char *at = text; *at; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (isupper((unsigned char)*at))
            flags &= ~REG_ICASE;
    }
    status = regcomp(to, text, flags);
    if (!status)
        return NULL;
    regerror(status, to, wrong, sizeof wrong);
    return wrong;
}

static bool make(struct filters **filters)
{
    if (!*filters)
        *filters = calloc(1, sizeof **filters);
    return *filters;
}

const char *filters_grep(struct filters **filters, const char *text)
{
    const char *error;
    if (!make(filters))
        return "there is no memory left";
    if ((*filters)->greps_count == GREPS_MAX)
        return "there are more than 16";
    error = regex_read(&(*filters)->greps[(*filters)->greps_count], text);
    if (!error)
        (*filters)->greps_count++;
    return error;
}

/* Reads "1000", "-5", "0x1f", "1.5", "10k" and the like. */
static void number_read(struct test *test)
{
    static const char units[] = "kMG";
    const char *text = test->text, *unit;
    char *end;
    double factor = 1;
    errno = 0;
    test->integer = strtoll(text, &end, 0);
    test->is_integer = end != text && !*end && !errno;
    if (!test->is_integer && end != text && *text != '-') {
        errno = 0;
        test->integer = (int64_t)strtoull(text, &end, 0);
        test->is_big = test->is_integer = !*end && !errno;
    }
    test->real = strtod(text, &end);
    if (end != text && *end && !end[1] && (unit = strchr(units, *end))) {
        for (const char *at = units; at <= unit; at++)
            factor *= 1000;
        end++;
    }
    test->is_number = end != text && !*end;
    test->real *= factor;
    if (factor > 1 && test->real < 9e18 && test->real > -9e18 &&
        test->real == (double)(int64_t)test->real) {
        test->is_integer = true;
        test->integer = (int64_t)test->real;
    }
}

/* Reads a value up to a blank, or what stands in quotes: \" and \\ stand for "
 * and \. Returns what stands behind it, or null. */
static const char *value_read(struct test *test, const char *at)
{
    char *to = test->text = calloc(1, strlen(at) + 1);
    char quote = *at == '"' || *at == '\'' ? *at++ : '\0';
    bool literal = quote;
    if (!to)
        return NULL;
    for (; *at && (quote ? *at != quote : !isspace((unsigned char)*at)); at++) {
        if (quote && *at == '\\' && (at[1] == quote || at[1] == '\\'))
            at++;
        *to++ = *at;
    }
    if (quote && *at++ != quote)
        return NULL;
    if (!literal)
        number_read(test);
    return at;
}

/* Reads a FIELD: a name, or 1 to 12. Returns what stands behind it. Null: there
 * is none. */
static const char *field_read(struct test *test, const char *at)
{
    const char *begin = at;
    unsigned long number;
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    test->argument = 12; /* a name */
    if (at == begin || !isdigit((unsigned char)*begin))
        return at == begin ? NULL : at;
    number = strtoul(begin, NULL, 10);
    test->argument = (unsigned)number - 1;
    return begin + strspn(begin, "0123456789") == at && number >= 1 &&
                   number <= 12
               ? at
               : NULL;
}

/* Reads an OP. Returns what stands behind it. Null: there is none. */
static const char *operator_read(struct test *test, const char *at)
{
    at += strspn(at, " ");
    if (!*at || !strchr("><=!&~", *at) || (*at == '!' && at[1] != '='))
        return NULL;
    test->how = *at++;
    if (*at == '=' && test->how != '&' && test->how != '~') {
        test->how = test->how == '>' ? 'G' : test->how == '<' ? 'L' : test->how;
        at++;
    }
    return at + strspn(at, " ");
}

/* Reads FIELD OP VALUE. Returns what stands behind it, or null. */
static const char *test_read(struct test *test, const char *at)
{
    const char *begin = at, *end = field_read(test, at);
    at = end ? operator_read(test, end) : NULL;
    if (!at) {
        snprintf(wrong, sizeof wrong,
                 "%.40s: it should be FIELD OP VALUE: the name that a format "
                 "gives an argument or its place, 1 to 12; > < >= <= = != & "
                 "or ~; a number or a text",
                 *begin ? begin : "nothing");
        return NULL;
    }
    if (test->argument == 12 &&
        !(test->field = strndup(begin, (size_t)(end - begin))))
        return NULL;
    at = value_read(test, at);
    if (!at) {
        snprintf(wrong, sizeof wrong, "%.40s: a quote has no end", begin);
        return NULL;
    }
    if (test->how == '~' && regex_read(&test->regex, test->text)) {
        test->how = '\0'; /* nothing to free */
        return NULL;
    }
    if (strchr("><GL&", test->how) && !test->is_number) {
        snprintf(wrong, sizeof wrong, "%.40s: is compared with no number",
                 begin);
        return NULL;
    }
    if (test->how == '&' && !test->is_integer) {
        snprintf(wrong, sizeof wrong, "%.40s: & takes an integer", begin);
        return NULL;
    }
    return at;
}

/* Where NAMES of recorders end: at the last ':' in front of a condition, which
 * is no part of a [:class:]. Null: there are none. */
static const char *names_end(const char *text)
{
    const char *found = NULL;
    for (const char *at = text; *at && !strchr("\"'<>=&~", *at); at++)
        if (*at == ':' && (at[1] == ' ' || !found || at[1] != ']'))
            found = at;
    return found;
}

const char *filters_where(struct filters **filters, const char *text)
{
    struct where *where;
    const char *end = names_end(text), *error;
    if (!make(filters))
        return "there is no memory left";
    if ((*filters)->wheres_count == WHERES_MAX)
        return "there are more than 16";
    where = &(*filters)->wheres[(*filters)->wheres_count++];
    if (end) {
        size_t size = (size_t)(end - text);
        while (size && text[size - 1] == ' ')
            size--;
        where->names = strndup(text, size);
        if (!where->names)
            return "there is no memory left";
        error = recorder_regex_check_(where->names);
        if (error)
            return error;
        text = end + 1;
    }
    text += strspn(text, " \t\n");
    do {
        if (where->tests_count == TESTS_MAX)
            return "at most 16 arguments are compared";
        snprintf(wrong, sizeof wrong, "there is no memory left");
        text = test_read(&where->tests[where->tests_count++], text);
        if (!text)
            return wrong;
        text += strspn(text, " \t\n");
    } while (*text);
    return NULL;
}

void filters_free(struct filters *filters)
{
    if (!filters)
        return;
    for (size_t i = 0; i < filters->greps_count; i++)
        regfree(&filters->greps[i]);
    for (size_t i = 0; i < filters->wheres_count; i++) {
        struct where *where = &filters->wheres[i];
        for (size_t k = 0; k < where->tests_count; k++) {
            if (where->tests[k].how == '~')
                regfree(&where->tests[k].regex);
            free(where->tests[k].field);
            free(where->tests[k].text);
        }
        free(where->names);
    }
    free(filters);
}

/* ----------------------------------------------------------------- match -- */

/* Compares: below 0, 0, above 0; 2 where they do not compare, as with NaN. */
static int compared(const struct reader_argument *a, const struct test *test)
{
    bool is_unsigned = a->kind == READER_UNSIGNED || a->kind == READER_POINTER;
    double real;
    if (a->kind != READER_REAL && test->is_integer) {
        bool big = is_unsigned && a->word > INT64_MAX;
        int64_t left = is_unsigned ? (int64_t)a->word : a->integer;
        if (big != test->is_big)
            return big ? 1 : -1;
        return big ? ((uint64_t)left > (uint64_t)test->integer) -
                         ((uint64_t)left < (uint64_t)test->integer)
                   : (left > test->integer) - (left < test->integer);
    }
    real = a->kind == READER_REAL ? a->real
           : is_unsigned          ? (double)a->word
                                  : (double)a->integer;
    return real < test->real    ? -1
           : real > test->real  ? 1
           : real == test->real ? 0
                                : 2;
}

static bool text_matches(const struct reader_argument *a,
                         const struct test *test)
{
    struct reader_argument plain = *a;
    reader_unmark(&plain, 1);
    if (test->how == '~')
        return regexec(&test->regex, plain.text, 0, NULL, 0) == 0;
    return (test->how == '=' || test->how == '!') &&
           (strcmp(plain.text, test->text) == 0) == (test->how == '=');
}

static bool test_matches(const struct test *test,
                         const struct reader_argument *arguments,
                         unsigned count)
{
    const struct reader_argument *a = NULL;
    char letter[5] = "";
    int is;
    for (unsigned i = 0; i < count && !a; i++)
        if (test->field ? arguments[i].name &&
                              strcmp(arguments[i].name, test->field) == 0
                        : i == test->argument)
            a = &arguments[i];
    if (!a || a->kind == READER_LOST)
        return false;
    if (a->kind == READER_STRING)
        return text_matches(a, test);
    if (a->kind == READER_CHARACTER && (!test->is_number || test->how == '~')) {
        if (a->integer > UINT8_MAX) /* %lc */
            recorder_format_utf8_(letter, (uint32_t)a->integer);
        else
            letter[0] = (char)a->integer;
        return text_matches(&(struct reader_argument){.text = letter}, test);
    }
    if (!test->is_number || test->how == '~')
        return false;
    if (test->how == '&')
        return a->kind != READER_REAL &&
               (a->word & (uint64_t)test->integer) != 0;
    is = compared(a, test);
    switch (test->how) {
    case '>': return is == 1;
    case '<': return is == -1;
    case 'G': return is == 0 || is == 1;
    case 'L': return is == 0 || is == -1;
    case '=': return is == 0;
    default: return is != 0;
    }
}

static bool where_matches(const struct where *where, struct reader *reader,
                          const struct reader_event *event)
{
    struct reader_argument arguments[12];
    unsigned count;
    if (where->names &&
        !recorder_regex_match_(where->names, event->recorder->name))
        return false;
    count = reader_arguments(reader, event, arguments);
    for (size_t i = 0; i < where->tests_count; i++)
        if (!test_matches(&where->tests[i], arguments, count))
            return false;
    return true;
}

bool filters_match(const struct filters *filters, struct reader *reader,
                   const struct reader_event *event)
{
    const char *message;
    size_t size;
    bool found = filters->wheres_count == 0;
    for (size_t i = 0; i < filters->wheres_count && !found; i++)
        found = where_matches(&filters->wheres[i], reader, event);
    if (!found || !filters->greps_count)
        return found;
    message = reader_message(reader, event, &size);
    for (size_t i = 0; i < filters->greps_count && found; i++)
        found = regexec(&filters->greps[i], message, 0, NULL, 0) == 0;
    return found;
}
