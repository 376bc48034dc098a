/* recorder_ring.h - the five atomic operations that programs of 1.x use. */
/* SPDX-License-Identifier: MIT */
/*
    unsigned count = 0;
    recorder_ring_fetch_add(count, 1);          // by name, not by address

The rings of plain elements of 1.x are not here: ../README.md.
*/
#ifndef RECORDER_1X_RING_H
#define RECORDER_1X_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t ringidx_t;

/* The value before, and the value after. */
#define recorder_ring_fetch_add(value, offset)                                 \
    __atomic_fetch_add(&(value), (offset), __ATOMIC_ACQUIRE)
#define recorder_ring_add_fetch(value, offset)                                 \
    __atomic_add_fetch(&(value), (offset), __ATOMIC_ACQUIRE)
/* True if the value was `expected`; else `expected` becomes the value. */
#define recorder_ring_compare_exchange(value, expected, desired)               \
    __atomic_compare_exchange_n(&(value), &(expected), (desired), false,       \
                                __ATOMIC_RELEASE, __ATOMIC_RELAXED)
#define recorder_ring_load(value) __atomic_load_n(&(value), __ATOMIC_CONSUME)
#define recorder_ring_store(value, desired)                                    \
    __atomic_store_n(&(value), (desired), __ATOMIC_RELEASE)

#endif
