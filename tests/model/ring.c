/* ring.c - what the ring promises, checked on recorder.h in all executions. */
/* SPDX-License-Identifier: MIT */
/*
 * For GenMC (-DGENMC -DSLOTS=1 ...) and for the explorer, where the numbers are
 * arguments: ring SLOTS WRITERS RECORDS TICKETS READERS WORDS [PARTS] [how]
 *
 *     SLOTS     of the ring
 *     WRITERS   threads that record
 *     RECORDS   that each of them makes
 *     TICKETS   that each record may draw
 *     READERS   threads that look at each slot once, meanwhile
 *     WORDS     of a record that are modelled, half of them the first, half of
 *               them the last. The others are not stored, and read as 0. All
 *               eight are relaxed accesses in a row, and each word is compared
 *               with what its record put there: so what holds for one word
 *               holds for eight.
 *     PARTS     slots that each record takes, whose orders and positions it
 *               draws at once; 1 if it is not said. Each counts as a record
 *
 * `ring order`: the promise of W1, in two programs of its own.
 */
#include "weak.h"

#if defined(GENMC) && !defined(SLOTS)
enum {
    SLOTS = 1,
    WRITERS = 1,
    RECORDS = 1,
    TICKETS = 1,
    READERS = 1,
    WORDS = 1,
    PARTS = 1
}; /* for the promise of W1, which has no ring */
#elif defined(GENMC) && !defined(PARTS)
#define PARTS 1
#elif !defined(GENMC)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned sizes[7] = {0, 0, 0, 0, 0, 0, 1};
#define SLOTS sizes[0]
#define WRITERS sizes[1]
#define RECORDS sizes[2]
#define TICKETS sizes[3]
#define READERS sizes[4]
#define WORDS sizes[5]
#define PARTS sizes[6]
#endif

/* The model's hold on the header: which words count, which position a writer
 * drew last, and what a writer does in the middle of its slot. */
static bool counts(const volatile void *p);
static uintptr_t draws(const volatile void *p, uintptr_t value);
static void writes_alone(void);

#undef __atomic_load_n
#undef __atomic_store_n
#undef __atomic_fetch_add
#define __atomic_load_n(p, order) (counts(p) ? WEAK_LOAD_(p, order) : 0)
#define __atomic_store_n(p, value, order)                                      \
    (counts(p) ? (void)WEAK_STORE_(p, value, order) : (void)0)
