/* findings.c - differences: their texts, causes and consequences. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <math.h>

#include "print.h"

enum { FORMAT_SHOWN = 48, TEXTS = 64, TEXT_MAX = 1024 };

const char *finding_text(const char *format, ...)
{
    static char texts[TEXTS][TEXT_MAX];
    static unsigned at;
    char *to = texts[at++ % TEXTS];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(to, TEXT_MAX, format, arguments);
    va_end(arguments);
    return to;
}

/* A text, escaped; one longer than `most` ends with dots. */
static const char *shown(const char *text, size_t most)
{
    size_t all = text ? strlen(text) : 0, size = text_cut(text, all, most);
    bool cut = size < all;
    text = text_shown(text, &size);
    return finding_text("%.*s%s", (int)size, text, cut ? "..." : "");
}

const char *finding_format(const struct compare *c, size_t format)
{
    const struct compare_format *f = &c->formats[format];
    return finding_text(f->scheduler ? "%s" : "\"%s\"",
                        shown(f->text, FORMAT_SHOWN));
}

const char *finding_name(const char *name)
{
    return shown(name, 32);
}

const char *finding_site(const struct compare *c, size_t format)
{
    const struct compare_format *f = &c->formats[format];
    return finding_text(f->scheduler ? "%s: %s" : "%s: %s %s",
                        shown(c->recorders[f->recorder].name, 32),
                        finding_format(c, format),
                        shown(recorder_location_name_(f->location), 64));
}

const char *finding_number(double number)
{
    bool whole = number == floor(number) && fabs(number) < 1e15;
    return finding_text(whole ? "%.0f" : "%.4g", number);
}

const char *finding_time(double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    size_t i = 0;
    for (; i < 3 && ns >= 1000; i++)
        ns /= 1000;
    return finding_text(ns < 10 && i ? "%.1f %s" : "%.0f %s", ns, units[i]);
}

const char *finding_share(double part, double whole)
{
    double percent = whole > 0 ? 100 * part / whole : 0;
    return finding_text(percent > 0 && percent < 1 ? "%.2g%%" : "%.0f%%",
                        percent);
}

const char *finding_times(double times)
{
    return finding_text(times == 1 ? "once" : "%.0f times", times);
}

const char *finding_argument(const struct compare *c, size_t format,
                             unsigned argument)
{
    const char *name = c->formats[format].names[argument];
    name =
        name ? finding_name(name) : finding_text("argument %u", argument + 1);
    return finding_text("%s of %s", name, finding_site(c, format));
}

const char *finding_value(const struct compare *c,
                          const struct compare_value *v)
{
    if (v->kind == READER_STRING)
        return finding_text("\"%s\"",
                            shown(c->strings.all[v->word].at, FORMAT_SHOWN));
    if (v->kind != READER_POINTER)
        return finding_number(compare_number(v));
    return v->word ? "an address that is not null" : "a null pointer";
}

struct finding finding_of(const struct compare *c, enum rule rule, double size,
                          size_t format, double good, double bad)
{
    double more = size > 1 ? fmin(3 * log10(size), 12) : 0;
    struct finding f = {.rule = rule,
                        .score = rule_rows[rule].score + more,
                        .size = size,
                        .format = format,
                        .other = COMPARE_NONE,
                        .argument = -1,
                        .good = good,
                        .bad = bad};
    for (enum compare_side side = GOOD; side < SIDES; side++)
        f.event[side] = format == COMPARE_NONE ? COMPARE_NONE
                                               : c->formats[format].first[side];
    return f;
}

static bool is_time(enum rule rule)
{
    return rule >= RULE_MACHINE && rule <= RULE_LATE;
}

void finding_add(struct compare *c, struct finding f, ...)
{
    va_list arguments;
    char text[4 * TEXT_MAX];
    va_start(arguments, f);
    vsnprintf(text, sizeof text, rule_rows[f.rule].sentence, arguments);
    va_end(arguments);
    f.text = need(strdup(text));
    for (int i = 0; i < 2 && !is_time(f.rule); i++) {
        size_t format = i ? f.other : f.format;
        f.weak =
            f.weak || (format != COMPARE_NONE && c->formats[format].scheduler);
    }
    *array_add(c->findings, c->findings_count, c->findings_max) = f;
}

/* Causes first, the weak last, the higher score first, then the earlier in
 * BAD. */
static int by_telling(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;
    if (!a->cause != !b->cause)
        return a->cause ? 1 : -1;
    if (a->weak != b->weak)
        return a->weak ? 1 : -1;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    if (a->event[BAD] != b->event[BAD])
        return a->event[BAD] < b->event[BAD] ? -1 : 1;
    return strcmp(a->text, b->text);
}

