/* Records that show a mix of two, and readers that look for one. */
/* SPDX-License-Identifier: MIT */
/*
 * All words of a record here follow from its key, which says who made it and as
 * the how many-th; its order is checked against what record() returned. So a
 * reader can tell of any slot that it accepts whether it holds one record or
 * parts of two. A test may define RECORDER_STEP_ before it includes this file.
 */
#ifndef RING_H
#define RING_H
#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The ticks of a record are made from its key like everything else. */
static __thread volatile uintptr_t ring_key;
static inline uintptr_t ring_word(uintptr_t key, uintptr_t word)
{
    uintptr_t x = (key + word * 40503u) * (uintptr_t)0x9e3779b97f4a7c15u;
    return word % 4 == 0 && word < 12 ? key : x ^ x >> 13;
}
#define RING_TIME 13 /* the number of the word in the place of the time */
#ifndef RECORDER_CLOCK_ORDER /* these orders are made from the time */
#define RECORDER_TIME() ring_word(ring_key, RING_TIME)
#endif
#include "random.h"
#include "recorder.h"

/* ------------------------------------------------------------ the harness --
 */

static inline pthread_t ring_thread(void *(*run)(void *), void *with)
{
    pthread_t thread;
    cr_assert(pthread_create(&thread, NULL, run, with) == 0);
    return thread;
}

/* ----------------------------------------------------- the ring under test --
 */

#define RING_SLOTS_MAX 1024
RECORDER(ring, RING_SLOTS_MAX, "The ring under test");

/* Makes it an empty ring of `slots`: zeroed memory is one. */
static inline void ring_use(uintptr_t slots)
{
    struct recorder *r = &recorder_for_ring;
    cr_assert(slots <= RING_SLOTS_MAX && (slots & (slots - 1)) == 0);
    memset(r->rings, 0, sizeof recorder_rings_for_ring);
    r->mask = slots - 1;
    r->ring_bytes = sizeof *r->rings +
                    slots * RECORDER_SLOT_WORDS_ * sizeof(uintptr_t);
}
static inline struct recorder_ring *ring_head(void)
{
    return recorder_for_ring.rings;
}
static inline uintptr_t ring_slots(void) { return recorder_for_ring.mask + 1; }
static inline uintptr_t *ring_commit(uintptr_t slot)
{
    return recorder_commits_(ring_head(), recorder_for_ring.mask) + slot;
}
static inline struct recorder_turn *ring_turn(uintptr_t slot)
{
    return recorder_turns_(ring_head(), recorder_for_ring.mask) + slot;
}
/* The slot that the next ticket is for. */
static inline uintptr_t ring_next(void)
{
    return ring_head()->write & recorder_for_ring.mask;
}

/* ------------------------------------------------------------ the records --
 *
 * A key: who << RING_WHO_SHIFT | n << 3 | site. `who` counts writers, a thread
 * and its signal handler being two; n counts a writer's records from 0. Each of
 * the 8 sites is a record call with a format of its own: 0 to 3 have 4
 * arguments, 4 to 7 have 12, which makes three records.
 */
enum { RING_WHO = 128, RING_SITES = 8, RING_12 = 4, RING_WITNESSES = 4096 };
#define RING_WHO_SHIFT (RECORDER_WORD_BITS_ - 7)

static struct ring_site {
    uintptr_t format, caller;
} ring_sites[RING_SITES];

/* The results of record() for each writer's latest records, their number, and
 * the writer's thread. */
static struct ring_writer {
    uintptr_t order[RING_WITNESSES];
    uintptr_t made;
    uintptr_t thread;
} ring_writers[RING_WHO];

static inline unsigned ring_parts(uintptr_t key)
{
    return key & RING_12 ? 3 : 1;
}

