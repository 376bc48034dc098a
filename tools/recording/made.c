/* made.c - recordings that are made of events, not of pages. */
/* SPDX-License-Identifier: MIT */
#include "made.h"
#include "array.h"
#include "core.h"

enum { SLOTS_MIN = 4 }; /* as programs have at least */

static void make_free(struct buffer *buffer)
{
    free(buffer->at);
    *buffer = (struct buffer){0};
}

/* ----------------------------------------------------------------- rings -- */

uint64_t made_ring_bytes(const struct memory *m, uint64_t slots)
{
    return KEPT_HEAD_BYTES + slots * offsets_of(m)->slot_size;
}

struct made_ring *made_ring(struct made *made, struct reader_recorder *r,
                            uint64_t slots)
{
    struct made_ring *ring;
    ARRAY_NEED(made->rings, made->rings_count + 1, made->rings_max);
    ring = &made->rings[made->rings_count];
    *ring = (struct made_ring){.name = r->name,
                               .description = r->description,
                               .recorder = r,
                               .trace = r->trace,
                               .slots = SLOTS_MIN};
    ring->kept[KEPT_MARK] = KEPT_MAGIC;
    ring->kept[KEPT_ORIGIN] = r->origin;
    while (ring->slots < slots)
        ring->slots *= 2;
    r->kept = ++made->rings_count;
    return ring;
}

/* ----------------------------------------------------------------- texts -- */

/* Two hashes of bytes, from a start that outsiders cannot know. */
static void text_hash(const struct made *made, const char *text, size_t size,
                      uint64_t hash[2])
{
    uint64_t a = made->text_ids.chance ^ size, b = ~a, word;
    for (; size; text += sizeof word, size -= sizeof word) {
        word = 0;
        if (size < sizeof word) {
            memcpy(&word, text, size);
            size = sizeof word;
        } else {
            memcpy(&word, text, sizeof word);
        }
        a = (a ^ word) * 0x9e3779b97f4a7c15u;
        a ^= a >> 29;
        b = (b + word) * 0xd6e8feb86659fd93u;
        b ^= b >> 32;
    }
    hash[0] = a;
    hash[1] = b;
}

enum text_kind { TEXT_BYTES, TEXT_WIDE, TEXT_FORMAT };

/* Adds bytes of texts. */
static void texts_put(struct made *made, const void *from, size_t size)
{
    buffer_add(&made->texts, from, size);
    made->texts_used += size;
}

/* Adds a text with its end, once; returns its address, whose low bits are its
 * kind (kept_number of offsets.h). */
static uint64_t text_add(struct made *made, const char *text, size_t size,
                         enum text_kind kind, bool changes)
{
    static const char zeros[8], ones[8] = "\1\1\1\1\1\1\1";
    bool sized = kind == TEXT_BYTES && memchr(text, 0, size), is_new;
    uint64_t hash[2], is = sized ? KEPT_SIZED : changes;
    unsigned char before[KEPT_SIZE_BYTES];
    size_t i;
    if (!made->text_ids.max)
        ids_add(&made->text_ids, 0, 0, UINT64_MAX, &is_new);
    text_hash(made, text, size, hash);
    i = ids_add(&made->text_ids, hash[0], hash[1],
                (uint64_t)size << 3 | (uint64_t)kind << 1 | changes, &is_new);
    ARRAY_NEED(made->text_at, i + 1, made->text_at_max);
    if (!is_new)
        return made->text_at[i];
    if (sized) {
        bytes_put(made->m, before, size, sizeof before);
        texts_put(made, zeros, (6 - made->texts_used % 4) % 4);
        texts_put(made, before, sizeof before);
    } else { /* see KEPT_EMPTY */
        texts_put(made, size ? zeros : ones,
                  (4 + is - made->texts_used % 4) % 4 + (size ? 0 : 4));
    }
    made->text_at[i] = made->base + made->texts_at + made->texts_used;
    texts_put(made, text, size);
    texts_put(made, zeros, kind == TEXT_WIDE ? 4 : 1);
    return made->text_at[i];
}

