/* timeline.c - events by time, in spans, with values: for exports and views. */
/* SPDX-License-Identifier: MIT */
#include "timeline.h"

#include "array.h"
#include "print.h"
#include "switches.h"

/* An event that others with earlier times may still follow. */
struct waiting {
    int64_t ns;
    struct reader_event event;
};

enum { NUMBERS = 65536 }; /* thread numbers have 15 bits */

struct timeline_inside {
    int64_t *soonest; /* [i]: the earliest time of event i and later ones */
    size_t count, next;
    int64_t before; /* time of the last event that was read */
    struct waiting *heap;
    size_t heap_count, heap_max;
    struct timeline_lane *known[NUMBERS], *unknown[NUMBERS];
    size_t lanes_max;
    int64_t first;       /* time of those before the first that has one */
    size_t recorder;     /* of the last event */
    bool *says;          /* by recorder: has records of switches */
    struct ids name_ids; /* of interrupts, by address and id */
    char **names;
    size_t names_max;
    uint64_t done;
    struct timeline_span ended; /* that was cut before */
};

/* ----------------------------------------------------------------- lanes -- */

static bool id_is_taken(const struct timeline *t, uint32_t id,
                        const struct timeline_lane *by_other)
{
    for (size_t i = 0; i < t->lanes_count; i++)
        if (t->lanes[i]->id == id && t->lanes[i] != by_other)
            return true;
    return false;
}

/* Linux gives no thread an id above 2^22. */
static const uint32_t ids_ours = 1u << 28;

static struct timeline_lane *lane_new(struct timeline *t)
{
    struct timeline_lane *lane = need(calloc(1, sizeof *lane));
    lane->index = t->lanes_count;
    *array_add(t->lanes, t->lanes_count, t->inside->lanes_max) = lane;
    return lane;
}

static struct timeline_lane *lane_add(struct timeline *t,
                                      const struct reader_thread *thread,
                                      unsigned number)
{
    struct timeline_lane *lane = lane_new(t);
    lane->thread = thread;
    lane->number = number;
    lane->id = thread && thread->id > 0 ? (uint32_t)thread->id : 0;
    if (!lane->id || id_is_taken(t, lane->id, lane))
        lane->id = ids_ours + (thread ? 0u : NUMBERS) + number;
    if (thread)
        snprintf(lane->name, sizeof lane->name, "%s", thread->name);
    else if (number)
        snprintf(lane->name, sizeof lane->name, "earlier T%u", number);
    else
        strcpy(lane->name, "unknown thread");
    if (!lane->name[0])
        snprintf(lane->name, sizeof lane->name, "T%u", number);
    return lane;
}

struct timeline_lane *timeline_lane(const struct timeline *t, unsigned number)
{
    const struct timeline_inside *in = t->inside;
    return number && number < NUMBERS ? in->known[number] : NULL;
}

struct timeline_lane *timeline_lane_add(struct timeline *t, uint64_t id,
                                        const char *name)
{
    struct timeline_lane *lane = lane_new(t);
    lane->silent = true;
    lane->id = (uint32_t)id;
    if (!id || id >= ids_ours || id_is_taken(t, (uint32_t)id, lane))
        lane->id = ids_ours + 2u * NUMBERS + (uint32_t)lane->index;
    snprintf(lane->name, sizeof lane->name, "%s", name);
    return lane;
}

static struct timeline_lane *lane_of(struct timeline *t,
                                     const struct reader_event *e)
{
    unsigned number = e->thread ? e->thread->number : e->event.thread;
    struct timeline_lane **lane;
    if (number >= NUMBERS || (!e->thread && number >= RECORDER_THREAD_SHARED))
        number = 0;
    lane = e->thread ? &t->inside->known[number] : &t->inside->unknown[number];
    if (!*lane)
        *lane = lane_add(t, e->thread, number);
    return *lane;
}

