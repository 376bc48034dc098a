/* clock.h - ticks, and how they become nanoseconds. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_CLOCK_H_
#define RECORDER_CLOCK_H_

#include "os.h"
#include "ring.h"

RECORDER_C_BEGIN_

RECORDER_FUNCTION_ uint64_t recorder_clock_ns_(int clock)
{
    struct recorder_timespec_ now = {0, 0};
    recorder_os_clock_(clock, &now);
    return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.nanoseconds;
}

/* recorder_ticks_() returns 64 bits of a clock that counts alike on all cores:
 * by one instruction where the processor has it, else by clock_gettime(). Its
 * rate is measured. If a word has 32 bits, a tick lasts about a microsecond,
 * and 2^31 ticks most of an hour: faster clocks are shifted right. */
#if defined(RECORDER_TIME) && defined(RECORDER_TIME_HIGH)
RECORDER_INLINE_ uint64_t recorder_ticks_(void)
{
    uintptr_t low, high;
    do {
        high = RECORDER_TIME_HIGH();
        low = RECORDER_TIME();
    } while (high != RECORDER_TIME_HIGH());
    return (uint64_t)high << 32 | low;
}
#elif defined(RECORDER_TIME)
RECORDER_INLINE_ uint64_t recorder_ticks_(void)
{
    return RECORDER_TIME();
}
#elif defined(__x86_64__) && __SIZEOF_POINTER__ == 8
#define RECORDER_TSC_
RECORDER_INLINE_ uint64_t recorder_ticks_(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__x86_64__) || defined(__i386__)
RECORDER_INLINE_ uint64_t recorder_ticks_(void)
{
    return __builtin_ia32_rdtsc() >> 12;
}
#elif defined(__aarch64__) && __SIZEOF_POINTER__ == 8
RECORDER_INLINE_ uint64_t recorder_ticks_(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#elif defined(__riscv) && __SIZEOF_POINTER__ == 8
RECORDER_INLINE_ uint64_t recorder_ticks_(void)
{
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks));
    return ticks;
}
#elif defined(__s390x__) && __ARCH__ >= 7
RECORDER_INLINE_ uint64_t recorder_ticks_(void)
{
    uint64_t ticks;
    __asm__ volatile("stckf %0" : "=Q"(ticks) : : "cc");
    return ticks;
}
#elif defined(__powerpc64__)
RECORDER_INLINE_ uint64_t recorder_ticks_(void)
{
    uint64_t ticks;
    __asm__ volatile("mfspr %0, 268" : "=r"(ticks)); /* the time base */
    return ticks;
}
#elif defined(__powerpc__)
RECORDER_INLINE_ uint64_t recorder_ticks_(void)
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
RECORDER_INLINE_ uint64_t recorder_ticks_(void)
{
    return recorder_clock_ns_(RECORDER_MONOTONIC_);
}
#else
RECORDER_INLINE_ uint64_t recorder_ticks_(void)
{
    struct recorder_timespec_ now = {0, 0};
    recorder_os_clock_(RECORDER_MONOTONIC_, &now);
    return (uint64_t)(unsigned long)now.seconds * 1000000u +
           (unsigned long)now.nanoseconds / 1000;
}
#endif
#if __SIZEOF_POINTER__ == 4 &&                                                 \
    (!defined(RECORDER_TIME) || defined(RECORDER_TIME_HIGH))
#define RECORDER_WRAPS_ /* the registry notes wraps: readers widen the ticks */
#define RECORDER_NOTES_WRAPS_ true
#else
#define RECORDER_NOTES_WRAPS_ false
#endif
#ifndef RECORDER_TIME
#define RECORDER_TIME() ((uintptr_t)recorder_ticks_())
#endif

