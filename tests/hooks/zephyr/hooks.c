/* hooks.c - the file that a user adds. */
/* SPDX-License-Identifier: MIT */
#include <zephyr/kernel.h>
#define RECORDER_ZEPHYR_VECTOR() 15
#define RECORDER_ZEPHYR_INTERRUPT(vector) ((vector) == 15 ? "tick" : "?")
#include "recorder_zephyr.h"
RECORDER(switches, 65536, "Which thread ran, which interrupt");
