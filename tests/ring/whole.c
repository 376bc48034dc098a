/* No reader ever accepts a mix of two records, whoever writes. */
/* SPDX-License-Identifier: MIT */
#include "harness/ring.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

TestSuite(whole, .init = ring_learn, .timeout = 600);

/* What the records of a run are: all of 4 arguments, all of 12, or both. */
enum kinds { ALL_4, ALL_12, BOTH, KINDS };

static uintptr_t site_of(enum kinds kinds, uint64_t random)
{
    return (uintptr_t)(random & 3) +
           (kinds == ALL_12 || (kinds == BOTH && random & 4) ? RING_12 : 0);
}

/* A crowd of threads at one ring, with its readers. */
struct crowd {
    unsigned writers, readers;
    enum kinds kinds;
    uintptr_t calls; /* in all, */
    double end;      /* or fewer, up to that second */
    uintptr_t (*make)(uintptr_t who, uintptr_t site);
    uint64_t seed;
};
struct member {
    pthread_t thread;
    const struct crowd *crowd;
    unsigned number;
    uintptr_t calls, records;
};
static struct ring_reader readers[2];

static void *write_all(void *argument)
{
    struct member *me = argument;
    uint64_t random = me->crowd->seed + me->number, bits = 0;
    uintptr_t calls = me->crowd->calls / me->crowd->writers, i;
    ring_writer_enter(me->number);
    for (i = 0; i < calls; i++, bits >>= 3) {
        uintptr_t site;
        if (i % 16 == 0)
            bits = random_of(&random);
        if (i % 1024 == 1023 && seconds_now() > me->crowd->end)
            break;
        site = site_of(me->crowd->kinds, bits);
        me->crowd->make(me->number, site);
        me->records += ring_parts(site);
        me->calls++;
    }
    return NULL;
}

/* Lets the crowd loose on an empty ring. Returns how many records it made; adds
 * how many calls. */
static uintptr_t run(const struct crowd *crowd, uintptr_t slots,
                     uintptr_t *calls)
{
    static struct member members[64];
    pthread_t reader[2];
    uintptr_t records = 0;
    unsigned i;
    memset(members, 0, sizeof members);
    memset(readers, 0, sizeof readers);
    memset(ring_writers, 0, sizeof ring_writers);
    ring_use(slots);
    for (i = 0; i < crowd->readers; i++)
        reader[i] = ring_thread(ring_reader_run, &readers[i]);
    for (i = 0; i < crowd->writers; i++) {
        members[i].crowd = crowd;
        members[i].number = i;
        members[i].thread = ring_thread(write_all, &members[i]);
    }
    for (i = 0; i < crowd->writers; i++) {
        pthread_join(members[i].thread, NULL);
        records += members[i].records;
        *calls += members[i].calls;
    }
    for (i = 0; i < crowd->readers; i++)
        ring_reader_stop(&readers[i], reader[i]);
    return records;
}

/* Goal: no mixed record, with any number of writers, any size of ring, records
 * of 4 and of 12 arguments. Method: 5.4 million calls at each of 3 rings, 16
 * for each number of threads, 65 in all, which make 115 million records; one
 * and two readers look all the time, and once more when all is quiet. A machine
 * that is too slow for so many makes what it can in a minute. */
