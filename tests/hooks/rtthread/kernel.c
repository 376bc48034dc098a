/* kernel.c - a stand-in for a kernel: it chooses threads, and counts. */
/* SPDX-License-Identifier: MIT */
#include <rtthread.h>
#include <rthw.h>

#include "../standin.h"

enum { THREADS = 5 };
static struct rt_thread threads[THREADS], *current = &threads[0];

static void (*scheduler_hook)(struct rt_thread *, struct rt_thread *);
static void (*resume_hook)(rt_thread_t);
static void (*enter_hook)(void), (*leave_hook)(void);

void board_init(void);
rt_thread_t rt_thread_self(void)
{
    return current;
}
rt_base_t rt_hw_interrupt_disable(void)
{
    return 1;
}
void rt_hw_interrupt_enable(rt_base_t level)
{
    (void)level;
}
void rt_scheduler_sethook(void (*hook)(struct rt_thread *, struct rt_thread *))
{
    scheduler_hook = hook;
}
void rt_thread_resume_sethook(void (*hook)(rt_thread_t))
{
    resume_hook = hook;
}
void rt_interrupt_enter_sethook(void (*hook)(void))
{
    enter_hook = hook;
}
void rt_interrupt_leave_sethook(void (*hook)(void))
{
    leave_hook = hook;
}

/* The first thread that is ready, from one by chance on; idle always is. */
static struct rt_thread *choose(void)
{
    unsigned first = random_below(THREADS), i;
    for (i = 0; i < THREADS; i++) {
        struct rt_thread *thread = &threads[(first + i) % THREADS];
        if (thread != &threads[0] && (STATE(thread) == RT_THREAD_READY ||
                                      STATE(thread) == RT_THREAD_RUNNING))
            return thread;
    }
    return &threads[0];
}

/* As there: the hook comes before the states change, and only if another thread
 * is next. */
static void schedule(void)
{
    struct rt_thread *from = current, *to = choose();
    if (to == from)
        return;
    current = to;
    scheduler_hook(from, to);
    to->runs++;
    from->preempted += (STATE(from) & RT_THREAD_STAT_MASK) == RT_THREAD_RUNNING;
    from->blocked += (STATE(from) & RT_THREAD_STAT_MASK) == RT_THREAD_SUSPEND;
    if ((STATE(from) & RT_THREAD_STAT_MASK) == RT_THREAD_RUNNING)
        STATE(from) = RT_THREAD_READY;
    STATE(to) = RT_THREAD_RUNNING;
}

static void resume(struct rt_thread *thread)
{
    STATE(thread) = RT_THREAD_READY;
    resume_hook(thread);
}

static void interrupt(void)
{
    unsigned i;
    enter_hook();
    for (i = 0; i < THREADS; i++)
        if (STATE(&threads[i]) == RT_THREAD_SUSPEND && random_below(4) == 0)
            resume(&threads[i]);
    leave_hook();
}

int main(int argc, char **argv)
{
    unsigned i, ticks = 0, ended = 0;
    for (i = 0; i < THREADS; i++)
        snprintf(threads[i].parent.name, sizeof threads[i].parent.name,
                 "thread %u", i);
    STATE(&threads[0]) = RT_THREAD_RUNNING;
    threads[0].runs = 1;
    board_init();
    for (i = 1; i < THREADS; i++)
        resume(&threads[i]);
    for (i = 0; i < 3000; i++) {
        if (random_below(2) == 0) {
            interrupt();
            ticks++;
        } else if (current != &threads[0]) {
            STATE(current) = random_below(3) ? RT_THREAD_SUSPEND
                                             : RT_THREAD_RUNNING |
                                                   RT_THREAD_STAT_YIELD;
            if (i >= 2000 && ended < 2 && i >= 2000 + 500 * ended) {
                STATE(current) = RT_THREAD_CLOSE;
                ended++;
            }
        }
        schedule();
        STATE(current) &= RT_THREAD_STAT_MASK;
    }
    for (i = 0; i < THREADS; i++)
        printf("%s %u %u %u\n", threads[i].parent.name, threads[i].runs,
               threads[i].blocked, threads[i].preempted);
    printf("tick %u\n", ticks);
    return ask(argc, argv);
}
