/* history.c - all events of a side, with formats that both sides share. */
/* SPDX-License-Identifier: MIT */
#include "../../run/events.h"
#include "compare.h"
#include "switches.h"
#include "threads.h"

static size_t recorder_of(struct compare *c, const char *name)
{
    bool is_new;
    struct compare_recorder *r =
        array_at_key(c->recorders, &c->recorder_ids, c->recorders_max,
                     texts_add(&c->texts, name, strlen(name)), 0, 0, &is_new);
    r->name = name;
    return (size_t)(r - c->recorders);
}

static size_t format_add(struct compare *c, struct call *call,
                         const struct timeline_event *e)
{
    const char *place = recorder_location_name_(e->location), *text = e->format;
    const bool scheduler = strcmp(place, RUN_LOCATION) == 0;
    char title[64];
    size_t recorder = recorder_of(c, e->read.recorder->name);
    bool is_new;
    struct compare_format *f;
    uint32_t number;
    if (scheduler && e->read.kind)
        text = event_title(e->read.kind, text, title);
    number = texts_add(&c->texts, text, strlen(text));
    f = array_at_key(c->formats, &c->format_ids, c->formats_max, number,
                     texts_add(&c->texts, place, strlen(place)), recorder,
                     &is_new);
    c->formats_count = c->format_ids.count;
    if (!is_new)
        return (size_t)(f - c->formats);
    *f = (struct compare_format){.text = c->texts.all[number].at,
                                 .location = e->location,
                                 .call = call,
                                 .caller = e->read.event.caller,
                                 .recorder = recorder,
                                 .scheduler = scheduler,
                                 .idle = scheduler &&
                                         !strstr(text, " for mutex") &&
                                         !strstr(text, " for rwlock"),
                                 .same = COMPARE_NONE,
                                 .first = {COMPARE_NONE, COMPARE_NONE}};
    c->recorders[recorder].scheduler = scheduler;
    for (unsigned k = 0; k < e->arguments_count; k++) {
        f->names[k] = e->arguments[k].name;
        f->naming[k] = naming_of(e->arguments[k].name, e->format, k);
    }
    return (size_t)(f - c->formats);
}

/* The texts of a source stay where they are: looks for their addresses first. */
static size_t format_of(struct compare *c, struct call *call,
                        const struct timeline_event *e)
{
    bool is_new;
    size_t *known = array_at_key(c->known, &c->known_ids, c->known_max,
                                 (uintptr_t)e->format, (uintptr_t)e->location,
                                 (uintptr_t)e->read.recorder, &is_new);
    if (is_new)
        *known = format_add(c, call, e);
    return *known;
}

/* A thread while its run is read: its open spans, by the events that opened
 * them; its last state that switches tell, and its time on CPUs before that. */
struct reading {
    size_t *opened, max;
    const struct switches_slice *state;
    uint64_t cpu_ns;
};

static void spans_keep(struct history *h, struct reading *thread,
                       const struct timeline_event *e)
{
    struct timeline_lane *lane = e->lane;
    if (e->opens) {
        ARRAY_NEED(thread->opened, lane->depth, thread->max);
        thread->opened[lane->depth - 1] = h->count - 1;
    }
    if (!e->closed)
        return;
    *array_add(h->spans, h->spans_count, h->spans_max) = (struct compare_span){
        .event = thread->opened[lane->depth], .end = h->count - 1};
}

/* Goes on to the states that have begun by a time. */
static void states_read(struct reading *threads, const struct switches *s,
                        size_t *at, uint64_t ns)
{
    for (; *at < s->slices_count && s->slices[*at].begin <= ns; ++*at) {
        const struct switches_slice *state = &s->slices[*at];
        struct reading *thread;
        if (state->what != SWITCHES_THREAD)
            continue;
        thread = &threads[s->threads[state->of]->lane->index];
        if (thread->state && thread->state->state == SWITCHES_RUNNING)
            thread->cpu_ns += thread->state->end - thread->state->begin;
        thread->state = state;
    }
}

/* Returns the time on CPUs of a thread up to some time, after states_read(). */
static uint64_t cpu_of(const struct reading *thread, uint64_t ns)
{
    const struct switches_slice *state = thread->state;
    if (!state || state->end < ns || state->state == SWITCHES_UNKNOWN)
        return CPU_UNKNOWN;
    return thread->cpu_ns +
           (state->state == SWITCHES_RUNNING ? ns - state->begin : 0);
}

