/* Orders by the clock: as exact as those of the counter, and no two alike. */
/* SPDX-License-Identifier: MIT */
#define RECORDER_CLOCK_ORDER
#include "harness/relay.h"
#include "recorder_dump.h"
#include <signal.h>

TestSuite(clock, .timeout = 600);

RECORDER_LANES(clock_lanes, 256, 16, "Of threads with rings of their own");

static int stops; /* threads that run until then */

/* True if this machine can; else the counter gives orders, and keeps the same
 * promises, but has no clock to look at. */
static bool is_by_clock(void)
{
    return recorder_registry.clocked == UINTPTR_MAX;
}

/* ----------------------------------------------------------- handed over -- */

/* Goal: orders follow a flag, released and acquired or relaxed, in either lane
 * or in that of all. Method: 2 threads hand a token over 300,000 times each way,
 * and 8 in a circle. */
Test(clock, by_a_flag)
{
    struct relay two = {.runners = 2,
                        .hops = scaled(300000),
                        .acquire = __ATOMIC_ACQUIRE,
                        .release = __ATOMIC_RELEASE};
    struct relay relaxed = {.runners = 2,
                            .hops = scaled(300000),
                            .acquire = __ATOMIC_RELAXED,
                            .release = __ATOMIC_RELAXED};
    struct relay eight = two;
    eight.runners = 8;
    cr_log_info("orders are by the %s", is_by_clock() ? "clock" : "counter");
    run_relay(&two, run_flag, "release and acquire");
    run_relay(&relaxed, run_flag, "relaxed");
    run_relay(&eight, run_flag, "release and acquire");
}

/* Goal: they follow a mutex, a pipe, the start of a thread and its end. Method:
 * 100,000 hand-offs of each. */
Test(clock, by_a_mutex)
{
    relay_by_mutex(scaled(100000));
}
Test(clock, by_a_pipe)
{
    relay_by_pipe(scaled(100000));
}
Test(clock, by_join)
{
    relay_by_join(scaled(100000));
}

#ifdef RECORDER_CLOCKED_
/* ------------------------------------------------------------- its clock --
 *
 * Two threads on processors of their own hand a reading of the clock over, in
 * the word that says whose turn it is.
 */
struct hands {
    uint64_t (*clock)(void);
    uintptr_t hops, turn, faults;
};
struct hand {
    pthread_t thread;
    struct hands *hands;
    uintptr_t number;
};
static uint64_t read_cheaper(void)
{
    return __builtin_ia32_rdtsc();
}
static uint64_t read_in_order(void)
{
    return recorder_order_ticks_();
}
static void *run_hand(void *argument)
{
    const struct hand *me = argument;
    struct hands *hands = me->hands;
    uint64_t (*clock)(void) = hands->clock;
    cpu_set_t processor;
    CPU_ZERO(&processor);
    CPU_SET(me->number, &processor);
    pthread_setaffinity_np(pthread_self(), sizeof processor, &processor);
    for (uintptr_t hop = me->number; hop < hands->hops; hop += 2) {
        uintptr_t seen, spins = 0, now;
        while ((seen = __atomic_load_n(&hands->turn, __ATOMIC_RELAXED)) % 2 !=
               me->number)
            if (++spins % 4096 == 0)
                sched_yield();
        now = (uintptr_t)clock();
        if (now < seen / 2)
            __atomic_fetch_add(&hands->faults, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&hands->turn, now * 2 + !me->number, __ATOMIC_RELAXED);
    }
    return NULL;
}
static uintptr_t inversions(uint64_t (*clock)(void), uintptr_t hops)
{
    struct hands hands = {clock, hops, 0, 0};
    struct hand all[2];
    for (uintptr_t i = 0; i < 2; i++) {
        all[i].hands = &hands;
        all[i].number = i;
        all[i].thread = ring_thread(run_hand, &all[i]);
    }
    for (uintptr_t i = 0; i < 2; i++)
        pthread_join(all[i].thread, NULL);
    return hands.faults;
}

/* Goal: the clock that orders are made of never goes back on the way from one
 * processor to another. Method: a million hand-offs; and how often the cheaper
 * instruction, which does not wait for the loads before it, goes back. */
Test(clock, never_goes_back)
{
    uintptr_t hops = scaled(1000000), cheaper, in_order;
    if (!is_by_clock() || sysconf(_SC_NPROCESSORS_ONLN) < 2)
        cr_skip_test("this machine has one processor, or another clock");
    cheaper = inversions(read_cheaper, hops);
    in_order = inversions(read_in_order, hops);
    cr_log_info("of %zu hand-offs, rdtsc went back at %zu, rdtscp at %zu",
                (size_t)hops, (size_t)cheaper, (size_t)in_order);
    cr_assert(in_order == 0, "%zu readings were below the one before",
              (size_t)in_order);
}
#endif

