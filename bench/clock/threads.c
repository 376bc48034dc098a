/* threads.c: the same of a program whose orders are by the clock. */
/* SPDX-License-Identifier: MIT */
/* A separate program: the clock of sequence numbers is chosen at compile
 * time. */
#define RECORDER_CLOCK_ORDER
#define BY " by the clock"
#include "../threads.c"
