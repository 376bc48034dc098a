/* order.h - orders by the clock, in programs that choose them. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_ORDER_H_
#define RECORDER_ORDER_H_

#include "clock.h"
#include "lane.h"

RECORDER_C_BEGIN_

/* With RECORDER_CLOCK_ORDER, if the system has the clock for it. */
#if defined(RECORDER_TSC_) && defined(RECORDER_LINUX_)
#define RECORDER_ORDER_CHOICE_ /* a program may choose the clock */
#ifdef RECORDER_CLOCK_ORDER
#define RECORDER_CLOCKED_
#endif
#endif

/* ----------------------------------------------------------------- order --
 *
 * A counter gives each order once, a cause before its effect, but all cores of
 * the machine share the cache line of the counter. An order by the clock shares
 * nothing: it consists of the record's ticks, which all cores count alike.
 *
 *     63                             10 9                2 1      0
 *     +--------------------------------+------------------+--------+
 *     | unit: 16 ticks, since the      | lane, exclusive  | part   |
 *     | program's start                | or with the unit |        |
 *     +--------------------------------+------------------+--------+
 *
 * Records of one unit and of different lanes differ by the lane; its bits are
 * mixed with the unit's because tokens keep the low bits of an order. A record
 * of 5 to 12 arguments has parts 0 to 2; a text has as many units as it needs.
 * Threads without a lane, or whose lane does not fit, are lane 0.
 *
 *   K1 unit = ticks / 16                 after all loads of the thread
 *   K2 last = the last unit of the lane  relaxed
 *   K3 last -> max(unit, last + 1)       if it is still last; else K2 again
 *   K4 clocked                           acquire
 *   K5 clocked above the order ?         else the counter gives it
 *
 * A thread changes a module from the clock to the counter:
 *
 *   C1 counter = the clock in some microseconds
 *   C2 clocked = counter                 release
 *   C3 wait until the clock has this value
 *
 *   K1   Rdtscp waits for all loads before it. Else a thread that has seen
 *        another's store may read an earlier clock (tests/ring/clock.c counts
 *        how often rdtsc alone does).
 *   K3   One instruction without a lock prefix, because only a handler of the
 *        same thread comes between; in lane 0, which threads share, with the
 *        prefix. Else two records have one order.
 *   K5   A clock read after the limit sees C2, because C3 takes longer than a
 *        store. Else clock and counter give the same order.
 *   C2 -> K4  A thread that sees C2 draws from the counter that was set at C1.
 *   C3   Else the counter is ahead of the clock, which others still use.
 *
 * tests/model takes each label but K1 away in turn; the checker must then fail.
 * K1 is of the processor, which no checker has.
 */
enum {
    RECORDER_UNIT_TICKS_ = 4, /* log2 of ticks: less than a record takes */
    RECORDER_UNIT_BITS_ = 10, /* the position of a unit's lowest bit */
    RECORDER_UNIT_LANES_ = 256,
    RECORDER_UNIT_PARTS_ = 4,
    /* A reader takes orders up to AHEAD ticks in the future, as a text takes
     * units ahead of its time. It waits SETTLE ticks: a writer that drew an
     * earlier order has then written its record, if that thread runs. */
    RECORDER_AHEAD_TICKS_ = 1024,
    RECORDER_SETTLE_TICKS_ = 8192
};
/* From a change to the counter to its first order. */
#ifndef RECORDER_COUNT_TICKS_ /* the model's */
#define RECORDER_COUNT_TICKS_ (1u << 17)
#endif
/* Where the orders of a unit and lane begin. */
RECORDER_INLINE_ uint64_t recorder_order_of_unit_(uint64_t unit, uint64_t lane)
{
    return unit << RECORDER_UNIT_BITS_ |
           ((lane ^ unit) & (RECORDER_UNIT_LANES_ - 1)) * RECORDER_UNIT_PARTS_;
}
/* The order of the next piece of a text, if orders are of the clock. */
RECORDER_INLINE_ uint64_t recorder_order_next_(uint64_t order)
{
    uint64_t unit = order >> RECORDER_UNIT_BITS_;
    uint64_t lane = order / RECORDER_UNIT_PARTS_ ^ unit;
    if (order % RECORDER_UNIT_PARTS_ < RECORDER_UNIT_PARTS_ - 1)
        return order + 1;
    return recorder_order_of_unit_(unit + 1, lane);
}

/* Compares and swaps a word that only the calling thread and its signal
 * handlers change; *seen becomes the earlier value. */
#if defined(RECORDER_SWAP_OWNED_) /* the model's */
#define recorder_swap_owned_ RECORDER_SWAP_OWNED_
#elif defined(RECORDER_HOSTED_) && defined(__x86_64__)
RECORDER_INLINE_ bool recorder_swap_owned_(uintptr_t *to, uintptr_t *seen,
                                           uintptr_t value)
{
    uintptr_t was = *seen;
    __asm__ volatile("cmpxchg {%2, %1|%1, %2}"
                     : "+a"(*seen), "+m"(*to)
                     : "r"(value)
                     : "cc");
    return *seen == was;
}
#else
RECORDER_INLINE_ bool recorder_swap_owned_(uintptr_t *to, uintptr_t *seen,
                                           uintptr_t value)
{
    return recorder_swap_(to, seen, value);
}
#endif

