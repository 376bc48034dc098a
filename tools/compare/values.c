/* values.c - arguments that left their usual values. */
/* SPDX-License-Identifier: MIT */
/*
   An argument is compared by kinds of values, if there are few: new kinds in
   BAD, missing ones, another share. Numbers are compared by size, too, but not
   numbers that grow with time: of these, only growth in one source and not in
   the other counts. Of pointers, and of numbers that are addresses, only null
   counts; ids of the process and its threads do not count.

   Values come in phases, so that they depend on earlier ones. The count of a
   kind is therefore the number of parts of the time with it, of up to BLOCKS
   parts (incidence: Chao 1987).
*/
#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "buffer.h"

enum { BLOCKS = 64, KINDS_MAX = 1024, FEW = 8, LEAST = 12 };

struct kind {
    unsigned char of; /* enum reader_kind; of addresses, READER_POINTER */
    uint64_t word;    /* of these: 1 if it is null */
    double count[SIDES], parts[SIDES];
    size_t last[SIDES], first[SIDES]; /* part, from 1; event */
};

/* An argument of a format, and all its values. */
struct subject {
    size_t format;
    unsigned argument;
    double count[SIDES], parts[SIDES];
    struct ids ids;
    struct kind *kinds;
    size_t kinds_max;
    bool many;  /* more kinds than KINDS_MAX */
    double own; /* how many are ids of the process */
    double *numbers[SIDES];
    size_t numbers_count[SIDES], numbers_max[SIDES];
    struct statistics_comparison sizes;
    bool has_sizes;
};

/* A finding that waits until all tests are done: its p-value depends on their
 * number. */
struct tested {
    struct finding finding;
    char *text;
};
struct judged {
    struct compare *c;
    int32_t *own[SIDES]; /* ids of process and threads, ascending */
    size_t own_count[SIDES];
    struct tested *tested;
    size_t count, max, tests;
};

/* --------------------------------------------------------------- collect -- */

static bool is_address(struct compare *c, enum compare_side side, uint64_t word)
{
    return (word >= 0x500000000000u && word <= 0x7fffffffffffu) ||
           (word >= 65536 && module_at(&c->of[side].call->source, word));
}

static int by_id(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return a < b ? -1 : a > b;
}

static void own_open(struct judged *j)
{
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        const struct reader *reader = &j->c->of[side].call->reader;
        int32_t *own = need(malloc((reader->threads_count + 1) * sizeof *own));
        size_t count = 0;
        own[count++] = (int32_t)reader->pid;
        for (size_t i = 0; i < reader->threads_count; i++)
            own[count++] = reader->threads[i].id;
        qsort(own, count, sizeof *own, by_id);
        j->own[side] = own;
        j->own_count[side] = count;
    }
}

static bool is_own(const struct judged *j, enum compare_side side,
                   uint64_t word)
{
    int32_t id = (int32_t)word;
    return word > 1 && word <= 1 << 22 &&
           bsearch(&id, j->own[side], j->own_count[side], sizeof id, by_id);
}

static double number_of(const struct compare_value *v)
{
    double real;
    if (v->kind == READER_UNSIGNED)
        return (double)v->word;
    if (v->kind != READER_REAL)
        return (double)(int64_t)v->word;
    memcpy(&real, &v->word, sizeof real);
    return real;
}

static void kind_add(struct subject *s, enum compare_side side, unsigned of,
                     uint64_t word, size_t part, size_t event)
{
    struct kind *kind;
    bool is_new;
    size_t i;
    if (s->many)
        return;
    i = ids_of(&s->ids, of, word, 0, &is_new);
    s->kinds = need(
        array_room(s->kinds, &s->kinds_max, s->ids.count, sizeof *s->kinds));
    kind = &s->kinds[i];
    if (is_new)
        *kind = (struct kind){.of = (unsigned char)of,
                              .word = word,
                              .first = {COMPARE_NONE, COMPARE_NONE}};
    kind->count[side]++;
    kind->parts[side] += kind->last[side] != part;
    kind->last[side] = part;
    if (kind->first[side] == COMPARE_NONE)
        kind->first[side] = event;
    s->many = s->ids.count > KINDS_MAX;
}

