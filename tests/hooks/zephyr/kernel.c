/* kernel.c - a stand-in for a kernel: it chooses threads, and counts. */
/* SPDX-License-Identifier: MIT */
#include <zephyr/kernel.h>

#include <stdbool.h>
#include <string.h>

#include "../standin.h"

enum {
    THREADS = 5,
    WAITS = _THREAD_PENDING | _THREAD_SLEEPING | _THREAD_SUSPENDED
};
static struct k_thread threads[THREADS], *current, *copy;
#ifdef RECORDER_ZEPHYR_ARGUMENTS
#define THREAD current
#define NESTED 0
#else
#define THREAD
#define NESTED
#endif

k_tid_t k_current_get(void)
{
    return copy;
}
k_tid_t k_sched_current_thread_query(void)
{
    return current;
}
const char *k_thread_name_get(k_tid_t thread)
{
    return thread->name;
}

/* Thread 0 is the idle one. */
static k_tid_t choose(void)
{
    unsigned first = random_below(THREADS), i;
    for (i = 0; i < THREADS; i++) {
        k_tid_t thread = &threads[(first + i) % THREADS];
        if (thread != threads && thread->base.thread_state == _THREAD_QUEUED)
            return thread;
    }
    return threads;
}

static void swap(void)
{
    k_tid_t from = current, to = choose();
    if (to == from)
        return;
    sys_trace_thread_switched_out_user(THREAD);
    from->preempted += from->base.thread_state == _THREAD_QUEUED;
    from->blocked += (from->base.thread_state & WAITS) != 0;
    current = to;
    to->runs++;
    sys_trace_thread_switched_in_user(THREAD);
    copy = to;
}

int main(int argc, char **argv)
{
    static const uint8_t waits[] = {_THREAD_PENDING, _THREAD_SLEEPING,
                                    _THREAD_SUSPENDED};
    static const char *const names[] = {"idle", "a", "b", "c", "d"};
    unsigned i, k, ticks = 0, ended = 0;
    for (i = 0; i < THREADS; i++) {
        strcpy(threads[i].name, names[i]);
        threads[i].base.thread_state = _THREAD_QUEUED;
    }
    current = threads;
    current->runs++;
    sys_trace_thread_switched_in_user(THREAD);
    copy = current;
    for (i = 0; i < 3000; i++) {
        if (random_below(2) == 0) {
            if (current == threads && random_below(2))
                sys_trace_idle_user();
            sys_trace_isr_enter_user(NESTED);
            ticks++;
            for (k = 0; k < THREADS; k++)
                if ((threads[k].base.thread_state & WAITS) &&
                    random_below(4) == 0) {
                    threads[k].base.thread_state = _THREAD_QUEUED;
                    sys_trace_thread_sched_ready_user(&threads[k]);
                }
            sys_trace_isr_exit_user(NESTED);
            swap();
        } else if (current != threads) {
            current->base.thread_state = waits[random_below(3)];
            swap();
        }
        if (i >= 2000 && !ended && current != &threads[1]) {
            ended++;
            sys_trace_thread_abort_user(&threads[1]);
            threads[1].base.thread_state = _THREAD_DEAD;
        }
        if (i >= 2500 && ended == 1 && current != threads) {
            ended++;
            sys_trace_thread_abort_user(current);
            current->base.thread_state = _THREAD_DEAD;
            swap();
        }
    }
    for (i = 0; i < THREADS; i++)
        printf("%s %u %u %u\n", threads[i].name, threads[i].runs,
               threads[i].blocked, threads[i].preempted);
    printf("tick %u\n", ticks);
    return ask(argc, argv);
}
