/* recorder_zephyr.h - records the actions of Zephyr's scheduler. */
/* SPDX-License-Identifier: MIT */
/*
 * Include it in one C file, after zephyr/kernel.h; zephyr.md has the other
 * lines. It defines the functions that CONFIG_TRACING_USER calls.
 */
#ifndef RECORDER_ZEPHYR_H
#define RECORDER_ZEPHYR_H

#include "recorder_switch.h"
#include "recorder_vector.h"

#ifndef RECORDER_ZEPHYR_VECTOR /* of the interrupt that runs */
#define RECORDER_ZEPHYR_VECTOR() recorder_vector_()
#endif
#ifndef RECORDER_ZEPHYR_INTERRUPT /* its name */
#define RECORDER_ZEPHYR_INTERRUPT(vector) "interrupt"
#endif

#ifdef CONFIG_THREAD_NAME
#define RECORDER_ZEPHYR_NAME_(thread) k_thread_name_get(thread)
#else
#define RECORDER_ZEPHYR_NAME_(thread) "thread"
#endif

/* Before, four of these functions had an argument. */
#ifdef RECORDER_ZEPHYR_ARGUMENTS
#define RECORDER_ZEPHYR_THREAD_ __attribute__((unused)) struct k_thread *of
#define RECORDER_ZEPHYR_NESTED_ __attribute__((unused)) int nested
#else
#define RECORDER_ZEPHYR_THREAD_ void
#define RECORDER_ZEPHYR_NESTED_ void
#endif
/* While the kernel switches, k_current_get() may be the thread-local copy of
 * another thread. */
#ifndef RECORDER_ZEPHYR_CURRENT
#define RECORDER_ZEPHYR_CURRENT() k_sched_current_thread_query()
#endif

void sys_trace_thread_switched_in_user(RECORDER_ZEPHYR_THREAD_);
void sys_trace_thread_switched_out_user(RECORDER_ZEPHYR_THREAD_);
void sys_trace_thread_sched_ready_user(struct k_thread *thread);
void sys_trace_thread_abort_user(struct k_thread *thread);
void sys_trace_isr_enter_user(RECORDER_ZEPHYR_NESTED_);
void sys_trace_isr_exit_user(RECORDER_ZEPHYR_NESTED_);
void sys_trace_idle_user(void);

void sys_trace_thread_switched_in_user(RECORDER_ZEPHYR_THREAD_)
{
    k_tid_t thread = RECORDER_ZEPHYR_CURRENT();
    recorder_switch_in(thread, RECORDER_ZEPHYR_NAME_(thread));
}

/* The current thread is still the outgoing one. No pending bit, and queued as
 * ready: it was preempted. */
void sys_trace_thread_switched_out_user(RECORDER_ZEPHYR_THREAD_)
{
    k_tid_t thread = RECORDER_ZEPHYR_CURRENT();
    unsigned state = thread->base.thread_state;
    recorder_switch_out(thread, RECORDER_ZEPHYR_NAME_(thread),
                        state & _THREAD_DEAD ? RECORDER_ENDED
                        : state & ~(unsigned)_THREAD_QUEUED
                            ? RECORDER_BLOCKED
                            : RECORDER_PREEMPTED);
}

void sys_trace_thread_sched_ready_user(struct k_thread *thread)
{
    recorder_switch_ready(thread, RECORDER_ZEPHYR_NAME_(thread),
                          RECORDER_ZEPHYR_CURRENT());
}

/* A thread that aborts itself is recorded when it leaves. */
void sys_trace_thread_abort_user(struct k_thread *thread)
{
    if (thread != RECORDER_ZEPHYR_CURRENT())
        recorder_switch_out(thread, RECORDER_ZEPHYR_NAME_(thread),
                            RECORDER_ENDED);
}

void sys_trace_isr_enter_user(RECORDER_ZEPHYR_NESTED_)
{
    recorder_switch_enter(RECORDER_ZEPHYR_VECTOR(),
                          RECORDER_ZEPHYR_INTERRUPT(RECORDER_ZEPHYR_VECTOR()),
                          0);
}
void sys_trace_isr_exit_user(RECORDER_ZEPHYR_NESTED_)
{
    recorder_switch_exit(RECORDER_ZEPHYR_VECTOR(),
                         RECORDER_ZEPHYR_INTERRUPT(RECORDER_ZEPHYR_VECTOR()));
}

/* The end of idle has no hook: the next interrupt or switch records it. */
void sys_trace_idle_user(void)
{
    recorder_switch_sleep();
}

#endif
