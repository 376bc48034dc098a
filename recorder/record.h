/* record.h - the functions that the recording macros call. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_RECORD_H_
#define RECORDER_RECORD_H_

#include "clock.h"
#include "threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- record -- */

RECORDER_INLINE_ struct recorder_ring *
recorder_lane_(const struct recorder *recorder, unsigned thread)
{
    char *rings = (char *)__atomic_load_n(&recorder->rings, __ATOMIC_RELAXED);
    if (RECORDER_ONE_LANE_)
        thread = 0;
    return (struct recorder_ring *)(void *)(rings +
                                            (thread & recorder->lanes_mask) *
                                                recorder->ring_bytes);
}

/* Calls recorder_write_() out of line, for callers that are not in a hurry. */
RECORDER_FUNCTION_ struct recorder_record *
recorder_write_words_(struct recorder_ring *ring, uintptr_t mask,
                      unsigned thread, const struct recorder_record *r)
{
    return recorder_write_(ring, mask, thread, r);
}

/* Writes `count` records of 4 words each, with consecutive orders, and prints
 * them if the recorder is traced. Returns the first order. */
RECORDER_FUNCTION_ uintptr_t
recorder_record_words_(const struct recorder *recorder, const char *format,
                       uintptr_t caller, const uintptr_t *words, unsigned count)
{
    unsigned thread = RECORDER_THREAD(), i, j;
    struct recorder_ring *ring = recorder_lane_(recorder, thread);
    struct recorder_record records[3];
    uintptr_t time = recorder_time_(), order = recorder_orders_(count);
    for (i = 0; i < count; i++) {
        struct recorder_record *r = &records[i];
        r->format = i == 0 ? (uintptr_t)format : 0;
        r->order = order + i;
        r->time = time;
        r->caller = caller;
        for (j = 0; j < 4; j++)
            r->argument[j] = words[4 * i + j];
        recorder_write_words_(ring, recorder->mask, thread, r);
    }
    if (__atomic_load_n(&recorder->trace, __ATOMIC_RELAXED) > 0 &&
        recorder_home_.registry->hook)
        recorder_home_.registry->hook(recorder, thread, records, count);
    return order;
}

/* Records one record of a recorder that is traced or watched, and shows it to
 * the hook. On its own, as what is watched is to cost little more than what is
 * not; `r` is a copy, so that the record of others stays in registers. */
RECORDER_FUNCTION_ uintptr_t recorder_record_hooked_(
    const struct recorder *recorder, struct recorder_record *r)
{
    unsigned thread = RECORDER_THREAD();
    uintptr_t mask = recorder->mask;
    struct recorder_ring *ring = recorder_lane_(recorder, thread);
    r->time = recorder_time_();
    r->order = recorder_orders_(1);
    recorder_write_words_(ring, mask, thread, r);
    if (recorder_home_.registry->hook)
        recorder_home_.registry->hook(recorder, thread, r, 1);
    return r->order;
}

/* Records up to 4 arguments, which travel in registers. Returns the order. */
RECORDER_CALLED_ uintptr_t recorder_record_few_(const struct recorder *recorder,
                                                const char *format, uintptr_t a,
                                                uintptr_t b, uintptr_t c,
                                                uintptr_t d)
{
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    struct recorder_record r = {(uintptr_t)format, 0, 0, caller, {a, b, c, d}};
    struct recorder_ring *ring;
    uintptr_t mask;
    unsigned thread;
    if (RECORDER_TRACES_ &&
        RECORDER_UNLIKELY_(
            __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED) > 0)) {
        struct recorder_record hooked = {
            (uintptr_t)format, 0, 0, caller, {a, b, c, d}};
        return recorder_record_hooked_(recorder, &hooked);
    }
    /* Loads and the clock come before the locked additions, which wait until
     * the stores of the previous record have drained (bench/record.c). */
    thread = RECORDER_THREAD();
    mask = recorder->mask;
    ring = recorder_lane_(recorder, thread);
    r.time = recorder_time_();
    r.order = recorder_orders_(1);
    recorder_write_(ring, mask, thread, &r);
    return r.order;
}

