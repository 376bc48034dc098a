/* history.c - all events of a source, with formats that both sides share. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "buffer.h"
#include "timeline.h"

enum {
    STRINGS_MAX = 1 << 16, /* different texts of arguments */
    STRING_SHOWN = 48      /* bytes of one that are kept to be shown */
};

/* ----------------------------------------------------------------- names -- */

/* Two hashes of a text (FNV-1a). A forged collision makes two formats one. */
static void hash(uint64_t to[2], const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        to[0] = (to[0] ^ (unsigned char)text[i]) * 0x100000001b3u;
        to[1] = (to[1] + (unsigned char)text[i]) * 0x9e3779b97f4a7c15u;
    }
}

static size_t recorder_of(struct compare *c, const char *name)
{
    uint64_t h[2] = {0, 0};
    bool is_new;
    size_t i;
    hash(h, name, strlen(name));
    i = ids_of(&c->recorder_ids, h[0], h[1], 0, &is_new);
    c->recorders =
        need(array_room(c->recorders, &c->recorders_max, c->recorder_ids.count,
                        sizeof *c->recorders));
    if (is_new)
        c->recorders[i] = (struct compare_recorder){.name = name};
    c->recorders_count = c->recorder_ids.count;
    return i;
}

static size_t format_of(struct compare *c, const struct timeline_event *e)
{
    uint64_t h[2] = {0, 0};
    const char *place = recorder_location_name_(e->location);
    size_t recorder = recorder_of(c, e->read.recorder->name), i;
    bool is_new;
    hash(h, e->format, strlen(e->format) + 1);
    hash(h, place, strlen(place));
    i = ids_of(&c->format_ids, h[0], h[1], recorder, &is_new);
    c->formats = need(array_room(c->formats, &c->formats_max,
                                 c->format_ids.count, sizeof *c->formats));
    if (is_new)
        c->formats[i] =
            (struct compare_format){.text = e->format,
                                    .location = e->location,
                                    .recorder = recorder,
                                    .same = COMPARE_NONE,
                                    .first = {COMPARE_NONE, COMPARE_NONE}};
    c->formats_count = c->format_ids.count;
    return i;
}

static size_t string_of(struct compare *c, const char *text, size_t size)
{
    uint64_t h[2] = {0, 0};
    bool is_new;
    size_t i;
    hash(h, text, size);
    i = ids_of(&c->string_ids, h[0], h[1], 0, &is_new);
    if (!is_new)
        return i;
    c->strings = need(array_room(c->strings, &c->strings_max,
                                 c->string_ids.count, sizeof *c->strings));
    c->strings_count = c->string_ids.count;
    c->strings[i] = NULL;
    if (i < STRINGS_MAX)
        c->strings[i] =
            need(strndup(text, size < STRING_SHOWN ? size : STRING_SHOWN));
    return i;
}

/* ---------------------------------------------------------------- events -- */

/* A thread's open spans, by the events that opened them. */
struct open_spans {
    size_t *events;
    size_t max;
};

static void spans_keep(struct history *h, struct open_spans *open,
                       const struct timeline_event *e)
{
    struct timeline_lane *lane = e->lane;
    if (e->opens) {
        open->events = need(array_room(open->events, &open->max, lane->depth,
                                       sizeof *open->events));
        open->events[lane->depth - 1] = h->count - 1;
    }
    if (!e->closed)
        return;
    h->spans = need(array_room(h->spans, &h->spans_max, h->spans_count + 1,
                               sizeof *h->spans));
    h->spans[h->spans_count++] =
        (struct compare_span){.event = open->events[lane->depth],
                              .ns = e->ns - lane->spans[lane->depth].ns};
}

