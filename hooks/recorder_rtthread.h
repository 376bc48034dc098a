/* recorder_rtthread.h - records the actions of RT-Thread's scheduler. */
/* SPDX-License-Identifier: MIT */
/*
 * Include it in one C file of the board, after rtthread.h and rthw.h, and call
 * recorder_rtthread_start() there; rtthread.md has the other lines.
 */
#ifndef RECORDER_RTTHREAD_H
#define RECORDER_RTTHREAD_H

#include "recorder_switch.h"

#ifdef RT_USING_SMP
#error "recorder_rtthread.h: for one processor"
#endif

#ifndef RECORDER_RTTHREAD_INTERRUPT /* the number of the one that runs */
#define RECORDER_RTTHREAD_INTERRUPT() 0
#endif
#ifndef RECORDER_RTTHREAD_INTERRUPT_NAME
#define RECORDER_RTTHREAD_INTERRUPT_NAME(number) "interrupt"
#endif
#ifndef RECORDER_RTTHREAD_NAME /* of a thread; see rtthread.md */
#define RECORDER_RTTHREAD_NAME(thread) (((rt_object_t)(thread))->name)
#endif
#ifndef RECORDER_RTTHREAD_STATE /* from version 5.1 on, else thread->stat */
#ifdef RT_SCHED_CTX
#define RECORDER_RTTHREAD_STATE(thread) RT_SCHED_CTX(thread).stat
#else
#define RECORDER_RTTHREAD_STATE(thread) (thread)->stat
#endif
#endif

/* A thread that is closed does not come back; one that runs was preempted, or
 * yields; a ready one was made ready again before it left. */
static void recorder_rtthread_switch_(struct rt_thread *from,
                                      struct rt_thread *to)
{
    unsigned state = RECORDER_RTTHREAD_STATE(from) & RT_THREAD_STAT_MASK;
    recorder_switch(to, RECORDER_RTTHREAD_NAME(to), from,
                    state == RT_THREAD_CLOSE ? RECORDER_ENDED
                    : state == RT_THREAD_RUNNING || state == RT_THREAD_READY
                        ? RECORDER_PREEMPTED
                        : RECORDER_BLOCKED);
}
static void recorder_rtthread_resume_(rt_thread_t thread)
{
    recorder_switch_ready(thread, RECORDER_RTTHREAD_NAME(thread),
                          rt_thread_self());
}
static void recorder_rtthread_enter_(void)
{
    recorder_switch_enter(
        RECORDER_RTTHREAD_INTERRUPT(),
        RECORDER_RTTHREAD_INTERRUPT_NAME(RECORDER_RTTHREAD_INTERRUPT()), 0);
}
static void recorder_rtthread_leave_(void)
{
    recorder_switch_exit(
        RECORDER_RTTHREAD_INTERRUPT(),
        RECORDER_RTTHREAD_INTERRUPT_NAME(RECORDER_RTTHREAD_INTERRUPT()));
}

/* Sets the hooks: in a thread, or before the scheduler starts. */
static void recorder_rtthread_start(void)
{
    rt_base_t level = rt_hw_interrupt_disable();
    rt_thread_t self = rt_thread_self();
    if (self)
        recorder_switch_in(self, RECORDER_RTTHREAD_NAME(self));
    rt_scheduler_sethook(recorder_rtthread_switch_);
    rt_thread_resume_sethook(recorder_rtthread_resume_);
    rt_interrupt_enter_sethook(recorder_rtthread_enter_);
    rt_interrupt_leave_sethook(recorder_rtthread_leave_);
    rt_hw_interrupt_enable(level);
}

#endif
