/* recorder_event.h - a record as it is read: whole, 64 bits wide, timed. */
/* SPDX-License-Identifier: MIT */
/*
    struct recorder_clock clock;
    recorder_clock_set(&clock, &start, &later);
    int64_t ns = recorder_clock_time(&clock, event.time);   // since the start

PROMISES
    * A time that cannot be known is RECORDER_TIME_UNKNOWN, never a guess.
    * The same two moments give the same nanoseconds, in the program that
      recorded and in every tool.

LIMITS
    * Times are as exact as the two moments are far apart: each is known to some
      50 ns.

CONTENTS
    event       what all readers hand out
    clock       ticks into nanoseconds
*/
#ifndef RECORDER_EVENT_H
#define RECORDER_EVENT_H

#include "recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------- event -- */

/* A whole record, copied out, its words widened to 64 bits. */
struct recorder_event {
    uint64_t order;
    uint64_t time;   /* ticks: see recorder_clock_time */
    uint64_t caller; /* return address of the record call */
    uint64_t format; /* address of "format\0file:line" */
    uint64_t argument[12];
    uint32_t lost;   /* bit i: argument[i] was not found, if there was one */
    uint32_t thread; /* its number; RECORDER_THREAD_NONE: had no row */
    const struct recorder *recorder; /* in this program, else null */
    const char *name; /* of the recorder; may be gone with its library */
};

/* One recorder in figures; at rest, written = kept + overwritten + lost. */
struct recorder_figures {
    uint64_t size, lanes; /* slots of a ring, rings */
    uint64_t kept, overwritten, lost;
};

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

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