static void values_keep(struct compare *c, struct history *h,
                        struct timeline_event *e)
{
    reader_unmark(e->arguments, e->arguments_count);
    h->values = need(array_room(h->values, &h->values_max,
                                h->values_count + e->arguments_count + 1,
                                sizeof *h->values));
    for (unsigned i = 0; i < e->arguments_count; i++) {
        const struct reader_argument *a = &e->arguments[i];
        struct compare_value *to = &h->values[h->values_count++];
        to->kind = (unsigned char)a->kind;
        to->word = a->word;
        if (a->kind == READER_REAL)
            memcpy(&to->word, &a->real, sizeof to->word);
        else if (a->kind == READER_SIGNED || a->kind == READER_CHARACTER)
            to->word = (uint64_t)a->integer;
        else if (a->kind == READER_STRING)
            to->word = string_of(c, a->text, a->text_size);
    }
}

static size_t ring_of(struct history *h, size_t recorder,
                      const struct timeline_event *e)
{
    uint64_t lanes = e->read.recorder->figures.lanes;
    bool is_new;
    size_t i = ids_of(&h->rings, recorder,
                      lanes ? e->read.event.thread % lanes : 0, 0, &is_new);
    h->oldest = need(array_room(h->oldest, &h->oldest_max, h->rings.count,
                                sizeof *h->oldest));
    if (is_new || e->read.event.order < h->oldest[i])
        h->oldest[i] = e->read.event.order;
    return i;
}

static void event_keep(struct compare *c, struct history *h,
                       struct timeline_event *e)
{
    struct compare_event *to;
    size_t i = format_of(c, e);
    if (h->count >= UINT32_MAX || h->values_count >= UINT32_MAX - 12)
        fail(h->call, "has more records than can be compared: see --last");
    h->events =
        need(array_room(h->events, &h->max, h->count + 1, sizeof *h->events));
    to = &h->events[h->count++];
    *to = (struct compare_event){.order = e->read.event.order,
                                 .ns = e->ns,
                                 .format = (uint32_t)i,
                                 .thread = (uint32_t)e->lane->index,
                                 .values = (uint32_t)h->values_count,
                                 .count = (uint8_t)e->arguments_count};
    to->ring = (uint32_t)ring_of(h, c->formats[i].recorder, e);
    values_keep(c, h, e);
}

static void threads_keep(struct history *h, const struct timeline *t)
{
    h->threads_count = t->lanes_count;
    h->threads = need(calloc(t->lanes_count + 1, sizeof *h->threads));
    for (size_t i = 0; i < t->lanes_count; i++) {
        struct compare_thread *thread = &h->threads[i];
        strcpy(thread->name, t->lanes[i]->name);
        thread->number = t->lanes[i]->number;
        thread->match = thread->departs = COMPARE_NONE;
    }
    for (size_t i = 0; i < h->count; i++) {
        struct compare_thread *thread = &h->threads[h->events[i].thread];
        uint64_t ns = h->events[i].ns;
        if (!thread->count++)
            thread->first = i;
        else if (ns - h->events[thread->last].ns > thread->longest_ns)
            thread->longest_ns = ns - h->events[thread->last].ns;
        thread->last = i;
    }
}

/* The build ID of a format's file; for the program, as far as formats show
 * it. */
static void build_keep(struct history *h, uint64_t format)
{
    struct source *source = &h->call->source;
    const struct module *m = module_at(source, format), *first;
    first = m ? module_first(source, m->path) : NULL;
    if (first && source->build_id)
        h->build_size = source->build_id(source, first->start, h->build);
}

/* Notes which recorders lack records, because they were overwritten, cleared or
 * not chosen. */
static void cuts_keep(struct compare *c, struct history *h,
                      enum compare_side side)
{
    struct reader *reader = &h->call->reader;
    const struct reader_selection *s = &h->call->selection;
    bool selected = s->last || s->since_order || s->since_set;
    reader_count(reader);
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        size_t at;
        if (!r->chosen)
            continue;
        at = recorder_of(c, r->name);
        h->overwritten += r->figures.overwritten;
        if (r->figures.overwritten || selected || reader->cleared)
            h->cut = c->recorders[at].cut[side] = true;
    }
}

