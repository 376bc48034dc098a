/* pack.c - packs events small, for a page to unpack: see view.h. */
/* SPDX-License-Identifier: MIT */
#include "pack_inside.h"
#include "print.h"

/* ----------------------------------------------------------------- bytes -- */

/* Adds a zigzag varint: small differences of either sign take few bytes. */
static void put_signed(struct buffer *b, uint64_t number)
{
    buffer_varint(b, number << 1 ^ (0 - (number >> 63)));
}

static void write_base64(FILE *to, const unsigned char *from, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4096];
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t here = size - i < 3 ? size - i : 3;
        unsigned long bits = (unsigned long)from[i] << 16;
        if (here > 1)
            bits |= (unsigned long)from[i + 1] << 8;
        if (here > 2)
            bits |= from[i + 2];
        for (size_t k = 0; k < 4; k++)
            text[used++] = k <= here ? digit[bits >> (18 - 6 * k) & 63] : '=';
        if (used == sizeof text || i + 3 >= size) {
            fwrite(text, 1, used, to);
            used = 0;
        }
    }
}

/* ------------------------------------------------------------------ pack -- */

struct view_pack *view_pack_new(struct call *call, struct reader *reader,
                                const struct value_option *values,
                                size_t values_count)
{
    struct view_pack *pack = need(calloc(1, sizeof *pack));
    pack->call = call;
    pack->reader = reader;
    if (call->title) {
        pack->calls = call;
        pack->start = sources_start(call);
        merge_begin(&pack->merge, call);
    }
    pack->values = values;
    pack->values_count = values_count;
    /* Raw, as DecompressionStream("deflate-raw") wants it. */
    need_done(deflateInit2(&pack->deflate, 6, Z_DEFLATED, -15, 9,
                           Z_DEFAULT_STRATEGY) == Z_OK);
    return pack;
}

void view_pack_free(struct view_pack *pack)
{
    struct buffer *all[] = {&pack->orders,        &pack->times,
                            &pack->packed,        &pack->event_sites,
                            &pack->messages,      &pack->joined,
                            &pack->event_threads, &pack->arguments};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->at);
    for (size_t i = 0; i < pack->series_count; i++) {
        free(pack->series[i].rows.at);
        free(pack->series[i].reals.at);
    }
    ids_free(&pack->recorders);
    ids_free(&pack->known);
    ids_free(&pack->threads);
    ids_free(&pack->formats);
    ids_free(&pack->callers);
    ids_free(&pack->sites);
    spans_free(&pack->asyncs);
    free(pack->event_asyncs.at);
    free(pack->steps);
    free(pack->fields_known);
    deflateEnd(&pack->deflate);
    if (pack->follow)
        switches_free(pack->follow);
    free(pack->follow);
    if (pack->calls)
        merge_end(&pack->merge);
    free(pack->figures);
    free(pack->names);
    free(pack->series);
    free(pack->series_of);
    free(pack);
}

void view_pack_warn(const struct view_pack *pack)
{
    for (size_t i = 0; i < pack->values_count; i++) {
        const struct value_option *value = &pack->values[i];
        bool matches = false, seen = false;
        for (size_t n = i; n < pack->series_of_count; n += pack->values_count) {
            uint32_t number = pack->series_of[n];
            matches |= number != 0;
            seen |= number && pack->series[number - 1].seen;
        }
        if (!matches)
            (pack->calls ? warn : fail)(pack->call, VALUE_UNKNOWN,
                                        value->names);
        else if (!seen)
            value_lacks(pack->call, pack->calls, value->names, value->field,
                        value->argument, value->name);
    }
}

/* Writes the joined columns, deflated, as a JSON string. */
static void write_packed(struct view_pack *pack, FILE *to)
{
    z_stream *z = &pack->deflate;
    size_t bound = deflateBound(z, (uLong)pack->joined.size);
    pack->packed.size = 0;
    z->next_in = pack->joined.at;
    z->avail_in = (uInt)pack->joined.size;
    z->next_out = buffer_room(&pack->packed, bound);
    z->avail_out = (uInt)bound;
    if (deflate(z, Z_FINISH) != Z_STREAM_END)
        fail(pack->call, "zlib does not compress: %s", z->msg ? z->msg : "?");
    fputc('"', to);
    write_base64(to, pack->packed.at, bound - z->avail_out);
    fputc('"', to);
    deflateReset(z);
    pack->joined.size = 0;
}

