/* Writers stopped at every step of a record harm nobody else's. */
/* SPDX-License-Identifier: MIT */
static void parked_step(const char *where);
#define RECORDER_STEP_(label) parked_step(#label)
#include "harness/ring.h"
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

/* The rings of this file belong to the promise `whole`. */
TestSuite(whole, .init = ring_learn, .timeout = 600);

/* ------------------------------------------------------------- the steps --
 *
 * Where a writer can be stopped. Those of the rare path are reached by a ticket
 * for a slot that another writer is in (GIVES_UP), or was in for more than a
 * lap and has left (TAKES_OVER).
 */
enum path { PLAIN, GIVES_UP, TAKES_OVER };
static const struct step {
    const char *name;
    unsigned nth; /* how often it is passed before */
    enum path path;
} steps[] = {
    {"W1", 0, PLAIN},      {"W2", 0, PLAIN},      {"W3", 0, PLAIN},
    {"W4", 0, PLAIN},      {"W5", 0, PLAIN},      {"W6", 0, PLAIN},
    {"W6_end", 0, PLAIN},  {"W7", 0, PLAIN},      {"G1", 0, GIVES_UP},
    {"G2", 0, GIVES_UP},   {"W2", 1, GIVES_UP},   {"W3", 1, GIVES_UP},
    {"P1", 0, TAKES_OVER}, {"P2", 0, TAKES_OVER}, {"P3", 0, TAKES_OVER},
    {"W4", 0, TAKES_OVER}, {"W6", 0, TAKES_OVER},
};
enum { STEPS = sizeof steps / sizeof *steps };

/* What happens to the calling thread at a step, once. */
struct at_step {
    const struct step *step;
    unsigned passed;
    void (*what)(struct at_step *);
};
static __thread struct at_step *at_step;

/* Random delays at all steps, for the stress. */
static __thread uint64_t stall_random;
static uint64_t stall_below; /* of 2^32 */
static uintptr_t stalls;

static void parked_stall(void)
{
    uint64_t random = random_of(&stall_random);
    struct timespec pause = {0, (long)(random >> 40) % 50000};
    if ((random & 0xffffffffu) >= stall_below)
        return;
    __atomic_fetch_add(&stalls, 1, __ATOMIC_RELAXED);
    if (random >> 63)
        sched_yield();
    else
        nanosleep(&pause, NULL);
}
static void parked_step(const char *where)
{
    struct at_step *at = at_step;
    if (stall_random)
        parked_stall();
    if (!at || strcmp(at->step->name, where) != 0 ||
        at->passed++ != at->step->nth)
        return;
    at_step = NULL;
    at->what(at);
    at_step = at;
}

/* ------------------------------------------------------------ parked writers
 */

struct parked {
    struct at_step at;
    pthread_t thread;
    uintptr_t who;
    sem_t there, go_on;
};
static void park(struct at_step *at)
{
    struct parked *me = (struct parked *)at;
    sem_post(&me->there);
    while (sem_wait(&me->go_on) != 0)
        ;
}
static void *record_and_park(void *argument)
{
    struct parked *me = argument;
    ring_writer_enter(me->who);
    at_step = &me->at;
    ring_record(me->who, 1);
    return NULL;
}
/* Starts a writer; returns when it is parked at the step. */
static void parked_start(struct parked *parked, uintptr_t who,
                         const struct step *step)
{
    memset(parked, 0, sizeof *parked);
    parked->at.step = step;
    parked->at.what = park;
    parked->who = who;
    sem_init(&parked->there, 0, 0);
    sem_init(&parked->go_on, 0, 0);
    parked->thread = ring_thread(record_and_park, parked);
    while (sem_wait(&parked->there) != 0)
        ;
}
static void parked_end(struct parked *parked, unsigned count)
{
    while (count-- > 0) {
        sem_post(&parked[count].go_on);
        pthread_join(parked[count].thread, NULL);
    }
}

struct flood {
    pthread_t thread;
    uintptr_t who, records, made;
    double end; /* for a machine too slow for so many */
};
static void *flood_run(void *argument)
{
    struct flood *flood = argument;
    uintptr_t i;
    ring_writer_enter(flood->who);
    for (i = 0; i < flood->records; i++) {
        if (i % 1024 == 1023 && seconds_now() > flood->end)
            break;
        ring_record(flood->who, i & 3);
    }
    flood->made = i;
    return NULL;
}

/* Parks `count` writers at a step, in as many slots, while two others make
 * `records` records, or fewer up to `end`, and a reader looks; then lets them
 * go on. */
