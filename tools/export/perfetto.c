/* perfetto.c - a Perfetto trace: protobuf, encoded here. */
/* SPDX-License-Identifier: MIT */
/*
    Trace { packet* }: the clock, a track for each thread and value, then a
    TrackEvent for each record. Times are CLOCK_MONOTONIC, so that the file can
    be appended to a trace of the system of the same time. Names are
    interned: written in the first packet that needs them, then numbers. The
    numbers of fields are from perfetto's protos/perfetto/trace.
*/
#include "export.h"
#include "switches.h"

/* -------------------------------------------------------------- protobuf -- */

static void put_number(struct buffer *b, unsigned field, uint64_t value)
{
    buffer_varint(b, field << 3);
    buffer_varint(b, value);
}

static void put_real(struct buffer *b, unsigned field, double value)
{
    buffer_varint(b, field << 3 | 1);
    buffer_real(b, value);
}

/* protobuf strings are UTF-8, or readers stop */
static void put_text(struct buffer *b, unsigned field, const char *text,
                     size_t size)
{
    text = text_repaired(text, &size);
    buffer_varint(b, field << 3 | 2);
    buffer_varint(b, size);
    buffer_add(b, text, size);
}
static void put_string(struct buffer *b, unsigned field, const char *text)
{
    put_text(b, field, text, strlen(text));
}

/* Begins a nested message. Its length, at most 2^28 - 1, is filled in at its
 * end, as a varint of 4 bytes; returns their place. */
static size_t put_begin(struct buffer *b, unsigned field)
{
    buffer_varint(b, field << 3 | 2);
    buffer_add(b, "\0\0\0", 4);
    return b->size;
}
static void put_end(struct buffer *b, size_t begin)
{
    size_t size = b->size - begin;
    for (int i = 0; i < 4; i++)
        b->at[begin - 4 + (size_t)i] =
            (unsigned char)((size >> 7 * i & 0x7f) | (i < 3 ? 0x80u : 0));
}

/* --------------------------------------------------------------- packets -- */

enum { /* of clocks */ REALTIME = 1, MONOTONIC = 3 };
enum { /* of events */ BEGIN = 1, END = 2, INSTANT = 3, COUNTER = 4 };
/* Categories: recorders by their index, severities from here on. */
static const uint64_t SEVERITIES = UINT64_C(1) << 32;
enum { /* sequence_flags of a packet */ CLEARED = 1, NEEDED = 2 };
/* In trace_processor's tables several sources are separate machines with
 * their threads and processors. A single source is the machine of the trace. */
enum { MACHINE = 98 };

struct perfetto {
    struct timeline *timeline; /* of the source that is being written */
    struct switches switches;
    struct output *out;
    struct buffer packet, interned;
    struct ids categories, names, annotations, locations;
    size_t index;     /* of the source */
    uint64_t base;    /* of tracks' ids, so that traces can be put together */
    uint64_t zero_ns; /* monotonic, of the timeline's start */
    bool messages;
};

static uint64_t track(const struct perfetto *p, size_t number)
{
    return p->base + number;
}
static uint64_t track_of_value(const struct perfetto *p, size_t value)
{
    return track(p, 1 + p->timeline->lanes_count + value);
}

static uint64_t track_of_cpu(const struct perfetto *p, unsigned cpu,
                             enum switches_what what)
{
    return track(p, 1 + p->timeline->lanes_count + p->timeline->values_count +
                        4 * cpu + what);
}

/* The track of asynchronous spans: all of one id share one. */
static uint64_t track_of_async(const struct perfetto *p, size_t number)
{
    return track(p, ((size_t)1 << 40) + number);
}

static void packet_begin(struct perfetto *p)
{
    p->packet.size = 0;
    p->interned.size = 0;
    put_number(&p->packet, 10, (p->base >> 32) | 1); /* the sequence */
    if (p->timeline->call->title)
        put_number(&p->packet, MACHINE, (p->base >> 32) | 1);
}

