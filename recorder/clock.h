/* clock.h - ticks, and how they become nanoseconds. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_CLOCK_H_
#define RECORDER_CLOCK_H_

#include "os.h"
#include "ring.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef RECORDER_HOSTED_
RECORDER_FUNCTION_ uint64_t recorder_clock_ns(int clock)
{
    struct recorder_timespec now = {0, 0};
    recorder_clock_gettime(clock, &now);
    return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.nanoseconds;
}
#endif

/* All 64 bits of a clock that counts alike on all cores, whatever their speed,
 * and takes no call if there is one. How fast it runs is measured, never known.
 * Where a word holds half of it, a tick is to last near a microsecond, so that
 * a half lasts an hour: what counts too fast is shifted. */
#if defined(RECORDER_TIME) && defined(RECORDER_TIME_HIGH)
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    uintptr_t low, high;
    do {
        high = RECORDER_TIME_HIGH();
        low = RECORDER_TIME();
    } while (high != RECORDER_TIME_HIGH());
    return (uint64_t)high << 32 | low;
}
#elif defined(RECORDER_TIME)
RECORDER_INLINE_ uint64_t recorder_ticks(void) { return RECORDER_TIME(); }
#elif defined(__x86_64__) && __SIZEOF_POINTER__ == 8
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__x86_64__) || defined(__i386__)
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    return __builtin_ia32_rdtsc() >> 12;
}
#elif defined(__aarch64__) && __SIZEOF_POINTER__ == 8
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#elif defined(__riscv) && __SIZEOF_POINTER__ == 8
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks));
    return ticks;
}
#elif defined(__s390x__) && __ARCH__ >= 7
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("stckf %0" : "=Q"(ticks) : : "cc");
    return ticks;
}
#elif defined(__powerpc64__)
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mfspr %0, 268" : "=r"(ticks)); /* the time base */
    return ticks;
}
#elif defined(__powerpc__)
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    uint32_t low, high, again;
    do /* the time base, in halves */
        __asm__ volatile("mfspr %0, 269\n\tmfspr %1, 268\n\tmfspr %2, 269"
                         : "=r"(high), "=r"(low), "=r"(again));
    while (high != again);
    return ((uint64_t)high << 32 | low) >> 6;
}
#elif !defined(RECORDER_HOSTED_)
#error "recorder.h: define RECORDER_TIME()"
#elif __SIZEOF_POINTER__ == 8
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    return recorder_clock_ns(RECORDER_MONOTONIC_);
}
#else
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    struct recorder_timespec now = {0, 0};
    recorder_clock_gettime(RECORDER_MONOTONIC_, &now);
    return (uint64_t)(unsigned long)now.seconds * 1000000u +
           (unsigned long)now.nanoseconds / 1000;
}
#endif
#if __SIZEOF_POINTER__ == 4 &&                                                 \
    (!defined(RECORDER_TIME) || defined(RECORDER_TIME_HIGH))
#define RECORDER_WRAPS_ /* noted, so that readers know all 64 bits */
#endif
#ifndef RECORDER_TIME
#define RECORDER_TIME() ((uintptr_t)recorder_ticks())
#endif

/* The clock, before the record's order is drawn. */
#if defined(RECORDER_WRAPS_) && defined(RECORDER_ENTER)
RECORDER_FUNCTION_ void recorder_wrap_note(uintptr_t high)
{
    struct recorder_registry *r = recorder_home.registry;
    uintptr_t masked = RECORDER_ENTER(), count = r->wraps_count;
    if (count == 0 ||
        (intptr_t)(high - r->wraps[(count - 1) % RECORDER_WRAPS].high) > 0) {
        r->wraps[count % RECORDER_WRAPS].order = *recorder_home.order;
        r->wraps[count % RECORDER_WRAPS].high = high;
        r->wraps_count = ++count;
    }
    recorder_put(&r->high, r->wraps[(count - 1) % RECORDER_WRAPS].high);
    RECORDER_LEAVE(masked);
}
#elif defined(RECORDER_WRAPS_)
/* Notes that a half of a wrap has begun. Threads and handlers may be in here at
 * once, from two halves: who comes first puts its half into the next place; who
 * finds one there helps to note it, and looks again. Nobody draws an order of a
 * half that is not noted: an order read behind the half in its place, while the
 * count stood still, is above none of that half, whoever writes it. A half that
 * was put there is above `last`, what was left there is not (below 2^62 ticks):
 * so none is replaced that may be noted by now. */
