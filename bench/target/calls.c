/* calls.c - ns of CPU time for a call of a function, and its return. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include "median.h"

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
    double from = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < 1000000; i++)
        middle(i);
    printf("%.2f\n", (now(CLOCK_PROCESS_CPUTIME_ID) - from) / 3e6);
    return sum == 1;
}