static void packet_end(struct perfetto *p)
{
    struct buffer head = {0};
    if (p->interned.size) {
        size_t begin = put_begin(&p->packet, 12);
        buffer_add(&p->packet, p->interned.at, p->interned.size);
        put_end(&p->packet, begin);
    }
    buffer_varint(&head, 1 << 3 | 2);
    buffer_varint(&head, p->packet.size);
    fwrite(head.at, 1, head.size, p->out->file);
    fwrite(p->packet.at, 1, p->packet.size, p->out->file);
    free(head.at);
}

/* Returns the number of a name, from 1. New names go with this packet. */
static uint64_t interned(struct perfetto *p, struct ids *ids, unsigned field,
                         uint64_t key, const char *name)
{
    bool is_new;
    uint64_t iid = ids_add(ids, key, 0, 0, &is_new) + 1;
    if (is_new) {
        size_t begin = put_begin(&p->interned, field);
        put_number(&p->interned, 1, iid);
        put_string(&p->interned, 2, name);
        put_end(&p->interned, begin);
    }
    return iid;
}

/* Adds a category to an event: its recorder, or a severity. */
static void put_category(struct perfetto *p, uint64_t key, const char *name)
{
    put_number(&p->packet, 3, interned(p, &p->categories, 1, key, name));
}

static uint64_t interned_location(struct perfetto *p,
                                  const struct timeline_event *e)
{
    bool is_new;
    uint64_t iid =
        ids_add(&p->locations, e->read.event.format, 0, 0, &is_new) + 1;
    size_t begin, size;
    unsigned line = reader_location(e->location, &size);
    if (!line)
        return 0;
    if (is_new) {
        begin = put_begin(&p->interned, 4);
        put_number(&p->interned, 1, iid);
        put_text(&p->interned, 2, e->location, size);
        put_number(&p->interned, 4, line);
        put_end(&p->interned, begin);
    }
    return iid;
}

/* Writes a clock's time into a snapshot. */
static void put_clock_time(struct perfetto *p, int clock, uint64_t ns)
{
    size_t begin = put_begin(&p->packet, 1);
    put_number(&p->packet, 1, (uint64_t)clock);
    put_number(&p->packet, 2, ns);
    put_end(&p->packet, begin);
}

/* Begins a track; message_end() ends it. All but the process's are below that. */
static size_t track_begin(struct perfetto *p, uint64_t id)
{
    size_t begin;
    packet_begin(p);
    begin = put_begin(&p->packet, 60);
    put_number(&p->packet, 1, id);
    if (id != track(p, 0))
        put_number(&p->packet, 5, track(p, 0));
    return begin;
}

/* Ends the message of a packet, and the packet. */
static void message_end(struct perfetto *p, size_t begin)
{
    put_end(&p->packet, begin);
    packet_end(p);
}

/* Writes the clocks, and says which one all later packets use. */
static void put_clock(struct perfetto *p)
{
    const struct timeline *t = p->timeline;
    size_t snapshot, clock;
    packet_begin(p);
    put_number(&p->packet, 13, CLEARED);
    clock = put_begin(&p->packet, 59);
    put_number(&p->packet, 58, MONOTONIC);
    put_end(&p->packet, clock);
    snapshot = put_begin(&p->packet, 6);
    put_clock_time(p, MONOTONIC, p->zero_ns);
    if (t->realtime_ns)
        put_clock_time(p, REALTIME, t->realtime_ns);
    put_number(&p->packet, 2, MONOTONIC);
    message_end(p, snapshot);
}

static uint64_t pid_of(const struct perfetto *p)
{
    const struct call *call = p->timeline->call;
    uint64_t pid = call->title ? call->pid_shown : call->reader.pid;
    return pid ? pid : 1; /* 0 is the kernel's idle thread */
}

/* Puts a process's name. Of several sources, the source's name comes first. */
static void put_process_name(struct perfetto *p)
{
    const struct call *call = p->timeline->call;
    char *name = NULL;
    if (call->title)
        name = need_text("%s: %s", call->title, call_program(call));
    put_string(&p->packet, 6, name ? name : call_program(call));
    free(name);
}