/* ---------------------------------------------------------------- events -- */

static bool comes_before(const struct waiting *a, const struct waiting *b)
{
    return a->ns < b->ns ||
           (a->ns == b->ns && a->event.event.order < b->event.event.order);
}

static void heap_push(struct timeline_inside *in, const struct waiting *add)
{
    size_t at = in->heap_count++;
    ARRAY_NEED(in->heap, in->heap_count, in->heap_max);
    for (; at && comes_before(add, &in->heap[(at - 1) / 2]); at = (at - 1) / 2)
        in->heap[at] = in->heap[(at - 1) / 2];
    in->heap[at] = *add;
}

static void heap_pop(struct timeline_inside *in, struct waiting *to)
{
    struct waiting last = in->heap[--in->heap_count];
    size_t at = 0, child;
    *to = in->heap[0];
    while ((child = at * 2 + 1) < in->heap_count) {
        if (child + 1 < in->heap_count &&
            comes_before(&in->heap[child + 1], &in->heap[child]))
            child++;
        if (!comes_before(&in->heap[child], &last))
            break;
        in->heap[at] = in->heap[child];
        at = child;
    }
    in->heap[at] = last;
}

/* False for times beyond 146 years, which only damaged records have. */
static bool time_is_known(const struct reader_event *e)
{
    return e->ns > -((int64_t)1 << 62) && e->ns < (int64_t)1 << 62;
}

static size_t recorder_of(struct timeline *t, const struct reader_event *e)
{
    const struct reader *reader = &t->call->reader;
    size_t i = t->inside->recorder;
    if (reader->recorders[i] != e->recorder)
        for (i = 0; reader->recorders[i] != e->recorder; i++)
            ;
    return t->inside->recorder = i;
}

static void look_at_kind(struct timeline *t, const struct reader_event *e)
{
    char how;
    enum kind kind = kind_of(e->kind, &how);
    t->switches |= kind != KIND_OTHER;
    if (kind != KIND_OTHER && kind != KIND_OFF && kind != KIND_ON)
        t->inside->says[recorder_of(t, e)] = true;
}

bool timeline_says(const struct timeline *t, size_t recorder)
{
    return t->inside->says[recorder];
}

uint64_t timeline_complete(const struct timeline *t)
{
    const struct reader *reader = &t->call->reader;
    int64_t from = t->start_ns;
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (t->inside->says[i] && reader->recorders[i]->complete_ns > from)
            from = reader->recorders[i]->complete_ns;
    return (uint64_t)from - (uint64_t)t->start_ns;
}

/* Notes the time of a lane's last record. */
static void lane_note(struct timeline_lane *lane, const struct reader_event *e,
                      bool known)
{
    if (known && (!lane->noted || e->ns > lane->last_ns)) {
        lane->noted = true;
        lane->last_ns = e->ns;
    }
}

uint64_t timeline_lane_end(const struct timeline *t,
                           const struct timeline_lane *lane)
{
    const struct reader_thread *thread = lane->thread;
    if (!thread || !thread->known || thread->alive || !lane->noted ||
        lane->last_ns < t->start_ns)
        return t->length_ns;
    /* 1 ns later: sorted by time, no end comes before its start */
    return (uint64_t)lane->last_ns - (uint64_t)t->start_ns + 1;
}

