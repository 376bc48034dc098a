/* events.c - makes events of records, chooses among them, hands them out. */
/* SPDX-License-Identifier: MIT */
#include "contexts.h"
#include "filters.h"
#include "inside.h"

/* A record with its words in the host's order. Begins as a record does whose
 * words have 8 bytes. */
struct words {
    uint64_t format, order, time, caller, argument[4];
    unsigned thread;
};
#define AT_8(name, structure, member, at_4, at_8) AT_8_##name##_##member = at_8,
enum { RECORDER_OFFSETS_(AT_8) };
#undef AT_8
_Static_assert(AT_8_record_format == offsetof(struct words, format) &&
                   AT_8_record_order == offsetof(struct words, order) &&
                   AT_8_record_time == offsetof(struct words, time) &&
                   AT_8_record_caller == offsetof(struct words, caller) &&
                   AT_8_record_argument == offsetof(struct words, argument),
               "words_at() copies a record as it is");

static void words_of(const struct memory *m, const unsigned char *raw,
                     struct words *to)
{
    const struct offsets *at = offsets_of(m);
    to->format = bytes_word(m, raw + at->record_format);
    to->order = bytes_word(m, raw + at->record_order);
    to->time = bytes_word(m, raw + at->record_time);
    to->caller = bytes_word(m, raw + at->record_caller);
    for (unsigned i = 0; i < 4; i++)
        to->argument[i] =
            bytes_word(m, raw + at->record_argument + i * m->word_bytes);
}

/* Copies a key's record; false: it was overwritten. */
static bool words_at(const struct reader *reader, const struct key *key,
                     struct words *to)
{
    const struct reader_inside *inside = reader->inside;
    const struct memory *m = reader->memory;
    const bool native = m->word_bytes == 8 && m->big_endian == BYTES_BIG_ENDIAN;
    unsigned char raw[RECORD_MAX_BYTES];
    uint64_t commit =
        key_record(reader, key, native ? (unsigned char *)to : raw);
    if (!commit)
        return false;
    if (!native)
        words_of(m, raw, to);
    if (((to->order - inside->base) & word_max(m)) != key->order)
        return false;
    to->thread = commit_thread(m, commit);
    return true;
}

/* True if a key's record is the head of an event. */
static bool is_head_at(const struct reader *reader, const struct key *key)
{
    const struct memory *m = reader->memory;
    const struct offsets *at = offsets_of(m);
    unsigned char raw[RECORD_MAX_BYTES];
    if (key->call)
        return true;
    return key_record(reader, key, raw) &&
           order_key(reader, bytes_word(m, raw + at->record_order)) ==
               key->order &&
           recorder_is_head_(bytes_word(m, raw + at->record_format));
}

/* Adds the continuations of a head: the next records of the same ring without a
 * format. Returns the number of keys of head and continuations. */
static size_t continuation(const struct reader *reader, size_t i,
                           const struct words *head,
                           struct recorder_event *event)
{
    const struct reader_inside *inside = reader->inside;
    size_t run = 1, k;
    for (; run < 3 && i + run < inside->deliver; run++) {
        const struct key *key = &inside->keys[i + run];
        struct words w;
        uint64_t at = key->order - inside->keys[i].order;
        if (key->lane != inside->keys[i].lane || at > 2 || at == 0 ||
            key_begins(reader, key) || !words_at(reader, key, &w) ||
            w.format != 0 || w.caller != head->caller)
            break; /* the next head, or part of one that is gone */
        for (k = 0; k < 4; k++)
            event->argument[4 * at + k] = w.argument[k];
        event->missing_arguments &= ~(0xfu << 4 * at);
    }
    return run;
}

/* Makes the event whose head is at key *i, and moves *i past it. Returns false
 * if there is no head, or it was overwritten. */
static bool event_at(struct reader *reader, size_t *i, struct reader_event *to)
{
    const struct reader_inside *inside = reader->inside;
    const struct key *key = &inside->keys[*i];
    struct recorder_event *event = &to->event;
    struct words head;
    if (key->call) {
        ++*i;
        calls_event(reader, key, to);
        return true;
    }
    if (!words_at(reader, key, &head)) {
        ++*i;
        reader->missed++;
        return false;
    }
    if (!recorder_is_head_(head.format) && (head.format || !reader->logs)) {
        ++*i;
        return false;
    }
    memset(event, 0, sizeof *event); /* to->raw becomes a copy of it */
    memset(&to->ns, 0, sizeof *to - offsetof(struct reader_event, ns));
    event->order = head.order;
    event->time = ticks_of(reader, head.order, head.time);
    event->caller = head.caller;
    event->format = head.format;
    memcpy(event->argument, head.argument, sizeof head.argument);
    event->missing_arguments = 0xff0;
    event->thread = head.thread;
    to->recorder = inside->lanes[key->lane].recorder;
    event->name = to->recorder->name;
    to->thread = reader_thread_of(reader, head.thread, head.order);
    to->ns = recorder_clock_time_(&reader->clock, event->time);
    if (to->ns != RECORDER_TIME_UNKNOWN_ && reader->clock.start.realtime_ns)
        to->realtime_ns = reader_start_realtime(reader) + (uint64_t)to->ns;
    *i += head.format ? continuation(reader, *i, &head, event) : 1;
    to->raw = *event;
    if (head.format)
        to->kind = reader_headed(reader, event);
    return true;
}

/* ---------------------------------------------------------------- choose -- */

static bool thread_is(const struct reader_event *event, const char *wanted)
{
    const struct reader_thread *t = event->thread;
    return reader_thread_is(wanted, event->event.thread, t ? t->id : 0,
                            t ? t->name : NULL);
}

