/* strings.h - the bytes that formats and %s point at. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_STRINGS_H_
#define RECORDER_STRINGS_H_

#include "scratch.h"

RECORDER_C_BEGIN_

/* --------------------------------------------------------------- strings -- */

/* Returns up to RECORDER_FETCH_MAX_ bytes at an address, from a cache of this
 * dump; null if they cannot be read. */
RECORDER_FUNCTION_ struct recorder_fetched_ *
recorder_fetch_(struct recorder_scratch_ *s, uint64_t address)
{
    struct recorder_fetched_ *f =
        &s->fetched[(address ^ address >> 7 ^ address >> 13) & s->fetched_mask];
    ptrdiff_t size;
    uintptr_t lives = recorder_lives_changed_();
    if (f->address == address && address && f->lives == lives)
        return f;
    f->address = 0;
    size =
        recorder_memory_copy_(&s->memory, address, f->bytes, sizeof f->bytes);
    if (size <= 0)
        return NULL;
    f->size = (uint32_t)size;
    f->length = 0;
    f->plan.count = 0;
    f->lives = lives;
    f->address = address;
    return f;
}

/* False: no text is marked as one that may have changed, and no heading is
 * taken off a format; for compat/. */
#ifndef RECORDER_MARKS_
#define RECORDER_MARKS_ true
#endif

/* Returns an event's format, its heading taken off into s->heading, and in
 * *location the "file:line" that follows it, all in s->format; null if the
 * format cannot be read, as its library was closed. */
RECORDER_SELDOM_ const char *
recorder_format_of_(struct recorder_scratch_ *s,
                    const struct recorder_event *event, const char **location)
{
    const uint64_t address = event->format;
    struct recorder_fetched_ *f = recorder_fetch_(s, address);
    size_t length, size, i;
    *location = "?";
    s->plan = NULL;
    if (!recorder_life_is_(address, event->order)) /* after it was read */
        f = NULL;
    if (!f || !RECORDER_MARKS_)
        recorder_heading_("", &s->heading);
    if (!f)
        return NULL;
    size = f->size;
    recorder_bytes_(s->format, f->bytes, sizeof f->bytes);
    length = f->length;
    if (!length) {
        length = recorder_length_(s->format, size);
        i = length + 1;
        if (i <= size && i + recorder_length_(s->format + i, size - i) < size)
            f->length = (uint32_t)length;
    }
    if (f->length) {
        s->plan = &f->plan;
    } else {
        /* It is longer than a fetch. */
        ptrdiff_t copied = recorder_memory_copy_(&s->memory, address, s->format,
                                                 s->format_max - 1);
        size = copied > 0 ? (size_t)copied : 0;
        length = recorder_format_end_(s->format, size);
    }
    if (length + 1 < size)
        *location = s->format + length + 1;
    return RECORDER_MARKS_ ? recorder_heading_(s->format, &s->heading)
                           : s->format;
}

/* Enters a read-side section, and returns the recorder in whose rings an
 * address is; null if none. */
RECORDER_SELDOM_ const struct recorder *
recorder_list_find_(const struct recorder_scratch_ *s, uintptr_t address)
{
    const struct recorder *recorder = recorder_readers_enter_();
    size_t left = s->recorders;
    for (; recorder && left; recorder = recorder_list_next_(recorder), left--)
        if (address - (uintptr_t)recorder->rings <
                recorder->ring_bytes * (recorder->lanes_mask + 1) &&
            recorder_is_sound_(recorder))
            return recorder;
    return NULL;
}
/* Looks up the bounds of all rings. */
RECORDER_SELDOM_ void recorder_rings_bound_(struct recorder_scratch_ *s)
{
    struct recorder_walk_ walk;
    const struct recorder *recorder = recorder_walk_begin_(&walk);
    for (s->rings = UINTPTR_MAX; recorder;
         recorder = recorder_walk_next_(&walk)) {
        uintptr_t start = (uintptr_t)recorder->rings;
        uintptr_t end =
            start + recorder->ring_bytes * (recorder->lanes_mask + 1);
        s->rings = start < s->rings ? start : s->rings;
        s->rings_end = end > s->rings_end ? end : s->rings_end;
    }
    s->recorders = walk.length;
    recorder_readers_leave_();
}
/* True if `address` is a token: an address inside a ring. */
RECORDER_FUNCTION_ bool recorder_is_token_(struct recorder_scratch_ *s,
                                           uint64_t address)
{
    bool is;
    if (!s->rings_end)
        recorder_rings_bound_(s);
    if (address < s->rings || address >= s->rings_end)
        return false; /* most of them */
    is = recorder_list_find_(s, (uintptr_t)address);
    recorder_readers_leave_();
    return is;
}

/* Finds the text record of a token: in the batch, after the head that is being
 * shown, else in its ring, unless its recorder has left. Both slots and the low
 * bits of sequence numbers repeat, so the thread must be the event's, too. */
RECORDER_FUNCTION_ bool recorder_text_piece_(const struct recorder_scratch_ *s,
                                             const struct recorder_event *event,
                                             uint64_t token,
                                             struct recorder_record *piece)
{
    uintptr_t slot = (uintptr_t)token & ~(sizeof *piece - 1);
    uintptr_t low = (uintptr_t)token & (sizeof *piece - 1);
    const struct recorder *recorder;
    uintptr_t commit = 0;
    size_t back;
    for (back = 1; back <= s->at && back <= 4096; back++) {
        const struct recorder_kept_ *kept =
            recorder_batch_at_(&s->batch, s->at - back);
        if ((uintptr_t)(recorder_records_(kept->ring) + kept->slot) == slot) {
            *piece = kept->record;
            return (piece->order & (sizeof *piece - 1)) == low &&
                   kept->thread == event->thread;
        }
    }
    recorder = recorder_list_find_(s, slot);
    if (recorder) {
        uintptr_t lane =
            (slot - (uintptr_t)recorder->rings) / recorder->ring_bytes;
        const struct recorder_ring *ring =
            recorder_lane_(recorder, (unsigned)lane);
        uintptr_t index =
            (slot - (uintptr_t)recorder_records_(ring)) / sizeof *piece;
        if (index <= recorder->mask)
            commit = recorder_look_(ring, recorder->mask, index, piece);
    }
    recorder_readers_leave_();
    return commit && (piece->order & (sizeof *piece - 1)) == low &&
           recorder_commit_thread_(commit) == event->thread;
}

