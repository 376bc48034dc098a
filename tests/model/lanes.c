/* lanes.c - what lanes of one thread promise, checked in all executions. */
/* SPDX-License-Identifier: MIT */
/*
 * lanes handler SLOTS PARTS   a thread makes a record of PARTS in its lane, and
 *                             another one; a signal handler makes one anywhere
 *                             in these, once or not at all
 * lanes over                  a lane that five threads look at, one of them by the
 *                             id of the first, which has ended before
 * lanes shared                two threads in lane 0
 * lanes clock UNITS           a thread draws orders of so many units by a clock
 *                             that stands still or goes on; a signal handler
 *                             draws one anywhere in that, once or not at all
 * lanes clocks UNITS          two threads in lane 0 do so at once
 * lanes counter LANE          two threads draw orders by a clock that goes on,
 *                             one of them in this lane, while a third goes over
 *                             to the counter
 *
 * The addition of an owner is a load and a store here: nobody but a handler of
 * the same thread comes between two accesses that have no step between them, and
 * nothing keeps other threads away.
 */
#include "weak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void handle(void);
static uintptr_t add_owned(uintptr_t *to, uintptr_t value, bool in_two);

/* Of a record's words two are modelled: the others are not stored, read as 0. */
static bool counts(const volatile void *p);
#undef __atomic_load_n
#undef __atomic_store_n
#define __atomic_load_n(p, order) (counts(p) ? WEAK_LOAD_(p, order) : 0)
#define __atomic_store_n(p, value, order)                                      \
    (counts(p) ? (void)WEAK_STORE_(p, value, order) : (void)0)
#define RECORDER_STEP_(label) handle()
#define RECORDER_TICKETS 2
#define RECORDER_ADD_OWNED_(to, value) add_owned(to, value, false)
#define RECORDER_ADD_IN_TWO_(to, value)                                        \
    add_owned(to, value, true) /* mutant's */
static bool swap_owned(uintptr_t *to, uintptr_t *seen, uintptr_t value,
                       bool in_two);
#define RECORDER_SWAP_OWNED_(to, seen, value) swap_owned(to, seen, value, false)
#define RECORDER_SWAP_IN_TWO_(to, seen, value)                                 \
    swap_owned(to, seen, value, true) /* mutant's */
static uintptr_t read_clock(void);
#define RECORDER_TIME() read_clock()
#define RECORDER_COUNT_TICKS_ 5u
#define RECORDER_THREAD() 1u
#include "recorder.h"

enum { MAX = 8 };
static unsigned slots = MAX, parts = 1;
static struct {
    struct recorder_ring ring;
    uintptr_t slots[MAX * (8 + 3)];
} all;

static bool counts(const volatile void *p)
{
    uintptr_t at = (uintptr_t)p - (uintptr_t)all.slots;
    uintptr_t word = at / sizeof(uintptr_t) % 8;
    return at >= slots * sizeof(struct recorder_record) || word == 1 ||
           word == 4;
}

static uintptr_t add_owned(uintptr_t *to, uintptr_t value, bool in_two)
{
    uintptr_t was = __atomic_load_n(to, __ATOMIC_RELAXED);
    if (in_two)
        handle();
    __atomic_store_n(to, was + value, __ATOMIC_RELAXED);
    return was;
}

static bool swap_owned(uintptr_t *to, uintptr_t *seen, uintptr_t value,
                       bool in_two)
{
    uintptr_t was = __atomic_load_n(to, __ATOMIC_RELAXED), expected = *seen;
    *seen = was;
    if (was != expected)
        return false;
    if (in_two)
        handle();
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
    return true;
}

/* A record is told by its first argument, `what`; the table of what was made has
 * a bit for each. */
static __thread uintptr_t made;
static void make(unsigned writer, uintptr_t what, uintptr_t count)
{
    uintptr_t previous = recorder_positions_(&all.ring, count, writer), i;
    for (i = 0; i < count; i++, what++) {
        struct recorder_record r = {0, what, 0, 0, {~what, 0, 0, 0}};
        struct recorder_record *place;
        recorder_write_(&all.ring, slots - 1, previous + i, writer, &r, &place);
        if (place)
            made |= (uintptr_t)1 << what;
    }
}

