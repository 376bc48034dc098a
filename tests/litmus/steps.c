/* steps.c - each kind of access of the ring as a function: litmus.py reads the
 * instructions that a compiler makes of it. */
/* SPDX-License-Identifier: MIT */
#define RECORDER_TIME() ((uintptr_t)0)
#define RECORDER_THREAD() 1u
#include "recorder.h"

uintptr_t load(const uintptr_t *p);
uintptr_t load_acquire(const uintptr_t *p);
void store(uintptr_t *p, uintptr_t value);
void store_release(uintptr_t *p, uintptr_t value);
void fence_release(void);
void fence_acquire(void);
uintptr_t add(uintptr_t *p, uintptr_t value);
uintptr_t add_release(uintptr_t *p, uintptr_t value);
uintptr_t add_acquire(uintptr_t *p, uintptr_t value);
uintptr_t add_acquire_release(uintptr_t *p, uintptr_t value);
/* The writer and the reader whole, for the order of the accesses. */
void fill(struct recorder_ring *ring, uintptr_t slot,
          const struct recorder_record *r);
uintptr_t look(const struct recorder_ring *ring, uintptr_t slot,
               struct recorder_record *copy);

uintptr_t load(const uintptr_t *p) { return recorder_get_(p); }
uintptr_t load_acquire(const uintptr_t *p)
{
    return RECORDER_LOAD_(p, __ATOMIC_ACQUIRE);
}
void store(uintptr_t *p, uintptr_t value) { recorder_put_(p, value); }
void store_release(uintptr_t *p, uintptr_t value)
{
    RECORDER_STORE_(p, value, __ATOMIC_RELEASE);
}
void fence_release(void) { recorder_fence_release_(); }
void fence_acquire(void) { recorder_fence_acquire_(); }
uintptr_t add(uintptr_t *p, uintptr_t value) { return recorder_add_(p, value); }
uintptr_t add_release(uintptr_t *p, uintptr_t value)
{
    return RECORDER_ADD_(p, value, __ATOMIC_RELEASE);
}
uintptr_t add_acquire(uintptr_t *p, uintptr_t value)
{
    return RECORDER_ADD_(p, value, __ATOMIC_ACQUIRE);
}
uintptr_t add_acquire_release(uintptr_t *p, uintptr_t value)
{
    return RECORDER_ADD_(p, value, __ATOMIC_ACQ_REL);
}
void fill(struct recorder_ring *ring, uintptr_t slot,
          const struct recorder_record *r)
{
    recorder_fill_(ring, 63, slot, 64, 1, r);
}
uintptr_t look(const struct recorder_ring *ring, uintptr_t slot,
               struct recorder_record *copy)
{
    return recorder_look_(ring, 63, slot, copy);
}
