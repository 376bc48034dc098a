/* recorder_nuttx.h - records the actions of NuttX's scheduler. */
/* SPDX-License-Identifier: MIT */
/*
 * Include it in one C file of the board, after nuttx/sched.h and
 * nuttx/sched_note.h; nuttx.md has the other lines. It defines the functions
 * that CONFIG_SCHED_INSTRUMENTATION_SWITCH and _IRQHANDLER call.
 */
#ifndef RECORDER_NUTTX_H
#define RECORDER_NUTTX_H

#include "recorder_switch.h"

#ifdef CONFIG_SMP
#error "recorder_nuttx.h: for one processor"
#endif

#ifndef RECORDER_NUTTX_INTERRUPT /* the name of one */
#define RECORDER_NUTTX_INTERRUPT(irq) "interrupt"
#endif
#ifndef RECORDER_NUTTX_NAME /* of a task; see nuttx.md */
#define RECORDER_NUTTX_NAME(tcb) get_task_name(tcb)
#endif

/* The task that is about to leave; and the task whose end is recorded. */
static struct tcb_s *recorder_nuttx_from_, *recorder_nuttx_ended_;

/* A new task is ready; the first one, idle, runs. */
void sched_note_start(struct tcb_s *tcb)
{
    recorder_nuttx_ended_ = NULL;
    if (tcb == nxsched_self())
        recorder_switch_in(tcb, RECORDER_NUTTX_NAME(tcb));
    else
        recorder_switch_ready(tcb, RECORDER_NUTTX_NAME(tcb), nxsched_self());
}

/* A task that ends itself has left before. */
void sched_note_stop(struct tcb_s *tcb)
{
    if (tcb != recorder_nuttx_ended_)
        recorder_switch_out(tcb, RECORDER_NUTTX_NAME(tcb), RECORDER_ENDED);
    recorder_nuttx_ended_ = NULL;
}

void sched_note_suspend(struct tcb_s *tcb)
{
    recorder_nuttx_from_ = tcb;
}

/* A task that ends itself is inactive when it leaves; the states before that
 * one are ready, those after it are blocked. */
void sched_note_resume(struct tcb_s *tcb)
{
    struct tcb_s *from = recorder_nuttx_from_;
    if (from->task_state == TSTATE_TASK_INACTIVE)
        recorder_nuttx_ended_ = from;
    if (tcb != from)
        recorder_switch(tcb, RECORDER_NUTTX_NAME(tcb), from,
                        recorder_nuttx_ended_ == from ? RECORDER_ENDED
                        : from->task_state < TSTATE_TASK_INACTIVE
                            ? RECORDER_PREEMPTED
                            : RECORDER_BLOCKED);
}

#ifdef CONFIG_SCHED_INSTRUMENTATION_IRQHANDLER
void sched_note_irqhandler(int irq, void *handler, bool enter)
{
    if (enter)
        recorder_switch_enter(irq, RECORDER_NUTTX_INTERRUPT(irq), 0);
    else
        recorder_switch_exit(irq, RECORDER_NUTTX_INTERRUPT(irq));
    (void)handler;
}
#endif

#endif
