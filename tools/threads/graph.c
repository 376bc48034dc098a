/* graph.c - threads that wait for each other in a circle: deadlocks. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "recorded.h"

/* Returns the i-th thread that a thread waits for; THREAD_NONE: no more. A wait
 * with a timeout or with an unsure holder makes no deadlock, nor does one by the
 * mixed stack of a thread that ran. */
static size_t waits_for(const struct threads *threads, size_t thread, size_t i)
{
    const struct wait *wait = &threads->all[thread].wait;
    return wait->timed || wait->unsure || threads->all[thread].moved
               ? THREAD_NONE
               : threads_holder(threads, wait, i);
}

/* A walk along the waits: the threads on its way, and their next waits. */
struct walk {
    struct step {
        size_t thread, next;
    } * way;
    size_t count;
    unsigned char *seen; /* of each thread: 0, ON_WAY or DONE */
};
enum { ON_WAY = 1, DONE };

/* Keeps the end of the way, from a thread on, as a circle. */
static void cycle_keep(struct threads *threads, const struct walk *walk,
                       size_t from)
{
    struct cycle *cycle;
    size_t at = walk->count, *of;
    while (walk->way[at - 1].thread != from)
        at--;
    of = need(calloc(walk->count - at + 1, sizeof *of));
    cycle =
        array_add(threads->cycles, threads->cycles_count, threads->cycles_max);
    cycle->threads = of;
    cycle->count = walk->count - at + 1;
    for (size_t i = 0; i < cycle->count; i++)
        cycle->threads[i] = walk->way[at - 1 + i].thread;
}

/* Walks on from a thread, depth first: a thread that is already on the way
 * closes a circle. */
static void walk_from(struct threads *threads, struct walk *walk, size_t thread)
{
    walk->count = 0;
    for (;;) {
        struct step *step;
        size_t next;
        if (!walk->seen[thread]) {
            walk->seen[thread] = ON_WAY;
            walk->way[walk->count++] = (struct step){thread, 0};
        }
        step = &walk->way[walk->count - 1];
        next = waits_for(threads, step->thread, step->next++);
        if (next == THREAD_NONE) {
            walk->seen[step->thread] = DONE;
            if (--walk->count == 0)
                return;
            thread = walk->way[walk->count - 1].thread;
        } else if (!walk->seen[next]) {
            thread = next;
        } else if (walk->seen[next] == ON_WAY) {
            cycle_keep(threads, walk, next);
        }
    }
}

static void cycles_collect(struct threads *threads)
{
    struct walk walk = {.way =
                            need(calloc(threads->count + 1, sizeof *walk.way)),
                        .seen = need(calloc(threads->count + 1, 1))};
    for (size_t i = 0; i < threads->count; i++)
        if (!walk.seen[i])
            walk_from(threads, &walk, i);
    free(walk.way);
    free(walk.seen);
}

/* True if a thread is still in the same call. */
static bool look_same(struct threads *threads, const struct thread *thread,
                      struct thread *look)
{
    return process_look(threads, look) && look->in_call &&
           look->call == thread->call &&
           memcmp(look->arguments, thread->arguments,
                  sizeof thread->arguments) == 0;
}

static bool holder_same(struct threads *threads, const struct thread *thread)
{
    struct thread now = *thread;
    const struct wait *was = &thread->wait;
    if (was->processes_count) {
        file_lock_find(threads, &now);
        return now.wait.processes_count == was->processes_count &&
               now.wait.processes[0] == was->processes[0];
    }
    wait_holder(threads, &now.wait);
    return now.wait.holder_id == was->holder_id;
}

bool thread_waits_still(struct threads *threads, size_t thread)
{
    const struct thread *one = &threads->all[thread];
    struct thread look = {.id = one->id};
    threads = thread_home(threads, one);
    return one->past || !threads->source->pid ||
           (look_same(threads, one, &look) && holder_same(threads, one) &&
            process_stood(threads, &look));
}

/* True if the kernel agrees that a recorded wait continues. A thread that left
 * its lock's function by longjmp() runs, or waits elsewhere. */
static bool is_blocked(struct threads *threads, const struct thread *thread)
{
    struct thread look = {.id = thread->id};
    return !threads->source->pid || thread->wait.kind == WAIT_SPIN ||
           !process_look(threads, &look) || wait_may_be_futex(threads, &look);
}

/* True if the cycle existed at one moment. All threads are looked at, then the
 * holders, then all threads again: if none ran from the first looks to the
 * last, all waited for those holders at the same time. */
static bool cycle_stands(struct threads *threads, const struct cycle *cycle)
{
    struct thread *looks = need(calloc(cycle->count, sizeof *looks));
    struct recorded *now = recorded_again(threads, "thread_now"), *held, *then;
    bool lasts = true;
    for (size_t i = 0; i < cycle->count && lasts; i++) {
        const struct thread *thread = &threads->all[cycle->threads[i]];
        looks[i].id = thread->id;
        lasts =
            thread->past
                ? recorded_still(now, thread) && is_blocked(threads, thread)
                : look_same(thread_home(threads, thread), thread, &looks[i]);
    }
    held = recorded_again(threads, "thread_held");
    for (size_t i = 0; i < cycle->count && lasts; i++) {
        const struct thread *thread = &threads->all[cycle->threads[i]];
        size_t next = cycle->threads[(i + 1) % cycle->count];
        lasts = thread->past
                    ? recorded_holds(threads, held, thread, &threads->all[next])
                    : holder_same(thread_home(threads, thread), thread);
    }
    then = recorded_again(threads, "thread_now");
    for (size_t i = 0; i < cycle->count && lasts; i++) {
        const struct thread *thread = &threads->all[cycle->threads[i]];
        lasts = thread->past
                    ? recorded_still(then, thread)
                    : process_stood(thread_home(threads, thread), &looks[i]);
    }
    recorded_free(now);
    recorded_free(held);
    recorded_free(then);
    free(looks);
    return lasts;
}

/* Tries a few times: stopped or interrupted threads run before they wait
 * again. */
static bool cycle_lasts(struct threads *threads, const struct cycle *cycle)
{
    static const uint64_t waits_ns[] = {1000000, 10000000, 50000000};
    for (size_t i = 0; i < sizeof waits_ns / sizeof *waits_ns; i++) {
        sleep_ns(waits_ns[i]);
        if (cycle_stands(threads, cycle))
            return true;
    }
    return false;
}

void cycles_find(struct threads *threads)
{
    size_t kept = 0;
    cycles_collect(threads);
    for (size_t i = 0; i < threads->cycles_count; i++) {
        struct cycle *cycle = &threads->cycles[i];
        /* A recording's program may run, too. */
        if (threads->source->memory->live && !cycle_lasts(threads, cycle)) {
            free(cycle->threads);
            continue;
        }
        for (size_t k = 0; k < cycle->count; k++)
            cycle->perhaps |= threads->all[cycle->threads[k]].wait.id_again;
        for (size_t k = 0; k < cycle->count; k++)
            threads->all[cycle->threads[k]].in_deadlock = !cycle->perhaps;
        threads->cycles[kept++] = *cycle;
    }
    threads->cycles_count = kept;
}