/* Takes `units` units in a row, the first of them `unit` or, if that is taken
 * already, the next that is free. `last` is of the lane; lane 0 is shared.
 * Returns the first order. */
RECORDER_INLINE_ uintptr_t recorder_order_take_(uintptr_t *last, uintptr_t lane,
                                                uintptr_t unit, uintptr_t units)
{
    uintptr_t seen = recorder_get_(last), from, to;
    RECORDER_STEP_(K2);
    bool taken;
    do {
        from = unit > seen ? unit : seen + 1;
        to = from + units - 1;
        taken = lane ? recorder_swap_owned_(last, &seen, to)
                     : __atomic_compare_exchange_n(last, &seen, to, false,
                                                   __ATOMIC_RELAXED,
                                                   __ATOMIC_RELAXED);
        RECORDER_STEP_(K3);
    } while (RECORDER_UNLIKELY_(!taken));
    return (uintptr_t)recorder_order_of_unit_(from, lane);
}

/* Where the orders of the clock end. */
RECORDER_INLINE_ uintptr_t recorder_order_limit_(const uintptr_t *clocked)
{
    uintptr_t limit = __atomic_load_n(clocked, __ATOMIC_ACQUIRE);
    RECORDER_STEP_(K4);
    return limit;
}
/* Returns an order that was taken, or UINTPTR_MAX if the program has changed to
 * the counter, which then gives the order. */
RECORDER_INLINE_ uintptr_t recorder_order_below_(uintptr_t limit,
                                                 uintptr_t order)
{
    bool below = order < limit; RECORDER_STEP_(K5);
    return below ? order : UINTPTR_MAX;
}
/* Changes to the counter, which begins at `from`; `now` is the clock of that
 * choice. Waits until no thread takes an order of the clock any more, so that
 * the orders of the counter are above all of them. */
RECORDER_INLINE_ void recorder_order_switch_(uintptr_t *clocked,
                                             uintptr_t *counter,
                                             uintptr_t from, uint64_t now)
{
    recorder_put_(counter, from); RECORDER_STEP_(C1);
    __atomic_store_n(clocked, from, __ATOMIC_RELEASE); RECORDER_STEP_(C2);
    while (recorder_ticks_() - now < RECORDER_COUNT_TICKS_)
        ;
    RECORDER_STEP_(C3);
}

#ifdef RECORDER_ORDER_CHOICE_
/* ---------------------------------------------------------------- choice --
 *
 * The first module that starts chooses the clock for the program, if all of its
 * files are compiled for it and the clock can be trusted. A module that cannot
 * use the clock, now or later, changes all modules to the counter.
 */

/* The registry's word, or null if the program is older than this word. */
RECORDER_INLINE_ uintptr_t *
recorder_order_clocked_(struct recorder_registry *registry)
{
    return registry->bytes >= offsetof(struct recorder_registry, clocked) +
                                  sizeof registry->clocked
               ? &registry->clocked
               : NULL;
}
/* The unit of this moment. */
RECORDER_INLINE_ uintptr_t
recorder_order_unit_(const struct recorder_registry *registry, uint64_t ticks)
{
    return (ticks - registry->start.ticks) >> RECORDER_UNIT_TICKS_;
}
/* Changes to the counter, for good: it begins at the clock of some microseconds
 * later. */
RECORDER_SELDOM_ void recorder_order_count_(struct recorder_registry *registry)
{
    uintptr_t *clocked = recorder_order_clocked_(registry), from;
    uint64_t now = recorder_ticks_();
    if (!clocked || recorder_get_(clocked) != UINTPTR_MAX)
        return;
    from = recorder_order_unit_(registry, now + RECORDER_COUNT_TICKS_)
           << RECORDER_UNIT_BITS_;
    recorder_order_switch_(clocked, registry->order, from, now);
    recorder_file_tell_(RECORDER_FILE_SYNC_, NULL);
}
/* True if a text continues from one sequence number to the other. */
RECORDER_INLINE_ bool recorder_order_follows_(uintptr_t order, uintptr_t next)
{
    const uintptr_t *clocked = recorder_order_clocked_(recorder_home_.registry);
    if (clocked && order < recorder_get_(clocked))
        return next == recorder_order_next_(order);
    return next == order + 1;
}
/* True if sequence numbers have gaps, as numbers by the clock have. */
RECORDER_INLINE_ bool recorder_order_has_gaps_(void)
{
    const uintptr_t *clocked = recorder_order_clocked_(recorder_home_.registry);
    return clocked && recorder_clocked_is_(recorder_get_(clocked));
}
#else
RECORDER_INLINE_ bool recorder_order_follows_(uintptr_t order, uintptr_t next)
{
    return next == order + 1;
}
RECORDER_INLINE_ bool recorder_order_has_gaps_(void)
{
    return false;
}
#endif