static bool has_format(const struct finding *f, size_t format)
{
    return format != COMPARE_NONE &&
           (f->format == format || f->other == format);
}

/* True if the formats are the begin and the end of one wait of recorder run:
 * "waits in read", "waited in read". */
static bool is_same_wait(const struct compare *c, const struct finding *a,
                         const struct finding *b)
{
    const struct compare_format *f = c->formats;
    const char *of_a, *of_b;
    if (a->format == COMPARE_NONE || b->format == COMPARE_NONE ||
        !f[a->format].scheduler || !f[b->format].scheduler)
        return false;
    of_a = strchr(f[a->format].text, ' ');
    of_b = strchr(f[b->format].text, ' ');
    return of_a && of_b && strcmp(of_a, of_b) == 0;
}

/* Is `b`, which tells less, a consequence of `a`? Both are of one record, or
 * another one departs just after. */
static bool is_consequence(const struct compare *c, const struct finding *a,
                           const struct finding *b)
{
    enum { NEAR = 12 }; /* records of all threads */
    size_t ea = a->event[BAD], eb = b->event[BAD];
    if (a->rule == RULE_EXACT)
        return b->rule != RULE_NEW || b->format == a->format ||
               b->format == a->other;
    if (a->rule == b->rule && is_same_wait(c, a, b))
        return true;
    if (a->rule == RULE_GONE && b->rule == RULE_GONE) /* BAD ended before */
        return a->other != COMPARE_NONE && b->other == a->other;
    if (a->rule == RULE_ONCE || b->rule == RULE_ONCE || b->rule == RULE_THREAD)
        return false;
    if (a->rule == RULE_THREAD)
        return ea != COMPARE_NONE && eb != COMPARE_NONE &&
               c->of[BAD].events[ea].thread == c->of[BAD].events[eb].thread;
    if ((a->rule == RULE_MACHINE) != (b->rule == RULE_MACHINE) ||
        (is_time(a->rule) && b->argument >= 0))
        return false;
    if (has_format(a, b->format) &&
        (a->argument < 0 || b->argument < 0 || a->argument == b->argument ||
         a->rule == b->rule))
        return true;
    return b->rule == RULE_ORDER && a->rule < RULE_SHARE && eb >= ea &&
           eb != COMPARE_NONE && eb - ea < NEAR &&
           c->of[BAD].events[ea].thread == c->of[BAD].events[eb].thread;
}

static void findings_order(struct compare *c)
{
    enum { MOST = 1000 }; /* that are compared with each other */
    size_t i, k;
    if (!c->findings_count)
        return;
    array_sort(c->findings, c->findings_count, by_telling);
    for (i = 0; i < c->findings_count; i++) {
        for (k = 0; k < i && k < MOST; k++)
            if (!c->findings[k].cause &&
                is_consequence(c, &c->findings[k], &c->findings[i]))
                break;
        if (k < i && k < MOST)
            c->findings[i].cause = c->findings[k].place;
        else
            c->findings[i].place = ++c->findings_causes;
    }
    array_sort(c->findings, c->findings_count, by_telling);
    for (i = 0; i < c->findings_causes; i++)
        c->strong_count += !c->findings[i].weak;
}

void compare_open(struct compare *c, struct call *calls, size_t count)
{
    *c = (struct compare){0};
    for (size_t i = 0; i < count; i++)
        history_read(c, i + 1 < count ? GOOD : BAD, &calls[i]);
    c->other_build = !c->of[GOOD].build_size ||
                     c->of[GOOD].build_size != c->of[BAD].build_size ||
                     memcmp(c->of[GOOD].build, c->of[BAD].build,
                            c->of[GOOD].build_size) != 0;
    c->threaded = c->of[BAD].threads_count > 1;
    if (c->other_build)
        history_pair_formats(c);
}

void compare_all(struct compare *c)
{
    streams_make(c);
    threads_match(c);
    exact_find(c);
    times_find(c);
    sequences_find(c);
    rates_find(c);
    values_find(c);
    threads_find(c);
    counts_find(c);
    findings_order(c);
}

void compare_close(struct compare *c)
{
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        history_close(&c->of[side]);
        free(c->listed[side]);
        free(c->listed_at[side]);
    }
    for (size_t i = 0; i < c->findings_count; i++)
        free(c->findings[i].text);
    free(c->findings);
    free(c->formats);
    free(c->recorders);
    free(c->times);
    free(c->known);
    ids_free(&c->known_ids);
    ids_free(&c->format_ids);
    ids_free(&c->recorder_ids);
    texts_free(&c->texts);
    texts_free(&c->strings);
}
