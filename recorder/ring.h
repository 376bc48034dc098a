/* ring.h - the lock-free ring. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_RING_H_
#define RECORDER_RING_H_

#include "layout.h"
#include "word.h"

RECORDER_C_BEGIN_

/* Tickets a record may draw before it is counted as lost. */
#ifndef RECORDER_TICKETS
#define RECORDER_TICKETS 64
#endif
/* The writer of a ring: the number of a thread and, from this bit on, its lane,
 * 0 if the ring is not its own. On a port two threads may have one number:
 * there, no lane is owned. */
#define RECORDER_WRITER_LANE_ 16
#if defined(RECORDER_HOSTED_) || defined(RECORDER_ADD_OWNED_)
#define RECORDER_WRITER_(owned, port) (owned)
#else
#define RECORDER_WRITER_(owned, port) (port)
#endif
RECORDER_INLINE_ unsigned recorder_writer_thread_(unsigned writer)
{
    return RECORDER_WRITER_(writer & RECORDER_THREAD_SHARED, writer);
}
RECORDER_INLINE_ unsigned recorder_writer_lane_(unsigned writer)
{
    return RECORDER_WRITER_(writer >> RECORDER_WRITER_LANE_, 0 * writer);
}

/* Adds to a word that only the calling thread and its signal handlers change:
 * one instruction, so that no handler comes between its load and its store. */
#if defined(RECORDER_ADD_OWNED_) /* the model's */
#define recorder_add_owned_ RECORDER_ADD_OWNED_
#elif defined(RECORDER_HOSTED_) && (defined(__x86_64__) || defined(__i386__))
RECORDER_INLINE_ uintptr_t recorder_add_owned_(uintptr_t *to, uintptr_t value)
{
    __asm__ volatile("xadd {%0, %1|%1, %0}" : "+r"(value), "+m"(*to) : : "cc");
    return value;
}
#else
RECORDER_INLINE_ uintptr_t recorder_add_owned_(uintptr_t *to, uintptr_t value)
{
    return recorder_add_(to, value);
}
#endif

/* ------------------------------------------------------------------ ring --
 *
 * A ticket is a position, handed out once by `write`: p belongs to slot
 * k = p mod size, in lap L = p - k. The first position is `size`. commit[k]
 * is the state of slot k:
 *
 *     lap << 16 | thread << 1 | busy      (32-bit machines: lap << 8)
 *
 *      never written      being written         whole              and so on
 *     +-------------+    +---------------+    +---------------+    +------
 *     |      0      | -> | L, t, busy    | -> | L, t          | -> | L', t' ...
 *     +-------------+ W4 +---------------+ W7 +---------------+ W4 +------
 *
 * A ticket owns its slot when its turn has come: when the lap before is whole.
 * No other ticket may write in the slot until the owner is done (W7). So a
 * record takes two read-modify-writes, W1 and W2, and no compare-and-swap, and
 * it never waits. A record of several slots, for many arguments or for a
 * text, draws all its orders at W1 and all its positions at W2.
 * The lane of one thread is a ring that only this thread and its handlers write
 * to: there W2 is an addition of one instruction without a lock prefix, which
 * still hands out each position once. lane.h has the owners of lanes.
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
 *   H1 raise highest to L - size         relaxed   before W4, if L's bits are 0
 *
 * The pairs of ordered accesses, and the failure without each:
 *   W7 -> R1  A reader that sees the commit word sees the words. Else it takes
 *             the words of the lap before for those of this one.
 *   W5, R3    A reader that saw one of the new words sees at R4 that the slot
 *             is busy or newer. Else it accepts a mix of two records.
 *   W7 -> W3  The words of the lap before are in the slot before mine. Else
 *             late stores of that lap mix with mine.
 *   G2 -> P1  A ticket that sees the count sees how high the marks reach. Else
 *             it takes the slot while a ticket between may still write there.
 *   H1        No mark is older than two wraps of the laps' bits. Else, on a
 *             32-bit machine, an old mark is taken for one ahead, G1 does not
 *             raise it, and two tickets take one slot.
 *   W1        Acq_rel makes orders follow every chain of causes that a program
 *             can build, relaxed flags included.
 *
 * gave_up and highest are exact (no packing, no modulus): a packed count leaks
 * slots. tests/model takes each label away in turn; the checker must then fail.
 */
