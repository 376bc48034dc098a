/* rtthread.h - a stand-in for the names that recorder_rtthread.h relies on. */
/* SPDX-License-Identifier: MIT */
#ifndef RTTHREAD_H
#define RTTHREAD_H

#include <stddef.h>

enum {
    RT_THREAD_INIT = 0,
    RT_THREAD_CLOSE = 1,
    RT_THREAD_READY = 2,
    RT_THREAD_RUNNING = 3,
    RT_THREAD_SUSPEND = 4,
    RT_THREAD_STAT_MASK = 7,
    RT_THREAD_STAT_YIELD = 8
};

typedef long rt_base_t;
typedef struct rt_object {
    char name[24];
} *rt_object_t;
struct rt_sched_context {
    unsigned char stat;
};
typedef struct rt_thread {
    struct rt_object parent;
#ifdef OLD
    unsigned char stat;
#else
    struct rt_sched_context sched_thread_ctx;
#endif
    unsigned runs, blocked, preempted;
} *rt_thread_t;
#ifdef OLD
#define STATE(thread) (thread)->stat
#else
#define RT_SCHED_CTX(thread) ((thread)->sched_thread_ctx)
#define STATE(thread) RT_SCHED_CTX(thread).stat
#endif

rt_thread_t rt_thread_self(void);
void rt_scheduler_sethook(void (*hook)(struct rt_thread *from,
                                       struct rt_thread *to));
void rt_thread_resume_sethook(void (*hook)(rt_thread_t thread));
void rt_interrupt_enter_sethook(void (*hook)(void));
void rt_interrupt_leave_sethook(void (*hook)(void));

#endif
