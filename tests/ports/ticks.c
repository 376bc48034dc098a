/* ticks.c - where a word holds half of the clock: times are right, or
 * unknown. */
/* SPDX-License-Identifier: MIT */
/*
 * A clock of our own, for processors of 32 bits. A record's time is checked
 * against what the clock said to the record last; that is all that is known.
 */
#include <stdint.h>
static uintptr_t clock_low(void), clock_high(void);
static void point(const volatile void *at);
#define RECORDER_TIME() clock_low()
#define RECORDER_TIME_HIGH() clock_high()
/* Each atomic access is a point where a runner (below) may be stopped. */
#define __atomic_load_n(at, o) (point(at), __atomic_load_n(at, o))
#define __atomic_store_n(at, to, o) (point(at), __atomic_store_n(at, to, o))
#define __atomic_fetch_add(at, n, o) (point(at), __atomic_fetch_add(at, n, o))
#define __atomic_compare_exchange_n(at, was, to, weak, o, p)                   \
    (point(at), __atomic_compare_exchange_n(at, was, to, weak, o, p))
#include "recorder_dump.h"
#undef __atomic_load_n
#undef __atomic_store_n
#undef __atomic_fetch_add
#undef __atomic_compare_exchange_n

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

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
static __thread void (*at_high)(void); /* once, between clock and order */

/* Makes one record, or looks at one, as a thread that the test schedules. */
struct runner {
    uint64_t ticks;  /* of its clock */
    uintptr_t order; /* of its record */
    const struct recorder_record *look;
    bool has_read; /* the clock */
    bool is_done;
    ucontext_t context;
    char stack[1 << 15];
};
static struct runner runners[3], *running;
static ucontext_t scheduler;
static unsigned points_left, table_looks, clock_reads;

