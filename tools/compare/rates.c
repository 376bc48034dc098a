/* rates.c - formats that are new, are gone, or stop. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------- new and gone -- */

static void new_add(struct compare *c, size_t format)
{
    const struct compare_format *f = &c->formats[format];
    double count = (double)f->watched[BAD];
    struct finding n = finding_of(RULE_NEW, count, format);
    uint32_t before;
    n.bad = count;
    n.event[BAD] = f->first[BAD];
    before = c->of[BAD].events[n.event[BAD]].before;
    if (before != CHAIN_END)
        n.event[GOOD] =
            c->formats[c->of[BAD].events[before].format].first[GOOD];
    finding_add(c, n, finding_site(c, format), finding_times(count),
                c->recorders[f->recorder].cut[GOOD] ? " as far as it was kept"
                                                    : "");
}

/* How often BAD would have a format that only GOOD has, by its rate there. */
static double expected(const struct compare *c, size_t format)
{
    const struct compare_format *f = &c->formats[format];
    const struct compare_recorder *r = &c->recorders[f->recorder];
    double length = 1;
    if ((r->cut[GOOD] || r->cut[BAD]) && r->ns[GOOD])
        length = (double)r->ns[BAD] / (double)r->ns[GOOD];
    return (double)f->watched[GOOD] / (double)c->of[GOOD].runs_count *
           fmin(1, length);
}

/* Does each good run have the format? */
static bool is_in_all(const struct compare *c, size_t format)
{
    const struct history *h = &c->of[GOOD];
    size_t runs = 0, last = COMPARE_NONE;
    for (size_t i = c->listed_at[GOOD][format];
         i < c->listed_at[GOOD][format + 1]; i++) {
        size_t run = history_run(h, c->listed[GOOD][i]);
        runs += run != last;
        last = run;
    }
    return runs == h->runs_count;
}

/* The last event of GOOD whose format BAD has, too. */
static size_t last_common(const struct compare *c)
{
    size_t i = c->of[GOOD].count;
    while (i > 0 && !c->formats[c->of[GOOD].events[i - 1].format].kept[BAD])
        i--;
    return i;
}

/* Adds a finding of a format that only GOOD has. BAD ended before the formats
 * after the event `common`. */
static void gone_add(struct compare *c, size_t format, size_t common)
{
    const struct compare_format *f = &c->formats[format];
    const struct compare_recorder *r = &c->recorders[f->recorder];
    double count = (double)f->watched[GOOD];
    double least = r->cut[GOOD] || r->cut[BAD] ? 12 : c->threaded ? 6 : 3;
    struct finding n = finding_of(RULE_GONE, count, format);
    bool at_end = f->first[GOOD] >= common;
    n.good = count;
    n.event[GOOD] = f->first[GOOD];
    n.weak = at_end ? r->cut[BAD] : expected(c, format) < least;
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

static void new_and_gone_find(struct compare *c)
{
    size_t common = last_common(c);
    for (size_t i = 0; i < c->formats_count; i++) {
        const struct compare_format *f = &c->formats[i];
        if (f->watched[BAD] && !f->kept[GOOD])
            new_add(c, i);
        else if (f->watched[GOOD] && !f->kept[BAD] && is_in_all(c, i))
            gone_add(c, i, common);
    }
}

/* ----------------------------------------------------------------- stops -- */

/* The most records in a row of a run without a format, and where they begin;
 * *part: of the run. */
static double gap_of(const struct compare *c, enum compare_side side,
                     size_t format, size_t *event, double *part)
{
    const struct history *h = &c->of[side];
    double most = 0;
    size_t at = c->listed_at[side][format];
    for (size_t r = 0; r < h->runs_count; r++) {
        size_t last = h->runs[r].first, length = h->runs[r].end - last, next;
        do {
            bool is = at < c->listed_at[side][format + 1] &&
                      c->listed[side][at] < h->runs[r].end;
            next = is ? c->listed[side][at++] : h->runs[r].end;
            if ((double)(next - last) > most) {
                most = (double)(next - last);
                *part = most / (double)length;
                *event = last;
            }
            last = next;
        } while (next < h->runs[r].end);
    }
    return most;
}

/* A format that comes again and again in GOOD, and for a fifth of BAD not. */
static void stops_find(struct compare *c, size_t format)
{
    enum { OFTEN = 8 };
    const struct compare_format *f = &c->formats[format];
    double good, bad, part[SIDES] = {0};
    size_t event[SIDES] = {0};
    struct finding n;
    if (f->watched[GOOD] < OFTEN * c->of[GOOD].runs_count ||
        f->watched[BAD] < 2 || c->of[GOOD].cut || c->of[BAD].cut)
        return;
    good = gap_of(c, GOOD, format, &event[GOOD], &part[GOOD]);
    bad = gap_of(c, BAD, format, &event[BAD], &part[BAD]);
    if (bad < rule_rows[RULE_STOPS].effect * good || part[BAD] < 0.2 ||
        part[BAD] < rule_rows[RULE_STOPS].effect * part[GOOD])
        return;
    n = finding_of(RULE_STOPS, bad / good, format);
    n.good = good;
    n.bad = bad;
    memcpy(n.event, event, sizeof event);
    finding_add(c, n, finding_site(c, format), bad, good);
}

/* ------------------------------------------------------------------- all -- */

void rates_find(struct compare *c)
{
    new_and_gone_find(c);
    for (size_t i = 0; i < c->formats_count; i++)
        if (c->formats[i].watched[GOOD] && c->formats[i].watched[BAD])
            stops_find(c, i);
}