/* Returns the bit of the record in a slot, 0 where there is none. */
static uintptr_t look(unsigned slot)
{
    struct recorder_record r;
    if (!recorder_look_(&all.ring, slots - 1, slot, &r))
        return 0;
    weak_check(r.argument[0] == ~r.order, "an accepted record is whole");
    return (uintptr_t)1 << r.order;
}

/* --------------------------------------------------------------- handler -- */

/* With units: what the handler drew, 0 where it did not run. */
static unsigned units;
static __thread uintptr_t handled;
static uintptr_t draw(uintptr_t lane, uintptr_t count);

static uintptr_t signal_sent;
static __thread bool interruptible;
enum { OWN = 1u << RECORDER_WRITER_LANE_ | 1 };

/* Runs the handler, where the signal has come. */
static void handle(void)
{
    if (!interruptible || !__atomic_load_n(&signal_sent, __ATOMIC_RELAXED))
        return;
    interruptible = false;
    if (units)
        handled = draw(1, 1);
    else
        make(OWN, 10, 1);
}
static void *owner(void *unused)
{
    (void)unused;
    made = 0;
    interruptible = true;
    make(OWN, 1, parts);
    make(OWN, 5, 1);
    interruptible = false;
    return (void *)made;
}
static void *sender(void *unused)
{
    (void)unused;
    __atomic_store_n(&signal_sent, 1, __ATOMIC_RELAXED);
    return NULL;
}
static void *reader(void *unused)
{
    uintptr_t seen = 0;
    unsigned i;
    (void)unused;
    interruptible = false;
    for (i = 0; i < slots; i++)
        seen |= look(i);
    return (void *)seen;
}
static int handler(void)
{
    weak_thread thread[3];
    void *result[3];
    uintptr_t written, there = 0, all_made;
    unsigned i, count = 0;
    weak_begin(&thread[0], owner, NULL);
    weak_begin(&thread[1], sender, NULL);
    weak_begin(&thread[2], reader, NULL);
    for (i = 0; i < 3; i++)
        weak_join(thread[i], &result[i]);
    all_made = (uintptr_t)result[0];
    weak_check(!((uintptr_t)result[2] & ~all_made), "what is seen was made");
    for (i = 1; i < 16; i++)
        count += all_made >> i & 1;
    written = recorder_get_(&all.ring.write);
    weak_check(count + recorder_get_(&all.ring.given_up) == written,
               "each position was handed out once");
    for (i = 0; i < slots; i++)
        there |= look(i);
    for (i = 1, count = 0; i < 16; i++)
        count += there >> i & 1;
    weak_check(count == (written < slots ? written : slots),
               "at rest all slots hold a record of their own");
    weak_check(slots == 1 || all_made >> 5 & there >> 5 & 1,
               "the newest records are there");
    return (int)(all_made >> 10 & 1);
}

/* ------------------------------------------------------------- hand-over -- */

enum { DEAD = 1, IDS = 5 };
static uintptr_t lane_owner, ended[IDS], alone;

/* The kernel's word on a thread: it orders nothing by itself. The kernel knows
 * no thread with the id of a lane that is being taken. */
static bool has_ended(uintptr_t id)
{
    return id >= IDS || __atomic_load_n(&ended[id], __ATOMIC_RELAXED) != 0;
}
static void own(uintptr_t id, uintptr_t what)
{
    made = 0;
    interruptible = false;
    if (recorder_owner_take_(&lane_owner, id, has_ended)) {
        weak_alone(&alone);
        make(OWN, what, 1);
    }
    __atomic_store_n(&ended[id], 1, __ATOMIC_RELEASE);
}
static void *take(void *id)
{
    own((uintptr_t)id, (uintptr_t)id);
    return (void *)made;
}
/* A thread that has the id of the dead one: the kernel makes it after that. */
static void *take_again(void *unused)
{
    (void)unused;
    made = 0;
    if (!__atomic_load_n(&ended[DEAD], __ATOMIC_ACQUIRE))
        return NULL;
    __atomic_store_n(&ended[DEAD], 0, __ATOMIC_RELEASE);
    own(DEAD, 5);
    return (void *)made;
}
static int over(void)
{
    weak_thread thread[5];
    void *result;
    uintptr_t all_made = 0, there = 0;
    unsigned i, count = 0;
    for (i = DEAD; i < IDS; i++)
        weak_begin(&thread[i - DEAD], take, (void *)(uintptr_t)i);
    weak_begin(&thread[4], take_again, NULL);
    for (i = 0; i < 5; i++) {
        weak_join(thread[i], &result);
        all_made |= (uintptr_t)result;
    }
    for (i = 1; i < 16; i++)
        count += all_made >> i & 1;
    weak_check(recorder_get_(&all.ring.write) == count,
               "each position was handed out once");
    for (i = 0; i < slots; i++)
        there |= look(i);
    weak_check(there == all_made, "at rest all records are there");
    weak_check(recorder_get_(&lane_owner) != UINTPTR_MAX,
               "the lane is somebody's");
    return (int)(all_made >> 1 & 31);
}

