/* A record that happens before another has the smaller order. */
/* SPDX-License-Identifier: MIT */
#include "harness/relay.h"

TestSuite(order, .timeout = 600);

/* ----------------------------------------------------------- handed over -- */

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

/* Goal: orders follow a mutex. Method: 8 threads record under one, until the
 * mutex has changed hands 100,000 times. */
Test(order, by_a_mutex)
{
    relay_by_mutex(scaled(100000));
}

/* Goal: orders follow a pipe. Method: 4 threads in a circle of pipes, 200,000
 * times. */
Test(order, by_a_pipe)
{
    relay_by_pipe(scaled(200000));
}

/* Goal: orders follow the start of a thread and its end. Method: 50,000 threads
 * one after the other, each with one record between two of its maker. */
Test(order, by_join)
{
    relay_by_join(scaled(100000));
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
