/* bare-cost.c - one record of 4 arguments, between two labels. */
/* SPDX-License-Identifier: MIT */
#include "port.h"
#undef RECORDER_WRITE /* a program that only records */
#include "recorder.h"

RECORDER(cost, 16, "What it costs");
RECORDER(other, 16, "So that no code is made for the first alone");

int main(void)
{
    unsigned a = 1, b = 2, c = 3, d = 4, i;
    for (i = 0; i < 2; i++) { /* the second time nothing is new */
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
        __asm__ volatile(".globl cost_begin\ncost_begin:" : : : "memory");
        record(cost, "%u %u %u %u", a, b, c, d);
        __asm__ volatile(".globl cost_end\ncost_end:" : : : "memory");
        record(other, "%u", i);
    }
    return 0;
}