static void crowds_of(unsigned writers, const char *name)
{
    static const uintptr_t slots[] = {1, 32, 1024};
    static const double calls[] = {2.4e6, 1.2e6, 1.8e6};
    uint64_t seed = seed_of(name);
    double start = seconds_now();
    uintptr_t i, kinds, records = 0, made = 0, accepted = 0, lost = 0;
    unsigned runs = 0;
    for (i = 0; i < sizeof slots / sizeof *slots; i++)
        for (kinds = ALL_4; kinds < KINDS; kinds++) {
            struct crowd crowd = {
                writers,           1 + (i + kinds) % 2,
                (enum kinds)kinds, scaled(calls[kinds]) / writers * writers,
                start + 60.0 * ++runs / (3 * KINDS),
                ring_record,       seed};
            uintptr_t j, records_here = run(&crowd, slots[i], &made);
            for (j = 0; j < crowd.readers; j++) {
                cr_assert(readers[j].torn == 0, "%zu mixed records: %s",
                          (size_t)readers[j].torn, readers[j].fault);
                accepted += readers[j].accepted;
            }
            ring_expect_counted(records_here);
            records += records_here;
            lost += ring_head()->lost;
        }
    cr_log_info("%s: %zu calls made %zu records, %zu lost; %zu were read", name,
                (size_t)made, (size_t)records, (size_t)lost, (size_t)accepted);
    cr_assert(accepted > 0);
}
Test(whole, one_writer) { crowds_of(1, "one_writer"); }
Test(whole, two_writers) { crowds_of(2, "two_writers"); }
Test(whole, sixteen_writers) { crowds_of(16, "sixteen_writers"); }
Test(whole, sixty_four_writers) { crowds_of(64, "sixty_four_writers"); }

/* What the recorder's ancestor did: the words are stored without a mark. */
static uintptr_t record_unsafe(uintptr_t who, uintptr_t site)
{
    uintptr_t mask = ring_slots() - 1, key = ring_next_key(who, site & 3);
    uintptr_t order = recorder_orders_(1), i;
    uintptr_t position = recorder_add_(&ring_head()->write, 1) + mask + 1;
    struct recorder_record *to =
        recorder_records_(ring_head()) + (position & mask);
    recorder_put_(&to->format, ring_sites[key % RING_SITES].format);
    recorder_put_(&to->order, order);
    recorder_put_(&to->time, ring_word(key, RING_TIME));
    recorder_put_(&to->caller, ring_sites[key % RING_SITES].caller);
    if (position % 256 == 0) /* so that it is seen on a busy machine, too */
        sched_yield();
    for (i = 0; i < 4; i++)
        recorder_put_(&to->argument[i], ring_word(key, i));
    __atomic_store_n(ring_commit(position & mask),
                     recorder_commit_lap_(position, mask) |
                         (uintptr_t)RECORDER_THREAD() << 1,
                     __ATOMIC_RELEASE);
    ring_made(who, order);
    return order;
}

/* Goal: the test above could have seen a mixed record. Method: the same crowd
 * and the same readers with a writer that takes no care. */
Test(whole, readers_see_a_mix)
{
    double end = seconds_now() + 60;
    struct crowd crowd = {2, 2, ALL_4, 200000, end, record_unsafe, 1};
    uintptr_t torn = 0, calls = 0;
    while (torn <= 1000 && seconds_now() < end) {
        run(&crowd, 1, &calls);
        torn += readers[0].torn + readers[1].torn;
    }
    cr_log_info("%zu mixed records of %zu without protection: %s",
                (size_t)torn, (size_t)calls,
                readers[0].fault ? readers[0].fault : readers[1].fault);
    cr_assert(torn > 1000, "only %zu mixed records seen", (size_t)torn);
}

/* ------------------------------------------------------------ the storm -- */

enum { STORM_THREADS = 4 };
struct storm {
    uintptr_t signals;  /* wanted inside of a record */
    uintptr_t records;  /* that a handler makes */
    uintptr_t inside;   /* signals that came there, of all threads */
    uintptr_t anywhere; /* and in all */
    double end;         /* for a machine too slow for so many */
};
static struct storm storm;
struct stormed {
    pthread_t thread;
    uintptr_t who, records;
    timer_t timer;
    volatile bool inside, over;
};
static __thread struct stormed *stormed;

/* The handler asks for the next signal at its end: where it takes longer than
 * the time between two, a timer that repeats leaves the thread no instruction
 * of its own, for good. */
