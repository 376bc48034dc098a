/* strings.h - what formats and %s point at. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_STRINGS_H_
#define RECORDER_STRINGS_H_

#include "scratch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- strings -- */

/* The bytes at an address, up to RECORDER_FETCH_MAX of them; read once in a
 * dump. Null where there are none. */
RECORDER_FUNCTION_ const struct recorder_fetched *
recorder_fetch(struct recorder_scratch *s, uint64_t address)
{
    struct recorder_fetched *f =
        &s->fetched[(address ^ address >> 7 ^ address >> 13) & s->fetched_mask];
    ptrdiff_t size;
    if (f->address == address && address)
        return f;
    f->address = 0;
    size = recorder_memory_copy(&s->memory, address, f->bytes, sizeof f->bytes);
    if (size <= 0)
        return NULL;
    f->size = (size_t)size;
    f->address = address;
    return f;
}

/* The format of an event and the place behind it, as `*location`, both in
 * s->format; null where it cannot be read: its library may be gone. */
RECORDER_FUNCTION_ const char *recorder_format_of(struct recorder_scratch *s,
                                                  uint64_t address,
                                                  const char **location)
{
    const struct recorder_fetched *f = recorder_fetch(s, address);
    size_t length, size, i;
    *location = "?";
    if (!f)
        return NULL;
    size = f->size;
    recorder_bytes(s->format, f->bytes, sizeof f->bytes);
    length = recorder_length(s->format, size);
    i = length + 1;
    if (i > size || i + recorder_length(s->format + i, size - i) == size) {
        /* Longer than what is fetched at once. */
        ptrdiff_t copied = recorder_memory_copy(&s->memory, address, s->format,
                                                s->format_max - 1);
        size = copied > 0 ? (size_t)copied : 0;
        length = recorder_length(s->format, size);
    }
    s->format[size] = '\0';
    if (length == size) /* its end is not there, or it is too long */
        recorder_bytes(s->format + (size > 3 ? size - 3 : 0), "...", 4);
    if (length + 1 < size)
        *location = s->format + length + 1;
    return s->format;
}

/* The recorder in whose rings an address lies, between recorder_walk() and
 * recorder_unwalk(); null: in none. */
RECORDER_INLINE_ const struct recorder *
recorder_walk_to(const struct recorder *recorder, uintptr_t address)
{
    while (recorder && address - (uintptr_t)recorder->rings >=
                           recorder->ring_bytes * (recorder->lanes_mask + 1))
        recorder = recorder_walk_on(recorder);
    return recorder;
}
/* Is it? Most addresses are of no token, and lie outside of all rings: where
 * these begin and end is looked up once. */
RECORDER_FUNCTION_ bool recorder_is_token(struct recorder_scratch *s,
                                          uint64_t address)
{
    const struct recorder *first = recorder_walk(), *recorder = first;
    bool is;
    if (!s->rings_end)
        for (s->rings = UINTPTR_MAX; recorder;
             recorder = recorder_walk_on(recorder)) {
            uintptr_t start = (uintptr_t)recorder->rings;
            uintptr_t end =
                start + recorder->ring_bytes * (recorder->lanes_mask + 1);
            s->rings = start < s->rings ? start : s->rings;
            s->rings_end = end > s->rings_end ? end : s->rings_end;
        }
    is = address >= s->rings && address < s->rings_end &&
         recorder_walk_to(first, (uintptr_t)address);
    recorder_unwalk();
    return is;
}

/* Finds the text record in a slot: in the batch, behind the head that is being
 * shown, else in the ring, if its recorder is still there. It must be of the
 * thread that made the event: a slot goes round, and so do the low bits of
 * orders, often in step. */
RECORDER_FUNCTION_ bool recorder_text_piece(const struct recorder_scratch *s,
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
        const struct recorder_kept *kept =
            recorder_batch_at(&s->batch, s->at - back);
        if ((uintptr_t)(recorder_records(kept->ring) + kept->slot) == slot) {
            *piece = kept->record;
            return (piece->order & (sizeof *piece - 1)) == low &&
                   kept->thread == event->thread;
        }
    }
    recorder = recorder_walk_to(recorder_walk(), slot);
    if (recorder) {
        uintptr_t lane =
            (slot - (uintptr_t)recorder->rings) / recorder->ring_bytes;
        const struct recorder_ring *ring =
            recorder_lane(recorder, (unsigned)lane);
        uintptr_t index =
            (slot - (uintptr_t)recorder_records(ring)) / sizeof *piece;
        if (index <= recorder->mask)
            commit = recorder_look(ring, recorder->mask, index, piece);
    }
    recorder_unwalk();
    return commit && (piece->order & (sizeof *piece - 1)) == low &&
           recorder_commit_thread(commit) == event->thread;
}