#define __atomic_fetch_add(p, value, order) draws(p, WEAK_ADD_(p, value, order))
#define RECORDER_STEP_(label)                                                  \
    ((#label)[0] == 'W' && (#label)[1] == '5' ? writes_alone() : (void)0)
#define RECORDER_TICKETS TICKETS
#define RECORDER_TIME() ((uintptr_t)0)
#define RECORDER_THREAD() 1u
#include "recorder.h"

enum {
    MAX = 4,
    WORDS_ALL = sizeof(struct recorder_record) / sizeof(uintptr_t)
};
static struct {
    struct recorder_ring ring;
    /* As many slots as the program uses: records, commit words and turns. */
    uintptr_t slots[MAX * (WORDS_ALL + 3)];
} all;
static uintptr_t busy_writer[MAX]; /* of each slot: plain stores */

static bool counts(const volatile void *p)
{
    uintptr_t at = (uintptr_t)p - (uintptr_t)all.slots;
    unsigned word = at / sizeof(uintptr_t) % WORDS_ALL;
    return at >= SLOTS * sizeof(struct recorder_record) ||
           word < (WORDS + 1) / 2 || word >= WORDS_ALL - WORDS / 2;
}

/* A table from positions to orders: 4 bits for each, 0 where there is none. */
static uintptr_t entry(uintptr_t position, uintptr_t of)
{
    weak_check(position < 16 && of < 16, "the table is too small");
    return of << 4 * position;
}
static uintptr_t order_at(uintptr_t in, uintptr_t position)
{
    return in >> 4 * position & 15;
}

/* What a writer knows when it has drawn a ticket: how many records it has made,
 * the table of those, this one's order, its tickets and this one's position, and
 * the first position of its parts. */
static __thread bool writes;
static __thread uintptr_t records, table, order, tickets, drawn, first;

static void drew(uintptr_t position)
{
    drawn = position;
    if (writes)
        weak_past(table, first << 32 | records << 24 | order << 16 |
                             tickets << 8 | drawn);
}

static uintptr_t draws(const volatile void *p, uintptr_t value)
{
    if (p == &all.ring.write) {
        if (tickets++ == 0) /* else a ticket of the rare path */
            first = value;
        drew(value);
    }
    return value;
}

static void writes_alone(void) { weak_alone(&busy_writer[drawn % SLOTS]); }

/* Makes a record of `parts`, and an entry for each that was not lost. */
static void make(unsigned thread, uintptr_t parts)
{
    uintptr_t o = order = recorder_orders_(parts), previous, i;
    tickets = 0;
    previous = recorder_positions_(&all.ring, parts, thread);
    for (i = 0; i < parts; i++, o++) {
        struct recorder_record r = {o, o, o, o, {o, o, o, o}}, *place;
        order = o;
        tickets = 1;
        if (i > 0)
            drew(previous + i);
        recorder_write_(&all.ring, SLOTS - 1, previous + i, thread, &r, &place);
        if (place)
            table |= entry(drawn, o);
    }
}

/* Looks at a slot. Returns the table of what is there, 0 for nothing. */
static uintptr_t look(unsigned slot)
{
    struct recorder_record r;
    const uintptr_t *word = &r.format;
    uintptr_t c = recorder_look_(&all.ring, SLOTS - 1, slot, &r);
    unsigned i;
    if (c == 0)
        return 0;
    for (i = 0; i < WORDS_ALL; i++)
        weak_check(!counts((uintptr_t *)all.slots + i) || word[i] == r.format,
                   "an accepted record is whole");
    return entry((c >> RECORDER_THREAD_BITS_) - SLOTS + slot, r.format);
}

static void *writer(void *number)
{
    table = 0;
    writes = true;
    for (records = 0; records < RECORDS; records++)
        make((unsigned)(uintptr_t)number, PARTS);
    return (void *)table;
}

static void *reader(void *unused)
{
    uintptr_t seen = 0;
    unsigned i;
    (void)unused;
    for (i = 0; i < SLOTS; i++)
        seen |= look(i);
    return (void *)seen;
}

/* What everybody left behind; `made` is the table of all records made. */
static void check_at_rest(uintptr_t made)
{
    uintptr_t given_up = recorder_get_(&all.ring.given_up), p;
    unsigned i, count = 0;
    for (p = 0; p < 16; p++) {
        uintptr_t mine = order_at(made, p), before;
        count += mine != 0;
        for (before = 0; before < p; before++)
            weak_check(!mine || mine != order_at(made, before),
                       "an order is given once");
    }
    weak_check(count + recorder_get_(&all.ring.lost) == WRITERS * RECORDS * PARTS,
               "records made = found + lost");
    weak_check(count + given_up == recorder_get_(&all.ring.write),
               "positions handed out = completed + given up");
    for (i = 0; i < SLOTS; i++) {
        uintptr_t newest = 0;
        for (p = i; p < 16; p += SLOTS)
            if (order_at(made, p))
                newest = entry(p, order_at(made, p));
        weak_check(look(i) == newest, "at rest a slot holds its newest record");
    }
    writes = false;
    for (i = 0; i < SLOTS; i++)
        make(1, 1);
    weak_check(recorder_get_(&all.ring.given_up) == given_up,
               "no slot leaks, the next tickets get their turn at once");
}

/* The outcome is a hash of what was made and seen. */
static int ring(void)
{
    weak_thread writers[MAX], readers[MAX];
    uintptr_t made = 0, seen = 0, p;
    void *result;
    unsigned i;
    for (i = 0; i < WRITERS; i++)
        weak_begin(&writers[i], writer, (void *)(uintptr_t)(i + 1));
    for (i = 0; i < READERS; i++)
        weak_begin(&readers[i], reader, NULL);
    for (i = 0; i < WRITERS; i++) {
        weak_join(writers[i], &result);
        made |= (uintptr_t)result;
    }
    for (i = 0; i < READERS; i++) {
        weak_join(readers[i], &result);
        seen = 3 * seen + (uintptr_t)result;
        for (p = 0; p < 16; p++)
            weak_check(!order_at((uintptr_t)result, p) ||
                           order_at((uintptr_t)result, p) == order_at(made, p),
                       "an accepted record is the one of its position");
    }
    check_at_rest(made);
    return (int)((made ^ 5 * seen) * 0x9fb21c651e98df25u >> 58);
}

/* W1. What a thread did before it drew an order is seen by who draws a later
 * one, relaxed accesses included ... */
static uintptr_t flag;
static void *draw_later(void *unused)
{
    uintptr_t seen;
    (void)unused;
    if (recorder_orders_(1) == 2) {
        seen = __atomic_load_n(&flag, __ATOMIC_RELAXED);
        weak_check(seen == 1, "a later order sees what came before an earlier");
    }
    return NULL;
}
static void *draw_earlier(void *unused)
{
    (void)unused;
    __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
    return (void *)recorder_orders_(1);
}
/* ... so that who sees a relaxed flag draws a later order than who drew one
 * and then set it. Without W1, RC11 keeps this too: to break it takes the load
 * buffering that GenMC finds with --imm. */
static void *draw_then_flag(void *unused)
{
    uintptr_t mine = recorder_orders_(1);
    (void)unused;
    __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
    return (void *)mine;
}
static void *flag_then_draw(void *unused)
{
    uintptr_t seen = __atomic_load_n(&flag, __ATOMIC_RELAXED);
    uintptr_t mine = recorder_orders_(1);
    (void)unused;
    return (void *)(seen ? mine : 0);
}

static int pair(void *(*a)(void *), void *(*b)(void *))
{
    weak_thread thread[2];
    void *first, *second;
    weak_begin(&thread[0], a, NULL);
    weak_begin(&thread[1], b, NULL);
    weak_join(thread[0], &first);
    weak_join(thread[1], &second);
    weak_check(second == NULL || (uintptr_t)first < (uintptr_t)second,
               "orders follow a chain of causes");
    return 0;
}
static int order_shows(void) { return pair(draw_earlier, draw_later); }
static int order_follows(void) { return pair(draw_then_flag, flag_then_draw); }

#ifdef GENMC
int main(void)
{
#if defined(ORDER_SHOWS)
    return order_shows();
#elif defined(ORDER_FOLLOWS)
    return order_follows();
#else
    (void)order_shows, (void)order_follows;
    return ring(), 0;
#endif
}
#else
static void print_count(double count, const char *unit)
{
    printf(count < 1e7 ? "%.0f %s" : "%.1e %s", count, unit);
}

static int report(struct weak_result r)
{
    print_count(r.executions, "executions");
    if (r.states)
        printf(" through %lu states", r.states);
    printf(": %s\n", r.failure ? r.failure : "ok");
    return r.failure != NULL;
}

/* Does the reduction lose an outcome? */
static int compare(int flags)
{
    struct weak_result every = weak_explore(ring, 0);
    struct weak_result reduced = weak_explore(ring, flags);
    bool same = !every.failure && !reduced.failure &&
                every.outcomes == reduced.outcomes;
    print_count(every.executions, "executions, reduced to ");
    print_count(reduced.executions, "executions");
    printf(": %s\n", same ? "same outcomes" : "OTHER OUTCOMES");
    return !same;
}

/* The environment: TRACE=1 prints the execution that fails, SEED=n is where
 * random executions start. */
int main(int argc, char **argv)
{
    int flags = WEAK_REDUCED | WEAK_SYMMETRIC, i;
    const char *seed = getenv("SEED"), *how = argc > 7 ? argv[7] : "";
    if (getenv("TRACE"))
        flags |= WEAK_TRACE;
    if (argc == 2 && strcmp(argv[1], "order") == 0) {
        struct weak_result r = weak_explore(order_shows, flags);
        return report(r.failure ? r : weak_explore(order_follows, flags));
    }
    for (i = 0; i < 6 && i + 1 < argc; i++)
        sizes[i] = (unsigned)atoi(argv[i + 1]);
    if (argc > 7 && atoi(how) > 0) {
        sizes[6] = (unsigned)atoi(how);
        argc--, argv++;
        how = argc > 7 ? argv[7] : "";
    }
    if (i == 6 && PARTS <= SLOTS && SLOTS > 0 && SLOTS <= MAX && WRITERS <= MAX &&
        READERS <= MAX) {
        if (argc == 7)
            return report(weak_explore(ring, flags));
        if (argc == 8 && strcmp(how, "compare") == 0)
            return compare(flags);
        if (argc == 9 && strcmp(how, "random") == 0)
            return report(weak_random(ring, flags, strtoul(argv[8], NULL, 0),
                                      seed ? strtoull(seed, NULL, 0) : 1));
    }
    fprintf(stderr, "usage: ring order | ring slots writers records tickets "
                    "readers words [parts] "
                    "[compare | random count]\n");
    return 2;
}
#endif
