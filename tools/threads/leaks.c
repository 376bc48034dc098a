/* leaks.c - locks that no thread can release: their holders have ended. */
/* SPDX-License-Identifier: MIT */
/*
   A lock knows its holder by a kernel id. After that thread has ended, the
   kernel gives the id to an innocent thread sooner or later. The kernel counts
   ids upwards and then starts again: an older thread with a higher id shows
   that this may have happened.
*/
#include "array.h"
#include "threads.h"

/* A thread's birth, in an array that is sorted by it. */
struct age {
    uint64_t born; /* by the kernel's number of the thread, else by its clock */
    struct thread *thread;
};

/* Marks the threads whose ids may have been used before: an older one has a
 * higher id. */
static void ids_mark(struct threads *threads)
{
    struct age *ages = need(calloc(threads->count + 1, sizeof *ages));
    bool exact = true;
    int32_t highest = 0, before = 0;
    for (size_t i = 0; i < threads->count; i++) {
        process_age(&threads->all[i], threads->source->pid);
        exact &= threads->all[i].born != 0;
    }
    for (size_t i = 0; i < threads->count; i++) {
        struct thread *thread = &threads->all[i];
        ages[i] = (struct age){exact ? thread->born : thread->started, thread};
    }
    array_sort(ages, threads->count, array_compare);
    for (size_t i = 0; i < threads->count; i++) {
        struct thread *thread = ages[i].thread;
        if (i && ages[i - 1].born != ages[i].born)
            before = highest;
        thread->id_again = before > thread->inside;
        if (thread->inside > highest)
            highest = thread->inside;
    }
    free(ages);
}

/* Marks a wait for a lock whose holder is doubtful or has ended. */
static void wait_judge(struct threads *threads, size_t which)
{
    struct wait *wait = &threads->all[which].wait;
    const struct thread *holder =
        wait->holder == THREAD_NONE ? NULL : &threads->all[wait->holder];
    if (!holder)
        wait->lost = wait->is_private && threads->source->pid &&
                     !process_has(threads, wait->holder_id);
    else if (holder->state == 'Z' || holder->state == 'X')
        wait->lost = true;
    else
        wait->id_again = holder->id_again;
    if (wait->lost && !thread_waits_still(threads, which))
        wait->lost = false;
}

void leaks_find(struct threads *threads)
{
    bool marked = !threads->source->pid;
    for (size_t i = 0; i < threads->count; i++) {
        const struct wait *wait = &threads->all[i].wait;
        if (threads->all[i].past || wait->holder_id <= 0 ||
            wait->kind == WAIT_THREAD)
            continue;
        if (!marked)
            ids_mark(threads);
        marked = true;
        wait_judge(threads, i);
    }
}