/* The event's format in the file, added where it is new. */
static const struct made_format *format_add(struct made *made,
                                            struct reader *reader,
                                            const struct reader_event *event)
{
    char bytes[FORMAT_MAX_BYTES + 1];
    const char *location;
    const char *text = reader_format(reader, &event->raw, &location);
    struct made_format *format;
    uint64_t from;
    size_t size, end;
    bool is_new; /* libraries at one address have separate formats */
    format = array_at_key(made->formats, &made->format_ids, made->formats_max,
                          event->raw.format, (uintptr_t)text, 0, &is_new);
    if (!is_new)
        return format;
    *format = (struct made_format){.at = event->raw.format};
    size = format_bytes(reader, event->raw.format, bytes);
    if (!text && format_is_made(reader, event->raw.format))
        format->at = text_add(made, "<lost>", 6, TEXT_FORMAT, false);
    if (!text || !size ||
        life_is(reader, event->raw.format, event->raw.order, &from) !=
            LIFE_FITS)
        return format;
    format->words = recorder_format_count_(text);
    bytes[size] = '\0';
    end = strnlen(bytes, size);
    if (end < size)
        end += 1 + strnlen(bytes + end + 1, size - end - 1);
    format->at =
        text_add(made, bytes, end < size ? end : size, TEXT_FORMAT, false);
    return format;
}

/* ---------------------------------------------------------------- events -- */

static void slot_add(struct made *made, struct made_ring *ring,
                     const struct recorder_event *event, uint64_t format,
                     unsigned part, const uint64_t word[12])
{
    const struct memory *m = made->m;
    const struct offsets *at = offsets_of(m);
    unsigned char record[RECORD_MAX_BYTES] = {0}, commit[8];
    uint64_t time = event->time == RECORDER_TICKS_UNKNOWN_ ? 0 : event->time;
    bytes_put_word(m, record + at->record_format, format);
    bytes_put_word(m, record + at->record_order, event->order + part);
    bytes_put_word(m, record + at->record_time, time);
    bytes_put_word(m, record + at->record_caller, event->caller);
    for (unsigned i = 0; i < 4; i++)
        bytes_put_word(m, record + at->record_argument + i * m->word_bytes,
                       word[4 * part + i]);
    bytes_put_word(m, commit,
                   ring->slots << thread_bits(m) | (uint64_t)event->thread
                                                       << 1);
    buffer_add(&ring->records, record, at->record_size);
    buffer_add(&ring->commits, commit, m->word_bytes);
    ring->used++;
    ring->changed = true;
}

/* Rewrites the words that lead to texts; false: there is no room for those. */
static bool words_lead_to_texts(struct made *made, struct reader *reader,
                                const struct reader_event *event,
                                uint64_t word[12])
{
    struct reader_text texts[12];
    unsigned count = reader_texts(reader, event, texts), i;
    uint64_t bytes = FORMAT_MAX_BYTES + 12;
    for (i = 0; i < count; i++)
        bytes += texts[i].size + 12; /* and the words around it */
    if (made->texts_used + bytes > made->texts_max)
        return false;
    for (i = 0; i < count; i++) {
        unsigned at = texts[i].argument;
        uint64_t was = event->event.argument[at];
        for (unsigned w = 0; w < 12 && event->raw.argument[at] != was; w++)
            if (event->raw.argument[w] == was) /* its words were decoded */
                at = w;
        word[at] =
            text_add(made, texts[i].text, texts[i].size,
                     texts[i].wide ? TEXT_WIDE : TEXT_BYTES, texts[i].changes);
    }
    return true;
}

/* Adds a continuation whose event was added before. True, too, where that is
 * unknown: it was left out. */
