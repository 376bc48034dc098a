/* filters.c - which events have a text, or arguments, that are wanted. */
/* SPDX-License-Identifier: MIT */
#include "filters.h"
#include "inside.h"
#include "offer.h"

enum { GREPS_MAX = 16, WHERES_MAX = 16 };

struct where {
    struct ids formats;  /* of the records that lacked a named argument, */
    struct offer names;  /* and the arguments of these formats */
    struct recorder_condition_ condition;       /* holds pointers into itself */
    regex_t regexes[RECORDER_CONDITION_TESTS_]; /* of ~ */
    bool looked, met; /* at records of recorders so named; by one of them */
    bool begun, whole; /* one begins so; and has all arguments to compare */
    /* By test: no argument of that name yet; one that does not compare; one
     * that does. */
    enum { SEEN_NONE, SEEN_OTHER, SEEN } seen[RECORDER_CONDITION_TESTS_];
};

struct filters {
    regex_t greps[GREPS_MAX];
    size_t greps_count;
    struct where *wheres[WHERES_MAX];
    size_t wheres_count;
};

static char wrong[1024]; /* the result of the last call */

/* ----------------------------------------------------------------- parse -- */

const char *filters_regex(regex_t *to, const char *text)
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

static struct filters *make(struct filters **filters)
{
    if (!*filters)
        *filters = need(calloc(1, sizeof **filters));
    return *filters;
}

const char *filters_grep(struct filters **filters, const char *text)
{
    struct filters *f = make(filters);
    const char *error;
    if (f->greps_count == GREPS_MAX)
        return "there are more than 16";
    error = filters_regex(&f->greps[f->greps_count], text);
    f->greps_count += !error;
    return error;
}

struct where *where_read(const char *text, bool when, const char **error)
{
    struct where *where = need(calloc(1, sizeof *where));
    const char *at = text;
    *error = recorder_condition_parse_(&where->condition, text, strlen(text),
                                       !when, &at);
    for (size_t i = 0; !*error && i < where->condition.tests_count; i++) {
        struct recorder_condition_test_ *test = &where->condition.tests[i];
        *error = test->how == '~'
                     ? filters_regex(&where->regexes[i], test->value)
                     : NULL;
        if (*error)
            test->how = '\0'; /* nothing to free */
    }
    if (!*error)
        return where;
    if (*error != wrong) {
        size_t size = strcspn(at, " ");
        snprintf(wrong, sizeof wrong, "%.40s: %s%s", *at ? at : "nothing",
                 *error,
                 size && at[size - 1] == ',' ? "; a blank is between conditions"
                                             : "");
        *error = wrong;
    }
    where_free(where);
    return NULL;
}

const struct recorder_condition_ *where_condition(const struct where *where)
{
    return &where->condition;
}

void where_free(struct where *where)
{
    for (size_t i = 0; where && i < where->condition.tests_count; i++)
        if (where->condition.tests[i].how == '~')
            regfree(&where->regexes[i]);
    if (where) {
        ids_free(&where->formats);
        offer_free(&where->names);
    }
    free(where);
}

const char *filters_where(struct filters **filters, const char *text)
{
    const char *error;
    struct filters *f = make(filters);
    if (f->wheres_count == WHERES_MAX)
        return "there are more than 16";
    f->wheres[f->wheres_count] = where_read(text, false, &error);
    f->wheres_count += !error;
    return error;
}

void filters_free(struct filters *filters)
{
    if (!filters)
        return;
    for (size_t i = 0; i < filters->greps_count; i++)
        regfree(&filters->greps[i]);
    for (size_t i = 0; i < filters->wheres_count; i++)
        where_free(filters->wheres[i]);
    free(filters);
}

/* ----------------------------------------------------------------- match -- */

static bool text_matches(const struct where *where, size_t i, const char *text,
                         size_t size)
{
    const struct recorder_condition_test_ *test = &where->condition.tests[i];
    if (test->how == '~')
        return regexec(&where->regexes[i], text, 0, NULL, 0) == 0;
    return recorder_condition_text_is_(test, text, size);
}

static bool number_matches(const struct recorder_condition_test_ *test,
                           const struct reader_argument *a, bool is_short)
{
    uint64_t word = a->word;
    float single = (float)a->real;
    if (a->kind != READER_REAL)
        return recorder_condition_number_is_(
            test, a->kind == READER_SIGNED ? 'd' : 'u', word);
    memcpy(&word, &a->real, sizeof word);
    if (is_short) {
        word = 0;
        memcpy(&word, &single, sizeof single);
        word = word >> 32 | (uint32_t)word; /* of either byte order */
    }
    return recorder_condition_number_is_(test, is_short ? 'F' : 'f', word);
}

/* True if an argument can be compared, or could before its text was lost. */
static bool is_comparable(const struct recorder_condition_test_ *test,
                          const struct reader_argument *a)
{
    if (a->kind == READER_STRING)
        return strchr("=!~", test->how);
    return a->kind == READER_LOST || a->kind == READER_CHARACTER ||
           (test->how != '~' && test->is_number);
}

/* Compares an argument. */
static bool argument_matches(const struct where *where, size_t i,
                             const struct reader_argument *a, bool is_short)
{
    const struct recorder_condition_test_ *test = &where->condition.tests[i];
    bool is_text = test->how == '~' || !test->is_number;
    struct reader_argument plain = *a;
    char letter[5] = "";
    size_t size = 1;
    if (a->kind == READER_LOST)
        return false;
    if (a->kind == READER_STRING) {
        reader_unmark(&plain, 1);
        return text_matches(where, i, plain.text, plain.text_size);
    }
    if (a->kind != READER_CHARACTER || !is_text)
        return number_matches(test, a, is_short);
    letter[0] = (char)a->integer;
    if (a->integer > UINT8_MAX) /* %lc */
        size = recorder_format_utf8_(letter, (uint32_t)a->integer);
    return text_matches(where, i, letter, a->integer ? size : 0);
}

