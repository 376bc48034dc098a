/* hooks.c - the C file that a user adds. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

static const char *const names[] = {"none",   "task 0", "task 1",
                                    "task 2", "task 3", "task 4"};
#define RECORDER_EMBASSY_NAME(task) names[task]
#include "recorder_embassy.h"
RECORDER(switches, 65536, "Which task was polled");
