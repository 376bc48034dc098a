/* ticks.c - where a word holds half of the clock: times are right, or unknown. */
/* SPDX-License-Identifier: MIT */
/*
 * A clock of our own, for processors of 32 bits. A record's time is checked
 * against what the clock said to the record last; that is all that is known.
 */
#include <stdint.h>
static uintptr_t clock_low(void), clock_high(void);
static void clock_step(const char *where);
#define RECORDER_TIME() clock_low()
#define RECORDER_TIME_HIGH() clock_high()
#define RECORDER_STEP_(where) clock_step(where)
#include "recorder_dump.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HALF ((uint64_t)1 << 31)
#define MUST(condition)                                                        \
    ((condition) ? (void)0                                                     \
                 : (fprintf(stderr, "ticks.c:%d: %s\n", __LINE__, #condition), \
                    exit(1)))

RECORDER(slow, 64, "Few records");
RECORDER(fast, 1024, "Many records");

enum { THREADS = 4, ORDERS = 1 << 20 };
static uint64_t expected[ORDERS];        /* ticks of a record, by its order */
static uint32_t count;                   /* of the clock */
static uint64_t scale = 1 << 16, offset; /* of its ticks */
static __thread uint64_t said;
static __thread unsigned highs;
static __thread void (*at_high)(void);       /* once, between clock and order */
static __thread void (*at_step)(const char *); /* in recorder_wrap_note() */

static uint64_t clock_now(void)
{
    return offset + __atomic_load_n(&count, __ATOMIC_SEQ_CST) * scale;
}
static void clock_set(uint64_t ticks)
{
    offset = ticks;
    __atomic_store_n(&count, 0, __ATOMIC_SEQ_CST);
}
static uintptr_t clock_low(void)
{
    said = clock_now();
    return (uintptr_t)said;
}
static uintptr_t clock_high(void)
{
    uint64_t now = clock_now();
    if (highs++ % 2 && at_high) {
        void (*once)(void) = at_high;
        uint64_t kept = said;
        at_high = NULL;
        once();
        said = kept;
        highs = 0;
    }
    return (uintptr_t)(now >> 32);
}
static void clock_step(const char *where)
{
    if (at_step && where[0] == 'N')
        at_step(where);
}

static uintptr_t make(void)
{
    uintptr_t order = record(fast, "%d", 1);
    highs = 0;
    expected[order % ORDERS] = said;
    return order;
}

/* Looks at all that is kept. Returns how many times are unknown. */
static unsigned look(void)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    unsigned unknown = 0;
    memset(&cursor, 0, sizeof cursor);
    while (recorder_next(&cursor, &event)) {
        unknown += event.time == RECORDER_TICKS_UNKNOWN;
        if (event.time == RECORDER_TICKS_UNKNOWN ||
            event.time == expected[event.order % ORDERS])
            continue;
        fprintf(stderr, "order %u: %llx, not %llx\n", (unsigned)event.order,
                (unsigned long long)event.time,
                (unsigned long long)expected[event.order % ORDERS]);
        exit(1);
    }
    return unknown;
}
static void forget(void)
{
    struct recorder_registry *r = &recorder_registry;
    r->cleared = *r->order;
    memset(r->wraps, 0, sizeof r->wraps);
    r->wraps_count = 0;
    r->high = UINTPTR_MAX;
}

/* Goal: times are exact over wraps and gaps of any length; what more halves
 * came after than the table holds is unknown, and nothing else is. */
static void wraps_and_gaps(void)
{
    static const uint64_t starts[] = {0, 1, HALF - 3, 5 * HALF, 7 * HALF - 2,
                                      (uint64_t)1 << 50};
    static const uint64_t gaps[] = {1, HALF / 3, HALF - 1, HALF, HALF + 1,
                                    2 * HALF, 3 * HALF - 1, 1000 * HALF + 5};
    size_t i, j, n;
    for (i = 0; i < sizeof starts / sizeof *starts; i++)
        for (j = 0; j < sizeof gaps / sizeof *gaps; j++) {
            uint64_t now = starts[i], last = 0;
            unsigned halves = 0, unknown = 0, first[100] = {0};
            forget();
            for (n = 0; n < 100; n++, now += gaps[j]) {
                clock_set(now);
                halves += n == 0 || now / HALF != last;
                last = now / HALF;
                first[n] = halves;
                make();
                while (first[unknown] + RECORDER_WRAPS - 1 <= halves)
                    unknown++;
                MUST(look() == unknown);
            }
        }
}

static void lap(void) /* as a handler may: past the end of the half */
{
    clock_set(clock_now() + HALF - 2);
    make();
    make();
}
/* Goal: who read the clock and was stopped before it drew its order has its
 * own time, not one of the half that has begun. */