static void join(struct view_pack *pack, struct buffer *column)
{
    buffer_add(&pack->joined, column->at, column->size);
    column->size = 0;
}

/* Goes on with another one of several sources. */
static void pack_enter(struct view_pack *pack, struct call *call)
{
    pack->call = call;
    pack->reader = &call->reader;
    pack->source = 0;
    for (const struct call *c = pack->calls; c != call; c = c->next)
        pack->source++;
}

/* ---------------------------------------------------------------- events -- */

static void put_argument(struct buffer *to, const struct reader_argument *from)
{
    const char *text;
    size_t size;
    /* A string that may have changed is packed without its mark. */
    buffer_varint(to, from->changes ? READER_LOST + 1u : from->kind);
    switch (from->kind) {
    case READER_SIGNED:
    case READER_CHARACTER: put_signed(to, from->word); break;
    case READER_UNSIGNED:
    case READER_POINTER: buffer_varint(to, from->word); break;
    case READER_REAL: buffer_real(to, from->real); break;
    case READER_STRING:
        size = from->text_size - from->changes;
        text = text_repaired(from->text + from->changes, &size);
        buffer_varint(to, size);
        buffer_add(to, text, size);
        break;
    case READER_LOST: break;
    }
}

static void put_values(struct view_pack *pack, uint32_t recorder,
                       const struct reader_argument *arguments, unsigned count,
                       size_t row)
{
    for (size_t i = 0; i < pack->values_count; i++) {
        unsigned argument = value_place(
            pack->values[i].field, pack->values[i].argument, arguments, count);
        uint32_t number = pack->series_of[recorder * pack->values_count + i];
        struct series *series;
        if (!number || argument >= count ||
            !value_is_number(&arguments[argument]))
            continue;
        series = &pack->series[number - 1];
        buffer_varint(&series->rows, row - series->row);
        buffer_real(&series->reals, value_number(&arguments[argument]));
        series->row = row;
        series->count++;
        series->seen = true;
    }
}

/* Numbers the id of an asynchronous span, from 1 on; 0: the record has none. */
static void put_async(struct view_pack *pack, const struct reader_event *event,
                      uint32_t number, const struct reader_argument *arguments,
                      unsigned count)
{
    const struct spans_async *async;
    const char *format, *location;
    if (pack->steps[number] == SPANS_NONE)
        return;
    format = reader_format(pack->reader, &event->event, &location);
    async = format ? spans_async(&pack->asyncs, format, event->recorder,
                                 arguments, count)
                   : NULL;
    buffer_varint(&pack->event_asyncs, async ? async->number + 1 : 0);
}

/* Adds the names that a format gives its arguments, once. */
static void know_fields(struct view_pack *pack, uint32_t number,
                        const struct reader_argument *arguments, unsigned count)
{
    unsigned named = count;
    FILE *to;
    if (pack->fields_known[number])
        return;
    pack->fields_known[number] = true;
    while (named && !arguments[named - 1].name)
        named--;
    if (!named)
        return;
    to = rows_next(&pack->new_fields);
    fprintf(to, "[%" PRIu32, number);
    for (unsigned i = 0; i < named; i++)
        pack_print(pack, to, ",%s", arguments[i].name);
    fputc(']', to);
}

static void put_event(struct view_pack *pack, const struct reader_event *event,
                      size_t row)
{
    struct reader_argument arguments[12];
    unsigned count;
    size_t size;
    uint32_t format, thread = pack_thread(pack, event->thread);
    const char *message = reader_message(pack->reader, event, &size);
    uint64_t ns = (uint64_t)event->ns;
    if (pack->calls && event->ns != RECORDER_TIME_UNKNOWN_ &&
        event->realtime_ns)
        ns = event->realtime_ns - pack->start;
    buffer_add(&pack->messages, message, size);
    buffer_add(&pack->messages, "\n", 1);
    count = reader_arguments(pack->reader, event, arguments);
    buffer_varint(&pack->arguments, count);
    for (unsigned i = 0; i < count; i++)
        put_argument(&pack->arguments, &arguments[i]);
    if (pack->values_count)
        put_values(pack, pack_recorder(pack, event->recorder), arguments, count,
                   row);
    put_signed(&pack->orders, event->event.order - pack->order);
    put_signed(&pack->times, ns - pack->ns);
    buffer_varint(&pack->event_threads, thread);
    buffer_varint(&pack->event_sites, pack_site(pack, event));
    if (pack->follow)
        switches_hear(pack->follow, event, thread);
    format = pack_format(pack, &event->event);
    know_fields(pack, format, arguments, count);
    put_async(pack, event, format, arguments, count);
    pack->order = event->event.order;
    pack->ns = ns;
}

