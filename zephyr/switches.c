/* switches.c - the functions that CONFIG_TRACING_USER calls, and their ring. */
/* SPDX-License-Identifier: MIT */
#include "recorder_port.h"

#include "recorder_zephyr.h"

RECORDER(switches, CONFIG_RECORDER_SWITCHES_SIZE,
         "Which thread ran, which interrupt");