/* Records a key, by the call that its site says. Returns the order. */
static __attribute__((noinline, unused)) uintptr_t
ring_record_key(uintptr_t key)
{
    uintptr_t w[12], before = ring_key, order = 0;
    unsigned i;
    for (i = 0; i < 4 * ring_parts(key); i++)
        w[i] = ring_word(key, i);
    ring_key = key;
#define RING_4_ w[0], w[1], w[2], w[3]
#define RING_12_ RING_4_, w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11]
    switch (key % RING_SITES) {
    case 0: order = record(ring, "zero %zu %zx %zx %zx", RING_4_); break;
    case 1: order = record(ring, "one %zu %zx %zx %zx", RING_4_); break;
    case 2: order = record(ring, "two %zu %zx %zx %zx", RING_4_); break;
    case 3: order = record(ring, "three %zu %zx %zx %zx", RING_4_); break;
    case 4:
        order =
            record(ring, "4 %zu%zx%zx%zx%zx%zx%zx%zx%zx%zx%zx%zx", RING_12_);
        break;
    case 5:
        order =
            record(ring, "5 %zu%zx%zx%zx%zx%zx%zx%zx%zx%zx%zx%zx", RING_12_);
        break;
    case 6:
        order =
            record(ring, "6 %zu%zx%zx%zx%zx%zx%zx%zx%zx%zx%zx%zx", RING_12_);
        break;
    case 7:
        order =
            record(ring, "7 %zu%zx%zx%zx%zx%zx%zx%zx%zx%zx%zx%zx", RING_12_);
        break;
    }
    ring_key = before;
    return order;
}

/* Begins the life of a writer in the calling thread. */
static inline void ring_writer_enter(uintptr_t who)
{
    cr_assert(who < RING_WHO);
    __atomic_store_n(&ring_writers[who].thread, RECORDER_THREAD(),
                     __ATOMIC_RELEASE);
}

/* The next key of a writer. */
static inline uintptr_t ring_next_key(uintptr_t who, uintptr_t site)
{
    return who << RING_WHO_SHIFT | ring_writers[who].made << 3 | site;
}

/* Bears witness that a writer's next key got this order. */
static inline void ring_made(uintptr_t who, uintptr_t order)
{
    struct ring_writer *writer = &ring_writers[who];
    uintptr_t n = writer->made;
    __atomic_store_n(&writer->order[n % RING_WITNESSES], order,
                     __ATOMIC_RELEASE);
    __atomic_store_n(&writer->made, n + 1, __ATOMIC_RELEASE);
}

/* One more record of a writer. Returns its order. */
static inline uintptr_t ring_record(uintptr_t who, uintptr_t site)
{
    uintptr_t order = ring_record_key(ring_next_key(who, site));
    ring_made(who, order);
    return order;
}

/* Learns the words that the compiler chooses: a format and a caller per site.
 * Runs before each test. */
static inline void ring_learn(void)
{
    struct recorder_record r;
    uintptr_t site;
    for (site = 0; site < RING_SITES; site++) {
        ring_use(4);
        ring_record_key(site);
        cr_assert(recorder_look_(ring_head(), 3, 0, &r) != 0);
        ring_sites[site].format = r.format;
        ring_sites[site].caller = r.caller;
    }
    memset(ring_writers, 0, sizeof ring_writers);
}

/* -------------------------------------------------------------- the readers --
 */

/* Null, or the reason why an accepted slot is no record, or a mix of two. */
static inline const char *ring_fault(uintptr_t commit,
                                     const struct recorder_record *r)
{
    uintptr_t key = r->argument[0], who = key >> RING_WHO_SHIFT, order;
    uintptr_t n = (key & (((uintptr_t)1 << RING_WHO_SHIFT) - 1)) >> 3;
    const struct ring_site *site = &ring_sites[key % RING_SITES];
    struct ring_writer *writer = &ring_writers[who % RING_WHO];
    uintptr_t part, i;
    part = r->format ? 0 : r->argument[1] == ring_word(key, 5) ? 1 : 2;
    if (part && ring_parts(key) == 1)
        return "the key of a record of 4 arguments, the format of a longer one";
    for (i = 1; i < 4; i++)
        if (r->argument[i] != ring_word(key, 4 * part + i))
            return "arguments of two records";
    if (r->format != (part ? 0 : site->format))
        return "arguments of one record, the format of another";
    if (r->caller != site->caller)
        return "arguments of one record, the caller of another";
    if (r->time != ring_word(key, RING_TIME))
        return "arguments of one record, the time of another";
    if (recorder_commit_thread_(commit) !=
        __atomic_load_n(&writer->thread, __ATOMIC_ACQUIRE))
        return "arguments of one record, the thread of another";
    if (n >= __atomic_load_n(&writer->made, __ATOMIC_ACQUIRE))
        return NULL; /* record() has not returned yet */
    order =
        __atomic_load_n(&writer->order[n % RING_WITNESSES], __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&writer->made, __ATOMIC_ACQUIRE) - n >= RING_WITNESSES)
        return NULL; /* too long ago */
    return r->order == order + part
               ? NULL
               : "arguments of one record, the order of another";
}

