/* findings.c - the findings: their texts and scores. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "shown.h"

/* ------------------------------------------------------------------ text -- */

enum { FORMAT_SHOWN = 48, TEXTS = 8, TEXT_MAX = 512 };

/* The next of TEXTS buffers. */
static char *text_next(void)
{
    static char texts[TEXTS][TEXT_MAX];
    static unsigned at;
    return texts[at++ % TEXTS];
}

/* Adds a text, escaped; one longer than `most` ends with dots. */
static void text_add(char *to, const char *text, size_t most)
{
    size_t size = strlen(text), at = strlen(to);
    bool cut = size > most;
    const char *shown;
    if (cut)
        for (size = most; size && ((unsigned char)text[size] & 0xc0) == 0x80;)
            size--;
    shown = text_shown(text, &size);
    snprintf(to + at, TEXT_MAX - at, "%.*s%s", (int)size, shown,
             cut ? "..." : "");
}

const char *finding_format(const struct compare *c, size_t format)
{
    char *to = text_next();
    strcpy(to, "\"");
    text_add(to, c->formats[format].text, FORMAT_SHOWN);
    strcat(to, "\"");
    return to;
}

const char *finding_site(const struct compare *c, size_t format)
{
    const struct compare_format *f = &c->formats[format];
    char *to = text_next();
    *to = '\0';
    text_add(to, c->recorders[f->recorder].name, 32);
    strcat(to, ": \"");
    text_add(to, f->text, FORMAT_SHOWN);
    strcat(to, "\" ");
    text_add(to, recorder_location_name_(f->location), 64);
    return to;
}

const char *finding_string(const struct compare *c, size_t string)
{
    char *to = text_next();
    strcpy(to, "\"");
    if (c->strings[string])
        text_add(to, c->strings[string], FORMAT_SHOWN);
    strcat(to, "\"");
    return to;
}

const char *finding_number(double number)
{
    char *to = text_next();
    bool whole = number == floor(number) && fabs(number) < 1e15;
    snprintf(to, TEXT_MAX, whole ? "%.0f" : "%.4g", number);
    return to;
}

const char *finding_time(double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    char *to = text_next();
    size_t i = 0;
    for (; i < 3 && ns >= 1000; i++)
        ns /= 1000;
    snprintf(to, TEXT_MAX, ns < 10 && i ? "%.1f %s" : "%.0f %s", ns, units[i]);
    return to;
}

const char *finding_share(double part, double whole)
{
    char *to = text_next();
    double percent = whole > 0 ? 100 * part / whole : 0;
    snprintf(to, TEXT_MAX, percent > 0 && percent < 1 ? "%.2g%%" : "%.0f%%",
             percent);
    return to;
}

const char *finding_times(double times)
{
    char *to = text_next();
    snprintf(to, TEXT_MAX, times == 1 ? "once" : "%.0f times", times);
    return to;
}

const char *finding_p(double p)
{
    char *to = text_next();
    if (p < 1e-9)
        strcpy(to, "p < 1e-9");
    else
        snprintf(to, TEXT_MAX, "p = %.1g", p);
    return to;
}

/* -------------------------------------------------------------- findings -- */

const char *finding_kind_name(enum finding_kind kind)
{
    static const char *const names[FINDINGS] = {
        "new",   "gone",  "order", "share", "rate",   "value",
        "range", "grows", "time",  "count", "thread", "ends"};
    return names[kind];
}

struct finding finding_of(enum finding_kind kind, double score, size_t format)
{
    return (struct finding){.kind = kind,
                            .score = score,
                            .p = -1,
                            .format = format,
                            .other = COMPARE_NONE,
                            .argument = -1,
                            .event = {COMPARE_NONE, COMPARE_NONE},
                            .place = COMPARE_NONE};
}

double finding_score(double p, double most)
{
    double score = p > 0 ? -log10(p) : most;
    return score < most ? score : most;
}

void finding_add(struct compare *c, struct finding f, const char *format, ...)
{
    va_list arguments;
    char text[4 * TEXT_MAX];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    f.text = need(strdup(text));
    c->findings = need(array_room(c->findings, &c->findings_max,
                                  c->findings_count + 1, sizeof *c->findings));
    c->findings[c->findings_count++] = f;
}