static void values_keep(struct compare *c, struct history *h, struct call *call,
                        struct timeline_event *e)
{
    reader_unmark(e->arguments, e->arguments_count);
    ARRAY_NEED(h->values, h->values_count + e->arguments_count + 1,
               h->values_max);
    for (unsigned i = 0; i < e->arguments_count; i++) {
        const struct reader_argument *a = &e->arguments[i];
        struct compare_value *to = &h->values[h->values_count++];
        *to = (struct compare_value){
            .word = texts_word(&c->strings, a),
            .kind = (unsigned char)(a->cut ? READER_LOST : a->kind)};
        naming_keep(call, to, a->text);
    }
}

static size_t ring_of(struct history *h, size_t recorder,
                      const struct timeline_event *e)
{
    uint64_t lanes = e->read.recorder->figures.lanes;
    bool is_new;
    size_t i =
        ids_add(&h->rings, recorder, lanes ? e->read.event.thread % lanes : 0,
                h->runs_count, &is_new);
    ARRAY_NEED(h->oldest, h->rings.count, h->oldest_max);
    if (is_new || e->read.event.order < h->oldest[i])
        h->oldest[i] = e->read.event.order;
    return i;
}

static void event_keep(struct compare *c, struct history *h,
                       struct timeline_event *e, uint64_t cpu_ns)
{
    struct compare_event *to;
    const struct compare_run *run = &h->runs[h->runs_count - 1];
    size_t i = format_of(c, run->call, e);
    if (h->count >= UINT32_MAX || h->values_count >= UINT32_MAX - 12)
        fail(run->call, "has more records than can be compared: see --last");
    to = array_add(h->events, h->count, h->max);
    *to = (struct compare_event){.order = e->read.event.order,
                                 .ns = e->ns,
                                 .cpu_ns = cpu_ns,
                                 .format = (uint32_t)i,
                                 .thread =
                                     (uint32_t)(run->threads + e->lane->index),
                                 .values = (uint32_t)h->values_count,
                                 .count = (uint8_t)e->arguments_count};
    to->next = UINT32_MAX;
    h->of_run += c->formats[i].scheduler;
    to->ring = (uint32_t)ring_of(h, c->formats[i].recorder, e);
    values_keep(c, h, run->call, e);
}

static void threads_keep(struct history *h, const struct timeline *t)
{
    const struct compare_run *run = &h->runs[h->runs_count - 1];
    size_t count = run->threads + t->lanes_count, i;
    h->threads = need(realloc(h->threads, (count + 1) * sizeof *h->threads));
    h->threads_count = count;
    for (i = run->threads; i < count; i++) {
        const struct timeline_lane *lane = t->lanes[i - run->threads];
        struct compare_thread *thread = &h->threads[i];
        *thread = (struct compare_thread){.number = lane->number,
                                          .run = (unsigned)h->runs_count - 1};
        strcpy(thread->name, lane->name);
    }
    for (i = run->first; i < h->count; i++) {
        struct compare_thread *thread = &h->threads[h->events[i].thread];
        if (!thread->count++)
            thread->first = i;
        thread->last = i;
    }
}

/* Keeps the build-id of the file that has a format: the program's, as far as
 * formats tell. */
static void build_keep(struct history *h, uint64_t format)
{
    struct source *source = &h->runs[h->runs_count - 1].call->source;
    const struct module *m = module_at(source, format), *first;
    first = m ? module_first(source, m->path) : NULL;
    if (first && source->build_id)
        h->build_size = source->build_id(source, first->start, h->build);
}

/* Notes which recorders lack records, because they were overwritten, cleared or
 * not chosen. */
static void cuts_keep(struct compare *c, struct history *h,
                      enum compare_side side, const struct timeline *t)
{
    struct call *call = t->call;
    const struct reader *reader = &call->reader;
    const struct reader_selection *s = &call->selection;
    bool selected = s->last || s->since_order || s->since_set;
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        size_t at;
        if (!r->chosen || timeline_says(t, i))
            continue;
        at = recorder_of(c, r->name);
        h->overwritten += r->figures.overwritten;
        if (r->figures.overwritten || selected || reader->cleared)
            h->cut = c->recorders[at].cut[side] = true;
    }
}

