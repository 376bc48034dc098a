/* hooks.c - the file that a user adds. */
/* SPDX-License-Identifier: MIT */
#include "tx_api.h"
#include "tx_thread.h"
#define RECORDER_THREADX_VECTOR() 15
#define RECORDER_THREADX_INTERRUPT(vector) ((vector) == 15 ? "tick" : "?")
#include "recorder_threadx.h"
RECORDER(switches, 65536, "Which thread ran, which interrupt");