static void park_at(const struct step *step, unsigned count, uintptr_t slots,
                    uintptr_t records, double end)
{
    static const struct step written = {"W4", 0, PLAIN};
    static struct parked first[16], parked[8];
    static struct ring_reader reader;
    struct flood flood[2];
    pthread_t thread;
    /* A writer that is to stop with its second ticket in hand takes two. */
    unsigned firsts = step->path == PLAIN ? 0 : (1 + step->nth) * count, w;
    uintptr_t own = slots - firsts, made, i;
    /* Then up to three slots of four have a writer in them. One of the two that
     * find them is lost when it is preempted, and comes back among these, again
     * and again. */
    uintptr_t lost_max = step->nth ? 1 + records / 100000 : 0;
    memset(&reader, 0, sizeof reader);
    memset(ring_writers, 0, sizeof ring_writers);
    ring_use(slots);
    ring_writer_enter(0);
    if (step->path == TAKES_OVER)
        own += slots - firsts;
    for (w = 0; w < firsts; w++)
        parked_start(&first[w], 10 + w, &written);
    for (i = 0; i < own; i++)
        ring_record(0, 0);
    if (step->path == TAKES_OVER)
        parked_end(first, firsts);
    cr_assert(ring_next() == 0, "the next slot is %zu", (size_t)ring_next());
    for (w = 0; w < count; w++)
        parked_start(&parked[w], 30 + w, step);

    thread = ring_thread(ring_reader_run, &reader);
    for (w = 0; w < 2; w++) {
        flood[w].who = 1 + w;
        flood[w].records = records / 2;
        flood[w].end = end;
        flood[w].thread = ring_thread(flood_run, &flood[w]);
    }
    for (w = 0; w < 2; w++)
        pthread_join(flood[w].thread, NULL);
    ring_reader_stop(&reader, thread);
    ring_look(&reader);
    parked_end(parked, count);
    if (step->path == GIVES_UP)
        parked_end(first, firsts);
    cr_assert(reader.torn == 0, "%u parked at %s: %zu mixed records: %s", count,
              step->name, (size_t)reader.torn, reader.fault);
    cr_assert(ring_head()->lost <= lost_max,
              "%u parked at %s: %zu records lost", count, step->name,
              (size_t)ring_head()->lost);
    made = own + flood[0].made + flood[1].made + count + firsts;
    ring_expect_counted(made);
    ring_expect_all_slots(0);
}

/* Goal: writers stopped anywhere cost the others nothing but their slots, and
 * give these back when they go on. Method: 1 to 8 writers parked at each step
 * of a record in a ring of 32 while others lap it a thousand times, and with 8
 * of them make a million records: none is mixed, and none lost, but for a few
 * where hardly a slot is left; when they have gone on the ring keeps the newest
 * 32 records at once. A slow machine makes what it can in a minute. */
Test(whole, parked)
{
    double start = seconds_now(), part = 60.0 / STEPS;
    unsigned count, i;
    for (i = 0; i < STEPS; i++)
        for (count = 1; count <= 8; count++)
            park_at(&steps[i], count, 32, scaled(count < 8 ? 32000 : 1e6),
                    start + part * (i + (count < 8 ? 0.05 * count : 1)));
}

/* ------------------------------------------------- a signal at every step --
 */

static uintptr_t handler_records, handler_first;

static void on_step(int number)
{
    uintptr_t i;
    (void)number;
    for (i = 0; i < handler_records; i++) {
        uintptr_t order = ring_record(1, i % RING_SITES);
        if (i == 0)
            handler_first = order;
    }
}
static void raise_signal(struct at_step *at)
{
    (void)at;
    raise(SIGUSR1);
}
static bool ring_holds(uintptr_t order)
{
    uintptr_t slot;
    struct recorder_record r;
    for (slot = 0; slot < ring_slots(); slot++)
        if (recorder_look_(ring_head(), ring_slots() - 1, slot, &r) &&
            r.order == order)
            return true;
    return false;
}
/* One thread does it all: that its next slot has a writer in it is written into
 * the commit word. */