static void stopped_before_the_order(void)
{
    unsigned i;
    forget();
    clock_set(3 * HALF - 1);
    for (i = 0; i < 40; i++) {
        at_high = i % 2 ? lap : NULL;
        make();
    }
    look();
    MUST(at_high == NULL);
    forget();
    clock_set(3 * HALF - 1);
    for (i = 0; i < 10; i++) {
        make();
        at_high = lap;
        make();
    }
    MUST(look() == 0);
}

static char step_wanted;
static unsigned step_came;
static void interrupt(const char *where)
{
    if (where[1] != step_wanted || step_came++)
        return;
    {
        uint64_t kept = said;
        clock_set(clock_now() + step_came * HALF / 2);
        make();
        make();
        said = kept;
    }
}
/* Goal: a note may be interrupted anywhere by one that notes the same half, or
 * the next. */
static void interrupted_note(void)
{
    unsigned i, apart;
    for (step_wanted = '1'; step_wanted <= '4'; step_wanted++)
        for (apart = 0; apart < 3; apart++) {
            unsigned all = 0;
            forget();
            for (i = 0; i < 12; i++) {
                clock_set((apart + 1) * 7 * i * HALF + apart * HALF / 2);
                step_came = 0;
                at_step = interrupt;
                make();
                at_step = NULL;
                all += step_came != 0;
                if (i < 3)
                    MUST(look() == 0);
                look();
            }
            MUST(all == 12);
        }
}

/* The threads' clock runs, and waits for who is inside of a record, so that
 * nobody is stopped for half a wrap. */
static uint32_t inside[THREADS];
static bool done;
struct seen {
    uint32_t order;
    uint64_t time;
};
static struct seen seen[1 << 20];
static unsigned seen_count, unknown_count;

static void *run_clock(void *unused)
{
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
        uint32_t now = __atomic_load_n(&count, __ATOMIC_SEQ_CST);
        unsigned i;
        for (i = 0; i < THREADS; i++) {
            uint32_t since = __atomic_load_n(&inside[i], __ATOMIC_SEQ_CST);
            if (since && now - (since - 1) >= (HALF / scale) / 2)
                break;
        }
        if (i == THREADS)
            __atomic_store_n(&count, now + 1, __ATOMIC_SEQ_CST);
    }
    return unused;
}
static void *run_writer(void *number)
{
    uint32_t *in = &inside[(uintptr_t)number];
    unsigned i;
    for (i = 0; i < ORDERS / THREADS / 4 &&
                recorder_get(&recorder_registry.wraps_count) < 500;
         i++) {
        if (i % 64 == 0)
            sched_yield(); /* to the clock */
        __atomic_store_n(in, __atomic_load_n(&count, __ATOMIC_SEQ_CST) + 1,
                         __ATOMIC_SEQ_CST);
        make();
        __atomic_store_n(in, 0, __ATOMIC_SEQ_CST);
    }
    return NULL;
}
static void *run_reader(void *unused)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST))
        while (recorder_next(&cursor, &event) &&
               seen_count < sizeof seen / sizeof *seen) {
            seen[seen_count].order = (uint32_t)event.order;
            seen[seen_count++].time = event.time;
        }
    return unused;
}
/* Goal: threads that meet a wrap at once, while others read, have their times.
 * Method: a clock that wraps every few thousand records. */
static void threads(void)
{
    pthread_t runs[THREADS], clock, reader;
    uintptr_t i;
    forget();
    scale = HALF / 16;
    clock_set(0);
    MUST(pthread_create(&clock, NULL, run_clock, NULL) == 0);
    MUST(pthread_create(&reader, NULL, run_reader, NULL) == 0);
    for (i = 0; i < THREADS; i++)
        MUST(pthread_create(&runs[i], NULL, run_writer, (void *)i) == 0);
    for (i = 0; i < THREADS; i++)
        pthread_join(runs[i], NULL);
    look();
    __atomic_store_n(&done, true, __ATOMIC_SEQ_CST);
    pthread_join(clock, NULL);
    pthread_join(reader, NULL);
    for (i = 0; i < seen_count; i++) {
        if (seen[i].time == RECORDER_TICKS_UNKNOWN)
            unknown_count++;
        else if (seen[i].time != expected[seen[i].order % ORDERS]) {
            fprintf(stderr, "read order %u: %llx, not %llx\n",
                    (unsigned)seen[i].order, (unsigned long long)seen[i].time,
                    (unsigned long long)expected[seen[i].order % ORDERS]);
            exit(1);
        }
    }
    printf("threads: %u events read, %u times unknown, %u halves\n", seen_count,
           unknown_count, (unsigned)recorder_registry.wraps_count);
    MUST(recorder_registry.wraps_count > 20);
    MUST(seen_count > unknown_count);
}

int main(void)
{
    MUST(sizeof(void *) == 4 && sizeof(struct recorder_record) == 32);
    record(slow, "%g", 0.1);
    wraps_and_gaps();
    stopped_before_the_order();
    interrupted_note();
    threads();
    puts("ok");
    return 0;
}