enum { RECORDER_BUSY_ = 1 };

RECORDER_INLINE_ struct recorder_record *
recorder_records_(const struct recorder_ring *ring)
{
    return (struct recorder_record *)(uintptr_t)(ring + 1);
}
RECORDER_INLINE_ uintptr_t *recorder_commits_(const struct recorder_ring *ring,
                                              uintptr_t mask)
{
    return (uintptr_t *)(void *)(recorder_records_(ring) + mask + 1);
}
RECORDER_INLINE_ struct recorder_turn *
recorder_turns_(const struct recorder_ring *ring, uintptr_t mask)
{
    return (struct recorder_turn *)(void *)(recorder_commits_(ring, mask) +
                                            mask + 1);
}
RECORDER_INLINE_ unsigned recorder_commit_thread_(uintptr_t commit)
{
    return (unsigned)commit >> 1 & RECORDER_THREAD_SHARED;
}
/* The bits of a commit word with lap and busy. */
RECORDER_INLINE_ uintptr_t recorder_commit_turn_(uintptr_t commit)
{
    return commit & ~((uintptr_t)RECORDER_THREAD_SHARED << 1);
}
/* The commit word of a position's lap, thread and busy bit left out. */
RECORDER_INLINE_ uintptr_t recorder_commit_lap_(uintptr_t position,
                                                uintptr_t mask)
{
    return (position & ~mask) << RECORDER_THREAD_BITS_;
}

/* True if a lap's bits in the commit word may be 0. On 32-bit machines one
 * position in 2^24 has such a lap; no 64-bit program makes so many records. */
#ifndef RECORDER_LAPS_WRAP_
#define RECORDER_LAPS_WRAP_ (__SIZEOF_POINTER__ < 8)
#endif
RECORDER_INLINE_ bool recorder_lap_wraps_(uintptr_t lap)
{
    return RECORDER_LAPS_WRAP_ && lap << RECORDER_THREAD_BITS_ == 0;
}

/* True if the slot holds the whole record of `previous`, the position one
 * lap before the ticket's. */
RECORDER_INLINE_ bool recorder_is_turn_(uintptr_t commit, uintptr_t previous,
                                        uintptr_t mask)
{
    uintptr_t other = commit ^ recorder_commit_lap_(previous, mask);
    return recorder_commit_turn_(other) == 0;
}

/* Takes the turn if every lap after `commit`, up to `lap_before`, gave up.
 * Returns false if one did not, or may not have. */
RECORDER_INLINE_ bool recorder_take_turn_(struct recorder_turn *turn,
                                          uintptr_t commit,
                                          uintptr_t lap_before)
{
    uintptr_t distance, gave_up, highest;
    if (commit & RECORDER_BUSY_)
        return false;
    distance = ((lap_before << RECORDER_THREAD_BITS_) -
                recorder_commit_turn_(commit)) >>
               RECORDER_THREAD_BITS_;
    if (distance == 0) /* no lap is between them */
        return true;
    gave_up = RECORDER_LOAD_(&turn->gave_up, __ATOMIC_ACQUIRE);
    RECORDER_STEP_(P1);
    highest = recorder_get_(&turn->highest); RECORDER_STEP_(P2);
    if (gave_up != distance || highest != lap_before)
        return false;
    recorder_add_(&turn->gave_up, -distance); RECORDER_STEP_(P3);
    return true;
}

/* Raises `highest` to `lap`, unless it is equal or ahead: less than half of all
 * positions ahead, modulo the word. H1 keeps it from falling farther back. */
