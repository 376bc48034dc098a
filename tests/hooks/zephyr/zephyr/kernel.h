/* kernel.h - a stand-in for the names that recorder_zephyr.h relies on. */
/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdint.h>

#define CONFIG_THREAD_NAME 1

#define _THREAD_PENDING (1u << 1)
#define _THREAD_SLEEPING (1u << 2)
#define _THREAD_DEAD (1u << 3)
#define _THREAD_SUSPENDED (1u << 4)
#define _THREAD_QUEUED (1u << 7)

struct k_thread {
    struct {
        uint8_t thread_state;
    } base;
    char name[32];
    unsigned runs, blocked, preempted;
};
typedef struct k_thread *k_tid_t;

/* The first may be a thread-local copy, which is that of another thread while
 * the kernel switches. */
k_tid_t k_current_get(void);
k_tid_t k_sched_current_thread_query(void);
const char *k_thread_name_get(k_tid_t thread);

#ifdef RECORDER_ZEPHYR_ARGUMENTS /* as they were before */
void sys_trace_thread_switched_in_user(struct k_thread *thread);
void sys_trace_thread_switched_out_user(struct k_thread *thread);
void sys_trace_isr_enter_user(int nested_interrupts);
void sys_trace_isr_exit_user(int nested_interrupts);
#else
void sys_trace_thread_switched_in_user(void);
void sys_trace_thread_switched_out_user(void);
void sys_trace_isr_enter_user(void);
void sys_trace_isr_exit_user(void);
#endif
void sys_trace_thread_sched_ready_user(struct k_thread *thread);
void sys_trace_thread_abort_user(struct k_thread *thread);
void sys_trace_idle_user(void);

#endif