static bool continuation_add(struct made *made, struct reader *reader,
                             const struct reader_event *event)
{
    struct made_ring *ring = &made->rings[event->recorder->kept - 1];
    for (size_t i = 0; i < MADE_WAITING; i++) {
        struct made_waiting *w = &made->waiting[i];
        uint64_t part = event->event.order - w->event.event.order, word[12];
        if (!w->event.event.format || w->ring != event->recorder->kept ||
            part < 1 || part > 2 ||
            w->event.event.caller != event->event.caller)
            continue;
        if (ring->used == ring->slots)
            return false;
        memcpy(&w->event.event.argument[4 * part], event->event.argument,
               4 * sizeof *word);
        w->event.event.missing_arguments &= ~(0xfu << 4 * part);
        w->event.raw = w->event.event;
        memcpy(word, w->event.event.argument, sizeof word);
        if (!words_lead_to_texts(made, reader, &w->event, word))
            return false;
        w->event.event.time = event->event.time;
        slot_add(made, ring, &w->event.event, 0, (unsigned)part, word);
        return true;
    }
    ring->orphans++;
    return true;
}

uint64_t made_slots(const struct recorder_event *event)
{
    uint64_t slots = 1;
    for (unsigned part = 1; part < 3 && event->format; part++)
        slots += !(event->missing_arguments >> 4 * part & 0xf);
    return slots;
}

bool made_add(struct made *made, struct reader *reader,
              const struct reader_event *event)
{
    const struct recorder_event *e = &event->raw;
    struct made_ring *ring = &made->rings[event->recorder->kept - 1];
    const struct made_format *format;
    uint64_t word[12];
    unsigned part, missing;
    if (!e->format)
        return continuation_add(made, reader, event);
    if (ring->used + made_slots(e) > ring->slots)
        return false;
    memcpy(word, e->argument, sizeof word);
    if (!words_lead_to_texts(made, reader, event, word))
        return false;
    format = format_add(made, reader, event);
    for (part = 0; part < 3; part++)
        if (part == 0 || !(e->missing_arguments >> 4 * part & 0xf))
            slot_add(made, ring, e, part ? 0 : format->at, part, word);
    missing = e->missing_arguments &
              ((1u << (format->words < 12 ? format->words : 12)) - 1);
    if (missing && reader->logs) {
        made->waiting[made->waiting_next] =
            (struct made_waiting){event->recorder->kept, *event};
        made->waiting_next = (made->waiting_next + 1) % MADE_WAITING;
    }
    made->events++;
    return true;
}

void made_source(struct made *made)
{
    ids_free(&made->format_ids);
}

/* ----------------------------------------------------------------- write -- */

static bool buffer_write(const struct made *made, struct buffer *buffer,
                         uint64_t at)
{
    bool done = core_put(made->fd, buffer->at, buffer->size, at);
    buffer->size = 0;
    return done;
}

/* Records, then the commit words that make them count, then the head. */
static bool ring_write(struct made *made, struct made_ring *ring)
{
    const struct memory *m = made->m;
    size_t record = offsets_of(m)->record_size;
    uint64_t records = ring->at + KEPT_HEAD_BYTES;
    uint64_t commits = records + ring->slots * record;
    unsigned char head[KEPT_HEAD_BYTES] = {0}, *at = head + sizeof head / 2;
    if (!buffer_write(made, &ring->records, records + ring->written * record) ||
        !buffer_write(made, &ring->commits,
                      commits + ring->written * m->word_bytes))
        return false;
    ring->written = ring->used;
    ring->changed = false;
    bytes_put_word(m, head, ring->used);
    bytes_put_word(m, at + m->word_bytes, ring->lost);
    for (unsigned i = 0; i < KEPT_NUMBERS; i++)
        bytes_put(m, head + kept_at(sizeof head) + 8 * i, ring->kept[i], 8);
    return core_put(made->fd, head, sizeof head, ring->at);
}

unsigned char *made_threads(const struct reader *reader, uint64_t count)
{
    const struct memory *m = reader->memory;
    const struct offsets *at = offsets_of(m);
    unsigned char *rows = need(calloc(count + 1, at->row_size));
    for (size_t i = 0; i < count; i++) {
        const struct reader_thread *t =
            i < reader->threads_count ? &reader->threads[i]
                                      : kernel_thread(reader, (unsigned)i + 1);
        unsigned char *row = rows + i * at->row_size;
        if (!t)
            continue;
        bytes_put_word(m, row + at->row_first, t->first);
        bytes_put(m, row + at->row_id, (uint32_t)t->id, 4);
        bytes_put(m, row + at->row_state,
                  t->is_free   ? RECORDER_ROW_FREE_
                  : t->is_task ? RECORDER_ROW_TASK_
                  : t->alive   ? RECORDER_ROW_ALIVE_
                               : RECORDER_ROW_DEAD_,
                  2);
        bytes_put(m, row + at->row_named, 1, 2);
        memcpy(row + at->row_name, t->name, 15);
    }
    return rows;
}

