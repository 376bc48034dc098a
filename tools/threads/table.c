/* table.c - the table of threads, and the index by which locks name them. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "threads.h"

const char *threads_wrong(struct threads *threads, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(threads->why, sizeof threads->why, format, arguments);
    va_end(arguments);
    return threads->why;
}

size_t threads_holder(const struct threads *threads, const struct wait *wait,
                      size_t i)
{
    if (i < wait->holders_count)
        return threads->holders[wait->holders_at + i];
    return i == 0 ? wait->holder : THREAD_NONE;
}

struct thread *threads_add(struct threads *threads)
{
    threads->too_many = threads->count == THREADS_SHOWN_MAX;
    return threads->too_many
               ? NULL
               : array_add(threads->all, threads->count, threads->max);
}

void threads_sort(struct threads *threads)
{
    bool is_new;
    ids_free(&threads->by_inside);
    for (size_t i = 0; i < threads->count; i++) {
        size_t *to;
        if (threads->all[i].ended)
            continue;
        to = array_at_key(threads->inside, &threads->by_inside,
                          threads->inside_max, (uint32_t)threads->all[i].inside,
                          0, 0, &is_new);
        *to = i;
    }
}

size_t threads_index(const struct threads *threads, int32_t inside)
{
    size_t at = ids_find(&threads->by_inside, (uint32_t)inside, 0, 0);
    return at == IDS_NONE ? THREAD_NONE : threads->inside[at];
}

/* ---------------------------------------------------------------- stacks -- */

static int stack_compare(const struct thread *a, const struct thread *b)
{
    return array_order(
        a->frames_count, b->frames_count,
        memcmp(a->frames, b->frames, a->frames_count * sizeof *a->frames));
}

static int stack_compare_at(const void *a, const void *b)
{
    const struct thread *const *left = a, *const *right = b;
    int result = stack_compare(*left, *right);
    return result ? result : array_order(*left, *right, 0);
}

/* Notes the first thread with the same stack for each thread. */
void threads_join(struct threads *threads)
{
    struct thread **sorted = need(calloc(threads->count + 1, sizeof *sorted));
    struct thread *first = NULL;
    for (size_t i = 0; i < threads->count; i++)
        sorted[i] = &threads->all[i];
    array_sort(sorted, threads->count, stack_compare_at);
    for (size_t i = 0; i < threads->count; i++) {
        if (!first || stack_compare(first, sorted[i]) != 0) {
            first = sorted[i];
            threads->stacks_count += first->frames_count != 0;
        }
        sorted[i]->stack = (size_t)(first - threads->all);
    }
    free(sorted);
}