/* Reads all events once, to find the earliest time after each. */
static void look_ahead(struct timeline *t, bool quiet)
{
    struct timeline_inside *in = t->inside;
    struct reader *reader = &t->call->reader;
    struct reader_event e;
    size_t max = 0, i, unknown = 0;
    bool any = false, walled = false;
    int64_t first = 0, end = 0;
    uint64_t wall = 0;
    while (reader_next(reader, &e)) {
        bool known = time_is_known(&e);
        ARRAY_NEED(in->soonest, in->count + 1, max);
        unknown += !known;
        if (known && !any)
            first = end = e.ns;
        any = any || known;
        if (known && !walled && e.realtime_ns) {
            walled = true;
            wall = e.realtime_ns - (uint64_t)e.ns;
        }
        in->soonest[in->count++] = known ? e.ns : RECORDER_TIME_UNKNOWN_;
        if (e.kind)
            look_at_kind(t, &e);
        lane_note(lane_of(t, &e), &e, known);
    }
    in->before = in->first = first;
    t->start_ns = first;
    for (i = 0; i < in->count; i++) { /* unknown times become the time before */
        if (in->soonest[i] == RECORDER_TIME_UNKNOWN_)
            in->soonest[i] = first;
        first = in->soonest[i];
        end = first > end ? first : end;
    }
    for (i = in->count; i-- > 1;)
        if (in->soonest[i] < in->soonest[i - 1])
            in->soonest[i - 1] = in->soonest[i];
    if (in->count)
        t->start_ns = in->soonest[0];
    t->length_ns = (uint64_t)end - (uint64_t)t->start_ns;
    t->realtime_ns = walled ? wall + (uint64_t)t->start_ns : 0;
    if (unknown && !quiet)
        warn(t->call,
             "%zu of %zu records have no known time: they get the time "
             "of the record before",
             unknown, in->count);
    reader_rewind(reader);
}

void timeline_open(struct timeline *t, struct call *call, int value_key)
{
    *t = (struct timeline){.call = call};
    t->inside = need(calloc(1, sizeof *t->inside));
    t->inside->says = need(calloc(call->reader.recorders_count + 1, 1));
    for (int i = 0; i < call->options_count; i++)
        if (call->options[i].key == value_key)
            timeline_values_open(t, call->options[i].value);
    look_ahead(t, value_key == TIMELINE_QUIET);
}

void timeline_close(struct timeline *t)
{
    size_t i;
    timeline_values_close(t);
    for (i = 0; i < t->lanes_count; i++) {
        free(t->lanes[i]->spans);
        free(t->lanes[i]->cut);
        free(t->lanes[i]);
    }
    spans_free(&t->asyncs);
    free(t->lanes);
    for (i = 0; i < t->inside->name_ids.count; i++)
        free(t->inside->names[i]);
    free(t->inside->names);
    ids_free(&t->inside->name_ids);
    free(t->inside->soonest);
    free(t->inside->says);
    free(t->inside->heap);
    free(t->inside);
}

struct timeline *timelines_open(struct call *calls, int value_key,
                                size_t *count)
{
    struct timeline *all = NULL;
    uint64_t first = UINT64_MAX;
    size_t i = 0;
    for (*count = 0; calls; calls = calls->next) {
        all = need(realloc(all, (*count + 1) * sizeof *all));
        timeline_open(&all[*count], calls, value_key);
        if (all[*count].realtime_ns && all[*count].realtime_ns < first)
            first = all[*count].realtime_ns;
        ++*count;
    }
    for (; i < *count; i++)
        if (all[i].realtime_ns)
            all[i].later_ns = all[i].realtime_ns - first;
    return all;
}

void timelines_close(struct timeline *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        timeline_close(&all[i]);
    free(all);
}

/* ----------------------------------------------------------------- spans -- */

const char *timeline_span_name(const char *text)
{
    const char *name = text + (spans_step(text) != SPANS_NONE ? 2 : 1);
    while (*name == ' ')
        name++;
    return *name ? name : text;
}

const char *timeline_span_title(const struct timeline_span *span, size_t *size)
{
    *size = span->pair_size ? span->pair_size : strlen(span->name);
    return span->pair_size ? span->pair : span->name;
}

const char *timeline_opened(const struct timeline_event *e)
{
    return e->lane->spans[e->lane->depth - 1].name;
}

