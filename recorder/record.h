/* record.h - the functions that the recording macros call. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_RECORD_H_
#define RECORDER_RECORD_H_

#include "clock.h"
#include "threads.h"

RECORDER_C_BEGIN_

/* ------------------------------------------------------------ time, order --
 *
 * The time of a record, read before its order is drawn, and its order: of
 * `count` records, at most 3, the first.
 */
#ifdef RECORDER_CLOCKED_
RECORDER_INLINE_ uintptr_t recorder_time_now_(void)
{
    return recorder_order_ticks_();
}
RECORDER_INLINE_ uintptr_t recorder_order_new_(uintptr_t time, uintptr_t count)
{
    uintptr_t order = recorder_order_by_clock_(recorder_self_(), time, 1);
    return order != UINTPTR_MAX ? order : recorder_orders_(count);
}
/* Returns the first order of a text of `count` records. */
RECORDER_INLINE_ uintptr_t recorder_order_text_(uintptr_t count)
{
    uintptr_t order = recorder_order_by_clock_(
        recorder_self_(), recorder_order_ticks_(),
        (count + RECORDER_UNIT_PARTS_ - 1) / RECORDER_UNIT_PARTS_);
    return order != UINTPTR_MAX ? order : recorder_orders_(count);
}
/* Returns the order of a text's i-th piece. */
RECORDER_INLINE_ uintptr_t recorder_order_piece_(uintptr_t order, size_t i)
{
    if (order >= recorder_get_(recorder_order_until_))
        return order + i;
    for (; i > 0; i--)
        order = (uintptr_t)recorder_order_next_(order);
    return order;
}
#else
RECORDER_INLINE_ uintptr_t recorder_time_now_(void)
{
    return recorder_time_();
}
RECORDER_INLINE_ uintptr_t recorder_order_new_(uintptr_t time, uintptr_t count)
{
    (void)time;
    return recorder_orders_(count);
}
RECORDER_INLINE_ uintptr_t recorder_order_text_(uintptr_t count)
{
    return recorder_orders_(count);
}
RECORDER_INLINE_ uintptr_t recorder_order_piece_(uintptr_t order, size_t i)
{
    return order + i;
}
#endif

/* ---------------------------------------------------------------- record -- */

/* Returns lane `lane` of a recorder with more lanes. */
RECORDER_INLINE_ struct recorder_ring *
recorder_lane_(const struct recorder *recorder, unsigned lane)
{
    char *rings = (char *)__atomic_load_n(&recorder->rings, __ATOMIC_RELAXED);
    if (RECORDER_ONE_LANE_)
        lane = 0;
    return (struct recorder_ring *)(void *)(rings +
                                            lane * recorder->ring_bytes);
}
/* Returns the calling thread's number, and the lane that it writes to. */
RECORDER_INLINE_ unsigned recorder_writer_(const struct recorder *recorder)
{
    unsigned self = recorder_self_();
    if (recorder_writer_lane_(self) > recorder->lanes_mask)
        self = recorder_writer_thread_(self);
    return self;
}
RECORDER_INLINE_ struct recorder_ring *
recorder_ring_of_(const struct recorder *recorder, unsigned writer)
{
    return recorder_lane_(
        recorder, RECORDER_WRITER_(recorder_writer_lane_(writer),
                                   writer & (unsigned)recorder->lanes_mask));
}

/* Shows the hook a record of `count` records of 4 words each. */
RECORDER_APART_ void
recorder_hook_words_(const struct recorder *recorder, unsigned thread,
                     const struct recorder_record *head, const uintptr_t *words,
                     unsigned count)
{
    struct recorder_record records[3];
    unsigned i, j;
    if (!recorder_home_.registry->hook)
        return;
    for (i = 0; i < count; i++) {
        recorder_bytes_(&records[i], head, sizeof *head);
        records[i].format = i == 0 ? head->format : 0;
        records[i].order += i;
        for (j = 0; j < 4; j++)
            records[i].argument[j] = words[4 * i + j];
    }
    recorder_home_.registry->hook(recorder, thread, records, count);
}

