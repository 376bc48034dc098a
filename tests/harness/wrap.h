/* A ring whose positions and orders come to the end of their numbers. */
/* SPDX-License-Identifier: MIT */
/*
 * Plain C, so that it can be compiled for 32 bits, too, where a program gets
 * there. Each check returns null, or what is wrong.
 */
#ifndef WRAP_H
#define WRAP_H
#ifndef RECORDER_STEP_
static void wrap_step(const char *where);
#define RECORDER_STEP_(label) wrap_step(#label)
#endif
#include "recorder.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRAP_SLOTS = 16, WRAP_MASK = WRAP_SLOTS - 1 };
RECORDER(wrap, WRAP_SLOTS, "Its numbers wrap");

#define WRAP_BITS ((unsigned)RECORDER_WORD_BITS_)
/* The first position whose lap does not fit into a commit word. */
#define WRAP_LAP ((uintptr_t)1 << (WRAP_BITS - RECORDER_THREAD_BITS_))
#define WRAP_HALF ((uintptr_t)1 << (WRAP_BITS - 1))
/* How long before the end a check starts; RECORDER_TEST_SCALE makes it less. */
static uintptr_t wrap_before = 1000000;

static char wrap_text[200];
#define WRAP_SAYS(...)                                                         \
    (snprintf(wrap_text, sizeof wrap_text, __VA_ARGS__), wrap_text)

static struct recorder_ring *wrap_ring(void) { return recorder_for_wrap.rings; }
static uintptr_t *wrap_commit(uintptr_t slot)
{
    return recorder_commits_(wrap_ring(), WRAP_MASK) + slot;
}
static struct recorder_turn *wrap_turn(uintptr_t slot)
{
    return recorder_turns_(wrap_ring(), WRAP_MASK) + slot;
}

/* Makes it a quiet ring: each slot holds a record, the next position is
 * `position`. */
static void wrap_quiet_at(uintptr_t position)
{
    uintptr_t slot;
    wrap_ring()->write = position - WRAP_SLOTS;
    for (slot = 0; slot < WRAP_SLOTS; slot++) {
        uintptr_t last = position - 1 - ((position - 1 - slot) & WRAP_MASK);
        *wrap_commit(slot) = recorder_commit_lap_(last, WRAP_MASK) | 1 << 1;
    }
}

/* Makes it the ring of a program that has recorded for long: the next position
 * is `position`, the next order `order`. A slot gave up lately, or never. */
static void wrap_at(uintptr_t position, uintptr_t order, bool gave_up_lately)
{
    uintptr_t lap, slot;
    memset(wrap_ring(), 0, recorder_for_wrap.ring_bytes);
    *recorder_home_.order = order;
    /* The changes of a ring without slots that give up: except for whole
     * records, all happen at laps whose bits are 0. */
    for (lap = WRAP_LAP; !gave_up_lately && lap && lap <= position;
         lap += WRAP_LAP) {
        wrap_quiet_at(lap - 2);
        for (slot = 0; slot < WRAP_SLOTS + 4; slot++)
            record(wrap, "%zu", lap);
    }
    wrap_quiet_at(position);
    *recorder_home_.order = order;
    for (slot = 0; slot < WRAP_SLOTS && gave_up_lately; slot++)
        wrap_turn(slot)->highest =
            ((position - 1 - slot) & ~(uintptr_t)WRAP_MASK) - WRAP_SLOTS;
}

/* Null where the ring holds the records n - WRAP_SLOTS + 1 to n, whose orders
 * follow each other up to `order`, of n at least WRAP_SLOTS; in the order of
 * their orders, as a reader sorts them. */
static const char *wrap_expect(uintptr_t n, uintptr_t order)
{
    struct recorder_record sorted[WRAP_SLOTS];
    uintptr_t slot, i, count = 0;
    for (slot = 0; slot < WRAP_SLOTS; slot++) {
        struct recorder_record r;
        if (!recorder_look_(wrap_ring(), WRAP_MASK, slot, &r))
            return WRAP_SAYS("slot %zu is not whole", (size_t)slot);
        for (i = count++;
             i > 0 && (intptr_t)(sorted[i - 1].order - r.order) > 0; i--)
            sorted[i] = sorted[i - 1];
        sorted[i] = r;
    }
    for (i = 0; i < WRAP_SLOTS; i++) {
        uintptr_t back = WRAP_MASK - i;
        if (sorted[i].argument[0] != n - back ||
            sorted[i].order != order - back)
            return WRAP_SAYS("record %zu of order %zu where %zu of order %zu "
                             "belongs",
                             (size_t)sorted[i].argument[0],
                             (size_t)sorted[i].order, (size_t)(n - back),
                             (size_t)(order - back));
    }
    return NULL;
}

/* Goal: the ring keeps its last records, sorted, on both sides of the wrap.
 * Method: two million records, half of them before it. */