static void value_add(const struct judged *j, struct subject *s,
                      enum compare_side side, size_t part, size_t event)
{
    const struct history *h = &j->c->of[side];
    const struct compare_value *v =
        &h->values[h->events[event].values + s->argument];
    unsigned of = v->kind;
    uint64_t word = v->word;
    if (of == READER_LOST)
        return;
    s->count[side]++;
    if (of == READER_SIGNED || of == READER_UNSIGNED ||
        of == READER_CHARACTER || of == READER_REAL) {
        s->own += is_own(j, side, word);
        if (of != READER_REAL && is_address(j->c, side, word))
            of = READER_POINTER;
        else
            s->numbers[side][s->numbers_count[side]++] = number_of(v);
    }
    if (of == READER_POINTER)
        word = word == 0;
    kind_add(s, side, of, word, part, event);
}

static void subject_open(const struct judged *j, struct subject *s)
{
    const struct compare *c = j->c;
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        const size_t *at = &c->listed_at[side][s->format];
        size_t count = at[1] - at[0];
        s->numbers[side] = need(malloc((count + 1) * sizeof(double)));
        s->parts[side] = count < BLOCKS ? (double)count : BLOCKS;
        for (size_t i = 0; i < count; i++) {
            size_t event = c->listed[side][at[0] + i];
            size_t part = count < BLOCKS ? i : i * BLOCKS / count;
            if (s->argument < c->of[side].events[event].count)
                value_add(j, s, side, part + 1, event);
        }
        s->numbers_count[side] =
            statistics_thin(s->numbers[side], s->numbers_count[side]);
    }
    if (s->numbers_count[GOOD] >= LEAST && s->numbers_count[BAD] >= LEAST)
        s->has_sizes = statistics_compare(
            (struct statistics_sample){s->numbers[GOOD],
                                       s->numbers_count[GOOD]},
            (struct statistics_sample){s->numbers[BAD], s->numbers_count[BAD]},
            &s->sizes);
}

static void subject_close(struct subject *s)
{
    ids_free(&s->ids);
    free(s->kinds);
    free(s->numbers[GOOD]);
    free(s->numbers[BAD]);
}

/* ------------------------------------------------------------------ text -- */

static const char *kind_text(const struct compare *c, const struct kind *k)
{
    struct compare_value v = {.word = k->word, .kind = k->of};
    if (k->of == READER_POINTER)
        return k->word ? "a null pointer" : "an address that is not null";
    if (k->of == READER_STRING)
        return finding_string(c, (size_t)k->word);
    return finding_number(number_of(&v));
}

/* "argument 2 of net: ...". */
static const char *subject_text(const struct compare *c,
                                const struct subject *s)
{
    static char text[640];
    snprintf(text, sizeof text, "argument %u of %s", s->argument + 1,
             finding_site(c, s->format));
    return text;
}

/* Lists the first few values that GOOD had: "0, 1, 2". */
static const char *usual_text(const struct compare *c, const struct subject *s)
{
    static char text[640];
    size_t at = 0, shown = 0, kinds = 0, i;
    for (i = 0; i < s->ids.count; i++)
        kinds += s->kinds[i].count[GOOD] > 0;
    for (i = 0; i < s->ids.count && shown < 4; i++)
        if (s->kinds[i].count[GOOD] > 0)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s",
                                   shown++ ? ", " : "",
                                   kind_text(c, &s->kinds[i]));
    if (kinds > shown)
        snprintf(text + at, sizeof text - at, " and %zu others", kinds - shown);
    return text;
}

static struct finding subject_finding(const struct compare *c,
                                      const struct subject *s,
                                      enum finding_kind kind, double score)
{
    struct finding f = finding_of(kind, score, s->format);
    f.argument = (int)s->argument;
    f.event[GOOD] = c->formats[s->format].first[GOOD];
    f.event[BAD] = c->formats[s->format].first[BAD];
    return f;
}

/* The event of a number that is not in [least, most]. */
static size_t outside(const struct compare *c, const struct subject *s,
                      double least, double most)
{
    const struct history *h = &c->of[BAD];
    for (size_t i = c->listed_at[BAD][s->format];
         i < c->listed_at[BAD][s->format + 1]; i++) {
        const struct compare_event *e = &h->events[c->listed[BAD][i]];
        double number;
        if (s->argument >= e->count)
            continue;
        number = number_of(&h->values[e->values + s->argument]);
        if (number < least || number > most)
            return c->listed[BAD][i];
    }
    return c->formats[s->format].first[BAD];
}

