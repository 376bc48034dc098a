/* counts.c - formats that all good runs made equally often, and BAD did not. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <math.h>

enum { RUNS = 3, LEAST = 8 };

/* True if all good runs of a format have the same number of records. Its records
 * are listed run after run. */
static bool is_steady(const struct compare *c, size_t format)
{
    const struct compare_format *f = &c->formats[format];
    const struct compare_recorder *r = &c->recorders[f->recorder];
    const uint32_t *at = &c->listed[GOOD][c->listed_at[GOOD][format]];
    size_t count = c->listed_at[GOOD][format + 1] - c->listed_at[GOOD][format];
    size_t each = count / c->of[GOOD].runs_count;
    if (each < LEAST || f->scheduler || r->cut[GOOD] || r->cut[BAD])
        return false;
    for (size_t i = 0; i < count; i++)
        if (history_run(&c->of[GOOD], at[i]) != i / each)
            return false;
    return count == each * c->of[GOOD].runs_count;
}

/* If BAD had the same work: half of the steady formats are as often in it. */
void counts_find(struct compare *c)
{
    const struct rule_row *rule = &rule_rows[RULE_COUNT];
    const size_t runs = c->of[GOOD].runs_count;
    bool *steady = need(calloc(c->formats_count + 1, sizeof *steady));
    size_t all = 0, same = 0, i;
    for (i = 0; i < c->formats_count && runs >= RUNS; i++) {
        const uint64_t *watched = c->formats[i].watched;
        steady[i] = is_steady(c, i);
        all += steady[i];
        same += steady[i] && watched[GOOD] == watched[BAD] * runs;
    }
    for (i = 0; i < c->formats_count && 2 * same >= all; i++) {
        double good = (double)c->formats[i].watched[GOOD] / (double)runs;
        double bad = (double)c->formats[i].watched[BAD];
        double times = fabs(log2(bad / good));
        if (steady[i] && bad > 0 && times >= rule->effect &&
            fabs(bad - good) >= rule->noise * sqrt(fmin(bad, good)))
            finding_add(c, finding_of(c, RULE_COUNT, times, i, good, bad),
                        finding_site(c, i), bad, good, (double)runs);
    }
    free(steady);
}