/* Notes the names of a format's arguments. */
static void names_note(struct where *where, uint64_t format,
                       const struct reader_argument *arguments, unsigned count)
{
    bool is_new;
    ids_add(&where->formats, format, 0, 0, &is_new);
    for (unsigned i = 0; is_new && i < count; i++)
        if (arguments[i].name)
            offer_add(&where->names, arguments[i].name);
}

/* Compares all arguments, as where_wrong() wants to know of each; *whole: the
 * record has them all. */
static bool tests_match(struct where *where, struct reader *reader,
                        const struct reader_event *event, bool *whole)
{
    const struct recorder_condition_ *c = &where->condition;
    struct reader_argument arguments[12];
    unsigned count = reader_arguments(reader, event, arguments);
    bool matches = true;
    for (size_t i = 0; i < c->tests_count; i++) {
        const struct recorder_condition_test_ *test = &c->tests[i];
        unsigned n = test->argument;
        bool is;
        for (n = test->field ? 0 : n; test->field && n < count; n++)
            if (arguments[n].name &&
                strcmp(arguments[n].name, test->field) == 0)
                break;
        is = n < count && is_comparable(test, &arguments[n]);
        if (n < count && where->seen[i] != SEEN)
            where->seen[i] = is ? SEEN : SEEN_OTHER;
        if (test->field && where->seen[i] == SEEN_NONE)
            names_note(where, event->event.format, arguments, count);
        *whole &= is;
        matches &=
            n < count && argument_matches(where, i, &arguments[n],
                                          reader->memory->word_bytes == 4);
    }
    return matches;
}

bool where_matches(struct where *where, struct reader *reader,
                   const struct reader_event *event)
{
    const struct recorder_condition_ *c = &where->condition;
    const struct recorder_event *e = &event->event;
    const char *format, *location;
    bool whole = true, matches;
    if (c->names && !reader_is_named(event->recorder, c->names))
        return false;
    where->looked = true;
    format = c->begins ? reader_format(reader, e, &location) : "";
    if (!format || !recorder_condition_begins_(c, format))
        whole = false;
    where->begun |= whole;
    matches = whole;
    matches &= !c->tests_count || tests_match(where, reader, event, &whole);
    where->whole |= whole;
    matches &= !c->severities || recorder_severity_chosen_(
                                     c->severities, e->severity, e->hardware);
    where->met |= matches;
    return matches;
}

/* Returns what is wrong with the recorders of a condition that looked at no
 * record, or null. */
static const char *recorders_wrong(const char *names,
                                   const struct reader *reader)
{
    struct offer there = {0};
    if (!names || reader_has_named(reader, names, &there))
        return NULL;
    snprintf(wrong, sizeof wrong, "no recorder is named %.100s%s", names,
             offer_end(&there));
    return wrong;
}

const char *where_wrong(const struct where *where, const struct reader *reader)
{
    const struct recorder_condition_ *c = &where->condition;
    const char *error =
        where->looked ? NULL : recorders_wrong(c->names, reader);
    if (error)
        return error;
    for (size_t i = 0; where->looked && i < c->tests_count; i++) {
        const struct recorder_condition_test_ *test = &c->tests[i];
        char place[32];
        snprintf(place, sizeof place, "of place %u", test->argument + 1U);
        if (where->seen[i] == SEEN)
            continue;
        if (where->seen[i] == SEEN_NONE && test->field) {
            snprintf(wrong, sizeof wrong,
                     "no record has an argument %.64s: a format names one as "
                     "in %.64s=%%d; without a name use its place, as in 1>0%s",
                     test->field, test->field,
                     offer_text(&where->names, test->field));
            return wrong;
        }
        snprintf(wrong, sizeof wrong,
                 where->seen[i] == SEEN_NONE ? "no record has an argument %.64s"
                 : test->how != '~' && test->is_number
                     ? "the argument %.64s is a text, no number"
                     : "the argument %.64s is a number, no text",
                 test->field ? test->field : place);
        return wrong;
    }
    if (!where->looked || where->whole)
        return NULL;
    snprintf(wrong, sizeof wrong,
             where->begun ? "no record has all that is compared"
                          : "no format of a record begins with \"%.64s\"",
             c->begins);
    return wrong;
}

const char *filters_wrong(const struct filters *filters,
                          const struct reader *reader)
{
    const char *error = NULL;
    for (size_t i = 0; filters && i < filters->wheres_count && !error; i++)
        if (!filters->wheres[i]->met)
            error = where_wrong(filters->wheres[i], reader);
    return error;
}

bool filters_may(const struct filters *filters, const struct reader_recorder *r)
{
    bool may = !filters || filters->wheres_count == 0;
    for (size_t i = 0; !may && i < filters->wheres_count; i++) {
        const char *names = filters->wheres[i]->condition.names;
        may = !names || reader_is_named(r, names);
    }
    return may;
}

bool filters_match(struct filters *filters, struct reader *reader,
                   const struct reader_event *event)
{
    const char *message;
    size_t size;
    bool found = filters->wheres_count == 0;
    for (size_t i = 0; i < filters->wheres_count && !found; i++)
        found = where_matches(filters->wheres[i], reader, event);
    if (!found || !filters->greps_count)
        return found;
    message = reader_message(reader, event, &size);
    for (size_t i = 0; i < filters->greps_count && found; i++)
        found = regexec(&filters->greps[i], message, 0, NULL, 0) == 0;
    return found;
}
