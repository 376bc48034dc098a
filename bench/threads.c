/* threads.c: the price of a record when many threads record at once. */
/* SPDX-License-Identifier: MIT */
/* Two figures for each. Wall-clock time, from the first thread's start to the
 * last one's end, divided by the records of all threads together: if threads
 * were independent, n of them on n cores would show an n-th of the time of one.
 * And CPU time of all threads, divided alike: if they were independent, it
 * would be the same for any number. */
#include "../recorder.h"
#include "shim.h"

#ifndef BY
#define BY "" /* the source of sequence numbers, in the names of benchmarks */
#endif
#define THREADS                                                                \
    {                                                                          \
        1, 2, 4, 16, 64, 256                                                   \
    }

/* A thread's first record gives it a number; that is not measured. */
static void number(int thread)
{
    (void)thread;
    recorder_thread_name("bench");
}

RECORDER(together, 1024, "One ring for all threads");
static void on_one(long n, int thread)
{
    for (long i = 0; i < n; i++)
        record(together, "%ld of %ld by %d", i, n, thread);
}
BENCH(on_one, "threads/one recorder" BY, .threads = THREADS, .setup = number)

RECORDER_LANES(lanes, 1024, 512, "A ring for each thread");
static void on_lanes(long n, int thread)
{
    for (long i = 0; i < n; i++)
        record(lanes, "%ld of %ld by %d", i, n, thread);
}
/* A thread may get a lane that none has used: its memory comes now. */
static void fill_lane(int thread)
{
    number(thread);
    on_lanes(1024, thread);
}
BENCH(on_lanes, "threads/RECORDER_LANES" BY, .threads = THREADS,
      .setup = fill_lane)

/* ----------------------------------------------------------------- floor --
 *
 * The same without the safety of a record (see floor_record() in record.c): a
 * sequence number, a time, a position and eight words.
 */
extern uintptr_t floor_orders;
extern struct floor_ring {
    uintptr_t write __attribute__((aligned(RECORDER_CACHE_LINE)));
    struct recorder_record records[1024]
        __attribute__((aligned(RECORDER_CACHE_LINE)));
} floor_rings[256];
uintptr_t floor_orders __attribute__((aligned(RECORDER_CACHE_LINE)));
struct floor_ring floor_rings[256];

static inline uintptr_t floor_time(void)
{
#ifdef RECORDER_CLOCKED_
    return recorder_order_ticks_();
#else
    return RECORDER_TIME();
#endif
}
static inline uintptr_t floor_order_of(uintptr_t time)
{
#ifdef RECORDER_CLOCKED_
    return time;
#else
    (void)time;
    return recorder_add_(&floor_orders, 1);
#endif
}
__attribute__((noinline)) static void floor_lane(const char *format, long i,
                                                 long n, int thread)
{
    struct floor_ring *ring = &floor_rings[thread];
    uintptr_t time = floor_time(), order = floor_order_of(time);
    uintptr_t position = recorder_add_owned_(&ring->write, 1);
    struct recorder_record *to = &ring->records[position % 1024];
    recorder_put_(&to->format, (uintptr_t)format);
    recorder_put_(&to->order, order);
    recorder_put_(&to->time, time);
    recorder_put_(&to->caller, (uintptr_t)__builtin_return_address(0));
    recorder_put_(&to->argument[0], (uintptr_t)i);
    recorder_put_(&to->argument[1], (uintptr_t)n);
    recorder_put_(&to->argument[2], (uintptr_t)thread);
    recorder_put_(&to->argument[3], 0);
}
static void on_floor_lanes(long n, int thread)
{
    for (long i = 0; i < n; i++)
        floor_lane("%ld of %ld by %d", i, n, thread);
}
BENCH(on_floor_lanes, "threads/floor of RECORDER_LANES" BY, .threads = THREADS)