/* recorder_time_() reads the clock, before the record's order is drawn. */
#if defined(RECORDER_WRAPS_) && defined(RECORDER_ENTER)
RECORDER_FUNCTION_ void recorder_wrap_note_(uintptr_t high)
{
    struct recorder_registry *r = recorder_home_.registry;
    uintptr_t masked = RECORDER_ENTER(), count = r->wraps_count;
    if (count == 0 ||
        (intptr_t)(high - r->wraps[(count - 1) % RECORDER_WRAPS_MAX_].high) >
            0) {
        r->wraps[count % RECORDER_WRAPS_MAX_].order = *recorder_home_.order;
        r->wraps[count % RECORDER_WRAPS_MAX_].high = high;
        r->wraps_count = ++count;
    }
    recorder_put_(&r->high, r->wraps[(count - 1) % RECORDER_WRAPS_MAX_].high);
    RECORDER_LEAVE(masked);
}
#elif defined(RECORDER_WRAPS_)
/* Records that a half-wrap began. Lock-free with helping: the first caller puts
 * its half into the next entry; a caller that finds one pending completes it
 * and retries. No thread draws an order in a half that is not recorded yet: so
 * an order that is read after the entry's half, with the same wraps_count, is
 * not above any order of that half. A pending half is above `last`, an entry's
 * old one is not (below 2^62 ticks): so no pending half is replaced. */
