/* hooks.c - the file that a user adds. */
/* SPDX-License-Identifier: MIT */
#include <nuttx/sched.h>
#include <nuttx/sched_note.h>
#define RECORDER_NUTTX_INTERRUPT(irq) ((irq) == 15 ? "tick" : "?")
#include "recorder_nuttx.h"
RECORDER(switches, 65536, "Which task ran, which interrupt");