static void put_tracks(struct perfetto *p)
{
    const struct timeline *t = p->timeline;
    struct buffer *b = &p->packet;
    size_t begin = track_begin(p, track(p, 0)), inner = put_begin(b, 3);
    put_number(b, 1, pid_of(p));
    put_process_name(p);
    put_end(b, inner);
    message_end(p, begin);
    for (size_t i = 0; i < t->lanes_count; i++) {
        begin = track_begin(p, track(p, 1 + i));
        inner = put_begin(b, 4);
        put_number(b, 1, pid_of(p));
        put_number(b, 2, t->lanes[i]->id);
        put_string(b, 5, t->lanes[i]->name);
        put_end(b, inner);
        message_end(p, begin);
    }
    for (size_t i = 0; i < t->values_count; i++) {
        begin = track_begin(p, track_of_value(p, i));
        put_string(b, 2, t->values[i].label);
        put_end(b, put_begin(b, 8));
        message_end(p, begin);
    }
}

/* ---------------------------------------------------------------- events -- */

static size_t event_begin(struct perfetto *p, uint64_t ns, int type,
                          uint64_t of_track)
{
    size_t begin;
    packet_begin(p);
    put_number(&p->packet, 13, NEEDED);
    put_number(&p->packet, 8, p->zero_ns + ns);
    begin = put_begin(&p->packet, 11);
    put_number(&p->packet, 9, (uint64_t)type);
    put_number(&p->packet, 11, of_track);
    return begin;
}
/* Begins an annotation; its name is a literal or a value's name. */
static size_t annotation(struct perfetto *p, const char *name)
{
    size_t begin = put_begin(&p->packet, 4);
    put_number(&p->packet, 1,
               interned(p, &p->annotations, 3, (uintptr_t)name, name));
    return begin;
}

static void put_argument(struct perfetto *p, const char *name,
                         const struct reader_argument *argument)
{
    struct buffer *b = &p->packet;
    size_t begin = annotation(p, name);
    switch (argument->kind) {
    case READER_SIGNED:
    case READER_CHARACTER: put_number(b, 4, argument->word); break;
    case READER_UNSIGNED: put_number(b, 3, argument->word); break;
    case READER_REAL: put_real(b, 5, argument->real); break;
    case READER_POINTER: put_number(b, 7, argument->word); break;
    case READER_STRING:
        put_text(b, 6, argument->text, argument->text_size);
        break;
    default: put_string(b, 6, "<lost>");
    }
    put_end(b, begin);
}

enum { FLOW = 47, FLOW_END = 48 };
static void put_flow(struct perfetto *p, unsigned field, uint64_t id)
{
    double bits; /* the fixed 64 bits of a real number */
    memcpy(&bits, &id, sizeof bits);
    put_real(&p->packet, field, bits);
}

/* An arrow begins at who ended a wait; it ends at the record of that end. */
static void put_wake(struct perfetto *p, const struct timeline_event *e)
{
    char name[64];
    size_t begin;
    if (!e->by)
        return;
    snprintf(name, sizeof name, "wakes T%u", e->lane->number);
    begin = event_begin(p, e->ns, INSTANT, track(p, 1 + e->by->index));
    put_string(&p->packet, 23, name);
    put_flow(p, FLOW, p->base + e->read.event.order);
    message_end(p, begin);
}

static void put_async_end(struct perfetto *p, const struct spans_async *async,
                          uint64_t ns)
{
    message_end(p, event_begin(p, ns, END, track_of_async(p, async->number)));
}

/* Opens and closes an asynchronous span on its track. Viewers show tracks of
 * one name as one. */