RECORDER_FUNCTION_ void recorder_wrap_note(uintptr_t high)
{
    struct recorder_registry *r = recorder_home.registry;
    for (;;) {
        uintptr_t count = __atomic_load_n(&r->wraps_count, __ATOMIC_ACQUIRE);
        struct recorder_wrap *wrap = &r->wraps[count % RECORDER_WRAPS];
        uintptr_t last =
            recorder_get(&r->wraps[(count - 1) % RECORDER_WRAPS].high);
        uintptr_t high_was = __atomic_load_n(&wrap->high, __ATOMIC_ACQUIRE);
        uintptr_t order_was = recorder_get(&wrap->order);
        uintptr_t order =
            __atomic_load_n(recorder_home.order, __ATOMIC_ACQUIRE);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (recorder_get(&r->wraps_count) != count)
            continue;
        if (count && (intptr_t)(high - last) <= 0) {
            __atomic_store_n(&r->high, last, __ATOMIC_RELEASE);
            recorder_file_tell(RECORDER_FILE_SYNC, NULL);
            return;
        }
        if (high_was != high && (intptr_t)(high_was - last) <= 0) {
            __atomic_compare_exchange_n(&wrap->high, &high_was, high, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED);
            continue;
        }
        __atomic_compare_exchange_n(&wrap->order, &order_was, order, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        __atomic_compare_exchange_n(&r->wraps_count, &count, count + 1, false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
}
#endif
#ifdef RECORDER_WRAPS_
RECORDER_INLINE_ uintptr_t recorder_time(void)
{
    uint64_t ticks = recorder_ticks();
    uintptr_t high = (uintptr_t)(ticks >> 31);
    if (RECORDER_UNLIKELY_(recorder_get(&recorder_home.registry->high) != high))
        recorder_wrap_note(high);
    return (uintptr_t)ticks;
}
#else
RECORDER_INLINE_ uintptr_t recorder_time(void) { return RECORDER_TIME(); }
#endif

#ifdef RECORDER_HOSTED_
/* All three clocks at once. Ticks and real time are each read between two looks
 * at the monotonic clock; the closest of three is taken. */
RECORDER_FUNCTION_ struct recorder_moment recorder_now(void)
{
    struct recorder_moment best = {0, 0, 0};
    uint64_t width = UINT64_MAX;
    unsigned i;
    for (i = 0; i < 3; i++) {
        uint64_t before = recorder_clock_ns(RECORDER_MONOTONIC_);
        uint64_t ticks = recorder_ticks();
        uint64_t after = recorder_clock_ns(RECORDER_MONOTONIC_);
        uint64_t real = recorder_clock_ns(RECORDER_REALTIME_);
        uint64_t end = recorder_clock_ns(RECORDER_MONOTONIC_);
        if (end - before >= width)
            continue;
        width = end - before;
        best.ticks = ticks;
        best.monotonic_ns = before + (after - before) / 2;
        /* `real` is of half way from `after` to `end`. */
        best.realtime_ns = real - (end - before) / 2;
    }
    return best;
}
#endif

/* ----------------------------------------------------------------- clock -- */

/* Ticks against nanoseconds: a moment, and how fast ticks run. */
struct recorder_clock {
    struct recorder_moment start;
    uint64_t ns_per_tick; /* in 1/2^32; 0: unknown */
};
#define RECORDER_TIME_UNKNOWN INT64_MIN
#define RECORDER_TICKS_UNKNOWN UINT64_MAX

/* The rate is what ran between two moments. */
RECORDER_FUNCTION_ void recorder_clock_set(struct recorder_clock *clock,
                                           const struct recorder_moment *start,
                                           const struct recorder_moment *later)
{
    uint64_t ns = later->monotonic_ns - start->monotonic_ns;
    uint64_t ticks = later->ticks - start->ticks;
    clock->start = *start;
    for (; ns >> 32; ns >>= 1)
        ticks >>= 1;
    clock->ns_per_tick = ticks ? (ns << 32) / ticks : 0;
}

/* Is the rate better taken up to `now` than up to `later`? Seldom, so that one
 * moment serves many readers, who then agree on every digit. */
RECORDER_INLINE_ bool recorder_clock_is_better(
    const struct recorder_moment *start, const struct recorder_moment *later,
    const struct recorder_moment *now)
{
    return now->monotonic_ns - start->monotonic_ns >=
           2 * (later->monotonic_ns - start->monotonic_ns);
}

/* Do two clocks run alike, but for one part in so many? */
RECORDER_INLINE_ bool recorder_clock_agrees(const struct recorder_clock *a,
                                            const struct recorder_clock *b,
                                            uint64_t parts)
{
    uint64_t apart = a->ns_per_tick > b->ns_per_tick
                         ? a->ns_per_tick - b->ns_per_tick
                         : b->ns_per_tick - a->ns_per_tick;
    return a->ns_per_tick && b->ns_per_tick && apart <= b->ns_per_tick / parts;
}

/* Nanoseconds that `ticks` last, ticks * ns_per_tick / 2^32, in halves. */
RECORDER_INLINE_ uint64_t recorder_clock_scale(const struct recorder_clock *c,
                                               uint64_t ticks)
{
    uint64_t high = ticks >> 32, low = ticks & 0xffffffffu;
    uint64_t rate_high = c->ns_per_tick >> 32;
    uint64_t rate_low = c->ns_per_tick & 0xffffffffu;
    return high * c->ns_per_tick + low * rate_high + (low * rate_low >> 32);
}

/* Nanoseconds from the program's start to a record's ticks; negative before;
 * RECORDER_TIME_UNKNOWN. */
RECORDER_INLINE_ int64_t recorder_clock_time(const struct recorder_clock *clock,
                                             uint64_t ticks)
{
    int64_t since = (int64_t)(ticks - clock->start.ticks);
    if (since == 0)
        return 0;
    if (!clock->ns_per_tick || ticks == RECORDER_TICKS_UNKNOWN)
        return RECORDER_TIME_UNKNOWN;
    return since < 0
               ? (int64_t)(0 - recorder_clock_scale(clock,
                                                    0 - (uint64_t)since))
               : (int64_t)recorder_clock_scale(clock, (uint64_t)since);
}

/* The ticks of a record of which a word holds only the low 32 bits: `count`
 * wraps were noted so far, the last RECORDER_WRAPS of them in `wraps`. False:
 * they do not reach back to that order. */
RECORDER_FUNCTION_ bool recorder_clock_widen(const struct recorder_wrap *wraps,
                                             uint32_t count, uint32_t order,
                                             uint64_t *ticks)
{
    uint32_t back, low = (uint32_t)*ticks, next = 0;
    uint64_t behind = 0, wanted = 0; /* orders, from the last wrap back */
    for (back = 1; back <= count && back < RECORDER_WRAPS; back++) {
        const struct recorder_wrap *wrap =
            &wraps[(count - back) % RECORDER_WRAPS];
        uint32_t first = (uint32_t)recorder_get(&wrap->order);
        uint32_t high = (uint32_t)recorder_get(&wrap->high);
        if (back > 1)
            behind += next - first;
        else if ((int32_t)(order - first) < 0)
            wanted = first - order;
        next = first;
        if (behind < wanted)
            continue;
        if (((high ^ low >> 31) & 1) && high-- == 0) /* was read before */
            return false;
        *ticks = (uint64_t)high << 31 | (low & 0x7fffffffu);
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------ time -- */

#ifdef RECORDER_HOSTED_
/* Is the rate up to `now` the better one? Not where it differs from one that was
 * measured over 100 ms: the machine slept meanwhile, while ticks ran and
 * CLOCK_MONOTONIC stood still. */
RECORDER_INLINE_ bool
recorder_clock_improves(const struct recorder_moment *start,
                        const struct recorder_moment *later,
                        const struct recorder_moment *now)
{
    struct recorder_clock known, fresh;
    if (!recorder_clock_is_better(start, later, now))
        return false;
    recorder_clock_set(&known, start, later);
    recorder_clock_set(&fresh, start, now);
    return later->monotonic_ns - start->monotonic_ns < 100000000 ||
           recorder_clock_agrees(&fresh, &known, 1000);
}

/* Where the program is: its start and, if that is far enough from it, a later
 * moment that was noted before; else now, noted for all readers to come. */
RECORDER_FUNCTION_ void recorder_clock_open(struct recorder_clock *clock)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_moment now = recorder_now(), start = registry->start;
    uint32_t set = __atomic_load_n(&registry->later_set, __ATOMIC_ACQUIRE);
    if (!start.monotonic_ns) { /* before the program's start: no moment yet */
        recorder_clock_set(clock, &now, &now);
        return;
    }
    if (set && !(set & 1)) {
        struct recorder_moment later = registry->later;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&registry->later_set, __ATOMIC_RELAXED) == set &&
            !recorder_clock_improves(&start, &later, &now)) {
            recorder_clock_set(clock, &start, &later);
            return;
        }
    }
    recorder_clock_set(clock, &start, &now);
    if ((set & 1) || !__atomic_compare_exchange_n(
                         &registry->later_set, &set, set + 1, false,
                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return; /* another thread notes its now */
    registry->later = now;
    __atomic_store_n(&registry->later_set, set + 2, __ATOMIC_RELEASE);
    recorder_file_tell(RECORDER_FILE_SYNC, NULL);
}
/* Notes a moment for readers of what a program leaves behind, which cannot
 * measure how fast its ticks ran. Safe in a signal handler. */
RECORDER_FUNCTION_ void recorder_clock_note(void)
{
    struct recorder_clock clock;
    recorder_clock_open(&clock);
}
RECORDER_INLINE_ uint64_t recorder_clock_realtime(void)
{
    return recorder_clock_ns(RECORDER_REALTIME_);
}
#else
RECORDER_INLINE_ void recorder_clock_open(struct recorder_clock *clock)
{
    recorder_clock_set(clock, &recorder_home.registry->start,
                       &recorder_home.registry->later);
}
RECORDER_INLINE_ uint64_t recorder_clock_realtime(void)
{
    return 0;
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
