/* waits.h - records threads and locks as the library of `recorder run` does. */
/* SPDX-License-Identifier: MIT */
/* In the program, so that a test has any case exactly, and hostile ones, too:
 * the same recorders, formats and order of steps; slow, and of few kinds. */
#ifndef WAITS_H
#define WAITS_H

#include "recorder_dump.h"
#include "run/events.h"

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef WAITS_LANES /* a fuzzer's seeds are smaller */
#define WAITS_LANES 1024
#endif
enum { LANES = WAITS_LANES, HELD = 6, OBJECTS = LANES, STACKS = 1024, FRAMES = 24 };
RECORDER(thread_life, 4 * LANES, "Threads: created, started, joined, ended")
RECORDER(lock_wait, 16 * LANES, "Waits for locks, conditions, threads")
RECORDER(lock_order, 4 * LANES, "Locks that were taken while others were held")
RECORDER(call_stack, 4 * LANES, "Stacks, once each")
RECORDER_LANES(thread_self, 4, LANES, "Who each thread is")
RECORDER_LANES(thread_now, 1, LANES, "What each thread waits for")
RECORDER_LANES(thread_held, 4, LANES, "What each thread holds: lock, where")
RECORDER_LANES(thread_calls, 4, LANES, "How often each thread called")
RECORDER_LANES(lock_total, 4, OBJECTS, "What was waited for")

#define TEXT(words, text)                                                      \
    RUN_HEADING(words) text "\0" __FILE__ ":" RECORDER_QUOTE_(__LINE__)
#define WORDS(...) ((const uintptr_t[12]){__VA_ARGS__})
#define SITE ((uintptr_t)__builtin_return_address(0))
#define OUTER __attribute__((noinline, noclone, unused)) static

static __thread struct me {
    unsigned lane, depth; /* lane: from 1 */
    uintptr_t *held[12], *calls[12];
} me;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static char lanes_used[LANES];

/* Writes words into a cell; where they are, for changes in place. */
static void cell(const struct recorder *r, unsigned lane, const char *format,
                 uintptr_t site, const uintptr_t *words, unsigned count,
                 uintptr_t *places[12])
{
    struct recorder_ring *ring =
        (struct recorder_ring *)(void *)((char *)r->rings +
                                         (lane - 1) * r->ring_bytes);
    unsigned thread = RECORDER_THREAD(); /* before its first order */
    uintptr_t time = recorder_time_(), order = recorder_orders_(count);
    uintptr_t previous = recorder_positions_(ring, count, thread);
    for (unsigned i = 0; i < count; i++) {
        struct recorder_record one = {i ? 0 : (uintptr_t)format,
                                      order + i,
                                      time,
                                      site,
                                      {words[4 * i], words[4 * i + 1],
                                       words[4 * i + 2], words[4 * i + 3]}};
        struct recorder_record *at;
        recorder_write_(ring, r->mask, previous + i, thread, &one, &at);
        for (unsigned k = 0; k < 4 && places; k++)
            places[4 * i + k] = (uintptr_t *)&at->argument[k];
    }
}

/* ---------------------------------------------------------------- stacks -- */

static struct {
    void *frames[FRAMES];
    int count;
} stacks[STACKS];
static unsigned stacks_count;

/* The number of the stack from the caller at `site` on. */
static uintptr_t stack_of(uintptr_t site)
{
    void *all[FRAMES + 8];
    int count = backtrace(all, FRAMES + 8), from = 0;
    uintptr_t number = 0;
    while (from < count && (uintptr_t)all[from] != site)
        from++;
    if ((count -= from) <= 0)
        return 0;
    if (count > FRAMES)
        count = FRAMES;
    pthread_mutex_lock(&guard);
    for (unsigned i = 0; i < stacks_count && !number; i++)
        if (stacks[i].count == count &&
            memcmp(stacks[i].frames, all + from, (size_t)count * sizeof *all) ==
                0)
            number = i + 1;
    if (!number && stacks_count < STACKS) {
        number = ++stacks_count;
        stacks[number - 1].count = count;
        memcpy(stacks[number - 1].frames, all + from,
               (size_t)count * sizeof *all);
        for (int i = 0; i < count; i += 10) {
            uintptr_t words[12] = {number, (uintptr_t)i};
            for (int k = 0; k < 10 && i + k < count; k++)
                words[2 + k] = (uintptr_t)all[from + i + k];
            recorder_record_words_(
                &recorder_for_call_stack,
                TEXT("stack",
                     "stack %u from %u: %p %p %p %p %p %p %p %p %p %p"),
                site, words, 3);
        }
    }
    pthread_mutex_unlock(&guard);
    return number;
}

