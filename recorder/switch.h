/* switch.h - the words of a switch, and when one is recorded. */
/* SPDX-License-Identifier: MIT */
/*
    A switch has its words in these places, whatever its text shows:

    [0] name     of the subject: address of a string; 0: the name of the thread
                 that recorded it
    [1] id       of the subject: an address or a number, of a task or a vector
    [2] where    number of the processor, from bit 8 on the subject's number as
                 a thread of the recorder; 0: it has none
    [3] more     see below

    heading             subject, and the meaning of [3]
    switch b, p, e      runs; [3] is the id of the task that left, and
                        blocks, was preempted, has ended
    in, in s, a, i      runs; it had called, was interrupted, an interrupt
                        returns to it
    out b, p, e, s      does not run any more, as above; s: stopped
    ready               may run; [3] is the id of the cause, or 0
    sleep, wake         none: the processor waits, continues
    enter, exit         interrupt; [3] of enter is the interrupted code, or 0
    off, on             none: interrupts masked, and not any more; [3] of on is
                        for how many ticks they were
    off +, on +         the same where they were masked before

    Records with other texts have the same headings and the same words.
*/
#ifndef RECORDER_SWITCH_H_
#define RECORDER_SWITCH_H_

#include "arguments.h"
#if defined(RECORDER_NOTHING_)
#include "off.h"
#elif !defined(RECORDER_DECLARED_)
#include "record.h"
#elif !defined(RECORDER_TIME)
#include "clock.h"
#endif

RECORDER_C_BEGIN_

/* The defaults of the settings that recorder_switch.h describes. */
#ifndef RECORDER_SWITCH_SPARE
#define RECORDER_SWITCH_SPARE 8
#endif
#ifndef RECORDER_SWITCH_OFF_LIMIT
#define RECORDER_SWITCH_OFF_LIMIT (RECORDER_HZ_ / 10000) /* 100 us */
#endif
#ifndef RECORDER_CPU
#define RECORDER_CPU() 0u
#endif
#ifndef RECORDER_SWITCH_NUMBER
#define RECORDER_SWITCH_NUMBER(id) 0u
#endif

#define RECORDER_SWITCH_WHERE_(id)                                             \
    (RECORDER_SWITCH_HERE_ | (uintptr_t)RECORDER_SWITCH_NUMBER(id) << 8)
#define RECORDER_SWITCH_HERE_ ((uintptr_t)RECORDER_CPU())

/* Each evaluates its arguments only if it records. It has no value, because a
 * port might lack one. */
#define RECORDER_SWITCH_(format, id, name, where, more)                        \
    ((void)(RECORDER_IS_OFF_(switches) RECORDER_OFF_OR_(                       \
                , || recorder_switch_is_full_(&recorder_for_switches))         \
                ? (uintptr_t)0                                                 \
                : recorder_returned_(recorder_record_few_(                     \
                      &recorder_for_switches, format, (uintptr_t)(name),       \
                      (uintptr_t)(id), where, (uintptr_t)(more)))))

RECORDER_INLINE_ const char *recorder_switch_why_(int why, const char *blocked,
                                                  const char *preempted,
                                                  const char *ended)
{
    return why == 'p' ? preempted : why == 'e' ? ended : blocked;
}
RECORDER_INLINE_ const char *recorder_switch_how_(int how, const char *in,
                                                  const char *called,
                                                  const char *interrupted,
                                                  const char *returns)
{
    return how == 's'   ? called
           : how == 'a' ? interrupted
           : how == 'i' ? returns
                        : in;
}

#ifdef RECORDER_NOTHING_
RECORDER_INLINE_ void recorder_switch_start_(struct recorder *recorder)
{
    (void)recorder;
}
RECORDER_INLINE_ void recorder_switch_off_(const struct recorder *recorder,
                                           bool was, unsigned processor,
                                           const char *off, const char *again)
{
    (void)recorder, (void)was, (void)processor, (void)off, (void)again;
}
RECORDER_INLINE_ void recorder_switch_on_(const struct recorder *recorder,
                                          bool was, unsigned processor,
                                          const char *on, const char *still)
{
    (void)recorder, (void)was, (void)processor, (void)on, (void)still;
}
#else

/* -------------------------------------------------------------- one-shot --
 *
 * own[0] of the ring is the position at which the shot ends; 0: none has begun.
 */

