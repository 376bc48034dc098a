/* A record that happens before another has the smaller order. */
/* SPDX-License-Identifier: MIT */
#include "harness/ring.h"
#include <sched.h>
#include <unistd.h>

TestSuite(order, .timeout = 600);

/* Two recorders that the records of this file go to in turn: orders are one
 * row over both. */
RECORDER(order_a, 16, "Every other record");
RECORDER(order_b, 64, "And the rest");

/* One record. Returns its order, of 12 arguments the last of its three. */
static uintptr_t record_next(uintptr_t n)
{
    switch (n % 3) {
    case 0: return record(order_a, "%zu", n);
    case 1: return record(order_b, "%zu %s", n, "and some text");
    default:
        return 2 + record(order_b, "%zu %d %d %d %d %d %d %d %d %d %d %d", n, 1,
                          2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    }
}

/* ----------------------------------------------------------- handed over --
 *
 * Each test hands a token, the order of the last record, from thread to thread;
 * who takes it records, and must get a higher one. cr_assert is for the main
 * thread, so that faults are counted.
 */
enum { RUNNERS_MAX = 8 };
struct relay {
    unsigned runners;
    uintptr_t hops; /* wanted */
    uintptr_t turn; /* hops done: the runner `turn mod runners` is next */
    uintptr_t token, made, faults;
    int acquire, release;
    int pipes[RUNNERS_MAX][2];
    pthread_mutex_t mutex;
    unsigned last;
};
struct runner {
    pthread_t thread;
    struct relay *relay;
    unsigned number;
};

static uintptr_t take_over(struct relay *relay, uintptr_t token, uintptr_t n)
{
    uintptr_t order = record_next(n);
    if (order <= token)
        __atomic_fetch_add(&relay->faults, 1, __ATOMIC_RELAXED);
    return order;
}

static void run_relay(struct relay *relay, void *(*run)(void *),
                      const char *name)
{
    struct runner runners[RUNNERS_MAX];
    unsigned i;
    for (i = 0; i < relay->runners; i++) {
        runners[i].relay = relay;
        runners[i].number = i;
        runners[i].thread = ring_thread(run, &runners[i]);
    }
    for (i = 0; i < relay->runners; i++)
        pthread_join(runners[i].thread, NULL);
    cr_log_info("%s: %zu hand-offs between %u threads", name,
                (size_t)relay->turn, relay->runners);
    cr_assert(relay->turn >= relay->hops);
    cr_assert(relay->faults == 0, "%s: %zu orders not above the one before",
              name, (size_t)relay->faults);
}

/* The token travels through one word, with the memory orders of the relay. The
 * word says whose turn it is, too: token << 3 | runner. */
static void *run_flag(void *argument)
{
    struct runner *me = argument;
    struct relay *relay = me->relay;
    uintptr_t hop;
    for (hop = me->number; hop < relay->hops; hop += relay->runners) {
        uintptr_t seen, spins = 0;
        while ((seen = relay->acquire == __ATOMIC_ACQUIRE
                           ? __atomic_load_n(&relay->token, __ATOMIC_ACQUIRE)
                           : __atomic_load_n(&relay->token, __ATOMIC_RELAXED)),
               seen % RUNNERS_MAX != me->number)
            if (++spins % 64 == 0)
                sched_yield();
        __atomic_fetch_add(&relay->turn, 1, __ATOMIC_RELAXED);
        seen = take_over(relay, seen / RUNNERS_MAX, hop) * RUNNERS_MAX +
               (me->number + 1) % relay->runners;
        if (relay->release == __ATOMIC_RELEASE)
            __atomic_store_n(&relay->token, seen, __ATOMIC_RELEASE);
        else
            __atomic_store_n(&relay->token, seen, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* Goal: orders follow a flag that is released and acquired. Method: 2 threads
 * hand the token over 200,000 times and 8 in a circle 200,000 times. */
Test(order, by_release_and_acquire)
{
    struct relay two = {.runners = 2,
                        .hops = scaled(200000),
                        .acquire = __ATOMIC_ACQUIRE,
                        .release = __ATOMIC_RELEASE};
    struct relay eight = two;
    eight.runners = 8;
    run_relay(&two, run_flag, "release and acquire");
    run_relay(&eight, run_flag, "release and acquire");
}

/* Goal: they follow a relaxed flag, too, which orders nothing else: this is
 * what W1 is acq_rel for. Method: the same. (x86 cannot show a weaker W1.) */
Test(order, by_a_relaxed_flag)
{
    struct relay two = {.runners = 2,
                        .hops = scaled(200000),
                        .acquire = __ATOMIC_RELAXED,
                        .release = __ATOMIC_RELAXED};
    struct relay eight = two;
    eight.runners = 8;
    run_relay(&two, run_flag, "relaxed");
    run_relay(&eight, run_flag, "relaxed");
}

static void *run_mutex(void *argument)
{
    struct runner *me = argument;
    struct relay *relay = me->relay;
    uintptr_t n;
    bool more = true;
    for (n = 0; more; n++) {
        pthread_mutex_lock(&relay->mutex);
        relay->token = take_over(relay, relay->token, n);
        if (relay->last != me->number)
            relay->turn++;
        relay->last = me->number;
        more = relay->turn < relay->hops;
        pthread_mutex_unlock(&relay->mutex);
        sched_yield();
    }
    return NULL;
}

/* Goal: orders follow a mutex. Method: 8 threads record under one, until the
 * mutex has changed hands 100,000 times. */
Test(order, by_a_mutex)
{
    struct relay relay = {.runners = 8, .hops = scaled(100000)};
    pthread_mutex_init(&relay.mutex, NULL);
    run_relay(&relay, run_mutex, "mutex");
}

static void *run_pipe(void *argument)
{
    struct runner *me = argument;
    struct relay *relay = me->relay;
    uintptr_t hop;
    for (hop = me->number; hop < relay->hops; hop += relay->runners) {
        uintptr_t token = 0;
        unsigned next = (me->number + 1) % relay->runners;
        while (read(relay->pipes[me->number][0], &token, sizeof token) !=
               sizeof token)
            ;
        __atomic_fetch_add(&relay->turn, 1, __ATOMIC_RELAXED);
        token = take_over(relay, token, hop);
        while (write(relay->pipes[next][1], &token, sizeof token) !=
               sizeof token)
            ;
    }
    return NULL;
}

/* Goal: orders follow a pipe. Method: 4 threads in a circle of pipes, 200,000
 * times. */
Test(order, by_a_pipe)
{
    struct relay relay = {.runners = 4, .hops = scaled(200000)};
    uintptr_t token = 0;
    unsigned i;
    for (i = 0; i < relay.runners; i++)
        cr_assert(pipe(relay.pipes[i]) == 0);
    cr_assert(write(relay.pipes[0][1], &token, sizeof token) == sizeof token);
    run_relay(&relay, run_pipe, "pipe");
}

static void *run_once(void *argument)
{
    struct relay *relay = argument;
    relay->token = take_over(relay, relay->token, relay->turn);
    relay->turn++;
    return NULL;
}

/* Goal: orders follow the start of a thread and its end. Method: 50,000 threads
 * one after the other, each with one record between two of its maker. */
Test(order, by_join)
{
    struct relay relay = {.runners = 1, .hops = scaled(100000)};
    while (relay.turn < relay.hops) {
        pthread_t thread = ring_thread(run_once, &relay);
        pthread_join(thread, NULL);
        relay.token = take_over(&relay, relay.token, relay.turn);
        relay.turn++;
    }
    cr_log_info("start and join: %zu hand-offs", (size_t)relay.turn);
    cr_assert(relay.faults == 0);
}

/* ---------------------------------------------------------------- unique -- */

enum { COUNTERS = 16 };
struct counter {
    pthread_t thread;
    uintptr_t calls, records, faults;
    uint64_t random;
};
static uintptr_t first_order, orders_max;
static uint32_t *orders_taken; /* a bit for each */

static void *run_counter(void *argument)
{
    struct counter *me = argument;
    uintptr_t last = 0, i, j;
    for (i = 0; i < me->calls; i++) {
        uintptr_t count = 1, order;
        switch (random_of(&me->random) % 4) {
        case 0: order = record(order_a, "%zu", i); break;
        case 1:
            order = record(order_b, "%zu %zu %zu %zu %zu", i, i, i, i, i);
            count = 2;
            break;
        case 2: order = record(ring, "%zu %zu", i, i); break;
        default:
            order = record(ring, "%zu %zu %zu %zu %zu %zu %zu %zu %zu", i, i, i,
                           i, i, i, i, i, i);
            count = 3;
            break;
        }
        me->faults += order <= last;
        last = order + count - 1;
        for (j = 0; j < count; j++) {
            uintptr_t n = order + j - first_order;
            uint32_t bit = (uint32_t)1 << n % 32;
            if (n >= orders_max || __atomic_fetch_or(&orders_taken[n / 32], bit,
                                                     __ATOMIC_RELAXED) &
                                       bit)
                me->faults++;
        }
        me->records += count;
    }
    return NULL;
}

/* Goal: each order is given once, none is left out, and each thread's rise.
 * Method: 16 threads, 10 million calls of 1, 2 and 3 records at 3 recorders; a
 * bit for each order says who has it. */
Test(order, unique)
{
    static struct counter counters[COUNTERS];
    uintptr_t calls = scaled(1e7) / COUNTERS + 1, i, records = 0, last;
    uint64_t seed = seed_of("unique");
    orders_max = 3 * calls * COUNTERS;
    orders_taken = calloc(orders_max / 32 + 1, 4);
    first_order = record(order_a, "the first") + 1;
    for (i = 0; i < COUNTERS; i++) {
        counters[i].calls = calls;
        counters[i].random = seed + i;
        counters[i].thread = ring_thread(run_counter, &counters[i]);
    }
    for (i = 0; i < COUNTERS; i++) {
        pthread_join(counters[i].thread, NULL);
        cr_assert(counters[i].faults == 0, "%zu orders were given twice",
                  (size_t)counters[i].faults);
        records += counters[i].records;
    }
    last = record(order_a, "the last");
    cr_assert_eq(last, first_order + records);
    for (i = 0; i < records; i++)
        cr_assert(orders_taken[i / 32] >> i % 32 & 1, "order %zu is left out",
                  (size_t)(first_order + i));
    free(orders_taken);
    cr_log_info("%zu orders, each once", (size_t)records);
}

/* ------------------------------------------------- records of many arguments
 */

static void *run_12(void *argument)
{
    uintptr_t who = (uintptr_t)argument, i, calls = scaled(200000);
    ring_writer_enter(who);
    for (i = 0; i < calls; i++)
        ring_record(who, i % RING_SITES);
    return NULL;
}
static int by_order(const void *a, const void *b)
{
    const struct recorder_record *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

/* Goal: sorted by order, the parts of a record with 12 arguments stand next to
 * each other. Method: 4 threads record such ones and others; then the newest of
 * the ring are looked at. What follows a head whose parts were overtaken by the
 * ring's end is left out. */
Test(order, parts_follow_at_once, .init = ring_learn)
{
    static struct recorder_record r[RING_SLOTS_MAX];
    uintptr_t round, heads = 0;
    for (round = 0; round < 10; round++) {
        pthread_t threads[4];
        uintptr_t i, count = 0, slot;
        ring_use(RING_SLOTS_MAX);
        for (i = 0; i < 4; i++)
            threads[i] = ring_thread(run_12, (void *)i);
        for (i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        for (slot = 0; slot < RING_SLOTS_MAX; slot++) {
            uintptr_t commit = recorder_look_(ring_head(), RING_SLOTS_MAX - 1,
                                              slot, &r[count]);
            const char *fault = commit ? ring_fault(commit, &r[count]) : NULL;
            cr_assert(!fault, "%s", fault);
            count += commit != 0;
        }
        qsort(r, count, sizeof *r, by_order);
        for (i = count / 2; i + 2 < count; i++) {
            if (r[i].format == 0 || ring_parts(r[i].argument[0]) == 1)
                continue;
            heads++;
            /* A gap in the orders says that the ring lost what was there. */
            if (r[i + 2].order != r[i].order + 2)
                continue;
            cr_assert(r[i + 1].format == 0 && r[i + 2].format == 0);
            cr_assert(r[i + 1].argument[0] == r[i].argument[0]);
            cr_assert(r[i + 2].argument[0] == r[i].argument[0]);
            cr_assert(r[i + 1].argument[1] == ring_word(r[i].argument[0], 5));
            cr_assert(r[i + 2].argument[1] == ring_word(r[i].argument[0], 9));
        }
    }
    cr_assert(heads > 0);
    cr_log_info("%zu records of 12 arguments", (size_t)heads);
}
