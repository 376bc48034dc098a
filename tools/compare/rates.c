/* rates.c - formats that are new, or gone. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <math.h>

static void new_add(struct compare *c, size_t format)
{
    const struct compare_format *f = &c->formats[format];
    double count = (double)f->watched[BAD];
    struct finding n = finding_of(c, RULE_NEW, count, format, 0, count);
    uint32_t before = c->of[BAD].events[n.event[BAD]].before;
    if (before != CHAIN_END)
        n.event[GOOD] =
            c->formats[c->of[BAD].events[before].format].first[GOOD];
    finding_add(c, n, finding_site(c, format), finding_times(count),
                c->recorders[f->recorder].cut[GOOD] ? " as far as it was kept"
                                                    : "");
}

/* True if each run of GOOD has a format. */
static bool is_in_each(const struct compare *c, size_t format)
{
    const uint32_t *at = &c->listed[GOOD][c->listed_at[GOOD][format]];
    size_t runs = 0, last = SIZE_MAX;
    for (size_t i = 0; i < c->formats[format].watched[GOOD]; i++) {
        runs += history_run(&c->of[GOOD], at[i]) != last;
        last = history_run(&c->of[GOOD], at[i]);
    }
    return runs == c->of[GOOD].runs_count;
}

/* Adds a finding of a format that only GOOD has. BAD ended before the formats
 * after the event `common`. */
static void gone_add(struct compare *c, size_t format, size_t common)
{
    const struct compare_format *f = &c->formats[format];
    const struct compare_recorder *r = &c->recorders[f->recorder];
    double count = (double)f->watched[GOOD];
    double least = r->cut[GOOD] || r->cut[BAD] ? 12 : c->threaded ? 6 : 3;
    struct finding n = finding_of(c, RULE_GONE, count, format, count, 0);
    bool at_end = f->first[GOOD] >= common;
    n.weak =
        at_end ? r->cut[BAD] : count / (double)c->of[GOOD].runs_count < least;
    if (at_end) {
        n.score -= 20;
        n.event[BAD] = c->of[BAD].count - 1;
        n.other = c->of[BAD].events[n.event[BAD]].format;
    }
    finding_add(c, n, finding_site(c, format),
                r->cut[BAD] ? " as far as it was kept" : "",
                finding_times(count),
                at_end ? ", at its end; BAD ends with " : "",
                at_end ? finding_site(c, n.other) : "");
}

/* The longest row of records of a run without a format; *after: the row after
 * its last record. */
static double without(const struct compare *c, enum compare_side side,
                      size_t format, double *after)
{
    const struct history *h = &c->of[side];
    const uint32_t *at = &c->listed[side][c->listed_at[side][format]];
    double most = 0;
    for (size_t i = 0; i < c->formats[format].watched[side]; i++) {
        const struct compare_run *run = &h->runs[history_run(h, at[i])];
        bool first = !i || at[i - 1] < run->first;
        most = fmax(most, (double)(at[i] - (first ? run->first : at[i - 1])));
        *after = (double)(run->end - at[i]);
    }
    return most;
}

/* A format that is not among the last records of BAD, though it was among all
 * before, and among all of GOOD. */
static void ends_find(struct compare *c, size_t format)
{
    const struct compare_format *f = &c->formats[format];
    double after[SIDES], most = 0;
    const struct compare_thread *t;
    struct finding n;
    for (enum compare_side side = GOOD; side < SIDES; side++)
        most = fmax(most, without(c, side, format, &after[side]));
    most = fmax(most, after[GOOD]);
    if (f->watched[GOOD] < 8 || f->watched[BAD] < 8 || f->scheduler ||
        after[BAD] < rule_rows[RULE_ENDS].effect * (double)c->of[BAD].count ||
        after[BAD] < rule_rows[RULE_ENDS].noise * most)
        return;
    n = finding_of(c, RULE_ENDS, after[BAD] / most, format, most, after[BAD]);
    n.event[BAD] = c->listed[BAD][c->listed_at[BAD][format + 1] - 1];
    t = &c->of[BAD].threads[c->of[BAD].events[n.event[BAD]].thread];
    finding_add(c, n, finding_site(c, format), finding_name(t->name), t->number,
                after[BAD], finding_share(after[BAD], (double)c->of[BAD].count),
                most);
}

void rates_find(struct compare *c)
{
    size_t common = c->of[GOOD].count; /* the events up to the last of both */
    while (common &&
           !c->formats[c->of[GOOD].events[common - 1].format].kept[BAD])
        common--;
    for (size_t i = 0; i < c->formats_count; i++) {
        const struct compare_format *f = &c->formats[i];
        if (f->watched[BAD] && !f->kept[GOOD])
            new_add(c, i);
        else if (f->watched[GOOD] && !f->kept[BAD] && is_in_each(c, i))
            gone_add(c, i, common);
        else if (f->watched[GOOD] && f->watched[BAD])
            ends_find(c, i);
    }
}