RECORDER_APART_ void recorder_raise_(struct recorder_turn *turn, uintptr_t lap)
{
    uintptr_t highest = recorder_get_(&turn->highest);
    while (highest - lap > UINTPTR_MAX >> 1 &&
           !RECORDER_SWAP_(&turn->highest, &highest, lap, __ATOMIC_RELAXED))
        ;
}

/* Gives the slot up in this lap, for good. */
RECORDER_INLINE_ void recorder_give_up_(struct recorder_turn *turn,
                                        uintptr_t lap, uintptr_t size)
{
    recorder_raise_(turn, lap); RECORDER_STEP_(G1);
    RECORDER_ADD_(&turn->gave_up, size, __ATOMIC_RELEASE); RECORDER_STEP_(G2);
}

/* Writes a record into a slot that the caller owns. Returns its place. */
RECORDER_INLINE_ struct recorder_record *
recorder_fill_(struct recorder_ring *ring, uintptr_t mask, uintptr_t slot,
               uintptr_t lap, unsigned writer, const struct recorder_record *r)
{
    uintptr_t *word =
        recorder_commits_(ring, mask) + slot; /* its commit word */
    struct recorder_record *place = recorder_records_(ring) + slot;
    uintptr_t whole = (lap << RECORDER_THREAD_BITS_) +
                      (uintptr_t)recorder_writer_thread_(writer) * 2;
    recorder_put_(word, whole | RECORDER_BUSY_); RECORDER_STEP_(W4);
    recorder_fence_release_(); RECORDER_STEP_(W5);
    recorder_put_(&place->format, r->format);
    recorder_put_(&place->order, r->order);
    recorder_put_(&place->time, r->time);
    recorder_put_(&place->caller, r->caller); RECORDER_STEP_(W6);
    recorder_put_(&place->argument[0], r->argument[0]);
    recorder_put_(&place->argument[1], r->argument[1]);
    recorder_put_(&place->argument[2], r->argument[2]);
    recorder_put_(&place->argument[3], r->argument[3]); RECORDER_STEP_(W6_end);
    RECORDER_STORE_(word, whole, __ATOMIC_RELEASE); RECORDER_STEP_(W7);
    return place;
}

/* Hands out `count` positions in a row, at most as many as the ring has slots.
 * Returns the first of them less the ring's size. */
RECORDER_INLINE_ uintptr_t recorder_positions_(struct recorder_ring *ring,
                                               uintptr_t count, unsigned writer)
{
    uintptr_t previous = recorder_writer_lane_(writer)
                             ? recorder_add_owned_(&ring->write, count)
                             : recorder_add_(&ring->write, count);
    RECORDER_STEP_(W2);
    return previous;
}

/* The rare path of a ticket whose turn had not come, or that begins a wrap.
 * `previous` is its position - size. Returns the record's order, and puts its
 * place into *place, null if it was lost; `place` may be null. Not cold:
 * gcc 12 then moves recorder_fill_() out of the fast path, too. */
RECORDER_FUNCTION_ uintptr_t
recorder_write_late_(struct recorder_ring *ring, uintptr_t mask,
                     uintptr_t previous, unsigned writer,
                     const struct recorder_record *r,
                     struct recorder_record **place)
{
    struct recorder_record *written = NULL;
    unsigned tickets = 1;
    for (;; tickets++) {
        uintptr_t slot = previous & mask, lap_before = previous - slot;
        uintptr_t lap = lap_before + mask + 1, commit;
        uintptr_t *word = recorder_commits_(ring, mask) + slot;
        struct recorder_turn *turn = recorder_turns_(ring, mask) + slot;
        commit = RECORDER_LOAD_(word, __ATOMIC_ACQUIRE); RECORDER_STEP_(W3);
        if (recorder_take_turn_(turn, commit, lap_before)) {
            if (recorder_lap_wraps_(lap)) {
                recorder_raise_(turn, lap_before); RECORDER_STEP_(H1);
            }
            written = recorder_fill_(ring, mask, slot, lap, writer, r);
            break;
        }
        recorder_give_up_(turn, lap, mask + 1);
        recorder_add_(&ring->given_up, 1);
        if (tickets == RECORDER_TICKETS) {
            recorder_add_(&ring->lost, 1);
            break;
        }
        previous = recorder_positions_(ring, 1, writer);
    }
    if (place)
        *place = written;
    return r->order;
}

