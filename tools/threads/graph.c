/* graph.c - threads that wait for each other in a circle: deadlocks. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "threads.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A wait that ends by itself makes no deadlock. */
static size_t waits_for(const struct threads *threads, size_t i)
{
    const struct wait *wait = &threads->all[i].wait;
    return wait->timed ? THREAD_NONE : wait->holder;
}

static bool cycle_keep(struct threads *threads, size_t first, size_t count)
{
    struct cycle *cycles =
        array_room(threads->cycles, &threads->cycles_max,
                   threads->cycles_count + 1, sizeof *cycles);
    struct cycle *cycle;
    size_t at = first;
    if (!cycles)
        return false;
    threads->cycles = cycles;
    cycle = &cycles[threads->cycles_count];
    cycle->threads = calloc(count, sizeof *cycle->threads);
    if (!cycle->threads)
        return false;
    threads->cycles_count++;
    cycle->count = count;
    for (size_t i = 0; i < count; i++, at = waits_for(threads, at))
        cycle->threads[i] = at;
    return true;
}

/* Each thread waits for at most one: who walks on from each, once over each,
 * and comes to a thread of the same walk, has found a circle. */
static bool cycles_collect(struct threads *threads)
{
    size_t *walk = calloc(threads->count + 1, sizeof *walk), at, end, count;
    bool whole = walk != NULL;
    for (size_t i = 0; i < threads->count && whole; i++) {
        for (at = i; at != THREAD_NONE && !walk[at];
             at = waits_for(threads, at))
            walk[at] = i + 1;
        if (at == THREAD_NONE || walk[at] != i + 1)
            continue;
        count = 1;
        for (end = waits_for(threads, at); end != at && end != THREAD_NONE;
             end = waits_for(threads, end))
            count++;
        whole = cycle_keep(threads, at, count);
    }
    free(walk);
    return whole;
}

/* Is it true of one moment? All of its threads are looked at, then who holds
 * what they wait for, then all threads again: if none ran from the first looks
 * to the last, all waited, for those holders, at once. */
static bool cycle_stands(struct threads *threads, const struct cycle *cycle)
{
    struct thread *looks = calloc(cycle->count, sizeof *looks);
    bool stands = looks != NULL;
    for (size_t i = 0; i < cycle->count && stands; i++) {
        const struct thread *thread = &threads->all[cycle->threads[i]];
        looks[i].id = thread->id;
        stands = process_look(threads, &looks[i]) && looks[i].in_call &&
                 looks[i].call == thread->call &&
                 memcmp(looks[i].arguments, thread->arguments,
                        sizeof thread->arguments) == 0;
    }
    for (size_t i = 0; i < cycle->count && stands; i++) {
        struct wait wait = threads->all[cycle->threads[i]].wait;
        wait_holder(threads, &wait);
        stands = wait.holder == cycle->threads[(i + 1) % cycle->count];
    }
    for (size_t i = 0; i < cycle->count && stands; i++)
        stands = process_stood(threads, &looks[i]);
    free(looks);
    return stands;
}

/* Tries a few times: threads that were stopped, or that a signal interrupts,
 * run before they wait on. */
static bool cycle_lasts(struct threads *threads, const struct cycle *cycle)
{
    static const long waits_ns[] = {1000000, 10000000, 50000000};
    for (size_t i = 0; i < sizeof waits_ns / sizeof *waits_ns; i++) {
        const struct timespec wait = {.tv_nsec = waits_ns[i]};
        nanosleep(&wait, NULL);
        if (cycle_stands(threads, cycle))
            return true;
    }
    return false;
}

const char *cycles_find(struct threads *threads)
{
    size_t kept = 0;
    if (!cycles_collect(threads))
        return threads_wrong(threads, "there is no memory for it");
    for (size_t i = 0; i < threads->cycles_count; i++) {
        struct cycle *cycle = &threads->cycles[i];
        if (threads->source->pid && !cycle_lasts(threads, cycle)) {
            free(cycle->threads);
            continue;
        }
        for (size_t k = 0; k < cycle->count; k++)
            threads->all[cycle->threads[k]].in_deadlock = true;
        threads->cycles[kept++] = *cycle;
    }
    threads->cycles_count = kept;
    return NULL;
}