/* --------------------------------------------------------------- threads -- */

/* A free lane, from 1. */
static unsigned lane_take(void)
{
    unsigned lane = 0;
    pthread_mutex_lock(&guard);
    while (lane < LANES && lanes_used[lane])
        lane++;
    if (lane == LANES)
        abort();
    lanes_used[lane] = 1;
    pthread_mutex_unlock(&guard);
    return lane + 1;
}

static void enter(unsigned lane, const char *format, const uintptr_t *self)
{
    me.lane = lane;
    cell(&recorder_for_thread_self, lane, format, SITE, self, 3, NULL);
    cell(&recorder_for_thread_held, lane,
         TEXT("holds",
              "holds %p from %p, %p from %p, %p from %p, %p from %p, %p from "
              "%p, %p from %p"),
         SITE, WORDS(0), 3, me.held);
    cell(&recorder_for_thread_calls, lane,
         TEXT("calls",
              "lock %u waited %u, trylock %u failed %u, unlock %u, rwlock %u "
              "waited %u, cond wait %u signal %u, sem wait %u post %u, other "
              "%u"),
         SITE, WORDS(0), 3, me.calls);
}
OUTER void enter_main(void)
{
    void *first[1];
    backtrace(first, 1); /* it opens a library, with locks */
    enter(lane_take(),
          TEXT("stranger", "thread not made by pthread_create: %p"),
          WORDS((uintptr_t)pthread_self()));
}

struct start {
    void *(*run)(void *);
    void *with;
    uintptr_t maker, stack, site;
    unsigned lane;
    const char *name;
};
static void *started(void *with)
{
    struct start start = *(struct start *)with;
    uintptr_t calls[12];
    void *result;
    free(with);
    if (start.name)
        pthread_setname_np(pthread_self(), start.name);
    enter(start.lane,
          TEXT("made",
               "thread %p made by T%u: %p(%p -> %p), stack %u, detached %u, "
               "stack of %u"),
          WORDS((uintptr_t)pthread_self(), start.maker, (uintptr_t)start.run,
                (uintptr_t)start.with, 0, start.stack, 0, 8 << 20));
    recorder_record_words_(
        &recorder_for_thread_life,
        TEXT("started", "started %p(%p) as %p, made by T%u, stack %u"),
        start.site,
        WORDS((uintptr_t)start.run, (uintptr_t)start.with,
              (uintptr_t)pthread_self(), start.maker, start.stack),
        2);
    result = start.run(start.with);
    for (int i = 0; i < 12; i++)
        calls[i] = *me.calls[i];
    recorder_record_words_(
        &recorder_for_thread_life,
        TEXT("ended",
             "ended: lock %u waited %u, trylock %u failed %u, unlock %u, "
             "rwlock %u waited %u, cond wait %u signal %u, sem wait %u post "
             "%u, other %u"),
        0, calls, 3);
    lanes_used[start.lane - 1] = 0;
    return result;
}
OUTER pthread_t create(const char *name, void *(*run)(void *), void *with)
{
    struct start *start = malloc(sizeof *start);
    uintptr_t stack = stack_of(SITE);
    pthread_t made;
    *start = (struct start){.run = run,
                            .with = with,
                            .maker = RECORDER_THREAD(),
                            .stack = stack,
                            .site = SITE,
                            .lane = lane_take(),
                            .name = name};
    if (pthread_create(&made, NULL, started, start) != 0)
        abort();
    recorder_record_words_(&recorder_for_thread_life,
                           TEXT("create", "create %p(%p): %d, stack %u"), SITE,
                           WORDS((uintptr_t)run, (uintptr_t)with, 0, stack), 1);
    return made;
}

/* ----------------------------------------------------------------- waits -- */

static struct total {
    uintptr_t object, by, *places[12];
} totals[OBJECTS];

