/* recorder_zephyr.h - what Zephyr's scheduler does, recorded. */
/* SPDX-License-Identifier: MIT */
/*
 * Include it in one C file, behind zephyr/kernel.h; zephyr.md has the other
 * lines. It defines the functions that CONFIG_TRACING_USER calls.
 */
#ifndef RECORDER_ZEPHYR_H
#define RECORDER_ZEPHYR_H

#include "recorder_switch.h"

#ifndef RECORDER_ZEPHYR_VECTOR /* of the interrupt that runs */
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define RECORDER_ZEPHYR_VECTOR() recorder_zephyr_vector_()
RECORDER_INLINE_ uintptr_t recorder_zephyr_vector_(void)
{
    uintptr_t exception;
    __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
    return exception;
}
#else
#define RECORDER_ZEPHYR_VECTOR() 0
#endif
#endif
#ifndef RECORDER_ZEPHYR_INTERRUPT /* its name */
#define RECORDER_ZEPHYR_INTERRUPT(vector) "interrupt"
#endif

#ifdef CONFIG_THREAD_NAME
#define RECORDER_ZEPHYR_NAME_(thread) k_thread_name_get(thread)
#else
#define RECORDER_ZEPHYR_NAME_(thread) "thread"
#endif

void sys_trace_thread_switched_in_user(void);
void sys_trace_thread_switched_out_user(void);
void sys_trace_thread_sched_ready_user(struct k_thread *thread);
void sys_trace_thread_abort_user(struct k_thread *thread);
void sys_trace_isr_enter_user(void);
void sys_trace_isr_exit_user(void);
void sys_trace_idle_user(void);

void sys_trace_thread_switched_in_user(void)
{
    k_tid_t thread = k_current_get();
    recorder_switch_in(thread, RECORDER_ZEPHYR_NAME_(thread));
}

/* The current thread is still the one that leaves: its state has no bit where
 * it could go on, except that it stands in the queue of those that could. */
void sys_trace_thread_switched_out_user(void)
{
    k_tid_t thread = k_current_get();
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
                          k_current_get());
}

/* One that aborts itself is told of when it leaves. */
void sys_trace_thread_abort_user(struct k_thread *thread)
{
    if (thread != k_current_get())
        recorder_switch_out(thread, RECORDER_ZEPHYR_NAME_(thread),
                            RECORDER_ENDED);
}

void sys_trace_isr_enter_user(void)
{
    recorder_switch_enter(RECORDER_ZEPHYR_VECTOR(),
                          RECORDER_ZEPHYR_INTERRUPT(RECORDER_ZEPHYR_VECTOR()),
                          0);
}
void sys_trace_isr_exit_user(void)
{
    recorder_switch_exit(RECORDER_ZEPHYR_VECTOR(),
                         RECORDER_ZEPHYR_INTERRUPT(RECORDER_ZEPHYR_VECTOR()));
}

/* Nothing tells of the end of idle: the next interrupt or switch does. */
void sys_trace_idle_user(void)
{
    recorder_switch_sleep();
}

#endif
