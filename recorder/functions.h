/* functions.h - calls and returns, several in a slot of a ring. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_FUNCTIONS_H_
#define RECORDER_FUNCTIONS_H_

#include "calls.h"
#ifdef RECORDER_NOTHING_
#define RECORDER_FUNCTIONS_NOTE_(name, function, returns) ((void)(function))
#else
#include "arguments.h"
#include "record.h"
#include "registry.h"

RECORDER_C_BEGIN_

/* --------------------------------------------------------------- append --
 *
 * The first call of a slot is recorded as any record is (ring.h). The words
 * after it are 0 then, and each later call of the thread is one store into the
 * next of them, while the slot stays whole: a reader sees a word as 0, or as it
 * will be for the rest of the lap. Only the thread's newest slot is appended to,
 * and only in its own lane, where others that write are signal handlers, which
 * come and go between two instructions. They are kept apart by a mark
 * in the slot's `caller`, a bit that no address has:
 *
 *   append                                      open a slot
 *   A1 w = write                                B1 p = write++
 *   A2 commit of position w - 1: whole, mine    B2 p's slot has the mark
 *   A3 set the mark                                then give p up: B1
 *      it was set ? then open a slot            B3 W3 to W7
 *   A4 write == w
 *      else clear the mark; open a slot
 *   A5 the first word that is 0 = the call
 *   A6 clear the mark
 *
 *   A3, B2  A handler that takes all slots and comes round to this one
 *           returns it alone. Else A5 stores into a record of the handler.
 *   A4      A handler that came round to it between A1 and A3 has gone on.
 *   A3      A handler that interrupts an append opens a slot. Else both store
 *           into the same word.
 *
 * The processor runs a thread and its handlers in one order, and empty assembly
 * holds the compiler back. A port that masks them (RECORDER_FUNCTIONS_ENTER):
 *
 *   append, masked                              open a slot
 *   M1 newest is mine, its write the ring's     W1 to W7, as any record
 *   M2 the first word that is 0 = the call      N1 newest = the write after W2,
 *   M3 no word is 0 ? then it is no thread's       me, the slot: masked
 *
 *   M1, M2  Other hooks run before or after both. If one drew a position after
 *           the slot's, `write` is another, for good. Else no lap reaches it.
 *   N1      A hook between W2 and N1 opens a slot, as newest is older than
 *           the ring's: else W6 erases the call. A late N1 has an old write.
 *   mask    Else N1 mixes two slots, or M2 stores into a record of a later lap.
 */
#define RECORDER_CALL_MARK_                                                    \
    ((uintptr_t)1 << RECORDER_CALL_MARK_BIT_(__SIZEOF_POINTER__))
#define RECORDER_HOLD_() __asm__ volatile("" : : : "memory")

/* Sets the mark. Returns true if it was set before. */
#if defined(RECORDER_HOSTED_) && (defined(__x86_64__) || defined(__i386__))
#define RECORDER_CALL_BIT_(name) name RECORDER_WORDS_OR_("q $63", "l $0")
RECORDER_INLINE_ bool recorder_call_claim_(uintptr_t *word)
{
    bool was; /* one instruction: no handler comes in between */
    __asm__ volatile(RECORDER_CALL_BIT_("bts") ", %1"
                     : "=@ccc"(was), "+m"(*word)
                     :
                     : "memory");
    return was;
}
RECORDER_INLINE_ void recorder_call_release_(uintptr_t *word)
{
    __asm__ volatile(RECORDER_CALL_BIT_("btr") ", %0"
                     : "+m"(*word)
                     :
                     : "cc", "memory");
}
#else
RECORDER_INLINE_ bool recorder_call_claim_(uintptr_t *word)
{
    return __atomic_fetch_or(word, RECORDER_CALL_MARK_, __ATOMIC_RELAXED) &
           RECORDER_CALL_MARK_;
}
RECORDER_INLINE_ void recorder_call_release_(uintptr_t *word)
{
    __atomic_fetch_and(word, ~RECORDER_CALL_MARK_, __ATOMIC_RELAXED);
}
#endif

/* ---------------------------------------------------------------- words -- */

