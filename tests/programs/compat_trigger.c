/* compat_trigger.c - a program for recorder 1.x that sets a trigger. */
/* SPDX-License-Identifier: MIT */
#include "recorder/recorder.h"
#include "recorder_trigger.h"

RECORDER(old, 16, "For recorder 1.x")

int main(void)
{
    recorder_trigger("old: 1=2: dump=dump.txt");
    RECORD(old, "quiet %d", 1);
    recorder_trace_set("old");
    RECORD(old, "said %d", 2);
    return 0;
}