/* Notes that records take several slots: how many were overwritten is then not
 * known exactly. */
RECORDER_INLINE_ void recorder_note_several_(struct recorder_ring *ring)
{
    if (RECORDER_UNLIKELY_(!recorder_get_(&ring->several)))
        recorder_put_(&ring->several, 1);
}

/* Writes `count` records of 4 words each, at most 3, with consecutive orders,
 * and prints them if the recorder is traced. Returns the first order. */
RECORDER_FUNCTION_ uintptr_t
recorder_record_words_(const struct recorder *recorder, const char *format,
                       uintptr_t caller, const uintptr_t *words, unsigned count)
{
    unsigned writer = recorder_writer_(recorder), i;
    uintptr_t mask = recorder->mask, previous;
    struct recorder_ring *ring = recorder_ring_of_(recorder, writer);
    struct recorder_record head = {
        (uintptr_t)format, 0, recorder_time_now_(), caller, {0, 0, 0, 0}};
    head.order = recorder_order_new_(head.time, count);
    recorder_note_several_(ring);
    previous = recorder_positions_(ring, count, writer);
    for (i = 0; i < count; i++) {
        const uintptr_t *word = words + 4 * i;
        struct recorder_record r = {i == 0 ? head.format : 0,
                                    head.order + i,
                                    head.time,
                                    caller,
                                    {word[0], word[1], word[2], word[3]}};
        recorder_write_late_(ring, mask, previous + i, writer, &r, NULL);
    }
    if (__atomic_load_n(&recorder->trace, __ATOMIC_RELAXED) > 0)
        recorder_hook_words_(recorder, recorder_writer_thread_(writer), &head,
                             words, count);
    return head.order;
}

/* Records one record of a recorder that is traced or watched, and shows it to
 * the hook. It is separate and cold, so that the fast path keeps its record in
 * registers; `r` is a copy. */
RECORDER_APART_ uintptr_t recorder_record_hooked_(
    const struct recorder *recorder, struct recorder_record *r)
{
    unsigned writer = recorder_writer_(recorder);
    uintptr_t mask = recorder->mask;
    struct recorder_ring *ring = recorder_ring_of_(recorder, writer);
    r->time = recorder_time_now_();
    r->order = recorder_order_new_(r->time, 1);
    recorder_write_late_(ring, mask, recorder_positions_(ring, 1, writer),
                         writer, r, NULL);
    if (recorder_home_.registry->hook)
        recorder_home_.registry->hook(recorder, recorder_writer_thread_(writer),
                                      r, 1);
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
    unsigned writer;
    if (RECORDER_TRACES_ &&
        RECORDER_UNLIKELY_(
            __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED) > 0)) {
        struct recorder_record hooked = {
            (uintptr_t)format, 0, 0, caller, {a, b, c, d}};
        return recorder_record_hooked_(recorder, &hooked);
    }
    /* Loads and the clock come before the locked additions, which wait until
     * the stores of the previous record have drained (bench/record.c). */
    writer = recorder_writer_(recorder);
    mask = recorder->mask;
    ring = recorder_ring_of_(recorder, writer);
    r.time = recorder_time_now_();
    r.order = recorder_order_new_(r.time, 1);
    return recorder_write_(ring, mask, recorder_positions_(ring, 1, writer),
                           writer, &r, NULL);
}

/* Records more than 4 arguments, `count` records of 4: 8 words, or 12. They
 * come one by one: a variable argument list would be copied twice. Returns the first
 * sequence number. */