static const char *wrap_quiet(uintptr_t position, uintptr_t order)
{
    uintptr_t n;
    wrap_at(position, order, false);
    for (n = 0; n < 2 * wrap_before; n++) {
        uintptr_t got = record(wrap, "%zu", n);
        const char *fault;
        if (got != order + n)
            return WRAP_SAYS("order %zu where %zu is next", (size_t)got,
                             (size_t)(order + n));
        if (n < WRAP_SLOTS || (n % 10007 != 0 && n - wrap_before + 50 > 100))
            continue;
        fault = wrap_expect(n, got);
        if (fault)
            return fault;
    }
    if (wrap_ring()->given_up || wrap_ring()->lost)
        return WRAP_SAYS("%zu given up, %zu lost",
                         (size_t)wrap_ring()->given_up,
                         (size_t)wrap_ring()->lost);
    return NULL;
}

/* Goal: a writer stopped in a slot, over the wrap, gives the slot back. Method:
 * the commit word of slot 3 says busy for `records`; the slot must take part
 * from its next turn on. */
static const char *wrap_stopped(uintptr_t position, uintptr_t records,
                                bool gave_up_lately)
{
    uintptr_t n = 0, order = 0, given_up;
    wrap_at(position, 1, gave_up_lately);
    *wrap_commit(3) |= 1;
    for (; n < records; n++)
        record(wrap, "%zu", n);
    *wrap_commit(3) ^= 1;
    given_up = wrap_ring()->given_up;
    if (given_up != wrap_turn(3)->gave_up / WRAP_SLOTS)
        return WRAP_SAYS("%zu given up, slot 3 knows of %zu", (size_t)given_up,
                         (size_t)wrap_turn(3)->gave_up / WRAP_SLOTS);
    for (; n < records + WRAP_SLOTS; n++)
        order = record(wrap, "%zu", n);
    if (wrap_ring()->given_up != given_up)
        return WRAP_SAYS(
            "from position %#zx on a slot whose writer has gone on "
            "is given up",
            (size_t)position);
    return wrap_expect(n - 1, order);
}

/* Goal: an old mark is not taken for one ahead. Method: slots that never gave
 * up, at 63 places over the range of positions. */
static const char *wrap_old_marks(void)
{
    uintptr_t i;
    const char *fault = wrap_stopped(0 - WRAP_LAP / 2, 3 * WRAP_SLOTS, false);
    for (i = 1; i < 64 && !fault; i++)
        fault = wrap_stopped(i << (WRAP_BITS - 6) | 1 << 10, 3 * WRAP_SLOTS,
                             false);
    return fault;
}

/* A thread that makes one record, and is stopped at one or two of its steps. */
static struct wrap_late {
    pthread_t thread;
    const char *where[3];
    uintptr_t who, order;
    unsigned steps;
    sem_t there, go_on;
} wrap_late[3];
static __thread struct wrap_late *wrap_me;

static void wrap_wait(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ;
}
static void wrap_step(const char *where)
{
    struct wrap_late *me = wrap_me;
    if (!me || !me->where[me->steps] || strcmp(where, me->where[me->steps]))
        return;
    me->steps++;
    sem_post(&me->there);
    wrap_wait(&me->go_on);
}
static void *wrap_record_late(void *argument)
{
    struct wrap_late *me = wrap_me = (struct wrap_late *)argument;
    uintptr_t a = me->who;
    me->order = record(wrap, "%zu %zu %zu %zu", a, ~a, 3 * a, 5 * a);
    sem_post(&me->there);
    return NULL;
}
static void wrap_go_on(struct wrap_late *late)
{
    sem_post(&late->go_on);
    wrap_wait(&late->there);
}
static struct wrap_late *wrap_start(uintptr_t who, const char *first,
                                    const char *second)
{
    struct wrap_late *late = &wrap_late[who];
    memset(late, 0, sizeof *late);
    late->who = who;
    late->where[0] = first;
    late->where[1] = second;
    sem_init(&late->there, 0, 0);
    sem_init(&late->go_on, 0, 0);
    pthread_create(&late->thread, NULL, wrap_record_late, late);
    wrap_wait(&late->there);
    return late;
}
static void wrap_fill(uintptr_t count)
{
    uintptr_t a = 1000;
    while (count--)
        record(wrap, "%zu %zu %zu %zu", a, ~a, 3 * a, 5 * a);
}

/* Goal: two tickets never take one slot by mistaking the mark of one of them
 * for an old one. Method: around the position at which a mark of 0 begins to
 * look as if it were ahead, A is stopped when its turn has come, B and C of the
 * two next laps are stopped, a ticket of the third gives up; then B gives up, C
 * looks, and A continues. All orders must match their arguments. */