void history_read(struct compare *c, enum compare_side side, struct call *call)
{
    struct history *h = &c->of[side];
    struct reading *threads;
    struct timeline *timeline;
    struct switches switches = {0};
    struct timeline_event e;
    struct compare_run *run;
    size_t states = 0;
    h->runs = need(realloc(h->runs, (h->runs_count + 1) * sizeof *h->runs));
    run = &h->runs[h->runs_count++];
    *run = (struct compare_run){
        .call = call, .first = h->count, .threads = h->threads_count};
    timeline = &run->timeline;
    reader_count(&call->reader);
    timeline_open(timeline, call, 0);
    cuts_keep(c, h, side, timeline);
    if (!call->selection.thread) /* which leaves out records of switches */
        switches_export(&switches, timeline);
    threads = need(calloc(timeline->lanes_count + 1, sizeof *threads));
    while (timeline_next(timeline, &e)) {
        struct reading *thread = &threads[e.lane->index];
        if (timeline_says(timeline, e.recorder))
            continue;
        states_read(threads, &switches, &states, e.ns);
        event_keep(c, h, &e, cpu_of(thread, e.ns));
        spans_keep(h, thread, &e);
        c->formats[h->events[h->count - 1].format].kept[side]++;
        if (!h->build_size)
            build_keep(h, e.read.event.format);
    }
    run->end = h->count;
    threads_keep(h, timeline);
    for (size_t i = 0; i < timeline->lanes_count; i++)
        free(threads[i].opened);
    free(threads);
    switches_free(&switches);
}

void history_close(struct history *h)
{
    for (size_t i = 0; i < h->runs_count; i++)
        timeline_close(&h->runs[i].timeline);
    free(h->runs);
    free(h->events);
    free(h->values);
    free(h->spans);
    free(h->threads);
    free(h->oldest);
    ids_free(&h->rings);
}

/* The ways in which formats of two builds are paired: each way takes the formats
 * that the ways before left. */
enum way { WAY_FILE, WAY_FUNCTION, WAY_TEXT, WAYS };

/* The file or the function that recorded a format; "": unknown. */
static void format_place(const struct compare_format *f, enum way way,
                         char to[256])
{
    const char *name = recorder_location_name_(f->location);
    size_t size;
    reader_location(name, &size);
    if (way == WAY_FUNCTION) {
        name = source_function(&f->call->source, f->caller);
        size = name ? strcspn(name, "+") : 0; /* without the offset */
    }
    snprintf(to, 256, "%.*s", (int)size, name ? name : "");
}

static bool is_same(const struct compare_format *a,
                    const struct compare_format *b, enum way way)
{
    char places[2][256];
    if (a->recorder != b->recorder || strcmp(a->text, b->text) != 0)
        return false;
    format_place(a, way, places[0]);
    format_place(b, way, places[1]);
    return way == WAY_TEXT || (*places[0] && strcmp(places[0], places[1]) == 0);
}

static bool is_alone(const struct compare_format *f, enum compare_side side)
{
    return f->kept[side] && !f->kept[!side] && f->same == COMPARE_NONE;
}

/* Gives events of BAD the format of GOOD with their text: the first that is
 * left the first. */
void history_pair_formats(struct compare *c)
{
    enum { MOST = 4096 };
    size_t count = c->formats_count < MOST ? c->formats_count : MOST;
    for (enum way way = WAY_FILE; way < WAYS; way++)
        for (size_t b = 0; b < count; b++)
            for (size_t a = 0; a < count; a++) {
                struct compare_format *good = &c->formats[a];
                struct compare_format *bad = &c->formats[b];
                if (!is_alone(bad, BAD) || !is_alone(good, GOOD) ||
                    !is_same(good, bad, way))
                    continue;
                bad->same = a;
                good->kept[BAD] = bad->kept[BAD];
                bad->kept[BAD] = 0;
            }
    for (size_t i = 0; i < c->of[BAD].count; i++) {
        size_t same = c->formats[c->of[BAD].events[i].format].same;
        if (same != COMPARE_NONE)
            c->of[BAD].events[i].format = (uint32_t)same;
    }
}
