/* threads.c: the same of a program whose orders are by the clock. */
/* SPDX-License-Identifier: MIT */
/* A program of its own, as a program has one or the other. */
#define RECORDER_CLOCK_ORDER
#define BY " by the clock"
#include "../threads.c"