enum {
    RECORDER_CALLS_MAX_ = __SIZEOF_POINTER__ / 2, /* of a slot: 4, or 2 */
    RECORDER_CALL_TICKS_ = RECORDER_CALL_TICKS_BITS_(__SIZEOF_POINTER__),
    RECORDER_CALL_STACK_ = RECORDER_CALL_STACK_BITS_(__SIZEOF_POINTER__),
    RECORDER_CALL_UNIT_ = RECORDER_CALL_STACK_UNIT_(__SIZEOF_POINTER__)
};

/* A call that is about to be stored: `since` in ticks, `below` in units. */
struct recorder_call_ {
    uintptr_t function, stack, returns, since;
    uint32_t below;
};
RECORDER_INLINE_ uintptr_t recorder_call_info_(const struct recorder_call_ *c)
{
    return (uintptr_t)(c->below + (1u << (RECORDER_CALL_STACK_ - 1)))
               << (RECORDER_CALL_TICKS_ + 2) |
           c->since << 2 | c->returns | 1;
}
/* True if the ticks and the distance of a call fit into its words. */
RECORDER_INLINE_ bool recorder_call_fits_(const struct recorder_call_ *c)
{
    uint32_t above = c->below + (1u << (RECORDER_CALL_STACK_ - 1));
    return !(c->since >> RECORDER_CALL_TICKS_ || above >> RECORDER_CALL_STACK_);
}
#if __SIZEOF_POINTER__ == 8
/* Makes the record of a first call. */
RECORDER_INLINE_ void recorder_call_first_(struct recorder_record *r,
                                           const struct recorder_call_ *c)
{
    r->caller = c->function;
    r->argument[0] = c->stack / 16 << 32 | recorder_call_info_(c);
}
/* Sets how far a call is below the first one. */
RECORDER_INLINE_ void recorder_call_measure_(const struct recorder_record *r,
                                             struct recorder_call_ *c)
{
    c->below = (uint32_t)(recorder_get_(&r->argument[0]) >> 32) -
               (uint32_t)(c->stack / 16);
}
/* Stores a call into the next words, which are 0. False: the slot is full. The
 * ticks do not fall: a handler may have stored a call after the clock was read. */
RECORDER_INLINE_ bool recorder_call_store_(struct recorder_record *r,
                                           uintptr_t base,
                                           struct recorder_call_ *c)
{
    const uintptr_t ticks = ((uintptr_t)1 << RECORDER_CALL_TICKS_) - 1;
    uintptr_t offset = c->function - base, last = recorder_get_(r->argument);
    bool is_far = offset + RECORDER_CALL_FAR_ - 1 >= 0xffffffffu;
    unsigned i = 1;
    for (; i < 4 && recorder_get_(r->argument + i); i++) {
        last = recorder_get_(r->argument + i);
        i += last >> 32 == RECORDER_CALL_FAR_;
    }
    if (i + is_far > 3)
        return false;
    if (RECORDER_UNLIKELY_(c->since < (last >> 2 & ticks)))
        c->since = last >> 2 & ticks;
    if (is_far) {
        recorder_put_(r->argument + i + 1, c->function);
        offset = RECORDER_CALL_FAR_;
        RECORDER_HOLD_();
    }
    recorder_put_(r->argument + i, offset << 32 | recorder_call_info_(c));
    return true;
}
#else
RECORDER_INLINE_ void recorder_call_first_(struct recorder_record *r,
                                           const struct recorder_call_ *c)
{
    r->caller = c->stack & ~(uintptr_t)1;
    r->argument[0] = c->function;
    r->argument[1] = recorder_call_info_(c);
}
RECORDER_INLINE_ void recorder_call_measure_(const struct recorder_record *r,
                                             struct recorder_call_ *c)
{
    uint32_t bytes = (uint32_t)recorder_get_(&r->caller) - (uint32_t)c->stack;
    c->below = (uint32_t)((int32_t)bytes >> 2); /* it may be higher */
}
RECORDER_INLINE_ bool recorder_call_store_(struct recorder_record *r,
                                           uintptr_t base,
                                           struct recorder_call_ *c)
{
    (void)base;
    recorder_put_(&r->argument[2], c->function);
    RECORDER_HOLD_();
    recorder_put_(&r->argument[3], recorder_call_info_(c));
    return true;
}
#endif

