/* median.h - the clock and the median of the targets of benchmarks. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <time.h>

static inline double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}
static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}
static inline double median(double *all, size_t count)
{
    qsort(all, count, sizeof *all, compare);
    return all[count / 2];
}
