/* calls.c - ns of CPU time for a call of a function, and its return. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <time.h>

static unsigned long sum;
__attribute__((noinline)) static int leaf(int x)
{
    sum += (unsigned)x;
    return x + 1;
}
__attribute__((noinline)) static int middle(int x)
{
    return leaf(x) + leaf(x + 1);
}
__attribute__((no_instrument_function)) int main(void)
{
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 0; i < 1000000; i++)
        middle(i);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    printf("%.2f\n", ((double)(to.tv_sec - from.tv_sec) * 1e9 +
                      (double)(to.tv_nsec - from.tv_nsec)) /
                         3e6);
    return sum == 1;
}
