/* steps.c: the same of a program whose orders are by the clock. */
/* SPDX-License-Identifier: MIT */
#define RECORDER_CLOCK_ORDER
#define BY " by the clock"
#include "../steps.c"