/* Records more than 4 arguments: `count` records of 4 words, each passed as a
 * uintptr_t behind `count`. Returns the first order. */
RECORDER_CALLED_ uintptr_t recorder_record_more_(
    const struct recorder *recorder, const char *format, unsigned count, ...)
{
    uintptr_t words[12];
    unsigned i;
    va_list arguments;
    va_start(arguments, count);
    for (i = 0; i < 4 * count; i++)
        words[i] = va_arg(arguments, uintptr_t);
    va_end(arguments);
    return recorder_record_words_(
        recorder, format, (uintptr_t)__builtin_return_address(0), words, count);
}

/* Makes the token of a text record: its slot's address plus the low bits of its
 * order that fit below a record's size. No string of the program lies inside a
 * ring, so a token and an ordinary address cannot be confused. */
RECORDER_INLINE_ uintptr_t recorder_token_(const struct recorder_record *slot,
                                           uintptr_t order)
{
    return (uintptr_t)slot + (order & (sizeof *slot - 1));
}

/* Copies bytes, NULs like any other, into text records. Returns a token for %s,
 * or null if `string` is null. If the text found no slot, the token is the
 * address of the ring's head. */
RECORDER_CALLED_ const char *recorder_copy_bytes_(
    const struct recorder *recorder, const char *string, size_t size)
{
    unsigned thread = RECORDER_THREAD();
    struct recorder_ring *ring = recorder_lane_(recorder, thread);
    /* At most half of the ring: the head and its text must fit together. */
    size_t room = (recorder->mask + 2) / 2 * RECORDER_TEXT_BYTES_;
    size_t count, i;
    uintptr_t order, token = 0;
    if (!string)
        return NULL;
    if (room > RECORDER_COPY_MAX)
        room = RECORDER_COPY_MAX;
    if (size > RECORDER_COPY_MAX)
        size = RECORDER_COPY_MAX + 1; /* one more than is kept: too long */
    count = ((size < room ? size : room) + RECORDER_TEXT_BYTES_ - 1) /
            RECORDER_TEXT_BYTES_;
    count += count == 0;
    order = recorder_orders_(count);
    for (i = count; i-- > 0;) { /* backwards: each holds the next's token */
        size_t at = i * RECORDER_TEXT_BYTES_;
        struct recorder_record text = {1 + size - at, order + i, 0, token,
                                       {0, 0, 0, 0}};
        struct recorder_record *slot;
        if (size - at >= RECORDER_TEXT_BYTES_)
            recorder_bytes_(text.argument, string + at, RECORDER_TEXT_BYTES_);
        else
            recorder_bytes_(text.argument, string + at, size - at);
        slot = recorder_write_words_(ring, recorder->mask, thread, &text);
        token = slot ? recorder_token_(slot, order + i) : (uintptr_t)ring;
    }
    return (const char *)token;
}
/* How long a string is that ends at a NUL or after `most` bytes; no more than
 * one byte above what a copy keeps. */
RECORDER_INLINE_ size_t recorder_copy_size_(const char *string, size_t most)
{
    size_t size = 0;
    if (most > RECORDER_COPY_MAX)
        most = RECORDER_COPY_MAX + 1;
    while (size < most && string[size])
        size++;
    return size;
}
RECORDER_CALLED_ const char *recorder_copy_(const struct recorder *recorder,
                                            const char *string)
{
    return recorder_copy_bytes_(
        recorder, string, string ? recorder_copy_size_(string, SIZE_MAX) : 0);
}

/* Returns the word for an array of char: the token of its copy. */
RECORDER_CALLED_ uintptr_t recorder_word_of_array_(
    const struct recorder *recorder, uintptr_t array, size_t size)
{
    const char *text = (const char *)array;
    return (uintptr_t)recorder_copy_bytes_(recorder, text,
                                           recorder_copy_size_(text, size));
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
