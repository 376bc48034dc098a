/* statistics.c - the tests by which two recordings are compared. */
/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- counts -- */

double statistics_poisson(double count, double mean)
{
    double term, sum = 0;
    if (count <= 0)
        return 1;
    if (mean <= 0)
        return 0;
    if (count <= mean)
        return 1; /* it is no surprise, whatever it is exactly */
    term = exp(count * log(mean) - mean - lgamma(count + 1));
    for (double at = count + 1; term > sum * 1e-12; at++) {
        sum += term;
        term *= mean / at;
    }
    return sum < 1 ? sum : 1;
}

/* The p-value of a chi-square value with one degree of freedom. */
static double chi_square(double value)
{
    return value > 0 ? erfc(sqrt(value / 2)) : 1;
}

static double likelihood(double observed, double expected)
{
    return observed > 0 && expected > 0
               ? 2 * observed * log(observed / expected)
               : 0;
}

double statistics_rates(double a, double b, double scale, double dispersion)
{
    double part = scale / (1 + scale);
    double g =
        likelihood(a, (a + b) * (1 - part)) + likelihood(b, (a + b) * part);
    return chi_square(g / dispersion);
}

double statistics_shares(double a, double of_a, double b, double of_b,
                         double dispersion)
{
    double share = (a + b) / (of_a + of_b);
    double g = likelihood(a, of_a * share) + likelihood(b, of_b * share) +
               likelihood(of_a - a, of_a * (1 - share)) +
               likelihood(of_b - b, of_b * (1 - share));
    return chi_square(g / dispersion);
}

double statistics_none(double a, double of_a, double of_b)
{
    double all = of_a + of_b;
    return exp(lgamma(all - a + 1) - lgamma(of_a - a + 1) - lgamma(all + 1) +
               lgamma(of_a + 1));
}

double statistics_precedence(double beyond, double of_a, double of_b)
{
    double p = 1, all = of_a + of_b;
    for (double i = 0; i < beyond && p > 1e-300; i++)
        p *= (of_b - i) / (all - i);
    return p;
}

double statistics_unseen(const size_t kinds[3], double of_a, double of_b)
{
    /* A place that has shown no variety at all in n looks: how often it shows
     * some in n more, by our judgement: one in 200, more after few looks. */
    const double surprise = 0.005, few = 0.5;
    if (of_a <= 0)
        return of_b;
    return surprise + of_b / of_a *
                          ((double)kinds[0] + (double)kinds[1] / 2 +
                           (double)kinds[2] / 4 + few / of_a);
}

/* --------------------------------------------------------------- samples -- */

size_t statistics_thin(double *values, size_t count)
{
    uint64_t chance = 0x9e3779b97f4a7c15u;
    size_t i, from, to;
    if (count <= STATISTICS_MAX)
        return count;
    for (i = 0; i < STATISTICS_MAX; i++) {
        from = i * count / STATISTICS_MAX;
        to = (i + 1) * count / STATISTICS_MAX;
        chance ^= chance << 13; /* xorshift: two sources get one choice */
        chance ^= chance >> 7;
        chance ^= chance << 17;
        values[i] = values[from + chance % (to - from)];
    }
    return STATISTICS_MAX;
}

struct ranked {
    double value, rank, own; /* among both samples, and its own */
    size_t at;               /* in a, then in b */
};