static void write_block(struct view_pack *pack, FILE *to)
{
    buffer_varint(&pack->joined, pack->messages.size);
    join(pack, &pack->messages);
    join(pack, &pack->arguments);
    write_packed(pack, to);
}

static void write_columns(struct view_pack *pack, FILE *to)
{
    join(pack, &pack->orders);
    join(pack, &pack->times);
    join(pack, &pack->event_threads);
    join(pack, &pack->event_sites);
    join(pack, &pack->event_asyncs);
    for (size_t i = 0; i < pack->series_count; i++) {
        struct series *series = &pack->series[i];
        buffer_varint(&pack->joined, series->count);
        join(pack, &series->rows);
        join(pack, &series->reals);
        series->count = series->row = 0;
    }
    write_packed(pack, to);
}

/* Calls a function for each source, as if an event of it came. */
static void sources_each(struct view_pack *pack,
                         void (*does)(struct view_pack *, FILE *, bool *),
                         FILE *to, bool *any)
{
    struct call *call = pack->call;
    struct reader *reader = pack->reader;
    uint64_t source = pack->source;
    if (!pack->calls)
        does(pack, to, any);
    for (struct call *c = pack->calls; c; c = c->next) {
        pack_enter(pack, c);
        does(pack, to, any);
    }
    pack->call = call;
    pack->reader = reader;
    pack->source = source;
}

/* Adds the name of a recorder, even of one that is not chosen: the colour of
 * each name depends on all names. */
static void know_name(struct view_pack *pack, const struct reader_recorder *r)
{
    bool new;
    ids_add(&pack->known, r->address, pack->source, 0, &new);
    if (new) {
        FILE *to = rows_next(&pack->new_names);
        pack_print(pack, to, "[%s", r->shown);
        pack_row_end(pack, to);
    }
}

/* Converts a time of this source to the common axis of all sources. */
static int64_t time_of_all(const struct view_pack *pack, int64_t ns)
{
    uint64_t start = reader_start_realtime(pack->reader);
    return pack->calls && start && ns != RECORDER_TIME_UNKNOWN_
               ? (int64_t)(start + (uint64_t)ns - pack->start)
               : ns;
}

static void figures_write(struct view_pack *pack, FILE *to, bool *any)
{
    const struct reader *reader = pack->reader;
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        know_name(pack, r);
        if (!r->chosen)
            continue;
        fputs(*any ? "," : "", to);
        pack_print(pack, to,
                   "[%" PRIu32 ",'%" PRIu64 "','%" PRIu64 "','%" PRIu64
                   "',%d,'%" PRId64 "',%s",
                   pack_recorder(pack, r), r->figures.kept,
                   r->figures.overwritten, r->figures.lost,
                   r->figures.estimated != 0, time_of_all(pack, r->oldest_ns),
                   recorder_trace_is_frozen_(r->trace)    ? "frozen"
                   : recorder_trace_is_watched_(r->trace) ? "watched"
                                                          : "");
        *any = true;
        if (r->wrong)
            pack_print(pack, to, ",%s", r->wrong);
        fputc(']', to);
    }
}

/* Adds all recorders, with or without events, and their figures if these have
 * changed. */
static void write_figures(struct view_pack *pack, FILE *to)
{
    bool any = false;
    char *now;
    size_t size;
    FILE *text = need(open_memstream(&now, &size));
    sources_each(pack, figures_write, text, &any);
    need_done(fclose(text) == 0);
    if (!pack->figures || strcmp(now, pack->figures) != 0)
        fprintf(to, ",\"figures\":[%s]", now);
    free(pack->figures);
    pack->figures = now;
}

/* -------------------------------------------------------------- switches -- */

void view_pack_switches(struct view_pack *pack, const struct switches *s)
{
    pack->switches = s->slices_count ? s : NULL;
}
void view_pack_follow(struct view_pack *pack)
{
    if (pack->call->selection.thread)
        return;
    pack->follow = need(malloc(sizeof *pack->follow));
    switches_follow(pack->follow, pack->reader);
}
void view_pack_ends(struct view_pack *pack)
{
    pack->ends = true;
}

