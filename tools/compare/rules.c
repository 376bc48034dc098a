/* rules.c - the table of differences, and the statistic of their thresholds. */
/* SPDX-License-Identifier: MIT */
/*
   A side's points are cut into blocks, up to BLOCKS for each run, in the order
   of time. Two runs differ in a number if its mean differs by `effect` of its
   unit, and by `noise` times as much as the means of blocks vary among
   themselves (Law and Kelton: batch means). So values that depend on those
   before them, and runs that go through phases, need a larger difference. With
   several good runs, the blocks of all of them vary, and BAD has to be outside
   of all good runs by as much as these are apart.
*/
#include "compare.h"

#include <math.h>

enum { BLOCKS = 16, EACH = 8, LEAST = 3 /* points of a block; of few */ };

/* docs/diff.md shows the same thresholds. */
const struct rule_row rule_rows[RULES] = {
    [RULE_EXACT] = {"exact", 200, 40, 0,
                    "%s %s; before it %.0f records of thread %s are the same "
                    "in both"},
    [RULE_NEW] = {"new", 120, 0, 0, "%s: %s in BAD, never in GOOD%s"},
    [RULE_GONE] = {"gone", 70, 0, 0, "%s: never in BAD%s, %s in GOOD%s%s"},
    [RULE_ORDER] = {"order", 80, 0, 0,
                    "after %s comes %s: %.0f of %.0f times in BAD, never in "
                    "%.0f of GOOD, where mostly %s comes"},
    [RULE_SHARE] = {"share", 40, 0.02, 3,
                    "after %s comes %s %s: %s of %.0f in BAD, %s of %.0f in "
                    "GOOD"},
    [RULE_NAN] = {"nan", 100, 0, 0,
                  "%s is %s in %s of %.0f records of BAD, %s of %.0f of GOOD"},
    [RULE_VARIES] = {"varies", 82, 0, 0,
                     "%s varies in BAD: %s in %.0f of %.0f records; in %.0f of "
                     "GOOD it is always %s"},
    [RULE_STUCK] = {"stuck", 86, 8, 0,
                    "%s is stuck at %s for %.0f records in a row of BAD, %.0f "
                    "at most in GOOD"},
    [RULE_VALUE] = {"value", 74, 0, 0,
                    "%s is %s in %.0f of %.0f records of BAD, never in %.0f of "
                    "GOOD, where it is %s"},
    [RULE_PART] = {"value", 30, 0.1, 4,
                   "%s is %s in %s of %.0f records of BAD, %s of %.0f of GOOD"},
    [RULE_FAR] = {"range", 62, 10, 0,
                  "%s reaches %s in BAD, far from %.0f of GOOD, from %s to %s"},
    [RULE_DRIFT] = {"drift", 78, 1, 8,
                    "%s %s with time in BAD: by %s from a quarter to a "
                    "later one; in GOOD by %s"},
    [RULE_LEVEL] = {"range", 44, 0.5, 4,
                    "%s is %s in BAD: %s in the mean; in GOOD %s"},
    [RULE_SPREAD] = {"range", 46, 0.4, 4,
                     "%s varies %s in BAD: it deviates by %s; in GOOD by %s"},
    [RULE_MACHINE] = {"time", 64, 0.92, 0,
                      "everything is %s x slower: %.0f of %.0f spans and steps "
                      "tell%s"},
    [RULE_SLOW] =
        {"time", 50, 0.4, 4,
         "%s takes longer: %s in the median of %.0f in BAD, %s of %.0f in "
         "GOOD, %s x in the geometric mean%s%s"},
    [RULE_SLOWS] = {"time", 47, 0.4, 8,
                    "%s takes longer with time: %s x as long in a quarter "
                    "of BAD as in an earlier one, %s x in GOOD"},
    [RULE_PASSES] = {"time", 49, 0.1, 4,
                     "%s takes longer in a part: %s of %.0f times in BAD more "
                     "than %s, %s of %.0f times in GOOD"},
    [RULE_LATE] = {"time", 48, 3, 0,
                   "%s is late %s of %.0f times in BAD, by more than %s, up to "
                   "%s; %s of %.0f times in GOOD"},
    [RULE_THREAD] = {"thread", 96, 0, 0,
                     "thread %s (T%u) is in %s only: %.0f records, %s the "
                     "first"},
    [RULE_ENDS] = {"ends", 72, 0.25, 4,
                   "%s of thread %s (T%u) ends early: it is not among the last "
                   "%.0f records of BAD, %s of all; before, never for more "
                   "than %.0f"},
    [RULE_ONCE] = {"once", 76, 0, 0,
                   "%s is %s in BAD, %s in GOOD; the record is made once"},
    [RULE_COUNT] = {"count", 70, 1, 4,
                    "%s comes %.0f times in BAD, %.0f times in each of %.0f "
                    "runs of GOOD"},
};