/* Writes the thread table, and how many rows it has. */
static bool threads_write(struct made *made)
{
    const struct memory *m = made->m;
    const struct offsets *at = offsets_of(m);
    const struct reader *reader = &made->call->reader;
    uint64_t count = reader_threads_end(reader);
    unsigned char *rows, bytes[8];
    bool done;
    if (count > made->threads_max)
        count = made->threads_max;
    rows = made_threads(reader, count);
    made->threads_count = reader->threads_count;
    bytes_put_word(m, bytes, count);
    done = core_put(made->fd, rows, count * at->row_size, made->threads_at) &&
           core_put(made->fd, bytes, m->word_bytes,
                    made->registry_at + at->registry_threads_count);
    free(rows);
    return done;
}

bool made_flush(struct made *made)
{
    uint64_t texts = made->texts_at + made->texts_written;
    bool done = buffer_write(made, &made->texts, texts);
    made->texts_written = made->texts_used;
    if (made->call->reader.threads_count != made->threads_count ||
        made->call->reader.inside->due)
        done = done && threads_write(made);
    for (size_t i = 0; i < made->rings_count && done; i++)
        if (made->rings[i].changed)
            done = ring_write(made, &made->rings[i]);
    return done;
}

/* How fast ticks ran, and the wraps of the clock until now. */
static bool clock_write(struct made *made)
{
    const struct memory *m = made->m;
    const struct offsets *at = offsets_of(m);
    const struct reader *reader = &made->call->reader;
    const struct reader_inside *inside = reader->inside;
    unsigned char set[4], bytes[3 * 8], word[8];
    bool done = true;
    if (core_later(reader, bytes, set))
        done = core_put(made->fd, bytes, sizeof bytes,
                        made->registry_at + at->registry_later) &&
               core_put(made->fd, set, sizeof set,
                        made->registry_at + at->registry_later_sequence);
    for (unsigned i = 0; i < RECORDER_WRAPS_MAX_ && done; i++) {
        unsigned char wrap[16] = {0};
        bytes_put_word(m, wrap + at->wrap_order, inside->wraps[i].order);
        bytes_put_word(m, wrap + at->wrap_high, inside->wraps[i].high);
        done = core_put(made->fd, wrap, at->wrap_size,
                        made->registry_at + at->registry_wraps +
                            i * (uint64_t)at->wrap_size);
    }
    bytes_put_word(m, word, inside->wraps_count);
    done = done && core_put(made->fd, word, m->word_bytes,
                            made->registry_at + at->registry_wraps_count);
    bytes_put_word(m, word, reader->end);
    return done && core_put(made->fd, word, m->word_bytes, made->order_at);
}

bool made_end(struct made *made)
{
    const struct memory *m = made->m;
    uint64_t size = made->texts_at + made->texts_used;
    unsigned char words[16];
    bytes_put_word(m, words, size);
    bytes_put_word(m, words + m->word_bytes, size);
    return made_flush(made) && threads_write(made) && clock_write(made) &&
           core_put(made->fd, words, 2 * m->word_bytes,
                    made_segment_size_at(m)) &&
           ftruncate(made->fd, (off_t)size) == 0;
}

void made_free(struct made *made)
{
    for (size_t i = 0; i < made->rings_count; i++) {
        make_free(&made->rings[i].records);
        make_free(&made->rings[i].commits);
    }
    make_free(&made->texts);
    free(made->rings);
    free(made->formats);
    free(made->text_at);
    ids_free(&made->format_ids);
    ids_free(&made->text_ids);
    *made = (struct made){.waiting = made->waiting,
                          .waiting_next = made->waiting_next,
                          .program = made->program};
}