/* ---------------------------------------------------------------- shared -- */

static void *share_first(void *unused)
{
    (void)unused;
    made = 0;
    make(1, 1, parts);
    return (void *)made;
}
static void *share_second(void *unused)
{
    (void)unused;
    made = 0;
    make(2, 5, 1);
    return (void *)made;
}
static int shared(void)
{
    weak_thread thread[2];
    void *first, *second;
    weak_begin(&thread[0], share_first, NULL);
    weak_begin(&thread[1], share_second, NULL);
    weak_join(thread[0], &first);
    weak_join(thread[1], &second);
    weak_check(recorder_get_(&all.ring.write) == parts + 1u,
               "each position was handed out once");
    return 0;
}

/* ----------------------------------------------------------------- clock -- */

/* Units are told by a clock that stands still: so all want the same one. The
 * result of a thread has a bit for each unit that it drew. */
enum { UNIT = 4 };
static uintptr_t last_unit;
static uintptr_t draw(uintptr_t lane, uintptr_t count)
{
    uintptr_t order = recorder_order_take_(&last_unit, lane, UNIT, count);
    uintptr_t unit = order >> RECORDER_UNIT_BITS_, piece;
    for (piece = 1; piece < count * RECORDER_UNIT_PARTS_; piece++) {
        uintptr_t next = (uintptr_t)recorder_order_next_(order);
        weak_check(next > order, "orders of a text ascend");
        weak_check(next >> RECORDER_UNIT_BITS_ ==
                       unit + piece / RECORDER_UNIT_PARTS_,
                   "a text stays in its units");
        order = next;
    }
    return (((uintptr_t)1 << count) - 1) << unit;
}
static void *draw_two(void *lane)
{
    uintptr_t first, second;
    handled = 0;
    interruptible = lane != NULL;
    first = draw((uintptr_t)lane, units);
    second = draw((uintptr_t)lane, 1);
    handle();
    interruptible = false;
    weak_check(first < second, "orders of a thread ascend");
    weak_check(!(first & second) && !(handled & (first | second)),
               "an order is given once");
    return (void *)(first | second | handled);
}
static int clock_of_one(void)
{
    weak_thread thread[2];
    void *result[2];
    uintptr_t all_drawn;
    unsigned i;
    weak_begin(&thread[0], draw_two, (void *)1);
    weak_begin(&thread[1], sender, NULL);
    for (i = 0; i < 2; i++)
        weak_join(thread[i], &result[i]);
    all_drawn = (uintptr_t)result[0] >> UNIT;
    weak_check((all_drawn & (all_drawn + 1)) == 0, "no unit is left out");
    weak_check(recorder_get_(&last_unit) ==
                   UNIT + (unsigned)__builtin_popcountl(all_drawn) - 1,
               "the last unit is the highest");
    return __builtin_popcountl(all_drawn) > (int)units + 1;
}
static int clock_of_all(void)
{
    weak_thread thread[2];
    void *result[2];
    unsigned i;
    for (i = 0; i < 2; i++)
        weak_begin(&thread[i], draw_two, NULL);
    for (i = 0; i < 2; i++)
        weak_join(thread[i], &result[i]);
    weak_check(!((uintptr_t)result[0] & (uintptr_t)result[1]),
               "an order is given once");
    weak_check(recorder_get_(&last_unit) == UNIT + 2 * (units + 1) - 1,
               "the last unit is the highest");
    return 0;
}

/* --------------------------------------------------------------- counter -- */

/* A clock goes on by one with each reading, a unit is one tick. The first draw
 * takes units ahead of the clock, as a text does. The processor's part: who
 * reads the clock so late sees C2; where it would not, it draws nothing. The
 * counter begins later than that, by more than orders are ahead. */