/* ----------------------------------------------------------------- kinds -- */

/* True if its numbers grow or fall with time. */
static bool moves(const struct subject *s)
{
    return s->has_sizes && (fabs(s->sizes.of[GOOD].trend) > 0.8 ||
                            fabs(s->sizes.of[BAD].trend) > 0.8);
}

/* True if a new number is among many numbers of GOOD of the same size. */
static bool is_within(const struct subject *s, const struct kind *k,
                      size_t kinds)
{
    struct compare_value v = {.word = k->word, .kind = k->of};
    double range, number = number_of(&v);
    if (!s->has_sizes || kinds <= 2 * FEW || k->of == READER_POINTER ||
        k->of == READER_STRING)
        return false;
    range = s->sizes.of[GOOD].most - s->sizes.of[GOOD].least;
    return number >= s->sizes.of[GOOD].least - range / 2 &&
           number <= s->sizes.of[GOOD].most + range / 2;
}

/* Values that came in BAD only; true: there are some. */
static bool unseen_find(struct judged *j, const struct subject *s)
{
    struct compare *c = j->c;
    const struct kind *most = NULL;
    size_t seen[3] = {0}, known = 0, kinds = 0, i;
    double p, q;
    struct finding f;
    for (i = 0; i < s->ids.count; i++) {
        const struct kind *k = &s->kinds[i];
        known += k->count[GOOD] > 0;
        if (k->parts[GOOD] >= 1 && k->parts[GOOD] <= 3)
            seen[(int)k->parts[GOOD] - 1]++;
    }
    for (i = 0; i < s->ids.count; i++) {
        const struct kind *k = &s->kinds[i];
        if (k->count[GOOD] > 0 || is_within(s, k, known))
            continue;
        kinds++;
        if (!most || k->count[BAD] > most->count[BAD])
            most = k;
    }
    if (!most || s->count[GOOD] < LEAST)
        return false;
    p = statistics_poisson(
        (double)kinds, statistics_unseen(seen, s->parts[GOOD], s->parts[BAD]));
    q = statistics_none(most->parts[BAD], s->parts[BAD], s->parts[GOOD]);
    if (seen[0] * 2 >= known)
        q = 1; /* nearly each is another */
    if (p > 0.03 && q > 1e-4)
        return false;
    f = subject_finding(c, s, FINDING_VALUE,
                        32 + 2 * finding_score(q < p ? q : p, 12));
    f.p = q < p ? q : p;
    f.weak = q > 1e-3;
    f.bad = most->count[BAD];
    f.event[BAD] = most->first[BAD];
    finding_add(c, f,
                "%s is %s in %.0f of %.0f records of BAD, never in %.0f of "
                "GOOD, where it is %s",
                subject_text(c, s), kind_text(c, most), most->count[BAD],
                s->count[BAD], s->count[GOOD], usual_text(c, s));
    return true;
}

static void tested_add(struct judged *j, struct finding f, char *text)
{
    j->tested =
        need(array_room(j->tested, &j->max, j->count + 1, sizeof *j->tested));
    j->tested[j->count++] = (struct tested){f, need(text)};
}