static uint64_t clock_now(void)
{
    if (running) {
        running->has_read = true;
        return running->ticks;
    }
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
    __atomic_fetch_add(&clock_reads, 1, __ATOMIC_RELAXED);
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
        unknown += event.time == RECORDER_TICKS_UNKNOWN_;
        if (event.time == RECORDER_TICKS_UNKNOWN_ ||
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
                while (first[unknown] + RECORDER_WRAPS_MAX_ - 1 <= halves)
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

static void point(const volatile void *at)
{
    table_looks += at == &recorder_registry.wraps_count;
    if (running && points_left-- == 0)
        swapcontext(&running->context, &scheduler);
}
static void runner_main(void)
{
    if (running->look)
        running->ticks = recorder_ticks_of_(running->look);
    else
        running->order = record(slow, "%d", 1);
    running->is_done = true;
}
static struct runner *runner_new(unsigned i, uint64_t ticks)
{
    struct runner *r = &runners[i];
    memset(r, 0, offsetof(struct runner, context));
    r->ticks = ticks;
    getcontext(&r->context);
    r->context.uc_stack.ss_sp = r->stack;
    r->context.uc_stack.ss_size = sizeof r->stack;
    r->context.uc_link = &scheduler;
    makecontext(&r->context, runner_main, 0);
    return r;
}
/* Lets it pass so many points more. */
static void run(struct runner *r, unsigned points)
{
    if (points == 0 || r->is_done)
        return;
    points_left = points - 1;
    running = r;
    swapcontext(&scheduler, &r->context);
    running = NULL;
}
static void run_to_clock(struct runner *r)
{
    while (!r->has_read)
        run(r, 1);
}

/* Records whose times must stay right. */
static struct recorder_record kept[64];
static uint64_t kept_ticks[64];
static unsigned kept_count, trial[4];

static void keep(uintptr_t order, uint64_t ticks)
{
    MUST(kept_count < 64);
    kept[kept_count].order = order;
    kept[kept_count].time = (uintptr_t)ticks;
    kept_ticks[kept_count++] = ticks;
}
static void run_to_end(struct runner *r)
{
    run(r, ~0u);
    keep(r->order, r->ticks);
}
/* So many halves are noted, the last of them `half`. */
static void begin(unsigned noted, uint64_t half)
{
    forget();
    kept_count = 0;
    while (noted--) {
        clock_set((half - 2 * noted) * HALF + 7);
        keep(record(slow, "%d", 1), clock_now());
    }
}
static void is_right(uint64_t ticks, unsigned i)
{
    if (ticks == RECORDER_TICKS_UNKNOWN_ || ticks == kept_ticks[i])
        return;
    fprintf(stderr, "trial %u %u %u %u: record %u: %llx, not %llx\n", trial[0],
            trial[1], trial[2], trial[3], i, (unsigned long long)ticks,
            (unsigned long long)kept_ticks[i]);
    exit(1);
}
/* Returns how many times are unknown. */
static unsigned look_at_kept(void)
{
    unsigned i, unknown = 0;
    for (i = 0; i < kept_count; i++) {
        uint64_t ticks = recorder_ticks_of_(&kept[i]);
        is_right(ticks, i);
        unknown += ticks == RECORDER_TICKS_UNKNOWN_;
    }
    return unknown;
}

/* What two records meet: noted halves; halves since then; does the second come
 * in the next half; is there a third, late, that read the clock before. */
static const struct meeting {
    unsigned noted, since;
    bool is_next, is_late;
} meetings[] = {{0, 1, true, false},   {1, 1, false, false},
                {1, 1, true, true},    {1, 500, true, false},
                {18, 1, true, true},   {18, 500, false, false},
                {18, 500, true, false}};

/* One is stopped after a points, another after b, the first again after c, and
 * they end in that order. Returns which of a, b and c lead to an end: 4, 2, 1.
 */
static unsigned meet(const struct meeting *m, unsigned a, unsigned b,
                     unsigned c)
{
    uint64_t start = (1000 + m->since) * HALF;
    struct runner *late = runner_new(0, start - 1);
    struct runner *first = runner_new(1, start + (m->is_late ? 2 : HALF - 1));
    struct runner *second = runner_new(2, m->is_next ? start + HALF + m->is_late
                                                     : first->ticks + 1);
    unsigned unknown, ends;
    begin(m->noted, 1000);
    unknown = look_at_kept();
    if (m->is_late)
        run_to_clock(late);
    run_to_clock(first);
    run(first, a);
    ends = first->is_done ? 4 : 0;
    if (m->is_late)
        run_to_end(late);
    run_to_clock(second);
    run(second, b);
    ends |= second->is_done ? 2 : 0;
    look_at_kept();
    run(first, c);
    ends |= first->is_done ? 1 : 0;
    look_at_kept();
    run_to_end(second);
    look_at_kept();
    run_to_end(first);
    MUST(look_at_kept() <= unknown + 2);
    return ends;
}
/* Goal: who notes a half may be stopped anywhere while others note the same,
 * or the next, and may have been stopped before: all times are right. */
static void met_anywhere(void)
{
    unsigned i, a, b, c;
    for (i = 0; i < sizeof meetings / sizeof *meetings; i++) {
        unsigned ends = 0;
        for (a = 0; !(ends & 4); a++)
            for (b = 0, ends = 0; !(ends & 2); b++)
                for (c = 0, ends = 0; !(ends & 1); c++) {
                    trial[0] = i, trial[1] = a, trial[2] = b, trial[3] = c;
                    ends = meet(&meetings[i], a, b, c);
                }
    }
}

/* Goal: the same of any three, one or two of them in the next half. */
static void met_by_three(void)
{
    static const unsigned noted[] = {0, 1, 18};
    unsigned i;
    for (i = 0; i < 5000; i++) {
        uint32_t random = trial[0] = i;
        struct runner *r[3];
        unsigned j;
        begin(noted[i % 3], 1000);
        for (j = 0; j < 3; j++) {
            r[j] = runner_new(j, 1002 * HALF - 1 - i % 2 + j);
            run_to_clock(r[j]);
        }
        while (!r[0]->is_done || !r[1]->is_done || !r[2]->is_done) {
            struct runner *next;
            random = random * 1664525 + 1013904223;
            next = r[(random >> 16) % 3];
            if (next->is_done)
                continue;
            run(next, 1 + (random >> 24) % 12);
            if (next->is_done)
                keep(next->order, next->ticks);
            look_at_kept();
        }
    }
}

/* Goal: a record of a half that is noted reads the clock once, and looks at no
 * wrap; not even after one that was stopped before. */
static void noted_once(void)
{
    struct runner *stopped = runner_new(0, 1001 * HALF);
    unsigned looks, reads;
    begin(1, 1000);
    looks = table_looks, reads = clock_reads;
    record(slow, "%d", 1);
    MUST(table_looks == looks && clock_reads == reads + 1);
    run_to_clock(stopped);
    clock_set(1002 * HALF);
    record(slow, "%d", 1);
    run(stopped, ~0u);
    looks = table_looks;
    record(slow, "%d", 1);
    MUST(table_looks == looks && recorder_registry.wraps_count == 2);
}

/* Goal: no order is taken for one of a wrap that is not its own. */
static void widened(void)
{
    struct recorder_wrap wraps[RECORDER_WRAPS_MAX_] = {{100, 6}};
    uint64_t ticks = 0x12;
    MUST(recorder_clock_widen_(wraps, 1, 100, &ticks));
    MUST(ticks == 6 * HALF + 0x12);
    MUST(!recorder_clock_widen_(wraps, 1, 99, &ticks)); /* before all */
    wraps[0].high = 0;
    ticks = HALF; /* before the clock began */
    MUST(!recorder_clock_widen_(wraps, 1, 100, &ticks));
    wraps[0].order = UINT32_MAX - 9, wraps[0].high = 4;
    wraps[1].order = 5, wraps[1].high = 10; /* orders wrapped meanwhile */
    ticks = 1;
    MUST(recorder_clock_widen_(wraps, 2, UINT32_MAX, &ticks));
    MUST(ticks == 4 * HALF + 1);
    ticks = 1;
    MUST(recorder_clock_widen_(wraps, 2, 4, &ticks));
    MUST(ticks == 4 * HALF + 1);
    ticks = 1;
    MUST(recorder_clock_widen_(wraps, 2, 5, &ticks));
    MUST(ticks == 10 * HALF + 1);
    ticks = 1;
    MUST(recorder_clock_widen_(wraps, 1, 4, &ticks));
    MUST(ticks == 4 * HALF + 1);
}

/* So many halves of wraps go by, with a record in each, while one is
 * stopped. */
static void halves_pass(struct runner *r, unsigned halves)
{
    for (unsigned i = 1; i <= halves; i++) {
        clock_set((1001 + i) * HALF + 3);
        keep(record(slow, "%d", 1), clock_now());
    }
    if (!r->is_done) {
        run(r, ~0u);
        r->is_done = false;
    }
}

/* Goal: one who is stopped for longer than is allowed makes the times of
 * nobody else wrong; and a reader may be stopped for as long as it likes. */
static void stopped_for_long(void)
{
    unsigned noted, a, halves;
    struct runner *r = runners;
    for (noted = 0; noted <= 18; noted += 6)
        for (a = 0, r->is_done = false; !r->is_done; a++)
            for (halves = 1; halves < 40; halves++) {
                trial[0] = noted, trial[1] = a, trial[2] = halves;
                begin(noted, 1000);
                r = runner_new(0, 1001 * HALF + 5);
                run_to_clock(r);
                run(r, a);
                halves_pass(r, halves);
                look_at_kept();
            }
    for (a = 0, r->is_done = false; !r->is_done; a++)
        for (halves = 1; halves < 20; halves++) {
            trial[0] = 99, trial[1] = a, trial[2] = halves;
            begin(18, 1000);
            r = runner_new(0, 0);
            r->look = &kept[6 + a % 12];
            run(r, a);
            halves_pass(r, halves);
            is_right(r->ticks, 6 + a % 12);
        }
}

/* The threads' clock runs, and waits for who is inside of a record, so that
 * nobody is stopped for half a wrap; and for the reader, so that he is not left
 * late by all wraps. */
static uint32_t inside[THREADS], reads_since;
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
        if (i == THREADS &&
            now - __atomic_load_n(&reads_since, __ATOMIC_SEQ_CST) <
                4 * (HALF / scale))
            __atomic_store_n(&count, now + 1, __ATOMIC_SEQ_CST);
    }
    return unused;
}
static void *run_writer(void *number)
{
    uint32_t *in = &inside[(uintptr_t)number];
    unsigned i, noted = 0;
    for (i = 0; (i < ORDERS / THREADS / 4 || noted <= 20) && noted < 500; i++) {
        while (i % 64 == 0) { /* the clock comes along, and the reader */
            sched_yield();
            if (__atomic_load_n(&count, __ATOMIC_SEQ_CST) >=
                i / 2048 * (HALF / scale))
                break;
        }
        __atomic_store_n(in, __atomic_load_n(&count, __ATOMIC_SEQ_CST) + 1,
                         __ATOMIC_SEQ_CST);
        make();
        __atomic_store_n(in, 0, __ATOMIC_SEQ_CST);
        noted = recorder_get_(&recorder_registry.wraps_count);
    }
    return NULL;
}
static void *run_reader(void *unused)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
        __atomic_store_n(&reads_since,
                         __atomic_load_n(&count, __ATOMIC_SEQ_CST),
                         __ATOMIC_SEQ_CST);
        while (recorder_next(&cursor, &event) &&
               seen_count < sizeof seen / sizeof *seen) {
            seen[seen_count].order = (uint32_t)event.order;
            seen[seen_count++].time = event.time;
        }
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
        if (seen[i].time == RECORDER_TICKS_UNKNOWN_)
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
    MUST(recorder_registry.wraps_count == 1); /* before any record */
    record(slow, "%g", 0.1);
    wraps_and_gaps();
    stopped_before_the_order();
    met_anywhere();
    met_by_three();
    noted_once();
    widened();
    stopped_for_long();
    threads();
    puts("ok");
    return 0;
}