static void signal_at(const struct step *step, uintptr_t slots,
                      uintptr_t records)
{
    struct at_step at = {step, 0, raise_signal};
    uintptr_t i, order, made = slots, nested = 0;
    memset(ring_writers, 0, sizeof ring_writers);
    ring_use(slots);
    ring_writer_enter(0);
    ring_writer_enter(1);
    handler_records = records;
    for (i = 0; i < slots; i++)
        ring_record(0, 0);
    if (step->path != PLAIN)
        *ring_commit(0) |= 1;
    if (step->path == TAKES_OVER) {
        for (i = 1; i < 2 * slots - 1; i++, made++)
            ring_record(0, 0);
        *ring_commit(0) ^= 1;
    }
    cr_assert(ring_next() == 0);
    at_step = &at;
    order = ring_record(0, 1);
    at_step = NULL;
    if (step->path == GIVES_UP)
        *ring_commit(0) ^= 1;
    for (i = 0; i < records; i++)
        nested += ring_parts(i % RING_SITES);
    cr_assert(at.passed > step->nth, "never came to %s", step->name);
    ring_expect_counted(made + 1 + nested);
    cr_assert(handler_first > order);
    /* After W7 the handler may overwrite the record that it interrupted. */
    cr_assert((strcmp(step->name, "W7") == 0 && nested >= slots) ||
                  ring_holds(order),
              "signal at %s: the record is gone", step->name);
    if (slots == 64 && records == 3)
        for (i = 0; i < 3; i++)
            cr_assert(ring_holds(handler_first + i),
                      "signal at %s: a record of the handler is gone",
                      step->name);
    ring_expect_all_slots(0);
}

/* Goal: a record and the records of a handler that interrupts it are all whole,
 * wherever the signal comes. Method: raise() at each step; the handler records
 * 1, 3 or 200 times into the same ring. */
Test(whole, signalled)
{
    static const uintptr_t slots[] = {1, 2, 8, 64}, records[] = {1, 3, 200};
    unsigned i, j, k;
    signal(SIGUSR1, on_step);
    for (i = 0; i < STEPS; i++)
        for (j = 0; j < 4; j++)
            for (k = 0; k < 3; k++)
                if (steps[i].path == PLAIN || slots[j] > 1)
                    signal_at(&steps[i], slots[j], records[k]);
}

/* ------------------------------------------------------- stalls at random --
 */

struct staller {
    pthread_t thread;
    uintptr_t who, calls, records;
    double end; /* for a machine too slow for so many */
    uint64_t seed;
};
static void *stall_run(void *argument)
{
    struct staller *me = argument;
    uint64_t random = me->seed;
    uintptr_t i;
    ring_writer_enter(me->who);
    stall_random = me->seed | 1;
    for (i = 0; i < me->calls; i++) {
        uintptr_t site = (uintptr_t)random_of(&random) % RING_SITES;
        if (i % 256 == 255 && seconds_now() > me->end)
            break;
        ring_record(me->who, site);
        me->records += ring_parts(site);
    }
    stall_random = 0;
    return NULL;
}

/* Goal: no schedule of any writers mixes records or loses a slot. Method: 3 to
 * 16 writers that stop for up to 50 us at random steps, 1000 times in a million
 * steps, so that most tickets find somebody in their way; up to a minute. */
Test(whole, stalled)
{
    static const uintptr_t slots[] = {1, 2, 4, 8, 64, 1024};
    static const unsigned writers[] = {3, 8, 16};
    enum { STALL_RUNS = sizeof slots / sizeof *slots * 3 };
    static struct ring_reader reader;
    uint64_t seed = seed_of("stalled");
    double start = seconds_now();
    unsigned runs = 0;
    uintptr_t i, j, k, lost = 0, given_up = 0, all = 0;
    stall_below = ((uint64_t)1 << 32) / 1000;
    for (i = 0; i < sizeof slots / sizeof *slots; i++)
        for (j = 0; j < sizeof writers / sizeof *writers; j++) {
            struct staller threads[16];
            double end = start + 60.0 * ++runs / STALL_RUNS;
            uintptr_t records = 0;
            pthread_t thread;
            memset(ring_writers, 0, sizeof ring_writers);
            memset(&reader, 0, sizeof reader);
            ring_use(slots[i]);
            thread = ring_thread(ring_reader_run, &reader);
            for (k = 0; k < writers[j]; k++) {
                threads[k].who = k + 1;
                threads[k].calls = scaled(100000.0 / writers[j]);
                threads[k].records = 0;
                threads[k].end = end;
                threads[k].seed = seed + 100 * j + k;
                threads[k].thread = ring_thread(stall_run, &threads[k]);
            }
            for (k = 0; k < writers[j]; k++) {
                pthread_join(threads[k].thread, NULL);
                records += threads[k].records;
            }
            ring_reader_stop(&reader, thread);
            cr_assert(reader.torn == 0, "%zu writers, %zu slots: %zu mixed: %s",
                      (size_t)writers[j], (size_t)slots[i], (size_t)reader.torn,
                      reader.fault);
            ring_expect_counted(records);
            all += records;
            lost += ring_head()->lost;
            given_up += ring_head()->given_up;
            ring_writer_enter(0);
            ring_expect_all_slots(0);
        }
    cr_log_info("%zu records, %zu stalls, %zu tickets given up, %zu lost",
                (size_t)all, (size_t)stalls, (size_t)given_up, (size_t)lost);
}
