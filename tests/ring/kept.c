/* A quiet ring keeps its last records, all of them, and counts. */
/* SPDX-License-Identifier: MIT */
#include "harness/ring.h"

TestSuite(kept, .timeout = 600);

RECORDER(one, 1, "Sizes that are too small");
RECORDER(two, 2, "");
RECORDER_LANES(laned_one, 1, 2, "");
RECORDER(four, 4, "Sizes that are powers of two");
RECORDER(full, 1024, "");
RECORDER(three, 3, "Sizes that are rounded up");
RECORDER(hundred, 100, "");
RECORDER(slow, 8, "A record now and then");
RECORDER_LANES(laned, 16, 4, "A ring for each of 4 groups of threads");

static uintptr_t slots_of(const struct recorder *recorder)
{
    return recorder->mask + 1;
}
static struct recorder_ring *ring_of(const struct recorder *recorder,
                                     uintptr_t lane)
{
    return (struct recorder_ring *)(void *)((char *)recorder->rings +
                                            lane * recorder->ring_bytes);
}

/* The ring holds exactly the records whose first argument is `from` to `to`,
 * `to` left out, each once, with their orders rising. */
static void expect_kept(const struct recorder *recorder, uintptr_t lane,
                        uintptr_t from, uintptr_t to)
{
    uintptr_t orders[1024], count = 0, slot, i;
    memset(orders, 0, sizeof orders);
    for (slot = 0; slot < slots_of(recorder); slot++) {
        struct recorder_record r;
        uintptr_t n;
        if (!recorder_look_(ring_of(recorder, lane), recorder->mask, slot, &r))
            continue;
        n = r.argument[0] - from;
        cr_assert(n < to - from, "%s holds record %zu, not %zu to %zu",
                  recorder->name, (size_t)r.argument[0], (size_t)from,
                  (size_t)to);
        cr_assert(orders[n] == 0, "%s holds record %zu twice", recorder->name,
                  (size_t)r.argument[0]);
        orders[n] = r.order;
        count++;
    }
    cr_assert(count == to - from, "%s holds %zu records, not %zu",
              recorder->name, (size_t)count, (size_t)(to - from));
    for (i = 1; i < count; i++)
        cr_assert(orders[i] > orders[i - 1]);
}

static uintptr_t record_one(uintptr_t n) { return record(one, "%zu", n); }
static uintptr_t record_two(uintptr_t n) { return record(two, "%zu", n); }
static uintptr_t record_four(uintptr_t n) { return record(four, "%zu", n); }
static uintptr_t record_full(uintptr_t n) { return record(full, "%zu", n); }
static uintptr_t record_three(uintptr_t n) { return record(three, "%zu", n); }
static uintptr_t record_hundred(uintptr_t n)
{
    return record(hundred, "%zu", n);
}

/* Goal: a ring of n slots keeps its last n records, of fewer all. Method: 0, 1,
 * n - 1, n, n + 1 and 10 n + 3 records into an empty ring, and the same on top
 * of each other. */
static void keeps(struct recorder *recorder, uintptr_t (*make)(uintptr_t),
                  uintptr_t slots)
{
    const uintptr_t counts[] = {0,     1,         slots - 1,
                                slots, slots + 1, 10 * slots + 3};
    uintptr_t i, n, sum = 0;
    int again;
    cr_assert(slots_of(recorder) == slots);
    for (again = 0; again < 2; again++)
        for (i = 0; i < 6; i++) {
            if (!again) {
                memset(recorder->rings, 0, recorder->ring_bytes);
                sum = 0;
            }
            for (n = 0; n < counts[i]; n++)
                cr_assert(make(sum++) != 0);
            expect_kept(recorder, 0, sum < slots ? 0 : sum - slots, sum);
            cr_assert(recorder->rings->write == sum);
            cr_assert(recorder->rings->given_up == 0);
            cr_assert(recorder->rings->lost == 0);
        }
}
Test(kept, exactly_the_last)
{
    keeps(&recorder_for_four, record_four, 4);
    keeps(&recorder_for_full, record_full, 1024);
}
/* Goal: no recorder has fewer than 4 slots, as fewer lose much where threads
 * meet, and hold no record of 12 arguments. Method: sizes below; and the ring's
 * own code with 1 and 2 slots, which a mask that is put there by hand makes. */