/* The name of an interrupt, valid until the timeline is closed. */
static const char *interrupt_name(struct timeline *t,
                                  const struct timeline_event *e)
{
    struct timeline_inside *in = t->inside;
    const uint64_t *word = e->read.event.argument;
    char text[SWITCHES_NAME_MAX], name[64];
    bool is_new;
    size_t i = ids_add(&in->name_ids, word[0], word[1], 0, &is_new);
    ARRAY_NEED(in->names, in->name_ids.count, in->names_max);
    if (is_new) {
        reader_word_text(&t->call->reader, &e->read, 0, text, sizeof text);
        in->names[i] = need(strdup(switches_name(text, word[1], name)));
    }
    return in->names[i];
}

static void span_open(struct timeline *t, struct timeline_event *e)
{
    struct timeline_lane *lane = e->lane;
    struct timeline_span span = {.recorder = e->read.recorder,
                                 .order = e->read.event.order,
                                 .ns = e->ns,
                                 .depth = lane->depth};
    char how;
    bool enters = kind_of(e->read.kind, &how) == KIND_ENTER;
    span.name = enters ? interrupt_name(t, e) : timeline_span_name(e->format);
    span.pair = spans_name(e->format, &span.pair_size);
    *array_add(lane->spans, lane->depth, lane->spans_max) = span;
    e->opens = true;
}

/* Finds the innermost of some spans that a record closes: one of its whole name
 * first. Returns its place, from 1 on; 0: there is none. Looks at MOST spans
 * only, as a hostile file may open any number. */
static size_t span_find(const struct timeline_span *spans, size_t count,
                        const struct timeline_event *e)
{
    enum { MOST = 1000 };
    size_t size, found = 0, least = count > MOST ? count - MOST : 0;
    const char *name = spans_name(e->format, &size);
    for (size_t i = count; i > least; i--) {
        const struct timeline_span *span = &spans[i - 1];
        int match;
        if (span->recorder != e->read.recorder)
            continue;
        match = spans_match(span->pair, span->pair_size, name, size);
        if (match == 2)
            return i;
        if (match == 1 && !found)
            found = i;
    }
    return found;
}

static void span_close(struct timeline *t, struct timeline_event *e)
{
    struct timeline_lane *lane = e->lane;
    size_t at = span_find(lane->spans, lane->depth, e);
    if (at) {
        size_t cut = lane->depth - at;
        if (cut) {
            ARRAY_NEED(lane->cut, lane->cut_count + cut, lane->cut_max);
            memcpy(lane->cut + lane->cut_count, lane->spans + at,
                   cut * sizeof *lane->cut);
        }
        lane->cut_count += cut;
        e->closed = cut + 1;
        lane->depth = at - 1;
        e->ended = &lane->spans[at - 1];
        return;
    }
    at = span_find(lane->cut, lane->cut_count, e);
    if (!at)
        return;
    t->inside->ended = lane->cut[at - 1];
    e->ended = &t->inside->ended;
    lane->cut_count--;
    memmove(&lane->cut[at - 1], &lane->cut[at],
            (lane->cut_count - (at - 1)) * sizeof *lane->cut);
}

/* Applies a record to its asynchronous span. */
static void async_note(struct timeline *t, struct timeline_event *e,
                       enum spans_step step)
{
    struct spans_async *async =
        spans_async(&t->asyncs, e->format, e->read.recorder, e->arguments,
                    e->arguments_count);
    if (!async)
        return;
    e->step = step;
    e->was_open = async->open;
    if (step == SPANS_OPENS) {
        async->turn += async->order != 0;
        async->order = e->read.event.order;
        async->ns = e->ns;
        async->open = true;
    } else if (step == SPANS_CLOSES) {
        async->open = false;
    }
    e->async = *async;
}

/* ------------------------------------------------------------------ gaps -- */

