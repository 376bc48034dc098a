/* threads.c: what a record costs when many threads record at once. */
/* SPDX-License-Identifier: MIT */
/* The figure is wall-clock time, from the first thread's start to the last
 * one's end, divided by the records of all threads together: were threads free
 * of each other, n of them on n cores would show an n-th of what one shows. */
#include "../recorder.h"
#include "shim.h"

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

RECORDER(together, 1024, "One ring for all threads")
static void on_one(long n, int thread)
{
    for (long i = 0; i < n; i++)
        record(together, "%ld of %ld by %d", i, n, thread);
}
BENCH(on_one, "threads/one recorder", .threads = THREADS, .setup = number)

RECORDER_LANES(lanes, 1024, 64, "64 rings, by thread")
static void on_lanes(long n, int thread)
{
    for (long i = 0; i < n; i++)
        record(lanes, "%ld of %ld by %d", i, n, thread);
}
BENCH(on_lanes, "threads/RECORDER_LANES with 64 lanes", .threads = THREADS,
      .setup = number)

/* A recorder for each of 256 threads, and a function that records there. */
#define EACH_4(do, i) do(i##0) do(i##1) do(i##2) do(i##3)
#define EACH_16(do, i)                                                         \
    EACH_4(do, i##0) EACH_4(do, i##1) EACH_4(do, i##2) EACH_4(do, i##3)
#define EACH_64(do, i)                                                         \
    EACH_16(do, i##0) EACH_16(do, i##1) EACH_16(do, i##2) EACH_16(do, i##3)
#define EACH_256(do)                                                           \
    EACH_64(do, 0) EACH_64(do, 1) EACH_64(do, 2) EACH_64(do, 3)
#define OWN(i)                                                                 \
    RECORDER(own_##i, 1024, "One thread's own")                                \
    static void record_own_##i(long n, int thread)                             \
    {                                                                          \
        for (long j = 0; j < n; j++)                                           \
            record(own_##i, "%ld of %ld by %d", j, n, thread);                 \
    }
#define OWN_FUNCTION(i) record_own_##i,

EACH_256(OWN)
static void on_own(long n, int thread)
{
    static void (*const own[256])(long, int) = {EACH_256(OWN_FUNCTION)};
    own[thread](n, thread);
}
BENCH(on_own, "threads/a recorder each", .threads = THREADS, .setup = number)