Test(kept, exactly_the_last_of_a_tiny_size)
{
    struct recorder *full = &recorder_for_full;
    keeps(&recorder_for_one, record_one, 4);
    keeps(&recorder_for_two, record_two, 4);
    cr_assert(slots_of(&recorder_for_laned_one) == 4);
    for (full->mask = 0; full->mask < 2; full->mask++)
        keeps(full, record_full, full->mask + 1);
    full->mask = 1023;
}
Test(kept, exactly_the_last_of_a_size_rounded_up)
{
    keeps(&recorder_for_three, record_three, 4);
    keeps(&recorder_for_hundred, record_hundred, 128);
}

/* Goal: a record of 12 arguments takes three slots, and the last n still stand.
 * Method: ring.h's records; the orders that are there. */
Test(kept, exactly_the_last_of_12_arguments, .init = ring_learn)
{
    uintptr_t i, order = 0;
    ring_writer_enter(0);
    for (i = 1; i <= 100; i++) {
        ring_use(16);
        while (ring_head()->write < 3 * i)
            order = ring_record(0, RING_12);
        ring_expect_orders(order + 2, 3 * i < 16 ? 3 * i : 16);
        ring_expect_counted(3 * i);
    }
}

static void *flood(void *argument)
{
    uintptr_t i, count = scaled(1e6);
    for (i = 0; i < count; i++)
        record(full, "%zu %s", i, "flood");
    return argument;
}

/* Goal: a flood in one ring evicts nothing from another. Method: 4 threads make
 * 4 million records; the ring with a record every now and then keeps its 8. */
Test(kept, slow_rings_survive_a_flood)
{
    pthread_t threads[4];
    uintptr_t i, n;
    for (n = 0; n < 5; n++)
        record(slow, "%zu", n);
    for (i = 0; i < 4; i++)
        threads[i] = ring_thread(flood, NULL);
    for (; n < 11; n++)
        record(slow, "%zu", n);
    for (i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    expect_kept(&recorder_for_slow, 0, 3, 11);
    expect_kept(&recorder_for_one, 0, 0, 0);
}

/* --------------------------------------------------------------- counted -- */

#define RINGS(X)                                                               \
    X(0)                                                                       \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) \
        X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25)      \
            X(26) X(27) X(28) X(29) X(30) X(31)
