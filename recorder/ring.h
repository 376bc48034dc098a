/* ring.h - the lock-free ring. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_RING_H_
#define RECORDER_RING_H_

#include "layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tickets a record may draw before it is counted as lost. */
#ifndef RECORDER_TICKETS
#define RECORDER_TICKETS 64
#endif
#if !defined(RECORDER_HOSTED_) && !defined(RECORDER_ENTER) && __GCC_ATOMIC_POINTER_LOCK_FREE < 2
#error "recorder.h: this processor has no atomic instructions: define " \
    "RECORDER_ENTER() and RECORDER_LEAVE(was)"
#endif
/* Relaxed is quiet: these order nothing. */
RECORDER_INLINE_ uintptr_t recorder_get(const uintptr_t *from)
{
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}
RECORDER_INLINE_ void recorder_put(uintptr_t *to, uintptr_t value)
{
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
}
#ifndef RECORDER_ENTER
RECORDER_INLINE_ uintptr_t recorder_add(uintptr_t *to, uintptr_t value)
{
    return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
#define RECORDER_ADD_(to, value, order) __atomic_fetch_add(to, value, order)
#else /* this and recorder_raise() read, then write */
#define RECORDER_ADD_(to, value, order) recorder_add(to, value)
RECORDER_INLINE_ uintptr_t recorder_add(uintptr_t *to, uintptr_t value)
{
    uintptr_t masked = RECORDER_ENTER(), was = recorder_get(to);
    recorder_put(to, was + value);
    RECORDER_LEAVE(masked);
    return was;
}
#endif

/* ------------------------------------------------------------------ ring --
 *
 * `write` hands out positions, each once: p belongs to slot k = p mod size, in
 * lap L = p - k. The first is `size`. commit[k] says what slot k holds:
 *
 *     lap << 16 | thread << 1 | busy      (32-bit machines: lap << 8)
 *
 *      never written      being written         whole              and so on
 *     +-------------+    +---------------+    +---------------+    +------
 *     |      0      | -> | L, t, busy    | -> | L, t          | -> | L', t' ...
 *     +-------------+ W4 +---------------+ W7 +---------------+ W4 +------
 *
 * A ticket owns its slot because it is its turn: nobody else may act on the
 * commit word that it expects. So a record takes two read-modify-writes, W1 and
 * W2, and no compare-and-swap, and waits for nobody.
 *
 *   writer                                      reader of slot k
 *   W1 order = recorder_order++     acq_rel     R1 c = commit[k]     acquire
 *   W2 p = write++ + size           relaxed        0 or busy: nothing there
 *   W3 c = commit[k]                acquire     R2 copy 8 words      relaxed
 *      lap of c is L - size, not busy: mine     R3 fence             acquire
 *      else the rare path, below                R4 commit[k] == c ?  relaxed
 *   W4 commit[k] = L|thread|busy    relaxed        then they are whole
 *   W5 fence                        release
 *   W6 store the 8 words            relaxed
 *   W7 commit[k] = L|thread         release
 *
 *   The rare path: another writer was stopped in this slot, laps ago.
 *   P1 gave_up == L - size - lap of c ?  acquire
 *   P2 highest == L - size ?             relaxed   then all laps between have
 *   P3 gave_up -= that distance          relaxed   given up: mine, go on at W4
 *   G1 raise highest to L                relaxed   else give this slot up, for
 *   G2 gave_up += size                   release   good, and draw a new ticket
 *   H1 raise highest to L - size     relaxed   before W4, where L's bits are 0
 *
 * What orders what, and what breaks without it:
 *   W7 -> R1  the words are there when the commit word says so: else a reader
 *             takes the words of the lap before for those of this one
 *   W5, R3    a reader that saw one of the new words sees at R4 that the slot
 *             is busy or newer: else it accepts a mix of two records
 *   W7 -> W3  the earlier writer's words are in the slot before mine: else its
 *             late stores mix with mine
 *   G2 -> P1  who sees the count sees how high the marks reach: else a ticket
 *             takes the slot while one between them may still write in it
 *   H1        no mark is older than two wraps of the laps' bits: else, on a
 *             32-bit machine, an old one is taken for one ahead, G1 does not
 *             raise it, and two tickets take one slot
 *   W1        acq_rel, so that orders follow every chain of causes that a
 *             program can build, relaxed flags included
 * gave_up and highest are exact (no packing, no modulus): a packed count leaks
 * slots. tests/model takes each label away in turn; the checker must then fail.
 */
enum { RECORDER_BUSY_ = 1 };

RECORDER_INLINE_ struct recorder_record *
recorder_records(const struct recorder_ring *ring)
{
    return (struct recorder_record *)(uintptr_t)(ring + 1);
}
RECORDER_INLINE_ uintptr_t *recorder_commits(const struct recorder_ring *ring,
                                             uintptr_t mask)
{
    return (uintptr_t *)(void *)(recorder_records(ring) + mask + 1);
}
RECORDER_INLINE_ struct recorder_turn *
recorder_turns(const struct recorder_ring *ring, uintptr_t mask)
{
    return (struct recorder_turn *)(void *)(recorder_commits(ring, mask) +
                                            mask + 1);
}
RECORDER_INLINE_ unsigned recorder_commit_thread(uintptr_t commit)
{
    return (unsigned)commit >> 1 & RECORDER_THREAD_NONE;
}
/* The commit word of a position's lap, thread and busy bit left out. */
RECORDER_INLINE_ uintptr_t recorder_commit_lap(uintptr_t position,
                                               uintptr_t mask)
{
    return (position & ~mask) << RECORDER_THREAD_BITS_;
}

/* Is it a lap whose bits in the commit word are 0? On 32-bit machines one in
 * 2^24 positions is; on others no program gets to the first. */
#ifndef RECORDER_LAPS_WRAP_
#define RECORDER_LAPS_WRAP_ (__SIZEOF_POINTER__ < 8)
#endif
RECORDER_INLINE_ bool recorder_lap_wraps(uintptr_t lap)
{
    return RECORDER_LAPS_WRAP_ && lap << RECORDER_THREAD_BITS_ == 0;
}

/* Is it the turn of the lap after `last`, a position: is that lap complete? */
RECORDER_INLINE_ bool recorder_is_next(uintptr_t seen, uintptr_t last,
                                       uintptr_t mask)
{
    return ((seen ^ recorder_commit_lap(last, mask)) &
            ~((uintptr_t)RECORDER_THREAD_NONE << 1)) == 0;
}

/* Did every lap behind `seen`, up to the one before mine, give its turn up?
 * Then they are taken off the count. */
RECORDER_INLINE_ bool recorder_passed_on(struct recorder_turn *turn,
                                         uintptr_t seen, uintptr_t before)
{
    uintptr_t distance;
    if (seen & RECORDER_BUSY_)
        return false;
    distance = ((before << RECORDER_THREAD_BITS_) -
                (seen & ~((uintptr_t)RECORDER_THREAD_NONE << 1))) >>
               RECORDER_THREAD_BITS_;
    if (distance == 0) /* there is none */
        return true;
    if (__atomic_load_n(&turn->gave_up, __ATOMIC_ACQUIRE) != distance) /* P1 */
        return false;
    RECORDER_STEP_("P1");
    if (recorder_get(&turn->highest) != before) /* P2 */
        return false;
    RECORDER_STEP_("P2");
    recorder_add(&turn->gave_up, -distance); /* P3 */
    RECORDER_STEP_("P3");
    return true;
}

/* Raises `highest` to `lap`, unless it is there or ahead. Behind means less than
 * half of all positions behind, modulo the word; H1 keeps it nearer than that. */
#ifdef RECORDER_ENTER
RECORDER_INLINE_ void recorder_raise(struct recorder_turn *turn, uintptr_t lap)
{
    uintptr_t masked = RECORDER_ENTER();
    if (recorder_get(&turn->highest) - lap > UINTPTR_MAX >> 1)
        recorder_put(&turn->highest, lap);
    RECORDER_LEAVE(masked);
}
#else
RECORDER_INLINE_ void recorder_raise(struct recorder_turn *turn, uintptr_t lap)
{
    uintptr_t highest = recorder_get(&turn->highest);
    while (highest - lap > UINTPTR_MAX >> 1 &&
           !__atomic_compare_exchange_n(&turn->highest, &highest, lap, false,
                                        __ATOMIC_RELAXED, /* G1 */
                                        __ATOMIC_RELAXED))
        ;
}
#endif

/* Gives the slot up for lap `lap`, for good. */
RECORDER_INLINE_ void recorder_give_up(struct recorder_turn *turn,
                                       uintptr_t lap, uintptr_t size)
{
    recorder_raise(turn, lap);
    RECORDER_STEP_("G1");
    RECORDER_ADD_(&turn->gave_up, size, __ATOMIC_RELEASE); /* G2 */
    RECORDER_STEP_("G2");
}

#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
/* gcc warns that ThreadSanitizer ignores fences; nothing here needs it to see
 * them, every word being atomic, and the model checker does. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
/* Writes a record into a slot whose turn it is. */
RECORDER_INLINE_ struct recorder_record *
recorder_fill(struct recorder_ring *ring, uintptr_t mask, uintptr_t slot,
              uintptr_t lap, unsigned thread, uintptr_t format,
              uintptr_t order, uintptr_t time, uintptr_t caller, uintptr_t a,
              uintptr_t b, uintptr_t c, uintptr_t d)
{
    uintptr_t *commit = recorder_commits(ring, mask) + slot;
    struct recorder_record *to = recorder_records(ring) + slot;
    uintptr_t done = (lap << RECORDER_THREAD_BITS_) + (uintptr_t)thread * 2;
    recorder_put(commit, done | RECORDER_BUSY_); /* W4 */
    RECORDER_STEP_("W4");
    __atomic_thread_fence(__ATOMIC_RELEASE); /* W5 */
    RECORDER_STEP_("W5");
    recorder_put(&to->format, format); /* W6, to the end */
    recorder_put(&to->order, order);
    recorder_put(&to->time, time);
    recorder_put(&to->caller, caller);
    RECORDER_STEP_("W6");
    recorder_put(&to->argument[0], a);
    recorder_put(&to->argument[1], b);
    recorder_put(&to->argument[2], c);
    recorder_put(&to->argument[3], d);
    RECORDER_STEP_("W6 end");
    __atomic_store_n(commit, done, __ATOMIC_RELEASE); /* W7 */
    RECORDER_STEP_("W7");
    return to;
}

/* The rare path, from a ticket whose slot was `seen`; `last` is its position, a
 * lap ago. Returns the record, or null where it was lost. */
__attribute__((cold)) RECORDER_FUNCTION_ struct recorder_record *
recorder_write_late(struct recorder_ring *ring, uintptr_t mask,
                    uintptr_t last, uintptr_t seen, unsigned thread,
                    const struct recorder_record *r)
{
    unsigned tickets = 1;
    for (;; tickets++) {
        uintptr_t slot = last & mask, lap = (last | mask) + 1;
        struct recorder_turn *turn = recorder_turns(ring, mask) + slot;
        if (recorder_passed_on(turn, seen, last - slot)) {
            if (recorder_lap_wraps(lap))
                recorder_raise(turn, last - slot); /* H1 */
            return recorder_fill(ring, mask, slot, lap, thread, r->format,
                                 r->order, r->time, r->caller, r->argument[0],
                                 r->argument[1], r->argument[2],
                                 r->argument[3]);
        }
        recorder_give_up(turn, lap, mask + 1);
        recorder_add(&ring->given_up, 1);
        if (tickets == RECORDER_TICKETS)
            break;
        last = recorder_add(&ring->write, 1); /* W2 */
        RECORDER_STEP_("W2");
        seen = __atomic_load_n(&recorder_commits(ring, mask)[last & mask],
                               __ATOMIC_ACQUIRE); /* W3 */
        RECORDER_STEP_("W3");
    }
    recorder_add(&ring->lost, 1);
    return NULL;
}

/* Writes one record into the ring. Returns it, or null where it was lost. */
RECORDER_INLINE_ struct recorder_record *
recorder_write(struct recorder_ring *ring, uintptr_t mask, unsigned thread,
               uintptr_t format, uintptr_t order, uintptr_t time,
               uintptr_t caller, uintptr_t a, uintptr_t b, uintptr_t c,
               uintptr_t d)
{
    /* The position is one lap after that: what is before it in the slot. */
    uintptr_t last = recorder_add(&ring->write, 1); /* W2 */
    uintptr_t slot = last & mask, seen;
    uintptr_t *commit = recorder_commits(ring, mask) + slot;
    RECORDER_STEP_("W2");
    seen = __atomic_load_n(commit, __ATOMIC_ACQUIRE); /* W3 */
    RECORDER_STEP_("W3");
    if (RECORDER_UNLIKELY_(!recorder_is_next(seen, last, mask) ||
                           recorder_lap_wraps((last | mask) + 1))) {
        struct recorder_record r = {format, order, time, caller, {a, b, c, d}};
        return recorder_write_late(ring, mask, last, seen, thread, &r);
    }
    return recorder_fill(ring, mask, slot, (last | mask) + 1, thread, format,
                         order, time, caller, a, b, c, d);
}

/* Copies the record of a slot. Returns its commit word, or 0 where the slot has
 * none that is whole. */
RECORDER_INLINE_ uintptr_t recorder_look(const struct recorder_ring *ring,
                                         uintptr_t mask, uintptr_t slot,
                                         struct recorder_record *to)
{
    const uintptr_t *commit = recorder_commits(ring, mask) + slot;
    const uintptr_t *word = &recorder_records(ring)[slot].format;
    uintptr_t *copy = &to->format;
    uintptr_t seen = __atomic_load_n(commit, __ATOMIC_ACQUIRE); /* R1 */
    unsigned i;
    if (seen == 0 || (seen & RECORDER_BUSY_))
        return 0;
    for (i = 0; i < sizeof *to / sizeof *copy; i++)
        copy[i] = recorder_get(word + i); /* R2 */
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* R3 */
    return recorder_get(commit) == seen ? seen : 0; /* R4 */
}
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

RECORDER_INLINE_ uintptr_t recorder_orders(uintptr_t count)
{
    uintptr_t *at = recorder_home.order;
    uintptr_t order = RECORDER_ADD_(at, count, __ATOMIC_ACQ_REL); /* W1 */
    RECORDER_STEP_("W1");
    return order;
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