/* Writes one record at the position one lap after `previous`, which must be
 * whole. Returns its order, so that it need not outlive the rare path,
 * and puts its place into *place, as above. */
RECORDER_INLINE_ uintptr_t recorder_write_(struct recorder_ring *ring,
                                           uintptr_t mask, uintptr_t previous,
                                           unsigned writer,
                                           const struct recorder_record *r,
                                           struct recorder_record **place)
{
    uintptr_t slot = previous & mask, commit;
    uintptr_t *word = recorder_commits_(ring, mask) + slot;
    struct recorder_record *written;
    commit = RECORDER_LOAD_(word, __ATOMIC_ACQUIRE); RECORDER_STEP_(W3);
    if (RECORDER_UNLIKELY_(!recorder_is_turn_(commit, previous, mask) ||
                           recorder_lap_wraps_((previous | mask) + 1))) {
        struct recorder_record late = {/* so that *r stays in registers */
                                       r->format, r->order, r->time, r->caller,
                                       {r->argument[0], r->argument[1],
                                        r->argument[2], r->argument[3]}};
        return recorder_write_late_(ring, mask, previous, writer, &late, place);
    }
    written =
        recorder_fill_(ring, mask, slot, (previous | mask) + 1, writer, r);
    if (place)
        *place = written;
    return r->order;
}

/* Copies the record of a slot. Returns its commit word, or 0 if the slot
 * holds no whole record. */
RECORDER_INLINE_ uintptr_t recorder_look_(const struct recorder_ring *ring,
                                          uintptr_t mask, uintptr_t slot,
                                          struct recorder_record *copy)
{
    const uintptr_t *word = recorder_commits_(ring, mask) + slot;
    const uintptr_t *from = &recorder_records_(ring)[slot].format;
    uintptr_t *to = &copy->format, commit, again;
    unsigned i;
    commit = RECORDER_LOAD_(word, __ATOMIC_ACQUIRE); RECORDER_STEP_(R1);
    if (commit == 0 || (commit & RECORDER_BUSY_))
        return 0;
    for (i = 0; i < sizeof *copy / sizeof *to; i++)
        to[i] = recorder_get_(from + i);
    RECORDER_STEP_(R2);
    recorder_fence_acquire_(); RECORDER_STEP_(R3);
    again = recorder_get_(word); RECORDER_STEP_(R4);
    return again == commit ? commit : 0;
}

/* True if a slot's lap with these bits in the commit word, or one before, has a
 * writer that is in the call, or was stopped there. */
RECORDER_INLINE_ bool recorder_is_open_(const struct recorder_turn *turn,
                                        uintptr_t commit, uintptr_t lap)
{
    uintptr_t whole = recorder_commit_turn_(commit) & ~(uintptr_t)RECORDER_BUSY_;
    intptr_t distance = (intptr_t)(lap - whole);
    if (commit & RECORDER_BUSY_)
        return distance >= 0;
    return distance > 0 && recorder_get_(&turn->gave_up) !=
                               (uintptr_t)distance >> RECORDER_THREAD_BITS_;
}

RECORDER_INLINE_ uintptr_t recorder_orders_(uintptr_t count)
{
    uintptr_t *at = recorder_home_.order;
    uintptr_t order = RECORDER_ADD_(at, count, __ATOMIC_ACQ_REL);
    RECORDER_STEP_(W1);
    return order;
}

RECORDER_C_END_
#endif
