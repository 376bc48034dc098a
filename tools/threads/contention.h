/* contention.h - how long was waited, by locks, places and threads. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "recorded.h"

/* A row of waits: for an object, at a place, or by a thread. */
struct contention {
    uint64_t key; /* an object, a stack, or the index of a past */
    enum wait_kind kind;
    bool is_stack;  /* of a place: `key` is one's number; else a site */
    uint64_t taken; /* 0, unless it was counted */
    uint64_t waited, ns, longest_ns;
    uint64_t longest_site, longest_stack; /* 0: unknown */
    uint64_t object; /* of a place: the awaited object, if always the same */
    size_t *waiting; /* threads that wait now, by index */
    size_t waiting_count, waiting_max;
    bool goes_on;        /* a recorded wait has not ended: */
    uint64_t goes_on_ns; /* the longest wait of all */
};
struct contentions {
    struct contention *all;
    size_t count, max;
    struct ids ids;
    int64_t end_ns; /* until when waits that have not ended are counted */
};
enum contention_by { BY_OBJECT, BY_SITE, BY_THREAD, BY_NONE };

/* Sums up the waits, the longest first; BY_NONE: objects for which threads wait
 * now, most threads first, which needs no recording. Sums by objects are exact; sums by
 * places and threads count the waits that are kept. */
void contention_find(struct contentions *, const struct threads *,
                     enum contention_by);
void contention_free(struct contentions *);
/* The wait of the first thread that waits for an object. */
static inline const struct wait *waited_for(const struct threads *threads,
                                            const struct contention *row)
{
    return &threads->all[row->waiting[0]].wait;
}

/* How many threads ran at once, and for how long. */
struct activity {
    int64_t *levels; /* ns, by how many ran */
    size_t levels_count;
    int64_t begin_ns, end_ns;
    size_t alive, made, most;
};
void activity_find(struct activity *, const struct threads *);
void activity_free(struct activity *);