/* A kind that is gone, or has another share. */
static void shares_find(struct judged *j, const struct subject *s)
{
    struct compare *c = j->c;
    double best = 1;
    const struct kind *kind = NULL;
    struct finding f;
    char *text = NULL;
    if (s->count[GOOD] < LEAST || s->count[BAD] < LEAST)
        return;
    j->tests++;
    for (size_t i = 0; i < s->ids.count; i++) {
        const struct kind *k = &s->kinds[i];
        double p = 1, by = k->count[BAD] / s->count[BAD] -
                           k->count[GOOD] / s->count[GOOD];
        if (k->count[GOOD] == 0)
            continue;
        if (k->count[BAD] == 0 && s->ids.count <= 4 * FEW)
            p = statistics_none(k->parts[GOOD], s->parts[GOOD], s->parts[BAD]) *
                (double)s->ids.count;
        else if (fabs(by) >= 0.25)
            p = statistics_shares(k->count[GOOD] * s->parts[GOOD] /
                                      s->count[GOOD],
                                  s->parts[GOOD],
                                  k->count[BAD] * s->parts[BAD] / s->count[BAD],
                                  s->parts[BAD], 1) *
                (double)s->ids.count;
        if (p < best) {
            best = p;
            kind = k;
        }
    }
    if (!kind || best > 1e-3)
        return;
    f = subject_finding(c, s, FINDING_VALUE, 20);
    f.p = best;
    f.good = kind->count[GOOD] / s->count[GOOD];
    f.bad = kind->count[BAD] / s->count[BAD];
    f.event[GOOD] = kind->first[GOOD];
    if (kind->first[BAD] != COMPARE_NONE)
        f.event[BAD] = kind->first[BAD];
    if (asprintf(&text,
                 "%s is %s in %s of %.0f records of BAD, %s of %.0f of "
                 "GOOD",
                 subject_text(c, s), kind_text(c, kind),
                 finding_share(kind->count[BAD], s->count[BAD]), s->count[BAD],
                 finding_share(kind->count[GOOD], s->count[GOOD]),
                 s->count[GOOD]) < 0)
        text = NULL;
    tested_add(j, f, text);
}

/* ----------------------------------------------------------------- sizes -- */

/* True if the medians of eight parts of BAD all ascend, or all descend. */
static bool is_steady(const struct subject *s)
{
    enum { PARTS = 8 };
    double sum[PARTS] = {0}, up = 0, down = 0;
    size_t count = s->numbers_count[BAD];
    for (size_t i = 0; i < count; i++) {
        size_t part = i * PARTS / count;
        sum[part] += s->numbers[BAD][i] / (double)((part + 1) * count / PARTS -
                                                   part * count / PARTS);
    }
    for (int i = 1; i < PARTS; i++) {
        up += sum[i] > sum[i - 1];
        down += sum[i] < sum[i - 1];
    }
    return up == PARTS - 1 || down == PARTS - 1;
}

/* Finds a number that grows or falls with time in BAD, and not in GOOD. */
static bool growth_find(struct judged *j, const struct subject *s)
{
    const struct statistics_summary *good = &s->sizes.of[GOOD];
    const struct statistics_summary *bad = &s->sizes.of[BAD];
    struct compare *c = j->c;
    struct finding f;
    double range = good->most - good->least;
    if (fabs(bad->trend) < 0.85 || fabs(good->trend) > 0.6 ||
        s->numbers_count[BAD] < 24 || s->numbers_count[GOOD] < 24 ||
        (bad->high <= good->most && bad->low >= good->least) ||
        bad->most - bad->least < 1.5 * range || !is_steady(s))
        return false;
    f = subject_finding(c, s, FINDING_GROWS, 62);
    f.good = good->most;
    f.bad = bad->trend > 0 ? bad->most : bad->least;
    f.event[BAD] = outside(c, s, good->least, good->most);
    finding_add(c, f,
                "%s %s with time in BAD, from %s to %s (rank correlation "
                "%.2f); in GOOD it stays from %s to %s (%.2f)",
                subject_text(c, s), bad->trend > 0 ? "grows" : "falls",
                finding_number(bad->trend > 0 ? bad->least : bad->most),
                finding_number(f.bad), bad->trend, finding_number(good->least),
                finding_number(good->most), good->trend);
    return true;
}

/* Numbers far from all of GOOD: by ten times its range, and by as many times
 * its largest as that is the median's, for some have heavy tails. */
static bool far_find(struct judged *j, const struct subject *s)
{
    const struct statistics_summary *good = &s->sizes.of[GOOD];
    const struct statistics_summary *bad = &s->sizes.of[BAD];
    struct compare *c = j->c;
    struct finding f;
    double range = good->most - good->least, far, least, most;
    if (s->numbers_count[GOOD] < 2 * LEAST || range <= 0)
        return false;
    least = good->least - 10 * range;
    most = good->most + 10 * range;
    if (good->median > 0 && good->most > good->median)
        most = fmax(most, good->most * good->most / good->median);
    if (bad->least >= least && bad->most <= most)
        return false;
    far = bad->most > most ? bad->most : bad->least;
    f = subject_finding(c, s, FINDING_RANGE, 58);
    f.good = bad->most > most ? good->most : good->least;
    f.bad = far;
    f.event[BAD] = outside(c, s, least, most);
    finding_add(c, f,
                "%s reaches %s in BAD, far from %.0f of GOOD, from %s to %s",
                subject_text(c, s), finding_number(far), s->count[GOOD],
                finding_number(good->least), finding_number(good->most));
    return true;
}