/* ---------------------------------------------------------------- hooks -- */

#if defined(RECORDER_ONE_PROCESSOR) && defined(RECORDER_FUNCTIONS_ENTER)
RECORDER_ASSERT_(RECORDER_TICKETS > 1, "RECORDER_TICKETS"); /* or N1 is wrong */
static struct {
    uintptr_t write, writer;
    struct recorder_record *place;
} recorder_call_newest_ = {0, UINTPTR_MAX, NULL}; /* no thread's */
RECORDER_INLINE_ void recorder_call_note_(struct recorder *recorder,
                                          const char *format,
                                          uintptr_t function, uintptr_t stack,
                                          uintptr_t returns)
{
    struct recorder_record r = {(uintptr_t)format, 0, 0, 0, {0, 0, 0, 0}};
    struct recorder_call_ call = {function, stack, returns, 0, 0};
    unsigned writer = recorder_writer_(recorder);
    struct recorder_ring *ring = recorder_ring_of_(recorder, writer);
    uintptr_t mask = recorder->mask, previous, masked;
    if (__atomic_load_n(&recorder->trace, __ATOMIC_RELAXED) < 0)
        return;
    r.time = recorder_time_now_();
    masked = RECORDER_FUNCTIONS_ENTER();
    if (recorder_call_newest_.writer == writer &&
        recorder_call_newest_.write == recorder_get_(&ring->write)) {
        struct recorder_record *place = recorder_call_newest_.place;
        call.since = r.time - place->time; RECORDER_STEP_(M1);
        recorder_call_measure_(place, &call);
        if (recorder_call_fits_(&call) &&
            recorder_call_store_(place, place->caller, &call)) { /* M2 */
            if (sizeof mask == 4 || place->argument[3]) /* M3 */
                recorder_call_newest_.writer = UINTPTR_MAX;
            RECORDER_FUNCTIONS_LEAVE(masked);
            return;
        }
    }
    RECORDER_FUNCTIONS_LEAVE(masked);
    call.since = call.below = 0;
    recorder_call_first_(&r, &call);
    r.order = recorder_order_new_(r.time, RECORDER_CALLS_MAX_);
    previous = recorder_positions_(ring, 1, writer);
    recorder_write_(ring, mask, previous, writer, &r, NULL);
    masked = RECORDER_FUNCTIONS_ENTER();
    recorder_call_newest_.write = previous + 1; RECORDER_STEP_(N1);
    recorder_call_newest_.writer = writer;
    recorder_call_newest_.place = recorder_records_(ring) + (previous & mask);
    RECORDER_FUNCTIONS_LEAVE(masked);
}
#else
/* Records a call in a new slot: B1 to B3. */
RECORDER_FUNCTION_ void recorder_call_open_(struct recorder *recorder,
                                            const char *format, uintptr_t time,
                                            uintptr_t function, uintptr_t stack,
                                            uintptr_t returns)
{
    struct recorder_record r = {(uintptr_t)format, 0, time, 0, {0, 0, 0, 0}};
    const struct recorder_call_ call = {function, stack, returns, 0, 0};
    struct recorder_ring *ring;
    uintptr_t mask;
    unsigned writer, tickets = 0;
    if (!recorder_home_.started) /* in a constructor, before ours */
        recorder_enter_lanes_(recorder);
    writer = recorder_writer_(recorder);
    ring = recorder_ring_of_(recorder, writer);
    mask = recorder->mask;
    recorder_call_first_(&r, &call);
    r.order = recorder_order_new_(time, RECORDER_CALLS_MAX_);
    for (; tickets < RECORDER_TICKETS; tickets++) {
        uintptr_t previous = recorder_positions_(ring, 1, writer); /* B1 */
        uintptr_t slot = previous & mask, lap = (previous | mask) + 1;
        struct recorder_turn *turn = recorder_turns_(ring, mask) + slot;
        uintptr_t commit = RECORDER_LOAD_(&recorder_commits_(ring, mask)[slot],
                                          __ATOMIC_ACQUIRE);
        RECORDER_STEP_(B1);
        if (!(recorder_get_(&recorder_records_(ring)[slot].caller) &
              RECORDER_HOSTED_OR_(RECORDER_CALL_MARK_, 0u)) && /* B2 */
            recorder_take_turn_(turn, commit, previous - slot)) {
            if (recorder_lap_wraps_(lap))
                recorder_raise_(turn, previous - slot);
            recorder_fill_(ring, mask, slot, lap, writer, &r); /* B3 */
            return;
        }
        recorder_give_up_(turn, lap, mask + 1);
        recorder_add_(&ring->given_up, 1);
    }
    recorder_add_(&ring->lost, 1);
}