RECORDER_CALLED_ uintptr_t recorder_record_more_(
    const struct recorder *recorder, const char *format, unsigned count,
    uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
    uintptr_t f, uintptr_t g, uintptr_t h, uintptr_t i, uintptr_t j,
    uintptr_t k, uintptr_t l)
{
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    struct recorder_record r = {(uintptr_t)format, 0, 0, caller, {a, b, c, d}};
    uintptr_t mask, previous, order;
    struct recorder_ring *ring;
    unsigned writer;
    if (RECORDER_UNLIKELY_(
            __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED) > 0)) {
        uintptr_t words[12] = {a, b, c, d, e, f, g, h, i, j, k, l};
        return recorder_record_words_(recorder, format, caller, words, count);
    }
    writer = recorder_writer_(recorder);
    mask = recorder->mask;
    ring = recorder_ring_of_(recorder, writer);
    r.time = recorder_time_now_();
    r.order = order = recorder_order_new_(r.time, count);
    recorder_note_several_(ring);
    previous = recorder_positions_(ring, count, writer);
    recorder_write_(ring, mask, previous, writer, &r, NULL);
    r.format = 0;
    r.order = order + 1;
    r.argument[0] = e, r.argument[1] = f;
    r.argument[2] = g, r.argument[3] = h;
    recorder_write_(ring, mask, previous + 1, writer, &r, NULL);
    if (count > 2) {
        r.order = order + 2;
        r.argument[0] = i, r.argument[1] = j;
        r.argument[2] = k, r.argument[3] = l;
        recorder_write_(ring, mask, previous + 2, writer, &r, NULL);
    }
    return order;
}

/* Makes the token of a text record: its slot's address plus the low bits of its
 * sequence number that fit below a record's size. No string of the program is
 * inside a ring, so a token and an ordinary address cannot be confused. */
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
    unsigned writer = recorder_writer_(recorder);
    struct recorder_ring *ring = recorder_ring_of_(recorder, writer);
    uintptr_t mask = recorder->mask;
    /* At most half of the ring: the head and its text must fit together. */
    size_t room = (mask + 2) / 2 * RECORDER_TEXT_BYTES_;
    size_t count, i;
    uintptr_t order, last, token = 0;
    if (!string)
        return NULL;
    if (room > RECORDER_COPY_MAX)
        room = RECORDER_COPY_MAX;
    if (size > RECORDER_COPY_MAX)
        size = RECORDER_COPY_MAX + 1; /* one more than is kept: too long */
    count = ((size < room ? size : room) + RECORDER_TEXT_BYTES_ - 1) /
            RECORDER_TEXT_BYTES_;
    count += count == 0;
    order = recorder_order_text_(count);
    recorder_note_several_(ring);
    last = recorder_positions_(ring, count, writer) + count - 1;
    for (i = count; i-- > 0;) { /* backwards: each holds the next's token */
        size_t at = i * RECORDER_TEXT_BYTES_;
        uintptr_t own = recorder_order_piece_(order, i);
        struct recorder_record text = {1 + size - at, own, 0, token,
                                       {0, 0, 0, 0}};
        struct recorder_record *slot;
        if (size - at >= RECORDER_TEXT_BYTES_)
            recorder_bytes_(text.argument, string + at, RECORDER_TEXT_BYTES_);
        else
            recorder_bytes_(text.argument, string + at, size - at);
        recorder_write_late_(ring, mask, last - i, writer, &text, &slot);
        token = slot ? recorder_token_(slot, own) : (uintptr_t)ring;
    }
    return (const char *)token;
}
/* The length of a string that ends at a NUL or after `most` bytes; no more than
 * one byte above the limit of a copy. */
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

/* Returns the word of errno; 0: there is none. */
RECORDER_CALLED_ uintptr_t recorder_word_of_error_(void)
{
    uintptr_t error;
    if (RECORDER_WRITER_(false, true)) /* a port has no errno */
        return 0;
    error = (unsigned)*recorder_os_errno_();
    if (error >> 12 == 0)
        return RECORDER_ERROR_TAG_ << 12 | error;
    return RECORDER_WORDS_OR_((uintptr_t)RECORDER_ERROR_TAG_ << 32 | error,
                              recorder_is_error_(error >> 12) ? 0 : error);
}

/* ----------------------------------------------------------------- text -- */

