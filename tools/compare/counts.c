/* counts.c - formats that all good runs made equally often, and BAD did not. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <math.h>

enum { RUNS = 3, LEAST = 8 };

/* The events of each format in each run, the bad one last. */
static uint64_t *counts_of(const struct compare *c)
{
    size_t good = c->of[GOOD].runs_count;
    uint64_t *counts =
        need(calloc((c->formats_count + 1) * (good + 1), sizeof *counts));
    for (enum compare_side side = GOOD; side < SIDES; side++)
        for (size_t run = 0; run < c->of[side].runs_count; run++) {
            const struct compare_run *r = &c->of[side].runs[run];
            for (size_t i = r->first; i < r->end; i++)
                counts[c->of[side].events[i].format * (good + 1) +
                       (side ? good : run)]++;
        }
    return counts;
}

/* True if all good runs of a format have the same number of records. */
static bool is_steady(const struct compare *c, size_t format,
                      const uint64_t *counts)
{
    const struct compare_format *f = &c->formats[format];
    const struct compare_recorder *r = &c->recorders[f->recorder];
    for (size_t run = 1; run < c->of[GOOD].runs_count; run++)
        if (counts[run] != *counts)
            return false;
    return *counts >= LEAST && !f->scheduler && !r->cut[GOOD] && !r->cut[BAD];
}

/* If BAD had the same work: half of the steady formats are as often in it. */
void counts_find(struct compare *c)
{
    const struct rule_row *rule = &rule_rows[RULE_COUNT];
    size_t runs = c->of[GOOD].runs_count, all = 0, same = 0, i;
    uint64_t *counts;
    if (runs < RUNS)
        return;
    counts = counts_of(c);
    for (i = 0; i < c->formats_count; i++)
        if (is_steady(c, i, &counts[i * (runs + 1)])) {
            all++;
            same += counts[i * (runs + 1)] == counts[i * (runs + 1) + runs];
        }
    for (i = 0; i < c->formats_count && 2 * same >= all; i++) {
        const uint64_t *of = &counts[i * (runs + 1)];
        double good = (double)of[0], bad = (double)of[runs];
        if (!is_steady(c, i, of) || bad == 0 ||
            fabs(log2(bad / good)) < rule->effect ||
            fabs(bad - good) < rule->noise * sqrt(fmin(bad, good)))
            continue;
        finding_add(
            c, finding_of(c, RULE_COUNT, fabs(log2(bad / good)), i, good, bad),
            finding_site(c, i), bad, good, (double)runs);
    }
    free(counts);
}