void history_read(struct compare *c, enum compare_side side)
{
    struct history *h = &c->of[side];
    struct open_spans *open;
    struct timeline timeline;
    struct timeline_event e;
    cuts_keep(c, h, side);
    timeline_open(&timeline, h->call, 0);
    open = need(calloc(timeline.lanes_count + 1, sizeof *open));
    while (timeline_next(&timeline, &e)) {
        event_keep(c, h, &e);
        spans_keep(h, &open[e.lane->index], &e);
        c->formats[h->events[h->count - 1].format].kept[side]++;
        if (!h->build_size)
            build_keep(h, e.read.event.format);
    }
    h->length_ns = timeline.length_ns;
    threads_keep(h, &timeline);
    for (size_t i = 0; i < timeline.lanes_count; i++)
        free(open[i].events);
    free(open);
    timeline_close(&timeline);
}

void history_close(struct history *h)
{
    free(h->events);
    free(h->values);
    free(h->spans);
    free(h->threads);
    free(h->oldest);
    ids_free(&h->rings);
}

/* ---------------------------------------------------------------- builds -- */

static bool is_same_but_line(const struct compare_format *a,
                             const struct compare_format *b)
{
    size_t a_size, b_size;
    const char *a_name = recorder_location_name_(a->location);
    const char *b_name = recorder_location_name_(b->location);
    reader_location(a_name, &a_size);
    reader_location(b_name, &b_size);
    return a->recorder == b->recorder && a_size == b_size &&
           strcmp(a->text, b->text) == 0 && memcmp(a_name, b_name, a_size) == 0;
}

static unsigned line_of(const struct compare_format *f)
{
    size_t size;
    return reader_location(recorder_location_name_(f->location), &size);
}

/* Compares formats by recorder, text, side and line. */
static const struct compare *sorting;
static int by_text(const void *left, const void *right)
{
    const struct compare_format *a = &sorting->formats[*(const size_t *)left];
    const struct compare_format *b = &sorting->formats[*(const size_t *)right];
    int text;
    if (a->recorder != b->recorder)
        return a->recorder < b->recorder ? -1 : 1;
    text = strcmp(a->text, b->text);
    if (text)
        return text;
    if (!a->kept[GOOD] != !b->kept[GOOD])
        return a->kept[GOOD] ? -1 : 1;
    return line_of(a) < line_of(b) ? -1 : line_of(a) > line_of(b);
}

/* Gives events of BAD the format of GOOD with their text, the nth of that text
 * and file the nth. */
void history_pair_formats(struct compare *c)
{
    size_t *alone = need(malloc((c->formats_count + 1) * sizeof *alone));
    size_t count = 0, i, k, next;
    for (i = 0; i < c->formats_count; i++)
        if (!c->formats[i].kept[GOOD] != !c->formats[i].kept[BAD])
            alone[count++] = i;
    sorting = c;
    qsort(alone, count, sizeof *alone, by_text);
    for (i = 0; i < count; i = next) {
        const struct compare_format *f = &c->formats[alone[i]];
        for (next = i + 1;
             next < count && is_same_but_line(f, &c->formats[alone[next]]);)
            next++;
        for (k = i; k < next && c->formats[alone[k]].kept[GOOD]; k++)
            ;
        for (size_t a = i, b = k; a < k && b < next; a++, b++) {
            c->formats[alone[b]].same = alone[a];
            c->formats[alone[a]].kept[BAD] = c->formats[alone[b]].kept[BAD];
            c->formats[alone[b]].kept[BAD] = 0;
        }
    }
    free(alone);
    for (i = 0; i < c->of[BAD].count; i++) {
        size_t same = c->formats[c->of[BAD].events[i].format].same;
        if (same != COMPARE_NONE)
            c->of[BAD].events[i].format = (uint32_t)same;
    }
}