double statistics_none(double a, double of_a, double of_b)
{
    double all = of_a + of_b;
    return exp(lgamma(all - a + 1) - lgamma(of_a - a + 1) - lgamma(all + 1) +
               lgamma(of_a + 1));
}

void points_add(struct points *p, double x, size_t event, size_t run)
{
    *array_add(p->at, p->count, p->max) =
        (struct point){x, (uint32_t)event, (uint32_t)run};
}

/* Sums for a level. */
struct sums {
    double count, mean[2], squares[2]; /* of blocks: their means, spreads */
    double runs, drift, trend;
};

static void sums_add(struct sums *s, double mean, double spread)
{
    double of[2] = {mean, spread};
    s->count++;
    for (int i = 0; i < 2; i++) { /* Welford */
        double by = of[i] - s->mean[i];
        s->mean[i] += by / s->count;
        s->squares[i] += by * (of[i] - s->mean[i]);
    }
}

static void run_add(struct level *l, struct sums *s, const struct point *at,
                    size_t count)
{
    size_t each = count / 4 < EACH ? count / 4 : EACH, i, k = 0, to;
    size_t blocks = each < LEAST            ? 0
                    : count / each < BLOCKS ? count / each
                                            : BLOCKS;
    double total = 0, drift = 0;
    double quarters[4] = {0}, of_quarter[4] = {0};
    double n = (double)blocks, along = 0, sum_means = 0, of_means = 0;
    for (i = 0; i < blocks; i++) {
        double sum = 0, squares = 0, from = (double)k, of;
        for (to = (i + 1) * count / blocks; k < to; k++) {
            sum += at[k].x;
            squares += at[k].x * at[k].x;
        }
        of = (double)to - from;
        squares = fmax(0, squares / of - sum / of * sum / of);
        sums_add(s, sum / of,
                 log(sqrt(squares) + 1e-9 * fabs(sum / of) + 1e-12));
        sum_means += sum / of;
        of_means += sum / of * sum / of;
        along += sum / of * ((double)i - (n - 1) / 2);
        total += sum;
        quarters[i * 4 / blocks] += sum / of;
        of_quarter[i * 4 / blocks]++;
    }
    if (blocks < 4)
        return;
    total /= (double)count;
    l->run_least = s->runs > 0 ? fmin(l->run_least, total) : total;
    l->run_most = s->runs > 0 ? fmax(l->run_most, total) : total;
    s->runs++;
    for (i = 0; i < 4; i++) {
        quarters[i] /= of_quarter[i];
        for (k = 0; k < i; k++)
            if (fabs(quarters[i] - quarters[k]) > fabs(drift))
                drift = quarters[i] - quarters[k];
    }
    /* The correlation as Fisher's z, less two of its deviations. */
    along /= sqrt(fmax(of_means - sum_means * sum_means / n, 1e-300) *
                  (n * n * n - n) / 12);
    s->trend += atanh(fmin(fmax(along, -1), 1) * 0.9999) - 2 / sqrt(n - 3);
    s->drift += drift;
}

