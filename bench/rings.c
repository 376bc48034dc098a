/* rings.c: the price of a record when the ring outgrows the caches. */
/* SPDX-License-Identifier: MIT */
#include "../recorder.h"
#include "shim.h"

/* Filled once before the measurement, so that all of its memory is mapped. */
#define RING(slots, text)                                                      \
    RECORDER(ring_##slots, slots, text)                                        \
    static void record_##slots(long n, int thread)                             \
    {                                                                          \
        for (long i = 0; i < n; i++)                                           \
            record(ring_##slots, "%ld of %ld by %d", i, n, thread);            \
    }                                                                          \
    static void fill_##slots(int thread)                                       \
    {                                                                          \
        if (recorder_for_ring_##slots.rings->write < slots)                    \
            record_##slots(slots, thread);                                     \
    }                                                                          \
    BENCH(record_##slots, "rings/" text, .setup = fill_##slots)

RING(64, "64 slots")
RING(1024, "1024 slots")
RING(16384, "16K slots")
RING(131072, "128K slots")
RING(1048576, "1M slots")
