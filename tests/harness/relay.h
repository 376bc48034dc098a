/* relay.h - threads that hand a record's order on to each other. */
/* SPDX-License-Identifier: MIT */
#ifndef RELAY_H
#define RELAY_H

#include "ring.h"
#include <sched.h>
#include <unistd.h>

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

static void *run_once(void *argument)
{
    struct relay *relay = argument;
    relay->token = take_over(relay, relay->token, relay->turn);
    relay->turn++;
    return NULL;
}

/* ------------------------------------------------------------- hand-offs -- */

/* 8 threads record under a mutex, until it has changed hands `hops` times. */
static void relay_by_mutex(uintptr_t hops)
{
    struct relay relay = {.runners = 8, .hops = hops};
    pthread_mutex_init(&relay.mutex, NULL);
    run_relay(&relay, run_mutex, "mutex");
}

/* 4 threads in a circle of pipes. */
static void relay_by_pipe(uintptr_t hops)
{
    struct relay relay = {.runners = 4, .hops = hops};
    uintptr_t token = 0;
    unsigned i;
    for (i = 0; i < relay.runners; i++)
        cr_assert(pipe(relay.pipes[i]) == 0);
    cr_assert(write(relay.pipes[0][1], &token, sizeof token) == sizeof token);
    run_relay(&relay, run_pipe, "pipe");
}

/* Threads one after the other, each with one record between two of its maker. */
static void relay_by_join(uintptr_t hops)
{
    struct relay relay = {.runners = 1, .hops = hops};
    while (relay.turn < relay.hops) {
        pthread_t thread = ring_thread(run_once, &relay);
        pthread_join(thread, NULL);
        relay.token = take_over(&relay, relay.token, relay.turn);
        relay.turn++;
    }
    cr_log_info("start and join: %zu hand-offs", (size_t)relay.turn);
    cr_assert(relay.faults == 0, "%zu orders not above the one before",
              (size_t)relay.faults);
}

#endif