static struct total *total_of(uintptr_t object, const char *format,
                              uintptr_t site)
{
    size_t i = 0;
    pthread_mutex_lock(&guard);
    while (i < OBJECTS && totals[i].object && totals[i].object != object)
        i++;
    if (i < OBJECTS && !totals[i].object && format) {
        totals[i].object = object;
        cell(&recorder_for_lock_total, (unsigned)i + 1, format, site,
             WORDS(object), 3, totals[i].places);
    }
    pthread_mutex_unlock(&guard);
    return i < OBJECTS && totals[i].object ? &totals[i] : NULL;
}
static void gives(uintptr_t object)
{
    struct total *total = total_of(object, NULL, 0);
    if (total)
        __atomic_store_n(&total->by, RECORDER_THREAD(), __ATOMIC_RELAXED);
}

struct wait {
    uintptr_t *until, object, began, site;
    const char *end;
    struct total *total;
};
static void wait_begin(struct wait *wait, const char *now, const char *begin,
                       const char *end, const char *total, uintptr_t object,
                       uintptr_t other, uintptr_t site)
{
    uintptr_t *places[12], words[4] = {object, other, stack_of(site), 0};
    wait->object = object;
    wait->site = site;
    wait->end = end;
    wait->total = total ? total_of(object, total, site) : NULL;
    cell(&recorder_for_thread_now, me.lane, now, site, words, 1, places);
    wait->until = places[3];
    words[3] = me.depth;
    recorder_record_words_(&recorder_for_lock_wait, begin, site, words, 1);
    wait->began = recorder_time_();
}
static void wait_end(struct wait *wait, int result)
{
    uintptr_t now = recorder_time_(), ticks = now - wait->began;
    __atomic_store_n(wait->until, now, __ATOMIC_RELAXED);
    if (wait->total) {
        uintptr_t **at = wait->total->places;
        __atomic_fetch_add(at[2], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(at[3], ticks, __ATOMIC_RELAXED);
        if (ticks > *at[4]) {
            *at[4] = ticks;
            *at[5] = wait->site;
        }
    }
    recorder_record_words_(&recorder_for_lock_wait, wait->end, wait->site,
                           WORDS(wait->object, (uintptr_t)result,
                                 wait->total ? wait->total->by : 0),
                           1);
}
#define WAIT(wait, word, kind, text, object, other, site)                      \
    wait_begin(                                                                \
        wait, TEXT("waits " word, kind " %p " text ", stack %u, until %u"),    \
        TEXT("begins " word, ">" kind " %p " text ", stack %u, holding %u"),   \
        TEXT("ends " word, "<" kind " %p: %d, by T%u"),                        \
        TEXT("total " word,                                                    \
             kind " %p: taken %u, waited %u times, %u ticks, longest "         \
                  "%u from %p"),                                               \
        (uintptr_t)(object), (uintptr_t)(other), site)

/* ------------------------------------------------------------------ held -- */

enum { READ = 1, TRY = 2 };
static struct chain {
    uintptr_t hash, thread;
} chains[4096];
static size_t chains_count;

/* Pairs of the places where a lock that is held and another were taken. */
enum { PAIRS = 64 };
static int class_max = 1000; /* chains that are recorded of a pair */
static struct {
    uintptr_t held, taken;
    int count;
} pairs[PAIRS];

static size_t pair_of(uintptr_t held, uintptr_t taken)
{
    size_t i = 0;
    while (i < PAIRS - 1 && pairs[i].held &&
           (pairs[i].held != held || pairs[i].taken != taken))
        i++;
    pairs[i].held = held;
    pairs[i].taken = taken;
    return i;
}

static void order_record(uintptr_t object, uintptr_t site)
{
    uintptr_t hash = object, words[12] = {object, stack_of(site), me.depth};
    struct chain chain;
    size_t i = 0;
    int is_class;
    for (unsigned k = 0; k < me.depth && k < HELD; k++)
        hash = hash * 1000003 + *me.held[2 * k];
    chain = (struct chain){hash, RECORDER_THREAD()};
    pthread_mutex_lock(&guard);
    while (i < chains_count && memcmp(&chains[i], &chain, sizeof chain) != 0)
        i++;
    if (i < chains_count || i == 4096) {
        pthread_mutex_unlock(&guard);
        return;
    }
    chains[chains_count++] = chain;
    i = pair_of(*me.held[2 * (me.depth < HELD ? me.depth : HELD) - 1], site);
    is_class = pairs[i].count++ >= class_max;
    pthread_mutex_unlock(&guard);
    if (is_class)
        return;
    for (unsigned p = 0, k = me.depth < HELD ? me.depth : HELD; p < 4 && k;
         p++) {
        words[3 + 2 * p] = *me.held[2 * --k];
        words[4 + 2 * p] = *me.held[2 * k + 1];
    }
    recorder_record_words_(&recorder_for_lock_order,
                           TEXT("chain",
                                "took %p stack %u holding %u: %p from %p, %p "
                                "from %p, %p from %p, %p from %p"),
                           site, words, 3);
}
static void took(uintptr_t object, int how, uintptr_t site)
{
    if (me.depth && !(how & TRY))
        order_record(object | (how & READ), site);
    if (me.depth < HELD) {
        *me.held[2 * me.depth + 1] = site;
        __atomic_store_n(me.held[2 * me.depth], object | (how & READ),
                         __ATOMIC_RELEASE);
    }
    me.depth++;
}
static void gave(uintptr_t object)
{
    unsigned n = me.depth < HELD ? me.depth : HELD, i = n;
    while (i > 0 && (*me.held[2 * i - 2] & ~(uintptr_t)READ) != object)
        i--;
    if (!i) {
        me.depth -= me.depth > HELD;
        return;
    }
    for (i--; i + 1 < n; i++) {
        *me.held[2 * i + 1] = *me.held[2 * i + 3];
        *me.held[2 * i] = *me.held[2 * i + 2];
    }
    *me.held[2 * i] = 0;
    me.depth--;
}

/* ----------------------------------------------------------------- calls -- */

OUTER int lock(pthread_mutex_t *m)
{
    int result = pthread_mutex_trylock(m);
    ++*me.calls[0];
    if (result == EBUSY) {
        struct wait wait;
        ++*me.calls[1];
        WAIT(&wait, "mutex", "mutex", "of %d", m, m->__data.__owner, SITE);
        result = pthread_mutex_lock(m);
        wait_end(&wait, result);
    }
    if (result == 0)
        took((uintptr_t)m, 0, SITE);
    return result;
}
OUTER int trylock(pthread_mutex_t *m)
{
    int result = pthread_mutex_trylock(m);
    if (result == 0)
        took((uintptr_t)m, TRY, SITE);
    return result;
}
OUTER void unlock(pthread_mutex_t *m)
{
    ++*me.calls[4];
    gave((uintptr_t)m);
    gives((uintptr_t)m);
    pthread_mutex_unlock(m);
}
OUTER void read_lock(pthread_rwlock_t *l)
{
    if (pthread_rwlock_tryrdlock(l) != 0) {
        struct wait wait;
        WAIT(&wait, "read", "rwlock", "to read, writer %d", l,
             l->__data.__cur_writer, SITE);
        wait_end(&wait, pthread_rwlock_rdlock(l));
    }
    took((uintptr_t)l, READ, SITE);
}
OUTER void write_lock(pthread_rwlock_t *l)
{
    if (pthread_rwlock_trywrlock(l) != 0) {
        struct wait wait;
        WAIT(&wait, "write", "rwlock", "to write, writer %d", l,
             l->__data.__cur_writer, SITE);
        wait_end(&wait, pthread_rwlock_wrlock(l));
    }
    took((uintptr_t)l, 0, SITE);
}
OUTER void unlock_rw(pthread_rwlock_t *l)
{
    gave((uintptr_t)l);
    gives((uintptr_t)l);
    pthread_rwlock_unlock(l);
}
OUTER void join(pthread_t thread)
{
    struct wait wait;
    int result;
    ++*me.calls[11];
    wait_begin(&wait, TEXT("waits thread", "thread %p%.0d, stack %u, until %u"),
               TEXT("begins thread", ">thread %p%.0d, stack %u, holding %u"),
               TEXT("ends thread", "<thread %p: %d, by T%u"), NULL,
               (uintptr_t)thread, 0, SITE);
    result = pthread_join(thread, NULL);
    wait_end(&wait, result);
    recorder_record_words_(&recorder_for_thread_life,
                           TEXT("joined", "joined %p: %d"), SITE,
                           WORDS((uintptr_t)thread, (uintptr_t)result), 1);
}
OUTER void cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    struct wait wait;
    gave((uintptr_t)m);
    gives((uintptr_t)m);
    WAIT(&wait, "cond", "cond", "mutex %p", c, m, SITE);
    wait_end(&wait, pthread_cond_wait(c, m));
    took((uintptr_t)m, 0, SITE);
}
OUTER void cond_signal(pthread_cond_t *c)
{
    gives((uintptr_t)c);
    pthread_cond_signal(c);
}

#endif