static bool is_chosen(struct reader *reader, const struct reader_event *event)
{
    const struct reader_inside *inside = reader->inside;
    const struct reader_selection *s = &inside->selection;
    if (!event->recorder->chosen)
        return false;
    if (s->since_order &&
        word_signed(reader->memory, event->event.order - s->since_order) < 0)
        return false;
    if (s->until_order &&
        word_signed(reader->memory, event->event.order - s->until_order) > 0)
        return false;
    if ((s->since_set || s->until_set) && event->ns == RECORDER_TIME_UNKNOWN_)
        return false;
    if ((s->since_set && event->ns < s->since_ns) ||
        (s->until_set && event->ns > s->until_ns))
        return false;
    if (s->severities &&
        !recorder_severity_chosen_(s->severities, event->event.severity,
                                   event->event.hardware))
        return false;
    if (inside->thread && !thread_is(event, inside->thread))
        return false;
    if (s->context && !contexts_has(reader->contexts, reader, event))
        return false;
    return !s->filters || filters_match(s->filters, reader, event);
}

bool reader_next(struct reader *reader, struct reader_event *event)
{
    struct reader_inside *inside = reader->inside;
    while (inside->at < inside->deliver) {
        struct lane *lane = &inside->lanes[inside->keys[inside->at].lane];
        uint64_t missed = reader->missed;
        size_t at = inside->at;
        bool made = event_at(reader, &inside->at, event);
        if (reader->missed == missed && !inside->keys[at].call)
            lane->seen += inside->at - at;
        lane->events += made && event->event.format && !inside->keys[at].call;
        if (made && (event->event.format ? is_chosen(reader, event)
                                         : event->recorder->chosen))
            return true;
    }
    return false;
}

void events_look(struct reader *reader)
{
    enum { LAST = 256 };
    const struct reader_inside *inside = reader->inside;
    struct reader_event event;
    uint64_t missed = reader->missed;
    size_t deliver = inside->deliver, i = deliver, size;
    if (inside->keys_count > LAST && i < inside->keys_count - LAST)
        i = inside->keys_count - LAST;
    reader->inside->deliver = inside->keys_count;
    while (i < inside->keys_count)
        if (event_at(reader, &i, &event) && is_chosen(reader, &event))
            reader_message(reader, &event, &size);
    reader->inside->deliver = deliver;
    reader->missed = missed;
}

/* True if the selection asks for more than names, so that counting means to
 * make each event. */
static bool is_selective(const struct reader_inside *inside)
{
    const struct reader_selection *s = &inside->selection;
    return inside->thread || s->since_order || s->until_order || s->since_set ||
           s->until_set || s->severities || s->context || s->filters;
}

static uint64_t events_count(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    struct reader_event event;
    uint64_t count = 0, missed = reader->missed;
    size_t i = 0;
    if (is_selective(inside)) {
        while (i < inside->deliver)
            count += event_at(reader, &i, &event) && is_chosen(reader, &event);
        reader->missed = missed; /* they are counted when they are taken */
        return count;
    }
    for (; i < inside->deliver; i++)
        count += is_head_at(reader, &inside->keys[i]);
    return count;
}

void reader_rewind(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    struct reader_event event;
    uint64_t skip, missed = reader->missed;
    inside->at = 0;
    reader->taken = events_count(reader);
    if (inside->selection.last == 0 || reader->taken <= inside->selection.last)
        return;
    skip = reader->taken - inside->selection.last;
    while (skip-- && reader_next(reader, &event))
        ;
    reader->missed = missed;
    reader->taken = inside->selection.last;
}

void reader_match(struct reader *reader)
{
    struct reader_event event;
    for (size_t i = 0; i < reader->recorders_count; i++) {
        struct reader_recorder *r = reader->recorders[i];
        r->matched = 0;
        r->matched_oldest_ns = r->matched_newest_ns = RECORDER_TIME_UNKNOWN_;
    }
    while (reader_next(reader, &event)) {
        struct reader_recorder *r =
            reader->inside->lanes[event.recorder->lane - 1].recorder;
        r->matched++;
        if (event.ns == RECORDER_TIME_UNKNOWN_)
            continue;
        if (r->matched_oldest_ns == RECORDER_TIME_UNKNOWN_ ||
            event.ns < r->matched_oldest_ns)
            r->matched_oldest_ns = event.ns;
        if (r->matched_newest_ns == RECORDER_TIME_UNKNOWN_ ||
            event.ns > r->matched_newest_ns)
            r->matched_newest_ns = event.ns;
    }
}

const char *reader_head(struct reader *reader, size_t *size)
{
    struct reader_inside *inside = reader->inside;
    struct recorder_string_ to;
    uint64_t at, read;
    size_t max = RECORDER_TEXT_LINE_MAX_, i;
    char *line;
    for (i = 0; i < reader->recorders_count; i++)
        max += reader->recorders[i]->chosen ? 2 * NAME_MAX_BYTES + 128 : 0;
    inside->line = line = need(realloc(inside->line, max + 1));
    reader_count(reader);
    to = recorder_string_at_(line, max);
    at = reader_end_realtime(reader, &read);
    if (!read) /* it runs: all records up to now */
        at = reader_realtime(reader);
    recorder_add_head_(&to, at, read, reader->program, reader->pid, false,
                       reader->taken);
    for (i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        if (r->chosen && filters_may(inside->selection.filters, r))
            recorder_add_summary_(&to, r->shown, strlen(r->shown), &r->figures,
                                  r->trace);
    }
    *size = to.size < max ? to.size : max;
    line[*size] = '\0';
    return line;
}