#define RING_OF(i)                                                             \
    RECORDER(many_##i, 1 << (i % 8), "One of 32");                             \
    static uintptr_t record_many_##i(uintptr_t n)                              \
    {                                                                          \
        if (n % 4)                                                             \
            return record(many_##i, "%zu", n);                                 \
        return record(many_##i, "%zu %d %d %d %zu", n, 1, 2, 3, ~n);           \
    }
#define RING_ROW(i) {&recorder_for_many_##i, record_many_##i},
RINGS(RING_OF)
enum { MANY = 32, MANY_THREADS = 8 };
static const struct {
    const struct recorder *recorder;
    uintptr_t (*make)(uintptr_t n);
} many[MANY] = {RINGS(RING_ROW)};

struct many_thread {
    pthread_t thread;
    uint64_t random;
    uintptr_t records[MANY];
};
static void *run_many(void *argument)
{
    struct many_thread *me = argument;
    uintptr_t i, count = scaled(1e6);
    for (i = 0; i < count; i++) {
        uintptr_t n = (uintptr_t)random_of(&me->random);
        many[n % MANY].make(n / MANY);
        me->records[n % MANY] += n / MANY % 4 ? 1 : 2;
    }
    return NULL;
}

/* Goal: recorded = kept + overwritten + lost, and the positions handed out =
 * kept + overwritten + given up. Method: 8 threads, a million calls each, at 32
 * rings of 1 to 128 slots; the threads count what they recorded, and a look at
 * the commit words what is kept. */
Test(kept, counted)
{
    static struct many_thread threads[MANY_THREADS];
    uint64_t seed = seed_of("counted");
    uintptr_t i, j, all = 0, lost = 0, given_up = 0;
    for (i = 0; i < MANY_THREADS; i++) {
        threads[i].random = seed + i;
        threads[i].thread = ring_thread(run_many, &threads[i]);
    }
    for (i = 0; i < MANY_THREADS; i++)
        pthread_join(threads[i].thread, NULL);
    for (i = 0; i < MANY; i++) {
        const struct recorder *recorder = many[i].recorder;
        const struct recorder_ring *ring = recorder->rings;
        uintptr_t recorded = 0, kept = 0, laps = 0, slot;
        for (j = 0; j < MANY_THREADS; j++)
            recorded += threads[j].records[i];
        for (slot = 0; slot < slots_of(recorder); slot++) {
            struct recorder_record r;
            uintptr_t commit = recorder_look_(ring, recorder->mask, slot, &r);
            uintptr_t lap = commit >> RECORDER_THREAD_BITS_;
            kept += commit != 0;
            /* Handed out for this slot: a position for each lap up to here,
             * and those that gave up since. */
            laps += lap / slots_of(recorder) +
                    recorder_turns_(ring, recorder->mask)[slot].gave_up /
                        slots_of(recorder);
        }
        cr_assert(kept == slots_of(recorder), "%s keeps %zu", recorder->name,
                  (size_t)kept);
        cr_assert(laps == ring->write,
                  "%s: %zu positions were handed out, "
                  "its slots know of %zu",
                  recorder->name, (size_t)ring->write, (size_t)laps);
        cr_assert(ring->write - ring->given_up + ring->lost == recorded,
                  "%s: %zu positions, %zu given up, %zu lost, %zu recorded",
                  recorder->name, (size_t)ring->write, (size_t)ring->given_up,
                  (size_t)ring->lost, (size_t)recorded);
        all += recorded;
        lost += ring->lost;
        given_up += ring->given_up;
    }
    cr_log_info("%zu records, %zu tickets given up, %zu lost", (size_t)all,
                (size_t)given_up, (size_t)lost);
}

/* Goal: under writers a ring keeps its newest records but for those that stood
 * in the way. Method: 8 threads record, and stop at a barrier 1000 times; of
 * the last n positions those that were not given up must be there. */
static pthread_barrier_t barrier;
static void *run_newest(void *argument)
{
    uintptr_t who = (uintptr_t)argument, round, i;
    ring_writer_enter(who);
    for (round = 0; round < scaled(1000); round++) {
        for (i = 0; i < 500; i++)
            ring_record(who, i % RING_SITES);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}
Test(kept, the_newest_of_many_threads, .init = ring_learn)
{
    pthread_t threads[8];
    uintptr_t i, round, slot;
    uintptr_t missing = 0;
    ring_use(64);
    pthread_barrier_init(&barrier, NULL, 9);
    for (i = 0; i < 8; i++)
        threads[i] = ring_thread(run_newest, (void *)i);
    for (round = 0; round < scaled(1000); round++) {
        pthread_barrier_wait(&barrier);
        for (slot = 0; slot < 64; slot++) {
            struct recorder_record r;
            uintptr_t last =
                ring_head()->write + 63 - (ring_head()->write + 63 - slot) % 64;
            uintptr_t commit = recorder_look_(ring_head(), 63, slot, &r);
            uintptr_t lap = commit >> RECORDER_THREAD_BITS_;
            cr_assert(commit != 0);
            cr_assert(!ring_fault(commit, &r), "%s", ring_fault(commit, &r));
            if (lap == last - slot)
                continue;
            cr_assert(ring_turn(slot)->gave_up == last - slot - lap,
                      "slot %zu holds lap %zu, the last was %zu, %zu gave up",
                      (size_t)slot, (size_t)lap, (size_t)(last - slot),
                      (size_t)ring_turn(slot)->gave_up);
            missing++;
        }
        pthread_barrier_wait(&barrier);
    }
    for (i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    cr_log_info("%zu of %zu newest positions had been given up",
                (size_t)missing, (size_t)(64 * scaled(1000)));
    ring_writer_enter(8);
    ring_expect_all_slots(8);
}

/* ----------------------------------------------------------------- lanes -- */

struct lane_thread {
    pthread_t thread;
    unsigned number, lane;
    int32_t id;
    uintptr_t made;
};
static void *run_lane(void *argument)
{
    struct lane_thread *me = argument;
    me->number = RECORDER_THREAD();
    me->lane = recorder_writer_lane_(recorder_writer_(&recorder_for_laned));
    me->id = recorder_os_thread_();
    for (me->made = 0; me->made < 100; me->made++)
        record(laned, "%zu", me->made);
    return NULL;
}
/* Waits until the kernel, too, has done with a thread. */
static void end_lane(struct lane_thread *thread)
{
    pthread_join(thread->thread, NULL);
    while (!recorder_os_thread_ended_(recorder_os_process_(), thread->id))
        sched_yield();
}

/* Goal: each lane keeps the last n records of its thread, and is given again
 * when that has ended. Method: 8 threads one after the other, which take lanes
 * 1, 2 and 3 in turn; each lane must hold the last 16 of its latest thread, and
 * its commit words must name it. Lane 0 is for those who find none. */
Test(kept, lanes)
{
    struct lane_thread threads[8];
    unsigned i, latest[4] = {0, 0, 0, 0};
    uintptr_t lane, slot, made[4] = {0, 0, 0, 0};
    for (i = 0; i < 8; i++) {
        threads[i].thread = ring_thread(run_lane, &threads[i]);
        end_lane(&threads[i]);
        cr_assert_eq(threads[i].lane, 1 + i % 3);
        cr_assert_eq(threads[i].number, i + 1); /* records name their thread */
        latest[threads[i].lane] = threads[i].number;
        made[threads[i].lane] += 100;
    }
    for (lane = 0; lane < 4; lane++) {
        cr_assert(ring_of(&recorder_for_laned, lane)->write == made[lane]);
        if (lane == 0)
            continue;
        expect_kept(&recorder_for_laned, lane, 84, 100);
        for (slot = 0; slot < 16; slot++) {
            struct recorder_record r;
            uintptr_t commit = recorder_look_(
                ring_of(&recorder_for_laned, lane), 15, slot, &r);
            cr_assert(recorder_commit_thread_(commit) == latest[lane]);
        }
    }
}

static pthread_barrier_t lanes_gate;
static void *run_lane_at_once(void *argument)
{
    run_lane(argument);
    pthread_barrier_wait(&lanes_gate);
    return NULL;
}

/* Goal: no two threads own a lane at once; a thread that finds none records in
 * lane 0, and nothing is lost. Method: 8 threads at once and 4 lanes. In lane 0 a
 * writer draws another ticket where one that was stopped has the slot. */
Test(kept, lanes_that_are_too_few)
{
    struct lane_thread threads[8];
    unsigned i, owners[4] = {0, 0, 0, 0};
    uintptr_t lane;
    pthread_barrier_init(&lanes_gate, NULL, 8);
    for (i = 0; i < 8; i++)
        threads[i].thread = ring_thread(run_lane_at_once, &threads[i]);
    for (i = 0; i < 8; i++) {
        pthread_join(threads[i].thread, NULL);
        owners[threads[i].lane]++;
    }
    for (lane = 0; lane < 4; lane++) {
        cr_assert_eq(owners[lane], lane ? 1 : 5);
        cr_assert_geq(ring_of(&recorder_for_laned, lane)->write,
                      owners[lane] * 100);
        if (lane)
            cr_assert_eq(ring_of(&recorder_for_laned, lane)->write, 100);
        cr_assert(ring_of(&recorder_for_laned, lane)->lost == 0);
    }
}