/* Assembles the text of a token in s->text, as far as it is still there. Pieces
 * are one text if their orders and sizes are consecutive. */
RECORDER_FUNCTION_ void recorder_text_of_(struct recorder_scratch_ *s,
                                          const struct recorder_event *event,
                                          uint64_t token)
{
    struct recorder_record piece;
    uintptr_t order = 0, left = 0, count;
    size_t size = 0, max = s->text_max - 7; /* leaves room for <lost> */
    const char *mark = "";
    while (token && !*mark) {
        if (!recorder_text_piece_(s, event, token, &piece) ||
            !recorder_is_text_(piece.format) ||
            (size == 0 ? (uintptr_t)event->order - piece.order > UINTPTR_MAX / 2
                       : !recorder_order_follows_(order, piece.order) ||
                             piece.format != left + 1))
            break;
        order = piece.order;
        left = piece.format - 1;
        count = left < RECORDER_TEXT_BYTES_ ? left : RECORDER_TEXT_BYTES_;
        if (count > max - size) {
            count = max - size;
            mark = "...";
        }
        recorder_bytes_(s->text + size, piece.argument, count);
        size += count;
        left -= count;
        token = piece.caller;
        if (left == 0)
            token = 0;
        else if (token == 0)
            mark = "..."; /* the rest was not kept */
    }
    if (token && !*mark)
        mark = "<lost>";
    count = recorder_length_(mark, 6);
    recorder_bytes_(s->text + size, mark, count);
    s->text_sizes.kept = size;
    s->text_sizes.shown = size + count;
    s->text[size + count] = '\0';
}

struct recorder_text_context_ {
    struct recorder_scratch_ *scratch;
    const struct recorder_event *event;
    uint64_t token; /* the text that is being read; 0: none */
    size_t read;
};

/* Copies bytes of a text and a NUL as if the text were at its token: the
 * formatter reads it in pieces. Returns the number of bytes. */
RECORDER_FUNCTION_ ptrdiff_t recorder_text_bytes_(
    struct recorder_text_context_ *c, uint64_t address, char *to, size_t size)
{
    const char *text = c->scratch->text;
    size_t left;
    if (c->token == 0 || address != c->token + c->read) {
        recorder_text_of_(c->scratch, c->event, address);
        c->token = address;
        c->read = 0;
    }
    left = c->scratch->text_sizes.shown + 1 - c->read;
    if (size > left)
        size = left;
    recorder_bytes_(to, text + c->read, size);
    c->read += size;
    if (size == left)
        c->token = 0; /* its end was read: the next call begins another */
    return (ptrdiff_t)size;
}

/* Writes the words for a text whose library was closed. Returns how many bytes;
 * -1 if there is no room: then an address is shown. */
RECORDER_INLINE_ ptrdiff_t recorder_text_unknown_(char *to, size_t size)
{
    if (size < sizeof RECORDER_TEXT_UNKNOWN_)
        return -1;
    __builtin_memcpy(to, RECORDER_TEXT_UNKNOWN_, sizeof RECORDER_TEXT_UNKNOWN_);
    return (ptrdiff_t)sizeof RECORDER_TEXT_UNKNOWN_;
}

/* The formatter's `text`: copies the bytes at an address, or the text of a
 * token. */
RECORDER_FUNCTION_ ptrdiff_t recorder_text_(void *context, uint64_t address,
                                            char *to, size_t size)
{
    struct recorder_text_context_ *c = (struct recorder_text_context_ *)context;
    const struct recorder_fetched_ *f;
    if ((c->token && address == c->token + c->read) ||
        recorder_is_token_(c->scratch, address))
        return recorder_text_bytes_(c, address, to, size);
    f = recorder_fetch_(c->scratch, address);
    if (!f)
        return -1;
    if (!recorder_life_is_(address, c->event->order)) /* after it was read */
        return recorder_text_unknown_(to, size);
    if (size > f->size)
        size = f->size;
    recorder_bytes_(to, f->bytes, size);
    return (ptrdiff_t)size;
}

/* The formatter's `changes`: true if the text at an address may have changed
 * since it was recorded. A record that prints at once shows its arguments. */
RECORDER_SELDOM_ bool recorder_text_changes_(void *context, uint64_t address,
                                             struct recorder_sizes_ *sizes)
{
    struct recorder_text_context_ *c = (struct recorder_text_context_ *)context;
    struct recorder_fetched_ *piece = &c->scratch->fetched[0];
    if (recorder_is_token_(c->scratch, address)) {
        recorder_text_of_(c->scratch, c->event, address);
        c->token = address;
        c->read = 0;
        *sizes = c->scratch->text_sizes;
        return false;
    }
    if (!RECORDER_MARKS_ || c->scratch->trace ||
        !recorder_life_is_(address, c->event->order))
        return false;
    piece->address = 0;
    return !recorder_is_constant_(&c->scratch->constants, (uintptr_t)address,
                                  piece->bytes, sizeof piece->bytes);
}

RECORDER_C_END_
#endif