/* Sorts weak findings last, higher scores first; of equals, the earlier in
 * BAD. */
static int by_score(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;
    if (a->weak != b->weak)
        return a->weak ? 1 : -1;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    if (a->event[BAD] != b->event[BAD])
        return a->event[BAD] < b->event[BAD] ? -1 : 1;
    return strcmp(a->text, b->text);
}

/* True for two findings of one departure from the usual order. */
static bool is_one_departure(const struct compare *c, const struct finding *a,
                             const struct finding *b)
{
    enum { NEAR = 4 }; /* records between two places of it */
    const struct compare_event *events = c->of[BAD].events;
    return a->kind == FINDING_ORDER && b->kind == FINDING_ORDER &&
           a->event[BAD] != COMPARE_NONE && b->event[BAD] != COMPARE_NONE &&
           events[a->event[BAD]].thread == events[b->event[BAD]].thread &&
           a->place + NEAR >= b->place && b->place + NEAR >= a->place;
}

/* True for findings of how often a format comes. */
static bool is_of_number(const struct finding *f)
{
    return f->kind == FINDING_SHARE || f->kind == FINDING_RATE ||
           f->kind == FINDING_COUNT;
}

static bool shares_format(const struct finding *a, const struct finding *b)
{
    return a->format == b->format || a->format == b->other ||
           (a->other != COMPARE_NONE &&
            (a->other == b->format || a->other == b->other));
}

/* True if `a`, which has a higher score, reports the same as `b`. */
static bool tells(const struct compare *c, const struct finding *a,
                  const struct finding *b)
{
    if (is_one_departure(c, a, b))
        return true;
    if (a->kind == FINDING_ENDS && b->kind == FINDING_GONE &&
        a->other != COMPARE_NONE) /* it ended earlier */
        return b->event[GOOD] >= c->of[GOOD].count / 20 * 19;
    if (is_of_number(b) && (is_of_number(a) || a->kind == FINDING_ORDER) &&
        shares_format(a, b))
        return true;
    return a->kind == b->kind && a->format == b->format &&
           a->argument == b->argument && a->format != COMPARE_NONE &&
           (a->other == b->other || b->kind == FINDING_SHARE);
}

/* Sorts them, and drops findings that another one reports, too. */
static void findings_order(struct compare *c)
{
    enum { MOST = 1000 }; /* that are compared with each other */
    size_t count = 0, i, k;
    if (c->findings_count)
        qsort(c->findings, c->findings_count, sizeof *c->findings, by_score);
    for (i = 0; i < c->findings_count; i++) {
        for (k = 0; k < count && k < MOST; k++)
            if (tells(c, &c->findings[k], &c->findings[i]))
                break;
        if (k < count && k < MOST)
            free(c->findings[i].text);
        else
            c->findings[count++] = c->findings[i];
    }
    c->findings_count = count;
    for (i = 0; i < count; i++)
        c->strong_count += !c->findings[i].weak;
}

/* ------------------------------------------------------------------- all -- */

void compare_open(struct compare *c, struct call *good, struct call *bad)
{
    *c = (struct compare){0};
    c->of[GOOD].call = good;
    c->of[BAD].call = bad;
    history_read(c, GOOD);
    history_read(c, BAD);
    c->other_build = !c->of[GOOD].build_size ||
                     c->of[GOOD].build_size != c->of[BAD].build_size ||
                     memcmp(c->of[GOOD].build, c->of[BAD].build,
                            c->of[GOOD].build_size) != 0;
    if (c->other_build)
        history_pair_formats(c);
}

void compare_all(struct compare *c)
{
    streams_make(c);
    threads_match(c);
    sequences_find(c);
    rates_find(c);
    values_find(c);
    times_find(c);
    threads_find(c);
    findings_order(c);
}

void compare_close(struct compare *c)
{
    size_t i;
    history_close(&c->of[GOOD]);
    history_close(&c->of[BAD]);
    streams_free(c);
    for (i = 0; i < c->strings_count; i++)
        free(c->strings[i]);
    for (i = 0; i < c->findings_count; i++)
        free(c->findings[i].text);
    free(c->findings);
    free(c->strings);
    free(c->formats);
    free(c->recorders);
    free(c->before);
    ids_free(&c->format_ids);
    ids_free(&c->recorder_ids);
    ids_free(&c->string_ids);
}
