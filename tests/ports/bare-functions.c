/* bare-functions.c - 100 calls of a function that does nothing, between labels. */
/* SPDX-License-Identifier: MIT */
#include "port.h"
#undef RECORDER_WRITE /* a program that only records */
#include "recorder_functions.h"

__attribute__((noinline)) static void nothing(void)
{
    __asm__ volatile("");
}
/* The first round is not counted: nothing is new in the second. */
__attribute__((no_instrument_function)) int main(void)
{
    volatile unsigned rounds = 2; /* so that the labels are there once */
    while (rounds--) {
        __asm__ volatile(".globl cost_begin\ncost_begin:" : : : "memory");
        for (unsigned i = 0; i < 100; i++)
            nothing();
        __asm__ volatile(".globl cost_end\ncost_end:" : : : "memory");
    }
    return 0;
}