enum { AHEAD = 2, SEEN = 2, LANES = 8 };
static uintptr_t clock_now, clocked, counter, units_of[LANES], told, lane_two;
#define COUNTER_FROM ((uintptr_t)RECORDER_COUNT_TICKS_ << RECORDER_UNIT_BITS_)
static uintptr_t read_clock(void)
{
    return __atomic_fetch_add(&clock_now, 1, __ATOMIC_RELAXED);
}
static uintptr_t count_one(void)
{
    uintptr_t order = __atomic_fetch_add(&counter, 1, __ATOMIC_ACQ_REL);
    weak_check(order >= COUNTER_FROM, "the counter's orders are the higher ones");
    return order;
}
static uintptr_t draw_either(uintptr_t lane, uintptr_t count)
{
    uintptr_t unit = read_clock(), limit, order = UINTPTR_MAX;
    limit = recorder_order_limit_(&clocked);
    if (unit >= SEEN && limit == UINTPTR_MAX)
        return 0;
    if (recorder_clocked_is_(limit))
        order = recorder_order_below_(
            limit, recorder_order_take_(&units_of[lane], lane, unit, count));
    if (order == UINTPTR_MAX)
        return count_one();
    weak_check(order < COUNTER_FROM, "the clock's orders are the lower ones");
    return order;
}
static void *draw_on(void *lane)
{
    uintptr_t heard = __atomic_load_n(&told, __ATOMIC_RELAXED);
    uintptr_t first = draw_either((uintptr_t)lane, AHEAD);
    uintptr_t second = first ? draw_either((uintptr_t)lane, 1) : 0;
    interruptible = false;
    weak_check(!first || first > heard, "an order follows what was heard");
    weak_check(!second || second > first, "orders of a thread ascend");
    return (void *)(first | second << 32);
}
static void *go_over(void *unused)
{
    uintptr_t order;
    (void)unused;
    interruptible = false;
    recorder_order_switch_(&clocked, &counter, COUNTER_FROM, 0);
    order = count_one();
    __atomic_store_n(&told, order, __ATOMIC_RELAXED);
    return (void *)order;
}
static int to_the_counter(void)
{
    weak_thread thread[3];
    void *result[3];
    uintptr_t orders[5];
    unsigned i, j;
    __atomic_store_n(&clocked, UINTPTR_MAX, __ATOMIC_RELAXED);
    weak_begin(&thread[0], draw_on, (void *)1);
    weak_begin(&thread[1], draw_on, (void *)lane_two);
    weak_begin(&thread[2], go_over, NULL);
    for (i = 0; i < 3; i++) {
        weak_join(thread[i], &result[i]);
        orders[i] = (uintptr_t)result[i] & UINT32_MAX;
        if (i < 2)
            orders[i + 3] = (uintptr_t)result[i] >> 32;
    }
    for (i = 0; i < 5; i++)
        for (j = 0; j < i; j++)
            weak_check(!orders[i] || orders[i] != orders[j],
                       "an order is given once");
    return 0;
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    int (*program)(void) = NULL;
    struct weak_result r;
    int flags = WEAK_REDUCED | WEAK_SYMMETRIC;
    if (getenv("TRACE"))
        flags |= WEAK_TRACE;
    if (strcmp(what, "handler") == 0 && count == 4) {
        slots = (unsigned)atoi(arguments[2]);
        parts = (unsigned)atoi(arguments[3]);
        if (slots > 0 && slots <= MAX && parts > 0 && parts <= slots)
            program = handler;
    } else if (strcmp(what, "counter") == 0 && count == 3) {
        lane_two = (uintptr_t)atoi(arguments[2]);
        if (lane_two > 1 && lane_two < LANES)
            program = to_the_counter;
    } else if (strcmp(what, "over") == 0)
        program = over;
    else if (strcmp(what, "shared") == 0)
        program = shared;
    else if (strncmp(what, "clock", 5) == 0 && count == 3) {
        units = (unsigned)atoi(arguments[2]);
        if (units > 0 && units <= MAX)
            program = what[5] ? clock_of_all : clock_of_one;
    }
    if (!program) {
        fprintf(stderr, "usage: lanes handler slots parts | over | shared | "
                        "clock units | clocks units | counter lane\n");
        return 2;
    }
    r = weak_explore(program, flags);
    printf(r.executions < 1e7 ? "%.0f" : "%.1e", r.executions);
    printf(" executions through %lu states: %s\n", r.states,
           r.failure ? r.failure : "ok");
    return r.failure != NULL;
}
