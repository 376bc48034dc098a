/* steps.c: the price of each step of a record, one after the other. */
/* SPDX-License-Identifier: MIT */
/* Each benchmark is the one before it plus one step; the last is the real
 * record. A difference is the price of a step after all earlier ones. A
 * processor that overlaps steps may run the step alone in another time. */
#include "../recorder.h"
#include "shim.h"

#include <stdlib.h>

#ifndef BY
#define BY "" /* the source of sequence numbers, in the names of benchmarks */
#endif
#ifdef RECORDER_CLOCKED_
#define STEP_CLOCK() recorder_order_ticks_()
#define STEP_ORDER(time, position)                                             \
    recorder_order_take_(&last, (position) == OWNED,                           \
                         (time) >> RECORDER_UNIT_TICKS_, 1)
#else
#define STEP_CLOCK() RECORDER_TIME()
#define STEP_ORDER(time, position) recorder_add_(&last, 1)
#endif

enum { SLOTS = 1024 };
RECORDER(stepped, SLOTS, "A record in a ring of all threads");
RECORDER_LANES(stepped_lanes, SLOTS, 4, "A record in a lane of its thread");

static uintptr_t last __attribute__((aligned(RECORDER_CACHE_LINE)));
static struct {
    uintptr_t write __attribute__((aligned(RECORDER_CACHE_LINE)));
    struct recorder_record records[SLOTS]
        __attribute__((aligned(RECORDER_CACHE_LINE)));
    uintptr_t commits[SLOTS];
} flat __attribute__((aligned(RECORDER_CACHE_LINE)));

enum steps { CLOCK, WORDS, OWNED, LOCKED, ORDER, COMMIT };

/* One copy for each number of steps and each kind of position. */
static inline __attribute__((always_inline)) void
step(enum steps steps, enum steps position, const char *format, long i, long n)
{
    uintptr_t time = STEP_CLOCK(), order = 0, at = (uintptr_t)i, lap;
    uintptr_t *commit;
    struct recorder_record *to;
    if (steps == CLOCK) {
        BENCH_USE(time);
        return;
    }
    if (steps >= ORDER)
        order = STEP_ORDER(time, position);
    if (steps >= OWNED)
        at = position == OWNED ? recorder_add_owned_(&flat.write, 1)
                               : recorder_add_(&flat.write, 1);
    to = &flat.records[at % SLOTS];
    commit = &flat.commits[at % SLOTS];
    lap = at / SLOTS * SLOTS << RECORDER_THREAD_BITS_;
    if (steps >= COMMIT) {
        if (__atomic_load_n(commit, __ATOMIC_ACQUIRE) > lap)
            return; /* a younger record: never, with one thread */
        recorder_put_(commit, lap | 1);
        recorder_fence_release_();
    }
    recorder_put_(&to->format, (uintptr_t)format);
    recorder_put_(&to->order, order);
    recorder_put_(&to->time, time);
    recorder_put_(&to->caller, (uintptr_t)__builtin_return_address(0));
    recorder_put_(&to->argument[0], (uintptr_t)i);
    recorder_put_(&to->argument[1], (uintptr_t)n);
    recorder_put_(&to->argument[2], 3);
    recorder_put_(&to->argument[3], 4);
    if (steps >= COMMIT)
        __atomic_store_n(commit, lap, __ATOMIC_RELEASE);
}
#define STEPS(name, steps, position, text)                                     \
    __attribute__((noinline)) static void name##_one(const char *format,       \
                                                     long i, long n)           \
    {                                                                          \
        step(steps, position, format, i, n);                                   \
    }                                                                          \
    static void name(long n, int thread)                                       \
    {                                                                          \
        (void)thread;                                                          \
        for (long i = 0; i < n; i++)                                           \
            name##_one("%ld of %ld, %d, %d", i, n);                            \
    }                                                                          \
    BENCH(name, "steps/" text BY)

STEPS(clock, CLOCK, OWNED, "the clock")
STEPS(words, WORDS, OWNED, "and 8 words")
STEPS(owned, OWNED, OWNED, "and a private position")
STEPS(owned_order, ORDER, OWNED, "and an order: the floor of a lane")
STEPS(owned_commit, COMMIT, OWNED, "and a commit word: never torn")
/* The main thread runs all benchmarks of one thread. It takes its lane before
 * others do: there are few lanes, and lane 0 is shared by all. */
__attribute__((constructor)) static void take_lane(void)
{
    recorder_thread_name("bench");
}
static void must_own_lane(int thread)
{
    (void)thread;
    if (!recorder_writer_lane_(recorder_writer_(&recorder_for_stepped_lanes)))
        abort();
}
static void lane(long n, int thread)
{
    (void)thread;
    for (long i = 0; i < n; i++)
        record(stepped_lanes, "%ld of %ld, %d, %d", i, n, 3, 4);
}
BENCH(lane, "steps/record in a lane: whose it is and may be lost" BY,
      .setup = must_own_lane)
STEPS(locked, LOCKED, LOCKED, "the clock; 8 words; a position of all threads")
STEPS(locked_order, ORDER, LOCKED, "and an order: the floor of a ring")
STEPS(locked_commit, COMMIT, LOCKED, "and a commit word of that")
static void plain(long n, int thread)
{
    (void)thread;
    for (long i = 0; i < n; i++)
        record(stepped, "%ld of %ld, %d, %d", i, n, 3, 4);
}
BENCH(plain, "steps/record in a ring" BY)