/* ------------------------------------------------------------------ many -- */

static void *lane_of_this(void *unused)
{
    (void)unused;
    record(order_a, "a thread of many");
    return (void *)(uintptr_t)recorder_writer_lane_(recorder_self_());
}

/* Goal: where a recorder has more lanes than orders tell apart, threads take
 * those first that have orders of their own: the others share a line. Method:
 * 600 threads, one after the other, where a recorder has 512 lanes. */
Test(clock, lanes_with_orders_come_first)
{
    if (!is_by_clock())
        cr_skip_test("orders are of the counter here");
    recorder_put_(&recorder_registry.lanes_most, 512);
    for (unsigned i = 0; i < 600; i++) {
        pthread_t thread = ring_thread(lane_of_this, NULL);
        void *lane;
        pthread_join(thread, &lane);
        cr_assert((uintptr_t)lane > 0 && (uintptr_t)lane < RECORDER_UNIT_LANES_,
                  "thread %u has lane %zu", i, (size_t)(uintptr_t)lane);
    }
}

/* ---------------------------------------------------------------- unique -- */

enum { DRAWERS = 300, DRAWN_MAX = 20000 }; /* more than 256 */
struct drawer {
    pthread_t thread;
    uintptr_t calls, count, faults;
    uint64_t random;
    uintptr_t *orders;
};
static pthread_barrier_t drawers_start;

