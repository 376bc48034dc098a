/* recorder_embassy.h - records the tasks of Embassy's executors. */
/* SPDX-License-Identifier: MIT */
/*
 * Include it in one C file of the crate. embassy.md has the Rust file, whose
 * functions the executors call, and which calls these with interrupts off.
 */
#ifndef RECORDER_EMBASSY_H
#define RECORDER_EMBASSY_H

#include "recorder_switch.h"

#ifndef RECORDER_EMBASSY_NAME /* of a task, by its number */
#define RECORDER_EMBASSY_NAME(task) "task"
#endif
#ifndef RECORDER_EMBASSY_NESTED /* executors: one of main, one an interrupt */
#define RECORDER_EMBASSY_NESTED 4
#endif

/* The tasks that are polled, each preempted by the next. */
static struct {
    uint32_t task;
    int reason; /* why it will leave */
} recorder_embassy_[RECORDER_EMBASSY_NESTED];
static unsigned recorder_embassy_depth_;

void recorder_embassy_begin(uint32_t task)
{
    unsigned depth = recorder_embassy_depth_++;
    if (depth >= RECORDER_EMBASSY_NESTED)
        return;
    recorder_embassy_[depth].task = task;
    recorder_embassy_[depth].reason = RECORDER_BLOCKED;
    if (depth == 0)
        recorder_switch_in(task, RECORDER_EMBASSY_NAME(task));
    else
        recorder_switch(task, RECORDER_EMBASSY_NAME(task),
                        recorder_embassy_[depth - 1].task, RECORDER_PREEMPTED);
}

void recorder_embassy_end(uint32_t task)
{
    unsigned depth = --recorder_embassy_depth_;
    if (depth >= RECORDER_EMBASSY_NESTED)
        return;
    if (depth == 0)
        recorder_switch_out(task, RECORDER_EMBASSY_NAME(task),
                            recorder_embassy_[0].reason);
    else
        recorder_switch(
            recorder_embassy_[depth - 1].task,
            RECORDER_EMBASSY_NAME(recorder_embassy_[depth - 1].task), task,
            recorder_embassy_[depth].reason);
}

/* Notes why a task that is polled will leave; false: it is not polled. */
static bool recorder_embassy_leaves_(uint32_t task, int reason)
{
    for (unsigned i = 0;
         i < recorder_embassy_depth_ && i < RECORDER_EMBASSY_NESTED; i++)
        if (recorder_embassy_[i].task == task) {
            recorder_embassy_[i].reason = reason;
            return true;
        }
    return false;
}

/* A task that is woken while it is polled is polled again. */
void recorder_embassy_ready(uint32_t task)
{
    if (!recorder_embassy_leaves_(task, RECORDER_PREEMPTED))
        recorder_switch_ready(task, RECORDER_EMBASSY_NAME(task));
}

/* The task has completed: in its poll, or after that. */
void recorder_embassy_done(uint32_t task)
{
    if (!recorder_embassy_leaves_(task, RECORDER_ENDED))
        recorder_switch_out(task, RECORDER_EMBASSY_NAME(task), RECORDER_ENDED);
}

#endif