static void put_async(struct perfetto *p, const struct timeline_event *e)
{
    const struct spans_async *async = &e->async;
    struct buffer *b = &p->packet;
    const char *message;
    size_t begin, size;
    if (e->was_open && (e->step == SPANS_OPENS || e->step == SPANS_CLOSES))
        put_async_end(p, async, e->ns);
    if (e->step != SPANS_OPENS)
        return;
    if (async->turn == 0) {
        begin = track_begin(p, track_of_async(p, async->number));
        put_text(b, 2, async->name, async->name_size);
        message_end(p, begin);
    }
    message = reader_message(&p->timeline->call->reader, &e->read, &size);
    begin = event_begin(p, e->ns, BEGIN, track_of_async(p, async->number));
    put_category(p, e->recorder, e->read.recorder->shown);
    put_string(b, 23, timeline_span_name(message));
    message_end(p, begin);
}

static void put_record(struct perfetto *p, const struct timeline_event *e)
{
    const struct recorder_event *record = &e->read.event;
    const struct timeline *t = p->timeline;
    struct buffer *b = &p->packet;
    size_t begin, inner, size;
    uint64_t location;
    const char *message = reader_message(&t->call->reader, &e->read, &size);
    char how;
    const char *severity = event_severity(record);
    begin = event_begin(p, e->ns, e->opens ? BEGIN : INSTANT,
                        track(p, 1 + e->lane->index));
    put_category(p, e->recorder, e->read.recorder->shown);
    if (severity) {
        uint64_t id =
            SEVERITIES + (uint64_t)(record->severity + 4 * record->hardware);
        put_category(p, id, severity);
        put_category(p, SEVERITIES + 8 + (uint64_t)record->severity,
                     event_severity_text(record));
    }
    if (p->messages)
        put_string(b, 23, e->opens ? timeline_span_name(message) : message);
    else if (e->opens && kind_of(e->read.kind, &how) == KIND_ENTER)
        put_string(b, 23, timeline_opened(e));
    else
        put_number(b, 10,
                   interned(p, &p->names, 2, record->format * 2 + e->opens,
                            e->opens ? timeline_opened(e) : e->format));
    location = interned_location(p, e);
    if (location)
        put_number(b, 34, location);
    if (e->by)
        put_flow(p, FLOW_END, p->base + record->order);
    if (e->step == SPANS_OPENS || (e->step && e->was_open))
        put_flow(p, e->step == SPANS_CLOSES ? FLOW_END : FLOW,
                 p->base + (UINT64_C(1) << 62) +
                     ((uint64_t)e->async.number << 24) +
                     (e->async.turn & 0xffffff));
    inner = annotation(p, "message");
    put_text(b, 6, message, size);
    put_end(b, inner);
    for (unsigned i = 0; i < e->arguments_count; i++)
        put_argument(p, timeline_name(t, e, i), &e->arguments[i]);
    inner = annotation(p, "order");
    put_number(b, 3, record->order);
    put_end(b, inner);
    inner = annotation(p, "caller");
    put_number(b, 7, record->caller);
    put_end(b, inner);
    message_end(p, begin);
}

static void put_values(struct perfetto *p, const struct timeline_event *e)
{
    for (size_t i = 0; i < p->timeline->values_count; i++) {
        const struct reader_argument *argument =
            timeline_value(&p->timeline->values[i], e);
        size_t begin;
        if (!argument)
            continue;
        begin = event_begin(p, e->ns, COUNTER, track_of_value(p, i));
        if (argument->kind == READER_REAL ||
            (argument->kind == READER_UNSIGNED && argument->word > INT64_MAX))
            put_real(&p->packet, 44, value_number(argument));
        else
            put_number(&p->packet, 30, argument->word);
        message_end(p, begin);
    }
}

static void put_ends(struct perfetto *p, uint64_t ns, size_t lane, size_t count)
{
    while (count--)
        message_end(p, event_begin(p, ns, END, track(p, 1 + lane)));
}