/* The end of a shot that begins at `position`: never 0, nor below it. */
RECORDER_INLINE_ uintptr_t recorder_switch_end_(const struct recorder *recorder,
                                                uintptr_t position)
{
    uintptr_t size = recorder->mask + 1, spare = RECORDER_SWITCH_SPARE, end;
    if (spare > size / 2)
        spare = size / 2;
    end = position + size - spare;
    return end < position ? UINTPTR_MAX : end;
}

/* Begins the first shot of a ring, or else turns the recorder off. Returns true
 * if it is off. */
RECORDER_APART_ bool recorder_switch_stops_(struct recorder *recorder)
{
    struct recorder_ring *ring = recorder->rings;
    intptr_t trace = __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED);
    uintptr_t end = recorder_switch_end_(recorder, 0);
    if (!__atomic_load_n(&ring->own[0], __ATOMIC_RELAXED)) {
        __atomic_store_n(&ring->own[0], end, __ATOMIC_RELAXED);
        if (__atomic_load_n(&ring->write, __ATOMIC_RELAXED) < end)
            return false;
    }
    __atomic_store_n(&recorder->trace, (intptr_t)recorder_trace_set_(trace, -1),
                     __ATOMIC_RELAXED);
    return true;
}

RECORDER_INLINE_ bool recorder_switch_is_full_(struct recorder *recorder)
{
#ifdef RECORDER_SWITCH_ONCE
    struct recorder_ring *ring = recorder->rings;
    uintptr_t write = __atomic_load_n(&ring->write, __ATOMIC_RELAXED);
    uintptr_t end = __atomic_load_n(&ring->own[0], __ATOMIC_RELAXED);
    return RECORDER_UNLIKELY_(write >= end) && recorder_switch_stops_(recorder);
#else
    (void)recorder;
    return false;
#endif
}

RECORDER_INLINE_ void recorder_switch_start_(struct recorder *recorder)
{
    struct recorder_ring *ring = recorder->rings;
    uintptr_t write = __atomic_load_n(&ring->write, __ATOMIC_RELAXED);
    intptr_t trace = __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED);
    __atomic_store_n(&ring->own[0], recorder_switch_end_(recorder, write),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&recorder->trace, (intptr_t)recorder_trace_set_(trace, 0),
                     __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------ interrupts --
 *
 * own[cpu] of the ring of `interrupts` is when they were masked.
 */

RECORDER_INLINE_ uintptr_t *
recorder_switch_since_(const struct recorder *recorder, unsigned processor)
{
    uintptr_t *own = recorder->rings->own;
    return processor < sizeof recorder->rings->own / sizeof *own
               ? own + processor
               : NULL;
}

RECORDER_INLINE_ void recorder_switch_masked_(const struct recorder *recorder,
                                              const char *format,
                                              unsigned processor,
                                              uintptr_t ticks)
{
    if (__atomic_load_n(&recorder->trace, __ATOMIC_RELAXED) >= 0)
        recorder_returned_(
            recorder_record_few_(recorder, format, 0, 0, processor, ticks));
}

RECORDER_INLINE_ void recorder_switch_off_(const struct recorder *recorder,
                                           bool was, unsigned processor,
                                           const char *off, const char *again)
{
    uintptr_t *since = recorder_switch_since_(recorder, processor);
    if (!was && since)
        __atomic_store_n(since, (uintptr_t)RECORDER_TIME(), __ATOMIC_RELAXED);
    if ((RECORDER_SWITCH_OFF_LIMIT) == 0)
        recorder_switch_masked_(recorder, was ? again : off, processor, 0);
}

RECORDER_INLINE_ void recorder_switch_on_(const struct recorder *recorder,
                                          bool was, unsigned processor,
                                          const char *on, const char *still)
{
    uintptr_t *since = recorder_switch_since_(recorder, processor), ticks = 0;
    if (!was && since)
        ticks = (uintptr_t)RECORDER_TIME() -
                __atomic_load_n(since, __ATOMIC_RELAXED);
    if ((RECORDER_SWITCH_OFF_LIMIT) == 0 ||
        ticks > (uintptr_t)(RECORDER_SWITCH_OFF_LIMIT))
        recorder_switch_masked_(recorder, was ? still : on, processor, ticks);
}
#endif /* RECORDER_NOTHING_ */

RECORDER_C_END_
#endif
