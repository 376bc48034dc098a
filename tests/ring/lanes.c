/* Lanes of one thread: no position is handed out twice, whoever comes and goes. */
/* SPDX-License-Identifier: MIT */
#include "harness/ring.h"
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(lanes, .timeout = 600);

RECORDER_LANES(laned, 64, 4, "Three threads at a time have a lane");

/* Each word of a record follows from its first. */
static uintptr_t made;
static void record_one(uintptr_t n)
{
    record(laned, "%zu %zu %zu %zu", n, ~n, 3 * n, 5 * n);
    __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
}
static void record_five(uintptr_t n)
{
    record(laned, "%zu %zu %zu %zu %zu %zu %zu %zu", n, ~n, 3 * n, 5 * n, n, ~n,
           3 * n, 5 * n);
    __atomic_fetch_add(&made, 2, __ATOMIC_RELAXED);
}
static uintptr_t look_at_all(void)
{
    uintptr_t lane, slot, mixes = 0;
    for (lane = 0; lane <= recorder_for_laned.lanes_mask; lane++)
        for (slot = 0; slot <= recorder_for_laned.mask; slot++) {
            struct recorder_record r;
            uintptr_t n;
            if (!recorder_look_(
                    recorder_lane_(&recorder_for_laned, (unsigned)lane),
                    recorder_for_laned.mask, slot, &r))
                continue;
            n = r.argument[0];
            mixes += r.argument[1] != ~n || r.argument[2] != 3 * n ||
                     r.argument[3] != 5 * n;
        }
    return mixes;
}

/* Nobody records any more: each position was handed out once, so that slots are
 * whole, and records made = positions handed out - given up + lost. */
static void check_counts(uintptr_t wanted)
{
    uintptr_t lane, slots = 0, lost = 0;
    for (lane = 0; lane <= recorder_for_laned.lanes_mask; lane++) {
        const struct recorder_ring *ring =
            recorder_lane_(&recorder_for_laned, (unsigned)lane);
        slots += ring->write - ring->given_up;
        lost += ring->lost;
    }
    cr_assert_eq(slots + lost, wanted, "%zu slots and %zu lost of %zu records",
                 (size_t)slots, (size_t)lost, (size_t)wanted);
    cr_assert_eq(look_at_all(), 0);
}

static void on_signal(int number)
{
    record_one((uintptr_t)number);
}

/* Records when its thread ends, after all that the thread does by itself. */
static pthread_key_t key;
static void record_at_the_end(void *value)
{
    record_one((uintptr_t)value);
    record_five((uintptr_t)value);
}
static void *live(void *argument)
{
    uintptr_t i, many = (uintptr_t)argument;
    pthread_setspecific(key, argument);
    for (i = 0; i < many; i++)
        if (i % 4)
            record_one(i);
        else
            record_five(i);
    return NULL;
}
static void *spawn(void *argument)
{
    uintptr_t i, many = scaled(4000);
    for (i = 0; i < many; i++) {
        pthread_t child = ring_thread(live, (void *)(100 + i % 200));
        if (i % 8 == 0)
            pthread_kill(child, SIGUSR1);
        pthread_join(child, NULL);
    }
    return argument;
}
static bool over;
static void *look_on(void *unused)
{
    uintptr_t mixes = 0;
    (void)unused;
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
        mixes += look_at_all();
    return (void *)mixes;
}

/* Goal: lanes go from threads that end to those that begin, and no position is
 * handed out twice: nothing is torn, nothing is counted wrong. Method: 6 threads
 * make 4,000 threads each, one after the other, which record some 200 times,
 * with a signal handler in between and once more when their variables are
 * destroyed. There are 3 lanes. A reader looks at all slots meanwhile. */
Test(lanes, threads_come_and_go)
{
    pthread_t spawners[6], reader;
    void *mixes;
    unsigned i;
    pthread_key_create(&key, record_at_the_end);
    signal(SIGUSR1, on_signal);
    reader = ring_thread(look_on, NULL);
    for (i = 0; i < 6; i++)
        spawners[i] = ring_thread(spawn, NULL);
    for (i = 0; i < 6; i++)
        pthread_join(spawners[i], NULL);
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    pthread_join(reader, &mixes);
    cr_assert_eq((uintptr_t)mixes, 0);
    check_counts(made);
    for (i = 1; i < 4; i++)
        cr_assert(recorder_lane_(&recorder_for_laned, i)->write > made / 100,
                  "lane %u was not given again", i);
    cr_log_info("%zu records", (size_t)made);
}

/* ----------------------------------------------------------------- storm -- */

/* What a thread made, and what its handlers made: each is counted where nobody
 * comes in between. */
static __thread uintptr_t made_here;
static __thread volatile uintptr_t made_in_handlers;
static uintptr_t made_inside;                 /* by all handlers */
enum { STORM_SHORT = 1000, STORM_LIVES = 9 }; /* calls: 1,000 to 256,000 */