static int by_value(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Sets ranks; equal values share their mean rank. The first values are a's.
 * Returns the sum of t^3 - t over ties of t. */
static double rank(struct ranked *all, size_t count, size_t n)
{
    double ties = 0, before[2] = {0, 0}, of[2];
    size_t i, k, end;
    for (i = 0; i < count; i = end) {
        of[0] = of[1] = 0;
        for (end = i; end < count && all[end].value == all[i].value; end++)
            of[all[end].at >= n]++;
        for (k = i; k < end; k++) {
            all[k].rank = (double)(i + end + 1) / 2;
            all[k].own = before[all[k].at >= n] + (of[all[k].at >= n] + 1) / 2;
        }
        before[0] += of[0];
        before[1] += of[1];
        ties += pow((double)(end - i), 3) - (double)(end - i);
    }
    return ties;
}

/* How many values count as one: by the correlation of neighbours, and by the
 * means of batches, the larger. `at`: ranks in the order of time. */
static double weight(const double *at, size_t count)
{
    enum { BATCHES = 16 };
    double mean = 0, variance = 0, next = 0, batches = 0, sum, value, most = 1;
    size_t i, k, to;
    for (i = 0; i < count; i++)
        mean += at[i] / (double)count;
    for (i = 0; i < count; i++) {
        variance += (at[i] - mean) * (at[i] - mean);
        if (i)
            next += (at[i] - mean) * (at[i - 1] - mean);
    }
    if (variance <= 0 || count < 4)
        return 1;
    value = next / variance;
    if (value > 0)
        most = value < 0.999 ? (1 + value) / (1 - value) : 2000;
    if (count >= 2 * BATCHES) {
        for (i = k = 0; i < BATCHES; i++) {
            to = (i + 1) * count / BATCHES;
            for (sum = 0, value = (double)(to - k); k < to; k++)
                sum += at[k] - mean;
            batches += sum * sum / value;
        }
        value = batches / BATCHES / (variance / (double)count);
        most = value > most ? value : most;
    }
    return most > (double)count / 2 ? (double)count / 2 : most;
}

/* Pearson's correlation of ranks with their places: Spearman's. */
static double trend(const double *at, size_t count)
{
    double mean = 0, middle = (double)(count - 1) / 2, x = 0, y = 0, both = 0;
    size_t i;
    for (i = 0; i < count; i++)
        mean += at[i] / (double)count;
    for (i = 0; i < count; i++) {
        x += ((double)i - middle) * ((double)i - middle);
        y += (at[i] - mean) * (at[i] - mean);
        both += ((double)i - middle) * (at[i] - mean);
    }
    return x > 0 && y > 0 ? both / sqrt(x * y) : 0;
}

/* Of values that ascend. */
static void summarize(struct statistics_summary *to, const double *sorted,
                      size_t count)
{
    to->least = sorted[0];
    to->low = sorted[(count - 1) / 20];
    to->median = sorted[(count - 1) / 2];
    to->high = sorted[(count - 1) - (count - 1) / 20];
    to->most = sorted[count - 1];
}

static bool compare(struct statistics_sample in[2], struct ranked *all,
                    double *ranks, struct statistics_comparison *to)
{
    size_t n = in[0].count, m = in[1].count, i, k, at[2] = {0, 0};
    double *sorted = ranks + n + m, *of[2] = {sorted, sorted + n};
    double ties, a, b, sum = 0, total = (double)(n + m), spread;
    for (i = 0; i < n + m; i++) {
        all[i].value = i < n ? in[0].at[i] : in[1].at[i - n];
        all[i].at = i;
        if (!isfinite(all[i].value))
            return false;
    }
    qsort(all, n + m, sizeof *all, by_value);
    ties = rank(all, n + m, n);
    for (i = 0; i < n + m; i++) {
        k = all[i].at >= n;
        ranks[all[i].at] = all[i].own;
        of[k][at[k]++] = all[i].value;
        if (k)
            sum += all[i].rank;
    }
    for (k = 0; k < 2; k++) {
        summarize(&to->of[k], of[k], in[k].count);
        to->of[k].trend = trend(ranks + (k ? n : 0), in[k].count);
        to->of[k].weight = weight(ranks + (k ? n : 0), in[k].count);
    }
    to->superiority =
        (sum - (double)m * (double)(m + 1) / 2) / ((double)n * (double)m);
    a = (double)n / to->of[0].weight;
    b = (double)m / to->of[1].weight;
    spread = (a + b + 1) / (12 * a * b) *
             (1 - ties / (total * total * total - total));
    to->p =
        spread > 0 ? erfc(fabs(to->superiority - 0.5) / sqrt(2 * spread)) : 1;
    return true;
}

bool statistics_compare(struct statistics_sample a, struct statistics_sample b,
                        struct statistics_comparison *to)
{
    struct statistics_sample in[2] = {a, b};
    size_t count = a.count + b.count;
    struct ranked *all;
    double *ranks;
    bool done;
    if (!a.count || !b.count)
        return false;
    all = malloc(count * sizeof *all);
    ranks = malloc(2 * count * sizeof *ranks);
    done = all && ranks && compare(in, all, ranks, to);
    free(all);
    free(ranks);
    return done;
}

/* ------------------------------------------------------------------ many -- */

static int by_p(const void *left, const void *right)
{
    double a = **(double *const *)left, b = **(double *const *)right;
    return a < b ? -1 : a > b;
}

void statistics_holm(double **p, size_t count)
{
    double least = 0;
    if (count)
        qsort(p, count, sizeof *p, by_p);
    for (size_t i = 0; i < count; i++) {
        double value = *p[i] * (double)(count - i);
        least = value > least ? value : least;
        *p[i] = least < 1 ? least : 1;
    }
}
