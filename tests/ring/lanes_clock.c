/* The same of lanes whose orders are made of the clock. */
/* SPDX-License-Identifier: MIT */
#define RECORDER_CLOCK_ORDER
#include "lanes.c" /* looked for beside this file */
