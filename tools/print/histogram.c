/* histogram.c - how long many things took. */
/* SPDX-License-Identifier: MIT */
#include "histogram.h"

#include <inttypes.h>
#include <stdio.h>

#include "array.h"

const char *histogram_time(uint64_t ns, char to[32])
{
    if (ns < 1000)
        snprintf(to, 32, "%u ns", (unsigned)ns);
    else if (ns < 1000000)
        snprintf(to, 32, "%.3f us", (double)ns / 1e3);
    else if (ns < 1000000000)
        snprintf(to, 32, "%.3f ms", (double)ns / 1e6);
    else
        snprintf(to, 32, "%.3f s", (double)ns / 1e9);
    return to;
}

void histogram_sort(uint64_t *ns, size_t count)
{
    qsort(ns, count, sizeof *ns, array_compare);
}

uint64_t histogram_within(const uint64_t *ns, size_t count, size_t thousandths)
{
    size_t rank = (count * thousandths + 999) / 1000;
    return ns[rank ? rank - 1 : 0];
}

void histogram_print(const uint64_t *ns, size_t count)
{
    static const uint64_t steps[] = {1, 2, 5};
    uint64_t unit = 1, below = 0;
    size_t at = 0, most = 0;
    for (int pass = 0; pass < 2; pass++) {
        at = 0;
        below = 0;
        unit = 1;
        for (size_t i = 0; at < count && i < 57; i++) {
            uint64_t high = unit * steps[i % 3];
            size_t next = array_count_to(ns, count, sizeof *ns, high);
            char text[2][32];
            if (pass == 0 && next - at > most)
                most = next - at;
            if (pass == 1 && next > at)
                printf("%10s to %-10s %8zu %.*s\n",
                       histogram_time(below, text[0]),
                       histogram_time(high, text[1]), next - at,
                       (int)((40 * (next - at) + most - 1) / most),
                       "########################################");
            at = next;
            below = high;
            unit *= i % 3 == 2 ? 10 : 1;
        }
    }
}