static void *run_drawer(void *argument)
{
    struct drawer *me = argument;
    uintptr_t last = 0, order, i, j;
    char text[200] = "";
    pthread_barrier_wait(&drawers_start);
    for (i = 0; i < me->calls; i++) {
        uintptr_t count = 1;
        memset(text, 'x', sizeof text - 1);
        switch (random_of(&me->random) % 4) {
        case 0: order = record(order_a, "%zu", i); break;
        case 1:
            order = record(clock_lanes, "%zu %zu %zu %zu %zu", i, i, i, i, i);
            count = 2;
            break;
        case 2: order = record(clock_lanes, "%s", text); break;
        default:
            order = record(ring, "%zu %zu %zu %zu %zu %zu %zu %zu %zu", i, i, i,
                           i, i, i, i, i, i);
            count = 3;
        }
        me->faults += order <= last;
        last = order + count - 1;
        for (j = 0; j < count; j++)
            me->orders[me->count++] = order + j;
    }
    return NULL;
}
static int by_value(const void *a, const void *b)
{
    const uintptr_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Goal: no two records have one order, and those of each thread ascend. Method:
 * 300 threads at once, more than there are lanes that orders tell apart, record
 * calls of 1, 2 and 3 records and texts; all orders are sorted. */
Test(clock, unique)
{
    static struct drawer drawers[DRAWERS];
    uintptr_t calls = scaled(1500000) / DRAWERS + 1, i, total = 0, alike = 0;
    uintptr_t *all;
    uint64_t seed = seed_of("unique");
    all = calloc(3 * calls * DRAWERS, sizeof *all);
    pthread_barrier_init(&drawers_start, NULL, DRAWERS);
    for (i = 0; i < DRAWERS; i++) {
        drawers[i].calls = calls;
        drawers[i].random = seed + i;
        drawers[i].orders = all + 3 * calls * i;
        drawers[i].thread = ring_thread(run_drawer, &drawers[i]);
    }
    for (i = 0; i < DRAWERS; i++) {
        pthread_join(drawers[i].thread, NULL);
        cr_assert(drawers[i].faults == 0, "%zu orders of a thread do not rise",
                  (size_t)drawers[i].faults);
        memmove(all + total, drawers[i].orders, drawers[i].count * sizeof *all);
        total += drawers[i].count;
    }
    qsort(all, total, sizeof *all, by_value);
    for (i = 1; i < total; i++)
        alike += all[i] == all[i - 1];
    cr_assert(alike == 0, "%zu orders were given twice", (size_t)alike);
    cr_log_info("%zu orders, each once", (size_t)total);
    free(all);
}

/* --------------------------------------------------------------- signals -- */

static volatile sig_atomic_t handler_runs;
static volatile uintptr_t handler_order;
static void record_in_handler(int signal)
{
    (void)signal;
    handler_order = record(clock_lanes, "in a handler");
    handler_runs++;
}
static void *send_signals(void *to)
{
    pthread_t thread = *(pthread_t *)to;
    while (!__atomic_load_n(&stops, __ATOMIC_RELAXED)) {
        pthread_kill(thread, SIGUSR1);
        sched_yield();
    }
    return NULL;
}

/* Goal: orders of a thread ascend and differ, whatever its handlers record.
 * Method: one thread records, another sends it signals, of which a handler
 * records. Between two of the thread's orders are those of its handlers. */
Test(clock, of_a_handler)
{
    pthread_t self = pthread_self(), sender;
    struct sigaction action = {.sa_handler = record_in_handler};
    uintptr_t last = 0, calls = scaled(2000000), i, between = 0;
    sigaction(SIGUSR1, &action, NULL);
    stops = 0;
    sender = ring_thread(send_signals, &self);
    for (i = 0; i < calls || handler_runs < 100; i++) {
        sig_atomic_t before = handler_runs;
        uintptr_t order = record(clock_lanes, "%zu", i), in;
        sig_atomic_t after = handler_runs;
        in = handler_order;
        cr_assert(order > last, "order %zu behind %zu", (size_t)order,
                  (size_t)last);
        if (after == before + 1 && handler_runs == after) {
            cr_assert(in != order && in > last);
            between++;
        }
        last = order > in || handler_runs != after ? order : in;
    }
    __atomic_store_n(&stops, 1, __ATOMIC_RELAXED);
    pthread_join(sender, NULL);
    cr_log_info("%zu records, %d of handlers, %zu inside one", (size_t)i,
                (int)handler_runs, (size_t)between);
}

/* ------------------------------------------------------------------ read -- */

/* Goal: readers in the program find each record, in order, and know how many
 * were overwritten. Method: threads record, each numbers its own; a cursor reads
 * meanwhile. What it read and what it missed are all; of each thread it reads
 * numbers that ascend. */
static void *run_numbered(void *argument)
{
    uintptr_t *count = argument;
    while (!__atomic_load_n(&stops, __ATOMIC_RELAXED)) {
        record(clock_lanes, "%zu of %zu", *count, (uintptr_t)argument);
        ++*count;
    }
    return NULL;
}
Test(clock, cursors)
{
    static uintptr_t counts[4];
    static struct recorder_cursor cursor;
    pthread_t threads[4];
    struct recorder_event event;
    uintptr_t seen[4] = {0}, last = 0, read = 0, all = 0, i;
    uintptr_t wanted = scaled(200000);
    stops = 0;
    while (recorder_next(&cursor, &event))
        last = event.order;
    cursor.missed = 0;
    for (i = 0; i < 4; i++)
        threads[i] = ring_thread(run_numbered, &counts[i]);
    while (read < wanted)
        if (recorder_next(&cursor, &event)) {
            uintptr_t who =
                (event.argument[1] - (uintptr_t)counts) / sizeof *counts;
            cr_assert(event.order > last && who < 4);
            cr_assert(event.argument[0] >= seen[who], "thread %zu goes back",
                      (size_t)who);
            seen[who] = event.argument[0] + 1;
            last = event.order;
            read++;
        }
    __atomic_store_n(&stops, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        all += counts[i];
    }
    while (recorder_next(&cursor, &event))
        read++;
    cr_assert_eq(read + cursor.missed, all, "%zu read, %zu missed, %zu made",
                 (size_t)read, (size_t)cursor.missed, (size_t)all);
    cr_log_info("%zu read, %zu missed", (size_t)read, (size_t)cursor.missed);
}

RECORDER(clock_texts, 128, "Texts");

/* Goal: texts of any length come back whole. Method: of lengths from 0 to
 * RECORDER_COPY_MAX, a text whose bytes tell where they are. */
Test(clock, texts)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    char text[RECORDER_COPY_MAX + 1] = "", shown[RECORDER_COPY_MAX + 3];
    char wanted[RECORDER_COPY_MAX + 3];
    size_t length, i;
    for (i = 0; i < RECORDER_COPY_MAX; i++)
        text[i] = (char)('a' + (i + i / 26) % 26);
    while (recorder_next(&cursor, &event))
        ;
    for (length = 0; length <= RECORDER_COPY_MAX; length++) {
        sprintf(wanted, "<%.*s>", (int)length, text);
        record(clock_texts, "<%s>",
               RECORDER_COPY_BYTES(clock_texts, text, length));
        cr_assert(recorder_next(&cursor, &event), "of %zu bytes", length);
        recorder_event_text(&event, shown, sizeof shown);
        cr_assert_str_eq(shown, wanted, "of %zu bytes", length);
    }
}