RECORDER_FUNCTION_ void recorder_wrap_note_(uintptr_t high)
{
    struct recorder_registry *r = recorder_home_.registry;
    for (;;) {
        uintptr_t count = __atomic_load_n(&r->wraps_count, __ATOMIC_ACQUIRE);
        struct recorder_wrap *wrap = &r->wraps[count % RECORDER_WRAPS_MAX_];
        uintptr_t last =
            recorder_get_(&r->wraps[(count - 1) % RECORDER_WRAPS_MAX_].high);
        uintptr_t high_was = __atomic_load_n(&wrap->high, __ATOMIC_ACQUIRE);
        uintptr_t order_was = recorder_get_(&wrap->order);
        uintptr_t order =
            __atomic_load_n(recorder_home_.order, __ATOMIC_ACQUIRE);
        recorder_fence_acquire_();
        if (recorder_get_(&r->wraps_count) != count)
            continue;
        if (count && (intptr_t)(high - last) <= 0) {
            __atomic_store_n(&r->high, last, __ATOMIC_RELEASE);
            recorder_file_tell_(RECORDER_FILE_SYNC_, NULL);
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
RECORDER_INLINE_ uintptr_t recorder_time_(void)
{
    uint64_t ticks = recorder_ticks_();
    uintptr_t high = (uintptr_t)(ticks >> 31);
    if (RECORDER_UNLIKELY_(recorder_get_(&recorder_home_.registry->high) !=
                           high))
        recorder_wrap_note_(high);
    return (uintptr_t)ticks;
}
#else
RECORDER_INLINE_ uintptr_t recorder_time_(void)
{
    return RECORDER_TIME();
}
#endif

#ifdef RECORDER_HOSTED_
/* Reads all three clocks at one moment. Ticks and real time are each read
 * between two reads of the monotonic clock; of three tries, the shortest
 * counts. */
RECORDER_SELDOM_ void recorder_now_(struct recorder_moment *now)
{
    uint64_t width = UINT64_MAX;
    unsigned i;
    for (i = 0; i < 3; i++) {
        uint64_t before = recorder_clock_ns_(RECORDER_MONOTONIC_);
        uint64_t ticks = recorder_ticks_();
        uint64_t after = recorder_clock_ns_(RECORDER_MONOTONIC_);
        uint64_t real = recorder_clock_ns_(RECORDER_REALTIME_);
        uint64_t end = recorder_clock_ns_(RECORDER_MONOTONIC_);
        if (end - before >= width)
            continue;
        width = end - before;
        now->ticks = ticks;
        now->monotonic_ns = before + (after - before) / 2;
        /* `real` belongs to the middle of `after` and `end`. */
        now->realtime_ns = real - (end - before) / 2;
    }
}
#endif

/* ----------------------------------------------------------------- clock -- */

/* Converts ticks to nanoseconds: a moment on both clocks, and the rate. */
struct recorder_clock_ {
    struct recorder_moment start;
    uint64_t ns_per_tick; /* in 1/2^32; 0: unknown */
};
#define RECORDER_TIME_UNKNOWN_ INT64_MIN
#define RECORDER_TICKS_UNKNOWN_ UINT64_MAX

/* Sets the clock to start at `start`, with the rate between the two moments. */
RECORDER_FUNCTION_ void recorder_clock_set_(struct recorder_clock_ *clock,
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

/* Returns how many digits of a second a clock resolves: 9, 6 or 3. */
RECORDER_INLINE_ unsigned
recorder_clock_digits_(const struct recorder_clock_ *clock)
{
    const uint64_t tick = (uint64_t)600 << 32; /* ns; no clock is near it */
    return clock->ns_per_tick < tick ? 9
           : clock->ns_per_tick / 1000 < tick ? 6
                                             : 3;
}

/* True if the rates of two clocks differ by at most one part in `parts`. */
RECORDER_INLINE_ bool recorder_clock_agrees_(const struct recorder_clock_ *a,
                                             const struct recorder_clock_ *b,
                                             uint64_t parts)
{
    uint64_t apart = a->ns_per_tick > b->ns_per_tick
                         ? a->ns_per_tick - b->ns_per_tick
                         : b->ns_per_tick - a->ns_per_tick;
    return a->ns_per_tick && b->ns_per_tick && apart <= b->ns_per_tick / parts;
}

/* Returns ticks * ns_per_tick / 2^32, by 32-bit halves: 64 bits do not hold the
 * product. */
RECORDER_INLINE_ uint64_t recorder_clock_scale_(const struct recorder_clock_ *c,
                                                uint64_t ticks)
{
    uint64_t high = ticks >> 32, low = ticks & 0xffffffffu;
    uint64_t rate_high = c->ns_per_tick >> 32;
    uint64_t rate_low = c->ns_per_tick & 0xffffffffu;
    return high * c->ns_per_tick + low * rate_high + (low * rate_low >> 32);
}

/* Returns the nanoseconds from the program's start to a record's ticks,
 * negative if it is earlier; RECORDER_TIME_UNKNOWN_ if the rate or the ticks
 * are. */
RECORDER_INLINE_ int64_t
recorder_clock_time_(const struct recorder_clock_ *clock, uint64_t ticks)
{
    int64_t since = (int64_t)(ticks - clock->start.ticks);
    if (since == 0)
        return 0;
    if (!clock->ns_per_tick || ticks == RECORDER_TICKS_UNKNOWN_)
        return RECORDER_TIME_UNKNOWN_;
    return since < 0 ? (int64_t)(0 - recorder_clock_scale_(clock,
                                                           0 - (uint64_t)since))
                     : (int64_t)recorder_clock_scale_(clock, (uint64_t)since);
}

/* Extends the low 32 bits in *ticks to 64. `count` half-wraps were
 * recorded, the last RECORDER_WRAPS_MAX_ of them in `wraps`. Returns false if
 * they do not reach back to the record's order. */
RECORDER_FUNCTION_ bool recorder_clock_widen_(const struct recorder_wrap *wraps,
                                              uint32_t count, uint32_t order,
                                              uint64_t *ticks)
{
    uint32_t back, low = (uint32_t)*ticks, next = 0;
    uint64_t passed = 0, wanted = 0; /* orders back from the last wrap */
    for (back = 1; back <= count && back < RECORDER_WRAPS_MAX_; back++) {
        const struct recorder_wrap *wrap =
            &wraps[(count - back) % RECORDER_WRAPS_MAX_];
        uint32_t first = (uint32_t)recorder_get_(&wrap->order);
        uint32_t high = (uint32_t)recorder_get_(&wrap->high);
        if (back > 1)
            passed += next - first;
        else if ((int32_t)(order - first) < 0)
            wanted = first - order;
        next = first;
        if (passed < wanted)
            continue;
        if (((high ^ low >> 31) & 1) && high-- == 0) /* clock read before */
            return false;
        *ticks = (uint64_t)high << 31 | (low & 0x7fffffffu);
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------ time -- */

#ifdef RECORDER_HOSTED_
/* True if a rate that was measured up to `later` is still the best one. It is
 * while the program is not twice as old: rare on purpose, as all readers share
 * the stored moment and print the same digits. It is, too, if it was measured
 * over 100 ms and differs from today's: the machine slept, when ticks ran
 * and CLOCK_MONOTONIC did not. */
RECORDER_INLINE_ bool recorder_clock_stays_(const struct recorder_clock_ *clock,
                                            const struct recorder_moment *later)
{
    uint64_t start = clock->start.monotonic_ns;
    uint64_t measured = later->monotonic_ns - start;
    if (recorder_clock_ns_(RECORDER_MONOTONIC_) - start < 2 * measured)
        return true;
    if (measured >= 100000000) {
        struct recorder_moment now;
        struct recorder_clock_ fresh;
        recorder_now_(&now);
        recorder_clock_set_(&fresh, &clock->start, &now);
        return !recorder_clock_agrees_(&fresh, clock, 1000);
    }
    return false;
}

/* Copies a moment word by word, atomically: it is the data of a seqlock. */
RECORDER_INLINE_ void recorder_moment_copy_(struct recorder_moment *to,
                                            const struct recorder_moment *from)
{
    typedef uintptr_t __attribute__((may_alias)) word;
    word *t = (word *)(void *)to;
    const word *f = (const word *)(const void *)from;
    size_t i;
    for (i = 0; i < sizeof *to / sizeof *t; i++)
        __atomic_store_n(t + i, __atomic_load_n(f + i, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
}
/* Copies the moment that a registry stores. Returns its sequence number; 0 if
 * there is none, or if it is being changed. */
RECORDER_SELDOM_ uint32_t recorder_later_read_(
    const struct recorder_registry *registry, struct recorder_moment *later)
{
    uint32_t set = __atomic_load_n(&registry->later_sequence, __ATOMIC_ACQUIRE);
    if (set & 1)
        return 0;
    recorder_moment_copy_(later, &registry->later);
    recorder_fence_acquire_();
    return __atomic_load_n(&registry->later_sequence, __ATOMIC_RELAXED) == set
               ? set
               : 0;
}
/* Stores a moment. The caller has made the sequence number odd. */
RECORDER_INLINE_ void recorder_later_write_(struct recorder_registry *registry,
                                            const struct recorder_moment *later,
                                            uint32_t set)
{
    recorder_fence_release_();
    recorder_moment_copy_(&registry->later, later);
    __atomic_store_n(&registry->later_sequence, set, __ATOMIC_RELEASE);
}

/* Opens the clock of the running program: its rate runs from the start to a
 * stored moment, if that is far enough from it, else to now, which is stored
 * for all later readers. */
RECORDER_SELDOM_ void recorder_clock_open_(struct recorder_clock_ *clock)
{
    struct recorder_registry *registry = recorder_home_.registry;
    const struct recorder_moment *start = &registry->start;
    struct recorder_moment later;
    uint32_t set = recorder_later_read_(registry, &later);
    if (set) {
        recorder_clock_set_(clock, start, &later);
        if (recorder_clock_stays_(clock, &later))
            return;
    }
    recorder_now_(&later);
    if (!start->monotonic_ns) /* the program has not started: no moment yet */
        start = &later;
    recorder_clock_set_(clock, start, &later);
    if (start == &later ||
        !__atomic_compare_exchange_n(&registry->later_sequence, &set, set + 1,
                                     false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return; /* another thread notes its now */
    recorder_later_write_(registry, &later, set + 2);
    recorder_file_tell_(RECORDER_FILE_SYNC_, NULL);
}
/* Stores a moment: a reader of a core file or recording cannot measure the rate
 * of the ticks. Safe in a signal handler. */
RECORDER_SELDOM_ void recorder_clock_note_(void)
{
    struct recorder_clock_ clock;
    recorder_clock_open_(&clock);
}
RECORDER_INLINE_ uint64_t recorder_clock_realtime_(void)
{
    return recorder_clock_ns_(RECORDER_REALTIME_);
}
#else
RECORDER_INLINE_ void recorder_clock_open_(struct recorder_clock_ *clock)
{
    recorder_clock_set_(clock, &recorder_home_.registry->start,
                        &recorder_home_.registry->later);
}
RECORDER_INLINE_ uint64_t recorder_clock_realtime_(void)
{
    return 0;
}
#endif

RECORDER_C_END_
#endif
