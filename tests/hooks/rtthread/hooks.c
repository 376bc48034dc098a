/* hooks.c - the file that a user adds. */
/* SPDX-License-Identifier: MIT */
#include <rtthread.h>
#include <rthw.h>
#define RECORDER_RTTHREAD_INTERRUPT() 15
#define RECORDER_RTTHREAD_INTERRUPT_NAME(number) ((number) == 15 ? "tick" : "?")
#include "recorder_rtthread.h"
RECORDER(switches, 65536, "Which thread ran, which interrupt");

void board_init(void)
{
    recorder_rtthread_start();
}
