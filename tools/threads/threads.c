/* threads.c - the threads of a source, with their stacks and waits. */
/* SPDX-License-Identifier: MIT */
#include "threads.h"
#include "recorded.h"

/* Adds recorded threads to the present ones. */
static const char *past_read(struct threads *threads, struct reader *reader)
{
    const char *wrong = NULL;
    if (reader)
        threads->recorded = recorded_read(reader, &wrong);
    if (wrong)
        return wrong;
    if (!threads->recorded)
        return threads->source->memory->stale_order
                   ? threads_wrong(
                         threads,
                         "is a recording without threads and locks, which "
                         "recorder run records; recorder list shows who "
                         "recorded")
                   : NULL;
    recorded_files(threads->recorded, threads->source);
    wrong = snapshots_extend(threads);
    if (wrong)
        return wrong;
    recorded_join(threads);
    threads_sort(threads);
    recorded_waits(threads);
    return NULL;
}

static const char *threads_read(struct threads *threads, struct reader *reader,
                                bool stop)
{
    const char *wrong = present_read(threads, stop);
    if (!wrong)
        wrong = past_read(threads, reader);
    if (wrong)
        return wrong;
    threads_join(threads);
    leaks_find(threads);
    peers_find(threads);
    for (size_t i = 0; i < threads->count; i++) {
        const struct wait *wait = &threads->all[i].wait;
        if (wait->holder != THREAD_NONE && wait->kind != WAIT_THREAD)
            threads->all[wait->holder].holds = true;
    }
    cycles_find(threads);
    return NULL;
}

const char *threads_open(struct threads *threads, struct source *source,
                         struct reader *reader, bool stop)
{
    const char *wrong = threads_begin(threads, source);
    if (!wrong)
        wrong = threads_read(threads, reader, stop);
    if (wrong)
        threads_close(threads);
    return wrong;
}

void threads_close(struct threads *threads)
{
    recorded_free(threads->recorded);
    peers_close(threads);
    present_close(threads);
}
