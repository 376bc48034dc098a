/* headers.c - every header, after <stdio.h>, twice, in whatever language. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "recorder_dump.h"
#include "recorder_set.h"
#include "recorder_switch.h"

#include "recorder_dump.h"
#include "recorder_switch.h"

RECORDER(net, 4)
RECORDER(switches, 16)
RECORDER(interrupts, 16)
RECORDER_TWEAK_DEFINE(speed, 1, "a tweak")

/* What a scheduler says of its tasks, which have control blocks. */
static size_t switches(void)
{
    static struct task {
        const char *name;
    } tasks[2] = {{"sensor"}, {"encoder"}};
    int why = RECORDER_PREEMPTED;
    recorder_switch(&tasks[1], tasks[1].name, &tasks[0], why);
    recorder_switch_out(&tasks[1], tasks[1].name, RECORDER_ENDED);
    recorder_switch_in(1, tasks[0].name);
    recorder_switch_in(1u, "idle", 's');
    recorder_switch_ready(0, 0);
    recorder_switch_ready(&tasks[0], tasks[0].name, &tasks[1]);
    recorder_switch_enter(15, "tick", (void *)&tasks);
    recorder_switch_exit(15, "tick");
    recorder_switch_sleep();
    recorder_switch_wake();
    recorder_switch_off(false);
    recorder_switch_on(0u);
    recorder_switch_start();
    return recorder_dump_for("switches|interrupts");
}

int main(void)
{
    bool failed;
    record(net, "%s", RECORDER_COPY(net, "x"));
    recorder_dump_on_common_signals(0, 0);
    failed = !recorder_line("{message}") || recorder_trace_set("speed=2") != 0;
#ifdef RECORDER_OFF /* off is off */
    failed = failed || recorder_dump_for("net") != 0 ||
             RECORDER_TWEAK(speed) != 1 || switches() != 0;
#else
    failed = failed || recorder_dump_for("net") != 1 ||
             RECORDER_TWEAK(speed) != 2 || switches() != 12;
#endif
    return failed || puts("ok") < 0;
}
