/* undefined.c - the ring, as undefined.py has frama-c analyse it. */
/* SPDX-License-Identifier: MIT */
/*
 * All inputs may have any value, and between any two steps of the ring another
 * thread may change every word of it. SLOTS is the size. An atomic access is one
 * access here; the processor's order does not matter to a memory that others may
 * change at will.
 */
#include "__fc_builtin.h"
#include <stddef.h>
#include <stdint.h>

static void others(void);
static unsigned number(void);
static uintptr_t add(uintptr_t *to, uintptr_t value)
{
    uintptr_t was = *to;
    *to = was + value;
    return was;
}
static int swap(uintptr_t *to, uintptr_t *seen, uintptr_t value)
{
    if (*to != *seen) {
        *seen = *to;
        return 0;
    }
    *to = value;
    return 1;
}
#define __atomic_load_n(from, order) (*(from))
#define __atomic_store_n(to, value, order) (*(to) = (value))
#define __atomic_fetch_add(to, value, order) add(to, value)
#define __atomic_compare_exchange_n(to, seen, value, weak, order, failed)      \
    (others(), swap(to, seen, value))
#define __atomic_thread_fence(order) others()
#define RECORDER_STEP_(label) others()
#define RECORDER_THREAD() number()
#define RECORDER_TIME() any()
#define RECORDER_LAPS_WRAP_ 1 /* as on 32-bit machines, too */
#include "recorder/language.h"
#undef RECORDER_ASSERT_ /* frama-c 25 has no _Static_assert in a block */
#define RECORDER_ASSERT_(condition, text) struct recorder_asserted_
#include "recorder/lane.h"
#include "recorder/ring.h"

static struct {
    struct recorder_ring ring;
    struct recorder_record records[SLOTS];
    uintptr_t commits[SLOTS];
#ifdef TOO_SHORT
    struct recorder_turn turns[SLOTS - 1];
#else
    struct recorder_turn turns[SLOTS];
#endif
} it;
static uintptr_t owner;

static uintptr_t any(void)
{
    return (uintptr_t)Frama_C_unsigned_long_interval(0, UINTPTR_MAX);
}
static unsigned number(void)
{
    return (unsigned)any();
}
static bool ended(uintptr_t id)
{
    return any() & 1;
}
static void others(void)
{
    uintptr_t *word = (uintptr_t *)&it;
    size_t i;
    for (i = 0; i < sizeof it / sizeof *word; i++)
        word[i] = any();
    owner = any();
}

int main(void)
{
    struct recorder_record r = {any(), any(), any(), any(),
                                {any(), any(), any(), any()}};
    struct recorder_record *place, copy;
    others();
    recorder_write_(&it.ring, SLOTS - 1,
                    recorder_positions_(&it.ring, any(), number()), number(),
                    &r, &place);
    recorder_write_late_(&it.ring, SLOTS - 1, any(), number(), &r, NULL);
    recorder_owner_take_(&owner, any(), ended);
    if (recorder_look_(&it.ring, SLOTS - 1, any() & (SLOTS - 1), &copy))
        return copy.format == copy.argument[3]; /* all words are there */
    return 0;
}