const char *timeline_gap(const struct timeline *t, size_t recorder,
                         uint64_t *ns)
{
    static char text[160];
    const struct reader_recorder *of = t->call->reader.recorders[recorder];
    const struct recorder_figures_ *figures = &of->figures;
    size_t size = 0;
    if (!of->chosen ||
        (!figures->overwritten && !figures->lost && !figures->missed))
        return NULL;
    *ns = 0;
    if (of->oldest_ns > t->start_ns)
        *ns = (uint64_t)of->oldest_ns - (uint64_t)t->start_ns;
    if (*ns > t->length_ns)
        *ns = t->length_ns;
    if (figures->overwritten)
        size = (size_t)sprintf(text, "%s%" PRIu64 " records overwritten",
                               figures->estimated ? "~" : "",
                               figures->overwritten);
    if (figures->lost)
        size += (size_t)sprintf(text + size,
                                size ? ", %" PRIu64 " lost"
                                     : "%" PRIu64 " records lost",
                                figures->lost);
    if (figures->missed)
        sprintf(text + size, "%s%" PRIu64 " slots missed", size ? ", " : "",
                figures->missed);
    return text;
}

/* ------------------------------------------------------------------ next -- */

bool timeline_read(struct timeline *t, struct reader_event *event, uint64_t *ns)
{
    struct timeline_inside *in = t->inside;
    struct reader *reader = &t->call->reader;
    struct waiting next;
    while (in->next < in->count &&
           (!in->heap_count || in->heap[0].ns > in->soonest[in->next]) &&
           reader_next(reader, &next.event)) {
        next.ns = time_is_known(&next.event) ? next.event.ns : in->before;
        in->before = next.ns;
        in->next++;
        heap_push(in, &next);
    }
    if (!in->heap_count)
        return false;
    heap_pop(in, &next);
    *event = next.event;
    *ns = (uint64_t)next.ns - (uint64_t)t->start_ns;
    return true;
}

void timeline_rewind(struct timeline *t)
{
    struct timeline_inside *in = t->inside;
    reader_rewind(&t->call->reader);
    in->next = in->heap_count = 0;
    in->before = in->first;
    in->done = 0;
    for (size_t i = 0; i < t->lanes_count; i++)
        t->lanes[i]->depth = t->lanes[i]->cut_count = 0;
    spans_free(&t->asyncs);
    t->asyncs = (struct spans_asyncs){0};
}

/* Returns the lane of the thread that ended a wait by an unlock, signal or
 * post: "<mutex %p: %d, by T%u" of lock_wait. A CPU's number may follow. */
static struct timeline_lane *ended_by(const struct timeline *t,
                                      const struct timeline_event *e)
{
    struct timeline_lane *by = NULL;
    if (strcmp(e->read.recorder->name, "lock_wait") == 0 &&
        strstr(e->format, ": %d, by T%u") && e->arguments_count >= 3)
        by = timeline_lane(t, (unsigned)e->arguments[2].word);
    return by == e->lane ? NULL : by;
}

bool timeline_next(struct timeline *t, struct timeline_event *e)
{
    struct reader *reader = &t->call->reader;
    *e = (struct timeline_event){0};
    progress(t->call, t->inside->done++, t->inside->count);
    if (!timeline_read(t, &e->read, &e->ns))
        return false;
    e->lane = lane_of(t, &e->read);
    e->recorder = recorder_of(t, &e->read);
    e->format = reader_format(reader, &e->read.event, &e->location);
    if (!e->format)
        e->format = "?";
    e->arguments_count = reader_arguments(reader, &e->read, e->arguments);
    for (size_t i = 0; i < t->values_count; i++)
        if (timeline_value(&t->values[i], e))
            t->values[i].seen = true;
    if (spans_step(e->format) != SPANS_NONE)
        async_note(t, e, spans_step(e->format));
    else if (e->format[0] == '>' && e->lane->thread)
        span_open(t, e);
    else if (e->format[0] == '<' && e->lane->thread)
        span_close(t, e);
    if (e->format[0] == '<')
        e->by = ended_by(t, e);
    return true;
}