static void record_in_storm(int number)
{
    uintptr_t n = ++made_in_handlers;
    (void)number;
    if (n % 2)
        record(laned, "%zu %zu %zu %zu", n, ~n, 3 * n, 5 * n);
    else
        record(laned, "%zu %zu %zu %zu %zu %zu %zu %zu", n, ~n, 3 * n, 5 * n, n,
               ~n, 3 * n, 5 * n);
}
static void *live_in_storm(void *argument)
{
    sigset_t signals;
    uintptr_t i, two, calls = (uintptr_t)argument;
    for (i = 0; i < calls; i++)
        if (i % 8) {
            record(laned, "%zu %zu %zu %zu", i, ~i, 3 * i, 5 * i);
            made_here++;
        } else {
            record(laned, "%zu %zu %zu %zu %zu %zu %zu %zu", i, ~i, 3 * i,
                   5 * i, i, ~i, 3 * i, 5 * i);
            made_here += 2;
        }
    sigfillset(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    two = made_in_handlers + made_in_handlers / 2;
    __atomic_fetch_add(&made, made_here + two, __ATOMIC_RELAXED);
    __atomic_fetch_add(&made_inside, two, __ATOMIC_RELAXED);
    return NULL;
}
static void *spawn_storm(void *argument)
{
    uintptr_t lives = (uintptr_t)argument;
    while (lives-- > 0) {
        uintptr_t calls = (uintptr_t)STORM_SHORT << lives % STORM_LIVES;
        pthread_t child = ring_thread(live_in_storm, (void *)calls);
        while (pthread_tryjoin_np(child, NULL) != 0) {
            pthread_kill(child, SIGUSR1);
            usleep(10);
        }
    }
    return NULL;
}

/* Goal: what many records show that few do not: no record is torn, and all are
 * counted, in lanes that handlers of their threads record in, too, and that go
 * from thread to thread. Method: 4 threads at a time, one more than there are
 * lanes, which record 1,000 to 256,000 times and get a signal every 10 us; a
 * reader looks at all slots. RECORDER_TEST_SCALE=50 makes 10^9 records. */
Test(lanes, storm, .timeout = 7200)
{
    uintptr_t each = ((STORM_SHORT << STORM_LIVES) - STORM_SHORT) / STORM_LIVES;
    uintptr_t lives = scaled(20e6) / each / 4 + 1;
    pthread_t spawners[4], reader;
    void *mixes;
    unsigned i;
    signal(SIGUSR1, record_in_storm);
    reader = ring_thread(look_on, NULL);
    for (i = 0; i < 4; i++)
        spawners[i] = ring_thread(spawn_storm, (void *)lives);
    for (i = 0; i < 4; i++)
        pthread_join(spawners[i], NULL);
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    pthread_join(reader, &mixes);
    cr_log_info("%zu records by the %s, %zu of them in handlers: %zu torn",
                (size_t)made,
                recorder_registry.clocked == UINTPTR_MAX ? "clock" : "counter",
                (size_t)made_inside, (size_t)mixes);
    cr_assert_eq((uintptr_t)mixes, 0);
    check_counts(made);
    for (i = 1; i < 4 && lives > 1; i++) /* else not each need be given once */
        cr_assert(recorder_lane_(&recorder_for_laned, i)->write > made / 100,
                  "lane %u was not given again", i);
}

#ifndef __SANITIZE_THREAD__ /* it follows no threads into a child */
static unsigned writing;
static void *record_on(void *unused)
{
    uintptr_t i;
    __atomic_fetch_add(&writing, 1, __ATOMIC_RELAXED);
    for (i = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); i++)
        record_one(i);
    return unused;
}

/* Goal: in a child of fork() the lanes of its parent's threads are free, its one
 * thread keeps its own, and threads that it makes do not share that. Method: 3
 * threads record while a thread forks; the child records, makes 4 threads, and
 * looks at what all have made. */
Test(lanes, fork_at_any_moment)
{
    pthread_t writers[2];
    unsigned i, forks = scaled(200), mine;
    pthread_key_create(&key, record_at_the_end);
    record_one(1);
    mine = recorder_writer_lane_(recorder_writer_(&recorder_for_laned));
    cr_assert(mine != 0);
    for (i = 0; i < 2; i++)
        writers[i] = ring_thread(record_on, NULL);
    /* A thread that starts may hold the lock of a sanitizer's allocator, for
     * which threads of the child would wait for ever. */
    while (__atomic_load_n(&writing, __ATOMIC_RELAXED) < 2)
        sched_yield();
    for (i = 0; i < forks; i++) {
        pid_t child = fork();
        int status;
        if (child == 0) {
            pthread_t threads[4];
            struct recorder_ring *lane;
            uintptr_t before;
            unsigned j;
            if (recorder_writer_lane_(recorder_writer_(&recorder_for_laned)) !=
                mine)
                _exit(1);
            lane = recorder_lane_(&recorder_for_laned, mine);
            before = lane->write;
            for (j = 0; j < 4; j++)
                threads[j] = ring_thread(live, (void *)(uintptr_t)200);
            for (j = 0; j < 100; j++)
                record_one(j);
            if (lane->write != before + 100)
                _exit(2);
            for (j = 0; j < 4; j++)
                pthread_join(threads[j], NULL);
            _exit(look_at_all() ? 3 : 0);
        }
        cr_assert(child > 0 && waitpid(child, &status, 0) == child);
        cr_assert_eq(status, 0, "a child ends with %#x", (unsigned)status);
        cr_assert_eq(
            recorder_writer_lane_(recorder_writer_(&recorder_for_laned)), mine);
        record_one(i);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    for (i = 0; i < 2; i++)
        pthread_join(writers[i], NULL);
    check_counts(made);
}

/* Goal: a child of vfork() that makes the first record takes no lane: it borrows
 * its parent's memory, and does not see which of its threads live. */
Test(lanes, vfork_takes_no_lane)
{
    pthread_t writers[2];
    unsigned i;
    pid_t child;
    int status;
    for (i = 0; i < 2; i++)
        writers[i] = ring_thread(record_on, NULL);
    child = vfork();
    if (child == 0) {
        recorder_record_few_(&recorder_for_laned, "vfork\0:0", 5, ~(uintptr_t)5,
                             15, 25);
        _exit(0);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    cr_assert_eq(recorder_writer_lane_(recorder_writer_(&recorder_for_laned)),
                 0);
    for (i = 0; i < 1000; i++)
        record_one(i);
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    for (i = 0; i < 2; i++)
        pthread_join(writers[i], NULL);
    check_counts(made + 1);
}
#endif