/* Marks where the kept records of each recorder begin. */
static void put_gaps(struct perfetto *p)
{
    const struct timeline *t = p->timeline;
    for (size_t i = 0; i < t->call->reader.recorders_count; i++) {
        uint64_t ns;
        const char *gap = timeline_gap(t, i, &ns);
        size_t begin;
        if (!gap)
            continue;
        begin = event_begin(p, ns, INSTANT, track(p, 0));
        put_category(p, i, t->call->reader.recorders[i]->shown);
        put_string(&p->packet, 23, gap);
        message_end(p, begin);
    }
}

/* -------------------------------------------------------------- switches -- */

static void put_cpu_track(struct perfetto *p, unsigned cpu,
                          enum switches_what what)
{
    static const char *const names[] = {
        [SWITCHES_INTERRUPT] = "CPU %u interrupts",
        [SWITCHES_IDLE] = "CPU %u sleeps",
        [SWITCHES_OFF] = "CPU %u interrupts off"};
    char name[40];
    size_t begin;
    snprintf(name, sizeof name, names[what], cpu);
    begin = track_begin(p, track_of_cpu(p, cpu, what));
    put_string(&p->packet, 2, name);
    message_end(p, begin);
}

enum { RUNNABLE = 2, RUNS = 3, SLEEPS = 4, STOPPED = 6, DEAD = 7 };

/* Puts a thread's state on a processor, from which trace_processor makes its
 * tables. */
static void put_state(struct perfetto *p, const struct switches_thread *thread,
                      unsigned cpu, unsigned state, uint64_t ns)
{
    struct buffer *b = &p->packet;
    size_t begin;
    packet_begin(p);
    put_number(b, 8, p->zero_ns + ns);
    begin = put_begin(b, 117);
    put_number(b, 1, cpu);
    put_string(b, 2, thread->shown);
    put_number(b, 3, thread->lane->id);
    put_number(b, 4, state);
    message_end(p, begin);
}

/* Ends the slices of a track that end by then. */
static void put_slice_ends(struct perfetto *p, struct switches_slice *open,
                           unsigned *depth, uint64_t ns)
{
    for (; *depth && open[*depth - 1].end <= ns; --*depth) {
        const struct switches_slice *slice = &open[*depth - 1];
        message_end(p, event_begin(p, slice->end, END,
                                   track_of_cpu(p, slice->cpu, slice->what)));
    }
}

/* Writes the slices of one kind of one processor, which may nest; threads' are
 * in put_states(). */
static void put_slices(struct perfetto *p, unsigned cpu,
                       enum switches_what what)
{
    const struct switches *s = &p->switches;
    struct switches_slice open[SWITCHES_NESTED_MAX + 1];
    unsigned depth = 0;
    bool any = false;
    char name[64], text[96];
    size_t begin;
    for (size_t i = 0; i < s->slices_count; i++) {
        const struct switches_slice *slice = &s->slices[i];
        if (slice->cpu != cpu || slice->what != what)
            continue;
        if (!any)
            put_cpu_track(p, cpu, what);
        any = true;
        put_slice_ends(p, open, &depth, slice->begin);
        if (depth > SWITCHES_NESTED_MAX)
            continue;
        open[depth++] = *slice;
        if (what == SWITCHES_INTERRUPT)
            snprintf(text, sizeof text, "%s%s",
                     switches_slice_name(s, slice, name),
                     slice->state == SWITCHES_UNKNOWN ? " (end unknown)" : "");
        else
            snprintf(text, sizeof text, "%s",
                     what == SWITCHES_IDLE ? "sleep" : "interrupts off");
        begin = event_begin(p, slice->begin, BEGIN, track_of_cpu(p, cpu, what));
        put_string(&p->packet, 23, text);
        message_end(p, begin);
    }
    put_slice_ends(p, open, &depth, UINT64_MAX);
}

/* Writes the states of threads. trace_processor refuses two states of a thread
 * at once, RUNS twice in a row, and states after DEAD. An unknown state is
 * STOPPED. */