bool level_of(const struct points *p, struct level *l)
{
    struct sums s = {0};
    double mean = 0, squares = 0;
    size_t from = 0, i;
    *l = (struct level){.count = (double)p->count};
    for (i = 0; i < p->count; i++) {
        double x = p->at[i].x, by = x - mean;
        mean += by / (double)(i + 1);
        squares += by * (x - mean);
        l->least = i ? fmin(l->least, x) : x;
        l->most = i ? fmax(l->most, x) : x;
        if (i + 1 == p->count || p->at[i + 1].run != p->at[i].run) {
            run_add(l, &s, &p->at[from], i + 1 - from);
            from = i + 1;
        }
    }
    if (s.runs <= 0)
        return false;
    l->mean = mean;
    l->deviation = sqrt(squares / (double)p->count);
    l->blocks = s.count;
    l->wander = sqrt(s.squares[0] / (s.count - 1));
    l->spread = s.mean[1];
    l->spread_wander = sqrt(s.squares[1] / (s.count - 1));
    l->drift = s.drift / s.runs;
    l->trend = tanh(s.trend / s.runs);
    return true;
}

/* By how much the mean of a side may be off: by chance, as if points did not
 * depend on each other, and by as much as blocks vary beyond that. */
static double noise_of(double wander, double chance, double blocks,
                       double times)
{
    const double sure = 6, by_chance = 1.7; /* variance of 16 blocks */
    double excess = wander * wander - by_chance * chance * chance;
    double few = 1 + 4 / blocks;
    return sure * sure * chance * chance / blocks +
           (excess > 0 ? times * times * few * few * excess / 2 : 0);
}

double rule_size(enum rule rule, const struct level *good,
                 const struct level *bad, double unit)
{
    const struct rule_row *r = &rule_rows[rule];
    const struct level *of[SIDES] = {good, bad};
    double by = bad->mean - good->mean, noise = 0, apart;
    apart = fmax(bad->mean - good->run_most, good->run_least - bad->mean);
    if (rule == RULE_SPREAD)
        by = bad->spread - good->spread;
    else if (rule == RULE_DRIFT || rule == RULE_SLOWS)
        by = bad->drift - good->drift;
    for (int i = 0; i < SIDES; i++) {
        double each = of[i]->count / of[i]->blocks;
        double chance = rule == RULE_SPREAD ? 1 / sqrt(2 * each)
                                            : of[i]->deviation / sqrt(each);
        noise +=
            noise_of(rule == RULE_SPREAD ? of[i]->spread_wander : of[i]->wander,
                     chance, of[i]->blocks, r->noise);
    }
    if (rule == RULE_DRIFT ||
        rule == RULE_SLOWS) /* blocks of BAD vary as it drifts */
        noise = pow(
            r->noise * (fabs(bad->trend) > 0.7 && bad->count >= 200 ? 0.6 : 1) *
                fmax(good->wander,
                     good->deviation / sqrt(fmin(good->count / good->blocks,
                                                 bad->count / bad->blocks))),
            2);
    else if (rule == RULE_LEVEL && good->run_most > good->run_least &&
             apart < good->run_most - good->run_least)
        return 0;
    return fmin(fabs(by) / (r->effect * unit + 1e-300),
                noise > 0 ? fabs(by) / sqrt(noise) : 1e9);
}

double rule_size_parts(enum rule rule, struct points of[SIDES],
                       struct level to[SIDES])
{
    bool good = level_of(&of[GOOD], &to[GOOD]);
    bool bad = level_of(&of[BAD], &to[BAD]);
    free(of[GOOD].at);
    free(of[BAD].at);
    return good && bad ? rule_size(rule, &to[GOOD], &to[BAD], 1) : 0;
}

double rule_size_where(const struct compare *c, enum rule rule, size_t format,
                       int argument, uint64_t what, struct level to[SIDES])
{
    struct points p[SIDES] = {{NULL, 0, 0}, {NULL, 0, 0}};
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        const struct history *h = &c->of[side];
        const size_t *at = &c->listed_at[side][format];
        for (size_t i = at[0]; i < at[1]; i++) {
            size_t event = c->listed[side][i], k = (size_t)argument;
            const struct compare_event *e = &h->events[event];
            bool is =
                argument < 0
                    ? e->next == what
                    : k < e->count && history_value(h, event, k)->word == what;
            points_add(&p[side], is, event, history_run(h, event));
        }
    }
    return rule_size_parts(rule, p, to);
}