static const char *wrap_mixed(void)
{
    uintptr_t base = 0 - WRAP_LAP, slot;
    struct wrap_late *a, *b, *c;
    wrap_at(base - 2 * WRAP_SLOTS, 1, false);
    wrap_fill(WRAP_SLOTS);
    a = wrap_start(0, "W3", "W6");
    wrap_fill(WRAP_SLOTS - 1);
    b = wrap_start(1, "W3", NULL);
    wrap_fill(WRAP_SLOTS - 1);
    c = wrap_start(2, "W2", "W6");
    wrap_fill(WRAP_SLOTS);
    wrap_go_on(b);
    wrap_go_on(c);
    wrap_go_on(a);
    wrap_go_on(a);
    wrap_go_on(c);
    for (slot = 0; slot < 3; slot++)
        pthread_join(wrap_late[slot].thread, NULL);
    for (slot = 0; slot < WRAP_SLOTS; slot++) {
        struct recorder_record r;
        if (recorder_look_(wrap_ring(), WRAP_MASK, slot, &r) &&
            r.argument[0] < 3 && r.order != wrap_late[r.argument[0]].order)
            return WRAP_SAYS("slot %zu mixes two records", (size_t)slot);
    }
    slot = wrap_ring()->given_up;
    wrap_fill(WRAP_SLOTS);
    return wrap_ring()->given_up == slot ? NULL : "a slot has not come back";
}

static uintptr_t wrap_torn, wrap_made;
static bool wrap_stop;
static void *wrap_write(void *argument)
{
    uintptr_t n, who = (uintptr_t)argument;
    for (n = 0; n < wrap_before; n++) {
        uintptr_t a = n << 2 | who;
        record(wrap, "%zu %zu %zu %zu", a, ~a, 3 * a, 5 * a);
    }
    __atomic_fetch_add(&wrap_made, n, __ATOMIC_RELAXED);
    return NULL;
}
static uintptr_t wrap_look(void)
{
    uintptr_t slot, whole = 0;
    for (slot = 0; slot < WRAP_SLOTS; slot++) {
        struct recorder_record r;
        if (!recorder_look_(wrap_ring(), WRAP_MASK, slot, &r) || r.format == 0)
            continue;
        whole++;
        if (r.argument[1] != ~r.argument[0] ||
            r.argument[2] != 3 * r.argument[0] ||
            r.argument[3] != 5 * r.argument[0])
            wrap_torn++;
    }
    return whole;
}
static void *wrap_read(void *argument)
{
    while (!__atomic_load_n(&wrap_stop, __ATOMIC_RELAXED))
        wrap_look();
    return argument;
}

/* Goal: neither mixed nor lost records, and no lost slot, where many threads
 * cross the wrap. Method: 3 threads, a million records each, and a reader. */
static const char *wrap_crowded(uintptr_t position, uintptr_t order)
{
    pthread_t threads[3], reader;
    uintptr_t i, given_up, last = 0;
    wrap_at(position, order, true);
    wrap_stop = false;
    wrap_torn = wrap_made = 0;
    pthread_create(&reader, NULL, wrap_read, NULL);
    for (i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, wrap_write, (void *)i);
    for (i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&wrap_stop, true, __ATOMIC_RELAXED);
    pthread_join(reader, NULL);
    if (wrap_look() != WRAP_SLOTS || wrap_torn != 0)
        return WRAP_SAYS("%zu mixed records", (size_t)wrap_torn);
    if (*recorder_home_.order != order + wrap_made)
        return "orders were left out";
    given_up = wrap_ring()->given_up;
    if (wrap_ring()->write + WRAP_SLOTS - position - given_up +
            wrap_ring()->lost !=
        wrap_made)
        return "positions were left out";
    for (i = 0; i < WRAP_SLOTS; i++)
        last = record(wrap, "%zu", i);
    if (wrap_ring()->given_up != given_up)
        return WRAP_SAYS("%zu slots have not come back",
                         (size_t)(wrap_ring()->given_up - given_up));
    return wrap_expect(WRAP_MASK, last);
}

static const char *wrap_run(void)
{
    const uintptr_t ends[] = {WRAP_LAP, WRAP_HALF, 0};
    const uintptr_t stops[] = {1, 3, 16, 17, 40, 1000, 100000};
    const char *fault = NULL, *scale = getenv("RECORDER_TEST_SCALE");
    unsigned i, j, k;
    if (scale && atof(scale) < 1)
        wrap_before = 1000 + (uintptr_t)(1e6 * atof(scale));
    for (i = 0; i < 3 && !fault; i++) {
        fault = wrap_quiet(ends[i] - wrap_before, WRAP_HALF - wrap_before);
        if (!fault)
            fault = wrap_quiet(ends[i] - wrap_before, 0 - wrap_before);
        for (j = 0; j < sizeof stops / sizeof *stops; j++)
            for (k = 0;
                 k < 4 * WRAP_SLOTS && stops[j] < wrap_before / 5 && !fault;
                 k++)
                fault =
                    wrap_stopped(ends[i] - 2 * WRAP_SLOTS - stops[j] / 2 + k,
                                 stops[j], true);
        if (!fault)
            fault =
                wrap_crowded(ends[i] - wrap_before, WRAP_HALF - wrap_before);
        if (!fault)
            fault = wrap_crowded(ends[i] - wrap_before, 0 - wrap_before);
    }
    return fault;
}

#endif