static void sizes_find(struct judged *j, const struct subject *s)
{
    const struct statistics_summary *good = &s->sizes.of[GOOD];
    const struct statistics_summary *bad = &s->sizes.of[BAD];
    struct finding f = subject_finding(j->c, s, FINDING_RANGE, 20);
    double above = 0, below = 0, n, m, out, p;
    char *text = NULL;
    size_t i;
    for (i = 0; i < s->numbers_count[BAD]; i++) {
        above += s->numbers[BAD][i] > good->most;
        below += s->numbers[BAD][i] < good->least;
    }
    n = (double)s->numbers_count[GOOD] / good->weight;
    m = (double)s->numbers_count[BAD] / bad->weight;
    out = fmax(above, below) / (double)s->numbers_count[BAD];
    p = statistics_precedence(floor(out * m), n, m);
    f.p = s->sizes.p;
    j->tests++;
    if (fabs(s->sizes.superiority - 0.5) < 0.2)
        f.p = 1;
    f.p = fmin(1, 2 * fmin(f.p, p));
    if (f.p > 1e-3)
        return;
    f.good = good->median;
    f.bad = bad->median;
    f.event[BAD] = outside(j->c, s, good->least, good->most);
    if (asprintf(&text,
                 "%s is %s in BAD: median %s, %s to %s; in GOOD %s, %s to %s",
                 subject_text(j->c, s),
                 s->sizes.superiority > 0.5 ? "larger" : "smaller",
                 finding_number(bad->median), finding_number(bad->low),
                 finding_number(bad->high), finding_number(good->median),
                 finding_number(good->low), finding_number(good->high)) < 0)
        text = NULL;
    tested_add(j, f, text);
}

/* ------------------------------------------------------------------- all -- */

static void subject_find(struct judged *j, size_t format, unsigned argument)
{
    struct subject s = {.format = format, .argument = argument};
    bool found = false;
    subject_open(j, &s);
    if (s.own < (s.count[GOOD] + s.count[BAD]) / 2) {
        if (s.has_sizes && !(found = growth_find(j, &s)) && !moves(&s))
            found = far_find(j, &s);
        if (!found && !s.many && !moves(&s))
            found = unseen_find(j, &s);
        if (!found && !s.many && !moves(&s))
            shares_find(j, &s);
        if (!found && s.has_sizes && !moves(&s) &&
            fabs(s.sizes.of[GOOD].trend) < 0.8)
            sizes_find(j, &s);
    }
    subject_close(&s);
}

/* Adds the findings that remain significant among all tests. */
static void judge(struct judged *j)
{
    double *ones = need(calloc(j->tests + 1, sizeof *ones));
    double **p = need(malloc((j->count + j->tests + 1) * sizeof *p));
    size_t i, count = 0;
    for (i = 0; i < j->count; i++)
        p[count++] = &j->tested[i].finding.p;
    for (i = count; i < j->tests; i++) {
        ones[i] = 1;
        p[count++] = &ones[i];
    }
    statistics_holm(p, count);
    for (i = 0; i < j->count; i++) {
        struct finding f = j->tested[i].finding;
        f.score += finding_score(f.p, 20);
        if (f.p < 1e-3)
            finding_add(j->c, f, "%s (%s)", j->tested[i].text, finding_p(f.p));
        free(j->tested[i].text);
    }
    free(j->tested);
    free(ones);
    free(p);
}

void values_find(struct compare *c)
{
    struct judged j = {.c = c};
    own_open(&j);
    for (size_t i = 0; i < c->formats_count; i++) {
        const struct compare_format *f = &c->formats[i];
        unsigned arguments;
        if (!f->watched[GOOD] || !f->watched[BAD])
            continue;
        arguments = c->of[GOOD].events[f->first[GOOD]].count;
        for (unsigned k = 0; k < arguments; k++)
            subject_find(&j, i, k);
    }
    judge(&j);
    free(j.own[GOOD]);
    free(j.own[BAD]);
}