static void write_slices(struct view_pack *pack, const struct switches *s)
{
    struct buffer *b = &pack->joined;
    uint64_t before = 0;
    uint64_t start = s->timeline ? (uint64_t)s->timeline->start_ns : 0;
    for (size_t i = 0; i < s->slices_count; i++) {
        const struct switches_slice *slice = &s->slices[i];
        buffer_varint(b, 8 * slice->what + slice->state);
        buffer_varint(b, slice->of);
        buffer_varint(b, slice->cpu);
        buffer_varint(b, slice->depth);
        put_signed(b, start + slice->begin - before);
        buffer_varint(b, slice->end - slice->begin);
        before = start + slice->begin;
    }
}

/* The row of a thread in the page. A thread that recorded nothing is known from
 * its switches. */
static uint32_t row_of(struct view_pack *pack, struct switches_thread *thread)
{
    struct timeline_lane silent = {.index = thread->index,
                                   .id = (uint32_t)thread->id,
                                   .thread_of = thread};
    const struct timeline_lane *lane = thread->lane;
    if (lane)
        return lane->thread ? pack_thread(pack, lane->thread)
                            : pack_silent(pack, lane);
    if (!thread->row)
        thread->row = pack_silent(pack, &silent);
    return thread->row;
}

/* Ends a take of a running program. */
static void follow_switches(struct view_pack *pack)
{
    struct switches *s = pack->follow;
    switches_heard(s, pack->reader->missed != pack->missed, pack->ends);
    pack->missed = pack->reader->missed;
    pack->switches = s->slices_count ? s : NULL;
}

static void write_switches(struct view_pack *pack, FILE *to)
{
    const struct switches *s = pack->switches;
    char name[64];
    if (!s)
        return;
    pack->switches = NULL;
    fputs(",\"switches\":{\"threads\":[", to);
    for (size_t i = 0; i < s->threads_count; i++)
        fprintf(to, "%s%" PRIu32, i ? "," : "", row_of(pack, s->threads[i]));
    fputs("],\"interrupts\":[", to);
    for (size_t i = 0; i < s->interrupts_count; i++)
        pack_print(
            pack, to, i ? ",%s" : "%s",
            switches_name(s->interrupts[i].name, s->interrupts[i].id, name));
    fprintf(to, "],\"count\":%zu,\"slices\":", s->slices_count);
    write_slices(pack, s);
    write_packed(pack, to);
    fputc('}', to);
    if (pack->follow)
        pack->follow->slices_count = 0;
}

/* Gets the next event, of any source. */
static bool event_next(struct view_pack *pack, struct reader_event *event)
{
    struct call *of;
    if (!pack->calls)
        return reader_next(pack->reader, event);
    of = merge_next(&pack->merge, event);
    if (of && of != pack->call)
        pack_enter(pack, of);
    return of;
}

size_t view_pack_write(struct view_pack *pack, FILE *to, size_t max,
                       bool in_html)
{
    struct reader_event event;
    size_t count = 0;
    pack->in_html = in_html;
    pack->order = pack->ns = 0;
    fputs("{\"texts\":[", to);
    while (count < max && event_next(pack, &event)) {
        if (count && count % VIEW_BLOCK == 0) {
            write_block(pack, to);
            fputc(',', to);
        }
        put_event(pack, &event, count++);
    }
    if (count)
        write_block(pack, to);
    fprintf(to, "],\"count\":%zu,\"missed\":[\"%" PRIu64 "\",%d]", count,
            pack->reader->missed, pack->reader->missed_estimated);
    write_figures(pack, to);
    if (pack->follow && count < max)
        follow_switches(pack);
    write_switches(pack, to);
    fputs(",\"columns\":", to);
    write_columns(pack, to);
    rows_write(&pack->new_names, to, "names");
    rows_write(&pack->new_recorders, to, "recorders");
    rows_write(&pack->new_series, to, "series");
    rows_write(&pack->new_threads, to, "threads");
    rows_write(&pack->new_formats, to, "formats");
    rows_write(&pack->new_fields, to, "fields");
    rows_write(&pack->new_callers, to, "callers");
    rows_write(&pack->new_sites, to, "sites");
    fputc('}', to);
    return count;
}