struct ring_reader {
    bool stop;
    uintptr_t passes, accepted, torn;
    const char *fault;              /* the first one, in words */
    uintptr_t seen[RING_SLOTS_MAX]; /* commit words: they only grow */
};

/* One look at each slot. Returns how many records were accepted. */
static inline uintptr_t ring_look(struct ring_reader *reader)
{
    uintptr_t slot, accepted = 0;
    for (slot = 0; slot < ring_slots(); slot++) {
        struct recorder_record r;
        uintptr_t commit =
            recorder_look_(ring_head(), ring_slots() - 1, slot, &r);
        const char *fault;
        if (commit == 0)
            continue;
        fault = ring_fault(commit, &r);
        if ((intptr_t)((commit & ~(uintptr_t)0xffff) -
                       (reader->seen[slot] & ~(uintptr_t)0xffff)) < 0 &&
            reader->seen[slot] && !fault)
            fault = "a record of a lap before one that was seen";
        reader->seen[slot] = commit;
        accepted++;
        if (!fault)
            continue;
        reader->torn++;
        if (!reader->fault)
            reader->fault = fault;
    }
    reader->accepted += accepted;
    reader->passes++;
    return accepted;
}
static inline void *ring_reader_run(void *argument)
{
    struct ring_reader *reader = argument;
    while (!__atomic_load_n(&reader->stop, __ATOMIC_RELAXED))
        ring_look(reader);
    return NULL;
}
static inline void ring_reader_stop(struct ring_reader *reader,
                                    pthread_t thread)
{
    __atomic_store_n(&reader->stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

/* --------------------------------------------------------- the quiet ring --
 */

/* At rest, without an unfinished record: every slot is whole, and `records` (a
 * call with 12 arguments is three) equals kept + overwritten + lost. */
static inline void ring_expect_counted(uintptr_t records)
{
    static struct ring_reader reader;
    const struct recorder_ring *head = ring_head();
    uintptr_t complete = head->write - head->given_up, kept;
    memset(&reader, 0, sizeof reader);
    kept = ring_look(&reader);
    cr_assert(reader.torn == 0, "%s", reader.fault);
    cr_assert(complete + head->lost == records,
              "%zu positions - %zu given up + %zu lost is not %zu records",
              (size_t)head->write, (size_t)head->given_up, (size_t)head->lost,
              (size_t)records);
    cr_assert(kept == (complete < ring_slots() ? complete : ring_slots()),
              "%zu of %zu slots hold a record, of %zu", (size_t)kept,
              (size_t)ring_slots(), (size_t)complete);
}

/* The ring holds exactly the records of the orders from `last - count + 1`. */
static inline void ring_expect_orders(uintptr_t last, uintptr_t count)
{
    static bool found[RING_SLOTS_MAX];
    uintptr_t slot, kept = 0;
    memset(found, 0, sizeof found);
    for (slot = 0; slot < ring_slots(); slot++) {
        struct recorder_record r;
        if (!recorder_look_(ring_head(), ring_slots() - 1, slot, &r))
            continue;
        kept++;
        cr_assert(last - r.order < count,
                  "order %zu, the last is %zu, kept %zu", (size_t)r.order,
                  (size_t)last, (size_t)count);
        cr_assert(!found[last - r.order]);
        found[last - r.order] = true;
    }
    cr_assert(kept == count, "%zu records, not %zu", (size_t)kept,
              (size_t)count);
}

/* All slots take part again: the caller's next records each find their slot
 * with the first ticket, and fill the ring. */
static inline void ring_expect_all_slots(uintptr_t who)
{
    uintptr_t given_up = ring_head()->given_up, lost = ring_head()->lost, i;
    uintptr_t last = 0;
    for (i = 0; i < ring_slots(); i++)
        last = ring_record(who, 0);
    cr_assert(ring_head()->given_up == given_up, "%zu slots have not come back",
              (size_t)(ring_head()->given_up - given_up));
    cr_assert(ring_head()->lost == lost);
    ring_expect_orders(last, ring_slots());
}

#endif