/* Puts the text that a token stands for together, as far as it is still there.
 * Only pieces that follow each other by order and by size are one text. */
RECORDER_FUNCTION_ void recorder_text_of(struct recorder_scratch *s,
                                         const struct recorder_event *event,
                                         uint64_t token)
{
    struct recorder_record piece;
    uintptr_t order = 0, left = 0, count;
    size_t size = 0, max = s->text_max - 4; /* for what marks the end */
    const char *mark = "";
    while (token && !*mark) {
        if (!recorder_text_piece(s, event, token, &piece) ||
            piece.format == 0 || piece.format >= RECORDER_TEXT_END ||
            (size == 0 ? (uintptr_t)event->order - piece.order > UINTPTR_MAX / 2
                       : piece.order != order + 1 || piece.format != left + 1))
            break;
        order = piece.order;
        left = piece.format - 1;
        count = left < RECORDER_TEXT_BYTES ? left : RECORDER_TEXT_BYTES;
        if (count > max - size) {
            count = max - size;
            mark = "...";
        }
        recorder_bytes(s->text + size, piece.argument, count);
        size += count;
        left -= count;
        token = piece.caller;
        if (left == 0)
            token = 0;
        else if (token == 0)
            mark = "..."; /* it was longer than what is kept of a text */
        order = piece.order;
    }
    if (token && !*mark) {
        const char *lost = size ? "..." : "<lost>";
        recorder_bytes(s->text + size, lost, size ? 4 : 7);
    } else {
        recorder_bytes(s->text + size, mark, *mark ? 4 : 1);
    }
}

struct recorder_text_context {
    struct recorder_scratch *scratch;
    const struct recorder_event *event;
    uint64_t token; /* the text that is being read, and how far */
    size_t read;
};

/* The bytes of a text: from its start at its token, then as the formatter asks
 * on, as if they stood behind it. */
RECORDER_FUNCTION_ ptrdiff_t recorder_text_bytes(
    struct recorder_text_context *c, uint64_t address, char *to, size_t size)
{
    const char *text = c->scratch->text;
    size_t left;
    if (c->token == 0 || address != c->token + c->read) {
        recorder_text_of(c->scratch, c->event, address);
        c->token = address;
        c->read = 0;
    }
    left = recorder_length(text + c->read, c->scratch->text_max) + 1;
    if (size > left)
        size = left;
    recorder_bytes(to, text + c->read, size);
    c->read += size;
    if (size == left)
        c->token = 0; /* its end was read: the next is another */
    return (ptrdiff_t)size;
}

/* recorder_format's way to strings: what stands at an address, or the text that
 * a token stands for. */
RECORDER_FUNCTION_ ptrdiff_t recorder_text(void *context, uint64_t address,
                                           char *to, size_t size)
{
    struct recorder_text_context *c = (struct recorder_text_context *)context;
    const struct recorder_fetched *f;
    if ((c->token && address == c->token + c->read) ||
        recorder_is_token(c->scratch, address))
        return recorder_text_bytes(c, address, to, size);
    f = recorder_fetch(c->scratch, address);
    if (!f)
        return -1;
    if (size > f->size)
        size = f->size;
    recorder_bytes(to, f->bytes, size);
    return (ptrdiff_t)size;
}

/* recorder_format's question: may the text at an address be another by now? */
RECORDER_FUNCTION_ bool recorder_text_changes(void *context, uint64_t address)
{
    struct recorder_text_context *c = (struct recorder_text_context *)context;
    struct recorder_fetched *piece = &c->scratch->fetched[0];
    if (recorder_is_token(c->scratch, address))
        return false;
    piece->address = 0;
    return !recorder_is_constant(&c->scratch->constants, (uintptr_t)address,
                                 piece->bytes, sizeof piece->bytes);
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
