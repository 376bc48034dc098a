/* statistics.c - chances of events that were never seen before. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <math.h>

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

double statistics_none(double a, double of_a, double of_b)
{
    double all = of_a + of_b;
    return exp(lgamma(all - a + 1) - lgamma(of_a - a + 1) - lgamma(all + 1) +
               lgamma(of_a + 1));
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
