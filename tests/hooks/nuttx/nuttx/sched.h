/* sched.h - a stand-in for the names that recorder_nuttx.h relies on. */
/* SPDX-License-Identifier: MIT */
#ifndef SCHED_H
#define SCHED_H

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_SCHED_INSTRUMENTATION_IRQHANDLER 1

enum {
    TSTATE_TASK_INVALID,
    TSTATE_TASK_READYTORUN,
    TSTATE_TASK_RUNNING,
    TSTATE_TASK_INACTIVE,
    TSTATE_WAIT_SEM,
    TSTATE_WAIT_SIG
};

struct tcb_s {
    unsigned task_state;
    char name[24];
    unsigned runs, blocked, preempted;
};
#define get_task_name(tcb) ((tcb)->name)
struct tcb_s *nxsched_self(void);

#endif