/* The next sequence number of the counter. */
RECORDER_INLINE_ uintptr_t recorder_order_counted_(void)
{
    return __atomic_load_n(recorder_home_.order, __ATOMIC_ACQUIRE);
}

#ifdef RECORDER_CLOCKED_
RECORDER_MODULE_ uintptr_t *recorder_order_until_ = &recorder_registry.clocked;
/* Only in a module with files that draw orders from the counter alone. */
extern char recorder_order_counts_ __attribute__((weak, visibility("hidden")));

/* Reads the clock after all earlier loads. */
RECORDER_INLINE_ uint64_t recorder_order_ticks_(void)
{
    uint32_t low, high, processor;
    __asm__ volatile("rdtscp"
                     : "=a"(low), "=d"(high), "=c"(processor)
                     :
                     : "memory");
    RECORDER_STEP_(K1);
    return (uint64_t)high << 32 | low;
}

/* The file in which Linux names the clock that it lives by. */
#ifndef RECORDER_CLOCK_SOURCE_
#define RECORDER_CLOCK_SOURCE_                                                 \
    "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#endif
/* True if all processors count alike: the processor says that its clock never
 * changes its rate or stops, and Linux, which compares them, lives by it. */
RECORDER_SELDOM_ bool recorder_order_is_trusted_(void)
{
    uint32_t of[3][4]; /* eax, ebx, ecx and edx */
    char name[8] = "";
    int *error = recorder_os_errno_(), kept = *error;
    unsigned i;
    long fd;
    for (i = 0; i < 3; i++)
        __asm__ volatile("cpuid"
                         : "=a"(of[i][0]), "=b"(of[i][1]), "=c"(of[i][2]),
                           "=d"(of[i][3])
                         : "a"(i == 0   ? 0x80000000u /* the highest */
                               : i == 1 ? 0x80000001u
                                        : 0x80000007u),
                           "c"(0));
    if (of[0][0] < 0x80000007u || !(of[1][3] >> 27 & 1) /* rdtscp */ ||
        !(of[2][3] >> 8 & 1) /* invariant TSC */)
        return false;
    fd = recorder_syscall_(SYS_openat, (long)RECORDER_AT_CWD_,
                           RECORDER_CLOCK_SOURCE_, (long)RECORDER_O_CLOEXEC_);
    if (fd >= 0) {
        recorder_os_read_((int)fd, name, sizeof name - 1);
        recorder_os_close_((int)fd);
    }
    *error = kept;
    return name[0] == 't' && name[1] == 's' && name[2] == 'c' &&
           name[3] == '\n';
}

/* Returns the first sequence number of a record, or of a text of `units`;
 * UINTPTR_MAX if the counter must give it. */
RECORDER_INLINE_ uintptr_t recorder_order_by_clock_(unsigned self,
                                                    uint64_t ticks,
                                                    uintptr_t units)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t until = recorder_order_limit_(recorder_order_until_);
    uintptr_t lane, order;
    if (!recorder_clocked_is_(until))
        return UINTPTR_MAX;
    lane = recorder_writer_lane_(self);
    if (lane >= RECORDER_UNIT_LANES_)
        lane = 0;
    order = recorder_order_take_(&registry->owners[lane].last, lane,
                                 recorder_order_unit_(registry, ticks), units);
    return recorder_order_below_(until, order);
}

/* True while this module's records get their sequence numbers by the clock. */
RECORDER_INLINE_ bool recorder_order_is_clocked_(void)
{
    return recorder_get_(recorder_order_until_) == UINTPTR_MAX;
}
/* Returns the sequence number of the next record, or a lower one that no record
 * has. */
RECORDER_INLINE_ uintptr_t recorder_order_now_(void)
{
    if (recorder_order_is_clocked_())
        return recorder_order_unit_(recorder_home_.registry,
                                    recorder_order_ticks_())
               << RECORDER_UNIT_BITS_;
    return recorder_order_counted_();
}
/* Returns the end of the sequence numbers that a reader takes. If the clock gives
 * them, it waits until all numbers below that end are settled. */
RECORDER_INLINE_ uintptr_t recorder_order_end_(void)
{
    uint64_t now;
    uintptr_t end;
    if (!recorder_order_is_clocked_())
        return recorder_order_counted_();
    now = recorder_order_ticks_();
    end = recorder_order_unit_(recorder_home_.registry,
                               now + RECORDER_AHEAD_TICKS_)
          << RECORDER_UNIT_BITS_;
    while (recorder_order_ticks_() - now < RECORDER_SETTLE_TICKS_)
        ;
    return end;
}
#else
#ifdef RECORDER_ORDER_CHOICE_
RECORDER_MODULE_ char recorder_order_counts_ = 0;
#endif
RECORDER_INLINE_ bool recorder_order_is_clocked_(void)
{
    return false;
}
RECORDER_INLINE_ uintptr_t recorder_order_now_(void)
{
    return recorder_order_counted_();
}
RECORDER_INLINE_ uintptr_t recorder_order_end_(void)
{
    return recorder_order_counted_();
}
#endif

RECORDER_C_END_
#endif
