/* counts.c - formats that all good runs made equally often, and BAD did not. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <math.h>

enum { RUNS = 3, LEAST = 8 };

/* The records of a format in a run. */
static size_t count_of(const struct compare *c, enum compare_side side,
                       size_t format, size_t run)
{
    const size_t *at = &c->listed_at[side][format];
    size_t count = 0;
    for (size_t i = at[0]; i < at[1]; i++)
        count += history_run(&c->of[side], c->listed[side][i]) == run;
    return count;
}

/* True if all good runs of a format have the same number of records. */
static bool is_steady(const struct compare *c, size_t format)
{
    const struct compare_format *f = &c->formats[format];
    const struct compare_recorder *r = &c->recorders[f->recorder];
    size_t count = count_of(c, GOOD, format, 0);
    for (size_t run = 1; run < c->of[GOOD].runs_count; run++)
        if (count_of(c, GOOD, format, run) != count)
            return false;
    return count >= LEAST && !f->scheduler && !r->cut[GOOD] && !r->cut[BAD];
}

/* If BAD had the same work: half of the steady formats are as often in it. */
void counts_find(struct compare *c)
{
    const struct rule_row *rule = &rule_rows[RULE_COUNT];
    double runs = (double)c->of[GOOD].runs_count, good, bad, times;
    size_t all = 0, same = 0;
    for (int adds = 0; adds < 2 && runs >= RUNS && 2 * same >= all; adds++)
        for (size_t i = 0; i < c->formats_count; i++) {
            if (!is_steady(c, i))
                continue;
            good = (double)c->formats[i].watched[GOOD] / runs;
            bad = (double)c->formats[i].watched[BAD];
            all += !adds;
            same += !adds && good == bad;
            times = fabs(log2(bad / good));
            if (adds && bad > 0 && times >= rule->effect &&
                fabs(bad - good) >= rule->noise * sqrt(fmin(bad, good)))
                finding_add(c, finding_of(c, RULE_COUNT, times, i, good, bad),
                            finding_site(c, i), bad, good, runs);
        }
}