/* Sets of characters of 32 codes each: flags and digits, from 32 on, and length
 * modifiers, from 96 on. */
#define RECORDER_SKIP_FLAGS_ 0x03ff2889u
#define RECORDER_SKIP_LENGTHS_ 0x04121500u
RECORDER_INLINE_ const char *recorder_skip_(const char *at, unsigned from,
                                            uint32_t set)
{
    while ((*at & 0xe0) == (int)from && set >> (*at & 31) & 1)
        at++;
    return at;
}
/* Returns the most bytes that a format shows of the text that is argument
 * `index`, at most `size`, and 0 if the argument is shown otherwise or the
 * format numbers its arguments (n$). `before` is the word of the argument before
 * it, which may be the precision. */
RECORDER_CALLED_ size_t recorder_size_of_text_(const char *format,
                                               unsigned index, uintptr_t before,
                                               size_t size)
{
    unsigned next = 0;
    while (*format) {
        size_t most = SIZE_MAX;
        if (*format++ != '%')
            continue;
        format = recorder_skip_(format, 32, RECORDER_SKIP_FLAGS_);
        if (*format == '*')
            next++, format++;
        if (*format == '.' && *++format == '*') {
            next++, format++;
            if ((int)before >= 0)
                most = (size_t)before & INT32_MAX;
        } else if (format[-1] == '.') {
            for (most = 0; *format >= '0' && *format <= '9'; format++)
                if (most <= RECORDER_COPY_MAX)
                    most = 10 * most + (size_t)(*format - '0');
        }
        if (*format == 's' && next == index)
            return most < size ? most : size;
        format = recorder_skip_(format, 96, RECORDER_SKIP_LENGTHS_);
        if (*format == '$' || next > index || !*format)
            return 0;
        next += *format != '%' && *format != 'm';
        format++;
    }
    return 0;
}

#ifdef RECORDER_LINUX_
/* Returns how many bytes there are from a module's ELF header to its first
 * segment that can be written; 1 if there is no header. */
RECORDER_APART_ uintptr_t recorder_readonly_bytes_(const char *start)
{
    struct recorder_os_headers_ headers;
    struct recorder_os_segment_ segment;
    uintptr_t first = UINTPTR_MAX;
    if (!start || !recorder_past_(start, "\177ELF"))
        return 1;
    headers = recorder_os_headers_of_(start);
    while (recorder_os_next_segment_(&headers, &segment)) {
        if (first == UINTPTR_MAX)
            first = segment.at;
        if (segment.writable)
            return segment.at > first ? segment.at - first : 1;
    }
    return 1;
}
/* True if a text is in the read-only part of a module. */
RECORDER_INLINE_ bool recorder_readonly_has_(struct recorder_readonly_ *module,
                                           uintptr_t text)
{
    uintptr_t bytes = recorder_get_(&module->bytes);
    if (!bytes) {
        bytes = recorder_readonly_bytes_(module->start);
        recorder_put_(&module->bytes, bytes);
    }
    return text - (uintptr_t)module->start < bytes;
}
#else
RECORDER_INLINE_ bool recorder_readonly_has_(struct recorder_readonly_ *module,
                                           uintptr_t text)
{
    (void)module, (void)text;
    return false;
}
#endif

/* Returns the word for a text of at most `size` bytes: the token of its copy;
 * or `text` itself, if that is a constant of `module`, the caller's, or null,
 * or no text (size 0), or a token that RECORDER_COPY returned. */
RECORDER_CALLED_ uintptr_t recorder_word_of_text_(
    const struct recorder *recorder, uintptr_t text, size_t size,
    struct recorder_readonly_ *module)
{
    const char *at = (const char *)text;
    if (!text || !size || recorder_readonly_has_(module, text) ||
        text - (uintptr_t)recorder->rings <
            recorder->ring_bytes * (recorder->lanes_mask + 1))
        return text;
    return (uintptr_t)recorder_copy_bytes_(recorder, at,
                                           recorder_copy_size_(at, size));
}

RECORDER_C_END_
#endif