static void storm_next(struct stormed *me)
{
    const struct itimerspec once = {{0, 0}, {0, 25000}}; /* up to 40 kHz */
    timer_settime(me->timer, 0, &once, NULL);
}

static void on_storm(int number)
{
    struct stormed *me = stormed;
    uintptr_t i;
    int before = errno;
    (void)number;
    for (i = 0; i < storm.records; i++) {
        uintptr_t site = i % RING_SITES;
        ring_record(me->who + 1, site);
        me->records += ring_parts(site);
    }
    __atomic_fetch_add(&storm.anywhere, 1, __ATOMIC_RELAXED);
    if (me->inside)
        __atomic_fetch_add(&storm.inside, 1, __ATOMIC_RELAXED);
    if (!me->over)
        storm_next(me);
    errno = before;
}

/* Up to all that are wanted; to a hundredth after half a minute. */
static bool storm_goes_on(uintptr_t i)
{
    uintptr_t inside = __atomic_load_n(&storm.inside, __ATOMIC_RELAXED);
    return inside < storm.signals &&
           (i % 256 || inside < storm.signals / 100 ||
            seconds_now() < storm.end);
}

static void *stand_storm(void *argument)
{
    struct stormed *me = argument;
    struct sigevent event;
    uintptr_t i, own = 0;
    ring_writer_enter(me->who);
    ring_writer_enter(me->who + 1);
    stormed = me;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGUSR1;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    cr_assert(timer_create(CLOCK_MONOTONIC, &event, &me->timer) == 0);
    storm_next(me);
    for (i = 0; storm_goes_on(i); i++) {
        uintptr_t site = i % RING_SITES, key = ring_next_key(me->who, site);
        uintptr_t order;
        me->inside = true;
        order = ring_record_key(key);
        me->inside = false;
        ring_made(me->who, order);
        own += ring_parts(site);
    }
    me->over = true;
    timer_delete(me->timer);
    me->records += own;
    return NULL;
}

/* Goal: a record may be interrupted anywhere, by a handler that records into
 * the same ring, and laps it. Method: a timer of 25 microseconds for each of 4
 * threads that do nothing but record; 100,000 signals inside of a record over
 * the 4 runs. */
static void storm_of(uintptr_t slots, uintptr_t records)
{
    static struct stormed threads[STORM_THREADS];
    struct sigaction action;
    uintptr_t i, made = 0;
    pthread_t reader;
    memset(&action, 0, sizeof action);
    memset(threads, 0, sizeof threads);
    memset(readers, 0, sizeof readers);
    action.sa_handler = on_storm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    storm.signals = scaled(25000);
    storm.records = records;
    storm.end = seconds_now() + 30;
    ring_use(slots);
    reader = ring_thread(ring_reader_run, &readers[0]);
    for (i = 0; i < STORM_THREADS; i++) {
        threads[i].who = 2 * i;
        threads[i].thread = ring_thread(stand_storm, &threads[i]);
    }
    for (i = 0; i < STORM_THREADS; i++) {
        pthread_join(threads[i].thread, NULL);
        made += threads[i].records;
    }
    ring_reader_stop(&readers[0], reader);
    cr_log_info("%zu slots: %zu signals, %zu of them inside of a record; "
                "%zu records, %zu lost",
                (size_t)slots, (size_t)storm.anywhere, (size_t)storm.inside,
                (size_t)made, (size_t)ring_head()->lost);
    cr_assert(readers[0].torn == 0, "%zu mixed records: %s",
              (size_t)readers[0].torn, readers[0].fault);
    ring_expect_counted(made);
    ring_writer_enter(2 * STORM_THREADS);
    ring_expect_all_slots(2 * STORM_THREADS);
}
Test(whole, storm_of_3_at_8) { storm_of(8, 3); }
Test(whole, storm_of_3_at_64) { storm_of(64, 3); }
Test(whole, storm_of_200_at_8) { storm_of(8, 200); }
Test(whole, storm_of_200_at_64) { storm_of(64, 200); }