/* Appends a call to the thread's newest slot. False: it needs a new one. */
RECORDER_INLINE_ bool recorder_call_append_(const struct recorder *recorder,
                                            unsigned writer, const char *format,
                                            uintptr_t time, uintptr_t function,
                                            uintptr_t stack, uintptr_t returns)
{
    struct recorder_ring *ring = recorder_ring_of_(recorder, writer);
    uintptr_t mask = recorder->mask, write = recorder_get_(&ring->write); /*A1*/
    uintptr_t slot = (write - 1) & mask, base;
    struct recorder_record *place = recorder_records_(ring) + slot;
    struct recorder_call_ call = {function, stack, returns, 0, 0};
    RECORDER_STEP_(A1);
    if (recorder_get_(&recorder_commits_(ring, mask)[slot]) !=
            ((((write - 1) | mask) + 1) << RECORDER_THREAD_BITS_) +
                (uintptr_t)recorder_writer_thread_(writer) * 2 || /* A2 */
        recorder_get_(&place->argument[3]) /* it is full */)
        return false;
    RECORDER_STEP_(A2);
    if (recorder_call_claim_(&place->caller)) /* A3 */
        return false;
    RECORDER_STEP_(A3);
    if (recorder_get_(&ring->write) == write && /* A4 */
        recorder_get_(&place->format) == (uintptr_t)format &&
        (sizeof base > 4 || !recorder_get_(&place->argument[3]))) {
        RECORDER_STEP_(A4);
        base = recorder_get_(&place->caller) & ~RECORDER_CALL_MARK_;
        call.since = time - recorder_get_(&place->time);
        recorder_call_measure_(place, &call);
        if (recorder_call_fits_(&call) &&
            recorder_call_store_(place, base, &call)) { /* A5 */
            RECORDER_HOLD_();
            RECORDER_STEP_(A5);
            recorder_put_(&place->caller, base); /* A6 */
            RECORDER_STEP_(A6);
            return true;
        }
    }
    recorder_call_release_(&place->caller);
    return false;
}

RECORDER_INLINE_ void recorder_call_note_(struct recorder *recorder,
                                          const char *format,
                                          uintptr_t function, uintptr_t stack,
                                          uintptr_t returns)
{
    uintptr_t time;
    unsigned writer;
    if (!RECORDER_UNLIKELY_(
            __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED) >= 0))
        return; /* without a jump: programs leave the hooks in, turned off */
    /* Without a number, a thread has no lane. */
    writer = RECORDER_HOSTED_OR_(recorder_thread_self_,
                                 recorder_writer_(recorder));
    if (recorder_writer_lane_(writer) > recorder->lanes_mask)
        writer = 0;
    time = recorder_time_now_();
    if (RECORDER_HOSTED_OR_(recorder_writer_lane_(writer), false) &&
        recorder_call_append_(recorder, writer, format, time, function, stack,
                              returns))
        return;
    recorder_call_open_(recorder, format, time, function, stack, returns);
}
#endif
/* `name` is the recorder: all hooks of a file have one format. */
#define RECORDER_FUNCTIONS_NOTE_(name, function, returns)                      \
    recorder_call_note_(&recorder_for_##name, recorder_call_format_,           \
                        (uintptr_t)(function),                                 \
                        (uintptr_t)__builtin_frame_address(0), returns)
static const char recorder_call_format_[] =
    RECORDER_FORMAT_("\1" RECORDER_CALLS_KIND_ "\2calls %#zx %#zx %#zx %#zx");

RECORDER_C_END_
#endif /* RECORDER_NOTHING_ */
#endif
