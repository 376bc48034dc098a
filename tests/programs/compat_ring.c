/* compat_ring.c - the atomic operations of 1.x, as its own tests use them. */
/* SPDX-License-Identifier: MIT */
#include "recorder_ring.h"

#include "recorder.h"

RECORDER(net, 32, "Network")

int main(void)
{
    static unsigned count = 5;
    static uintptr_t big = 1;
    static const char *text = "a";
    const char *seen = "b", *other = "c";
    unsigned wrong = 0;
    ringidx_t index = record(net, "%d", 1);
    wrong += recorder_ring_fetch_add(count, 2) != 5;
    wrong += recorder_ring_add_fetch(count, -1) != 6;
    wrong += recorder_ring_compare_exchange(text, seen, other);
    wrong += !recorder_ring_compare_exchange(text, seen, other);
    wrong += recorder_ring_load(text) != other;
    recorder_ring_store(big, index);
    return (int)(wrong + (recorder_ring_load(big) != index));
}