static void put_states(struct perfetto *p)
{
    static const unsigned states[SWITCHES_STATES] = {
        [SWITCHES_UNKNOWN] = STOPPED,
        [SWITCHES_RUNNING] = RUNS,
        [SWITCHES_READY] = RUNNABLE,
        [SWITCHES_BLOCKED] = SLEEPS,
        [SWITCHES_ENDED] = STOPPED};
    const struct switches *s = &p->switches;
    unsigned *last = need(calloc(s->threads_count + 1, sizeof *last));
    for (size_t i = 0; i < s->slices_count; i++) {
        const struct switches_slice *slice = &s->slices[i];
        const struct switches_thread *thread;
        unsigned state = states[slice->state];
        if (slice->what != SWITCHES_THREAD || slice->begin == slice->end)
            continue;
        thread = s->threads[slice->of];
        if (slice->state == SWITCHES_ENDED && thread->state == SWITCHES_ENDED &&
            slice->begin == thread->ended)
            state = DEAD;
        if (state == last[slice->of] || (!last[slice->of] && state == STOPPED))
            continue;
        last[slice->of] = state;
        put_state(p, thread, slice->cpu, state, slice->begin);
    }
    for (size_t i = 0; i < s->threads_count; i++) /* later states are unknown */
        if (last[i] && last[i] != DEAD && last[i] != STOPPED)
            put_state(p, s->threads[i], s->threads[i]->cpu, STOPPED, s->end_ns);
    free(last);
}

static void put_switches(struct perfetto *p)
{
    put_states(p);
    for (unsigned cpu = 0; cpu < SWITCHES_CPUS; cpu++)
        for (unsigned what = SWITCHES_INTERRUPT;
             p->switches.cpus[cpu] && what <= SWITCHES_OFF; what++)
            put_slices(p, cpu, what);
}

static uint64_t zero_of(const struct timeline *t)
{
    uint64_t monotonic = t->call->reader.clock.start.monotonic_ns;
    bool known = t->start_ns >= 0 || (uint64_t)-t->start_ns <= monotonic;
    return known ? monotonic + (uint64_t)t->start_ns : 0;
}

/* Writes a source as one sequence of packets. */
static void put_source(struct perfetto *p)
{
    struct timeline *t = p->timeline;
    struct timeline_event e;
    switches_export(&p->switches, t);
    p->base = ((t->realtime_ns ^ t->call->reader.pid << 48) + p->index) *
                  UINT64_C(0x9e3779b97f4a7c15) |
              1;
    put_clock(p);
    put_tracks(p);
    put_gaps(p);
    while (timeline_next(t, &e)) {
        put_ends(p, e.ns, e.lane->index, e.closed);
        put_wake(p, &e);
        put_record(p, &e);
        put_async(p, &e);
        put_values(p, &e);
        output_check(p->out);
    }
    for (size_t i = 0; i < t->lanes_count; i++)
        put_ends(p, timeline_lane_end(t, t->lanes[i]), i, t->lanes[i]->depth);
    for (size_t i = 0; i < t->asyncs.count; i++)
        if (t->asyncs.at[i].open)
            put_async_end(p, &t->asyncs.at[i], t->length_ns);
    put_switches(p);
    output_check(p->out);
    switches_free(&p->switches);
    free(p->packet.at);
    free(p->interned.at);
    ids_free(&p->categories);
    ids_free(&p->names);
    ids_free(&p->annotations);
    ids_free(&p->locations);
}

void export_perfetto(struct call *calls, const char *path)
{
    struct output out;
    size_t count, i;
    struct timeline *all = timelines_open(calls, EXPORT_VALUE, &count);
    uint64_t zero = zero_of(&all[0]), later = all[0].later_ns;
    output_open(&out, calls, path);
    /* The clock of the first source's machine, from its start on. */
    zero = zero > later ? zero - later : 0;
    for (i = 0; i < count; i++) {
        struct perfetto p = {.timeline = &all[i],
                             .out = &out,
                             .index = i,
                             .messages = call_option(calls, EXPORT_MESSAGES),
                             .zero_ns = zero + all[i].later_ns};
        put_source(&p);
    }
    timelines_close(all, count);
    output_close(&out);
}
