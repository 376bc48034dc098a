/* chrome.c - Chrome's Trace Event JSON, and of spans for speedscope. */
/* SPDX-License-Identifier: MIT */
/*
    An event a line. Viewers read times as doubles of microseconds: they count
    from the first record, with three decimals, and come back exact to the
    nanosecond for 100 days. Integers above 2^53 are strings. speedscope takes a
    span for another function where its arguments differ, so that it gets none.
*/
#include "export.h"
#include "switches.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct chrome {
    struct timeline *timeline; /* of the source that is being written */
    struct switches switches;
    struct output out;
    uint64_t pid;
    bool spans_only, messages;
};

static const uint64_t exact_max = UINT64_C(1) << 53;

static void put_unsigned(FILE *file, uint64_t value)
{
    fprintf(file, value > exact_max ? "\"%" PRIu64 "\"" : "%" PRIu64, value);
}
static void put_signed(FILE *file, int64_t value)
{
    fprintf(file,
            value > (int64_t)exact_max || value < -(int64_t)exact_max
                ? "\"%" PRId64 "\""
                : "%" PRId64,
            value);
}
static void put_argument(FILE *file, const struct reader_argument *argument)
{
    switch (argument->kind) {
    case READER_SIGNED:
    case READER_CHARACTER: put_signed(file, argument->integer); break;
    case READER_UNSIGNED: put_unsigned(file, argument->word); break;
    default: json_argument(file, argument);
    }
}

/* Begins an event behind another. */
static void event_begin(struct chrome *c, char phase, uint32_t tid)
{
    fprintf(c->out.file,
            ",\n{\"ph\":\"%c\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu32, phase,
            c->pid, tid);
}
static void put_time(struct chrome *c, uint64_t ns)
{
    ns += c->timeline->later_ns;
    fprintf(c->out.file, ",\"ts\":%" PRIu64 ".%03" PRIu64, ns / 1000,
            ns % 1000);
}
static void put_name(struct chrome *c, const char *name)
{
    fputs(",\"name\":", c->out.file);
    json_text(c->out.file, name);
}

/* ---------------------------------------------------------------- events -- */

/* Writes what is known of a source, as members of an object. */
static void put_about(struct chrome *c)
{
    const struct timeline *t = c->timeline;
    FILE *file = c->out.file;
    uint64_t end, read;
    end = reader_end_realtime(&t->call->reader, &read);
    fputs("\"source\":", file);
    json_text(file, t->call->name);
    json_member(file, "program", call_program(t->call));
    if (end)
        fprintf(file, ",\"end_wall_ns\":\"%" PRIu64 "\"", end);
    if (read)
        fprintf(file, ",\"read_wall_ns\":\"%" PRIu64 "\"", read);
    fprintf(file, ",\"start_ns\":\"%" PRId64 "\"", t->start_ns);
    if (t->realtime_ns)
        fprintf(file, ",\"start_wall_ns\":\"%" PRIu64 "\"", t->realtime_ns);
}

/* Writes a process's name. Of several sources, the source's name stands in
 * front, and they are shown in their order. */
static void put_process(struct chrome *c, size_t index)
{
    const struct timeline *t = c->timeline;
    const char *title = t->call->title;
    FILE *file = c->out.file;
    char *name = NULL;
    fprintf(file,
            "%s\n{\"ph\":\"M\",\"pid\":%" PRIu64
            ",\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":",
            index ? "," : "", c->pid);
    if (title && asprintf(&name, "%s: %s", title, call_program(t->call)) < 0)
        need(NULL);
    json_text(file, name ? name : call_program(t->call));
    free(name);
    fputs("}}", file);
    if (title) {
        event_begin(c, 'M', 0);
        fprintf(file,
                ",\"name\":\"process_sort_index\",\"args\":"
                "{\"sort_index\":%zu}}",
                index);
    }
    for (size_t i = 0; i < t->lanes_count; i++) {
        event_begin(c, 'M', t->lanes[i]->id);
        fputs(",\"name\":\"thread_name\",\"args\":{\"name\":", file);
        json_text(file, t->lanes[i]->name);
        fputs("}}", file);
        event_begin(c, 'M', t->lanes[i]->id);
        fprintf(file,
                ",\"name\":\"thread_sort_index\",\"args\":"
                "{\"sort_index\":%u}}",
                t->lanes[i]->number);
    }
}

static void put_gaps(struct chrome *c)
{
    const struct timeline *t = c->timeline;
    for (size_t i = 0; i < t->call->reader.recorders_count; i++) {
        uint64_t ns;
        const char *gap = timeline_gap(t, i, &ns);
        if (!gap)
            continue;
        event_begin(c, 'i', 0);
        put_time(c, ns);
        put_name(c, gap);
        fputs(",\"s\":\"p\",\"cat\":", c->out.file);
        json_text(c->out.file, t->call->reader.recorders[i]->name);
        putc('}', c->out.file);
    }
}

/* Writes the other fields of a record, behind time, thread, recorder, name. */
static void put_arguments(struct chrome *c, const struct timeline_event *e,
                          const char *message, size_t size)
{
    FILE *file = c->out.file;
    fputs(",\"args\":{\"message\":", file);
    json_string(file, message, size, false);
    for (unsigned i = 0; i < e->arguments_count; i++) {
        putc(',', file);
        json_text(file, timeline_name(c->timeline, e, i));
        putc(':', file);
        put_argument(file, &e->arguments[i]);
    }
    fputs(",\"order\":", file);
    put_unsigned(file, e->read.event.order);
    fprintf(file, ",\"caller\":\"0x%" PRIx64 "\"", e->read.event.caller);
    json_member(file, "location", e->location);
    putc('}', file);
}

/* The recorder, and a category more for a severity: "disk,sw2". */
static void put_category(FILE *file, const struct timeline_event *e)
{
    const char *severity = event_severity(&e->read.event);
    char category[1100]; /* a name has 1024 bytes at most */
    snprintf(category, sizeof category, "%s%s%s", e->read.recorder->name,
             severity ? "," : "", severity ? severity : "");
    json_text(file, category);
}

static void put_record(struct chrome *c, const struct timeline_event *e)
{
    FILE *file = c->out.file;
    size_t size;
    const char *message =
        reader_message(&c->timeline->call->reader, &e->read, &size);
    const char *name = c->messages ? message : e->format;
    if (c->spans_only && !e->opens)
        return;
    event_begin(c, e->opens ? 'B' : 'i', e->lane->id);
    put_time(c, e->ns);
    put_name(c, !e->opens     ? name
                : c->messages ? timeline_span_name(name)
                              : timeline_opened(e));
    if (!e->opens)
        fputs(",\"s\":\"t\"", file);
    fputs(",\"cat\":", file);
    put_category(file, e);
    if (!c->spans_only)
        put_arguments(c, e, message, size);
    putc('}', file);
}

/* The innermost `count` of the spans up to `top`. */
static void put_ends(struct chrome *c, uint64_t ns,
                     const struct timeline_lane *lane, size_t top, size_t count)
{
    while (count--) {
        const struct timeline_span *span = &lane->spans[--top];
        event_begin(c, 'E', lane->id);
        put_time(c, ns);
        if (!c->messages)
            put_name(c, span->name);
        fputs(",\"cat\":", c->out.file);
        json_text(c->out.file, span->recorder->name);
        putc('}', c->out.file);
    }
}

/* Begins an event of an asynchronous span, "b", or of its arrow, "s". */
static void async_begin(struct chrome *c, char phase, uint32_t tid,
                        const struct spans_async *async, uint64_t ns)
{
    FILE *file = c->out.file;
    event_begin(c, phase, tid);
    put_time(c, ns);
    fprintf(file, ",\"id\":\"%zx.%zx\",\"cat\":", async->number, async->turn);
    json_text(file, async->recorder->name);
    fputs(",\"name\":", file);
    json_string(file, async->name, async->name_size, false);
}

static void put_async_end(struct chrome *c, const struct spans_async *async,
                          uint64_t ns)
{
    async_begin(c, 'e', 0, async, ns);
    putc('}', c->out.file);
}

/* Opens and closes an asynchronous span, and leads an arrow through the records
 * that say so: they must lie in a span, of a nanosecond here. */
static void put_async(struct chrome *c, const struct timeline_event *e)
{
    static const char flows[] = {
        [SPANS_OPENS] = 's', [SPANS_GOES_ON] = 't', [SPANS_CLOSES] = 'f'};
    struct spans_async async = e->async;
    FILE *file = c->out.file;
    size_t size;
    const char *message;
    if (!e->step || (e->step != SPANS_OPENS && !e->was_open))
        return;
    if (e->step == SPANS_OPENS && e->was_open) {
        async.turn--;
        put_async_end(c, &async, e->ns);
        async.turn++;
    }
    if (e->step == SPANS_CLOSES)
        put_async_end(c, &async, e->ns);
    message = reader_message(&c->timeline->call->reader, &e->read, &size);
    if (e->step == SPANS_OPENS) {
        async_begin(c, 'b', 0, &async, e->ns);
        fputs(",\"args\":{\"message\":", file);
        json_string(file, message, size, false);
        fputs("}}", file);
    }
    event_begin(c, 'X', e->lane->id);
    put_time(c, e->ns);
    fputs(",\"dur\":0.001,\"cat\":\"async\"", file);
    put_name(c, timeline_span_name(message));
    putc('}', file);
    async_begin(c, flows[e->step], e->lane->id, &async, e->ns);
    fputs(e->step == SPANS_OPENS ? "}" : ",\"bp\":\"e\"}", file);
}

/* An arrow from who ended a wait to its end, which must lie in a span at either
 * side. */
static void put_wake(struct chrome *c, const struct timeline_event *e)
{
    static const char phases[] = {'s', 'f'};
    FILE *file = c->out.file;
    char name[64];
    if (!e->by)
        return;
    snprintf(name, sizeof name, "wakes T%u", e->lane->number);
    event_begin(c, 'X', e->by->id);
    put_time(c, e->ns);
    fputs(",\"dur\":0.001,\"cat\":\"wakes\"", file);
    put_name(c, name);
    putc('}', file);
    for (int i = 0; i < 2; i++) {
        event_begin(c, phases[i], i ? e->lane->id : e->by->id);
        put_time(c, e->ns);
        fprintf(file, ",\"id\":%" PRIu64 "%s,\"cat\":\"wakes\"",
                e->read.event.order, i ? ",\"bp\":\"e\"" : "");
        put_name(c, "wakes");
        putc('}', file);
    }
}

static void put_values(struct chrome *c, const struct timeline_event *e)
{
    for (size_t i = 0; i < c->timeline->values_count; i++) {
        const struct timeline_value *value = &c->timeline->values[i];
        const struct reader_argument *argument = timeline_value(value, e);
        if (!argument || !isfinite(value_number(argument)))
            continue;
        event_begin(c, 'C', 0);
        put_time(c, e->ns);
        put_name(c, value->label);
        fputs(",\"args\":{", c->out.file);
        json_text(c->out.file, value->name);
        putc(':', c->out.file);
        json_argument(c->out.file, argument);
        fputs("}}", c->out.file);
    }
}

/* -------------------------------------------------------------- switches -- */

/* A process of its own has a line for the threads of each processor and, where
 * there are such, for interrupts, sleeps and times without interrupts. */
static uint32_t cpu_line(unsigned cpu, enum switches_what what)
{
    return 4 * cpu + what;
}

static void put_cpu_name(struct chrome *c, uint64_t pid, uint32_t line,
                         const char *text)
{
    fprintf(c->out.file,
            ",\n{\"ph\":\"M\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu32
            ",\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
            pid, line, text);
}

/* "CPUs", or "web1: CPUs" */
static void put_cpus_name(struct chrome *c, uint64_t pid)
{
    const char *title = c->timeline->call->title;
    char text[300];
    snprintf(text, sizeof text, "%.256s%sCPUs", title ? title : "",
             title ? ": " : "");
    fprintf(c->out.file,
            ",\n{\"ph\":\"M\",\"pid\":%" PRIu64
            ",\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":",
            pid);
    json_text(c->out.file, text);
    fputs("}}", c->out.file);
}

static void put_slice(struct chrome *c, uint64_t pid,
                      const struct switches_slice *slice)
{
    const struct switches *s = &c->switches;
    uint64_t ns = slice->end - slice->begin;
    char name[64];
    if (slice->what == SWITCHES_THREAD && slice->state != SWITCHES_RUNNING)
        return;
    fprintf(c->out.file,
            ",\n{\"ph\":\"X\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu32, pid,
            cpu_line(slice->cpu, slice->what));
    put_time(c, slice->begin);
    fprintf(c->out.file, ",\"dur\":%" PRIu64 ".%03" PRIu64, ns / 1000,
            ns % 1000);
    put_name(c, slice->what == SWITCHES_IDLE ? "sleep"
                : slice->what == SWITCHES_OFF
                    ? "interrupts off"
                    : switches_slice_name(s, slice, name));
    fprintf(c->out.file, ",\"cat\":\"%s\"}",
            slice->state == SWITCHES_UNKNOWN &&
                    slice->what == SWITCHES_INTERRUPT
                ? "cpu,end unknown"
                : "cpu");
}

static void put_switches(struct chrome *c)
{
    static const char *const lines[] = {"CPU %u", "CPU %u interrupts",
                                        "CPU %u sleeps",
                                        "CPU %u interrupts off"};
    const struct switches *s = &c->switches;
    uint64_t pid = c->pid ^ UINT64_C(1) << 30;
    bool used[SWITCHES_CPUS][4] = {{false}};
    char text[40];
    if (!s->slices_count)
        return;
    put_cpus_name(c, pid);
    for (size_t i = 0; i < s->slices_count; i++) {
        used[s->slices[i].cpu][s->slices[i].what] = true;
        put_slice(c, pid, &s->slices[i]);
        output_check(&c->out);
    }
    for (unsigned i = 0; i < SWITCHES_CPUS; i++)
        for (unsigned k = 0; k < 4; k++)
            if (used[i][k]) {
                snprintf(text, sizeof text, lines[k], i);
                put_cpu_name(c, pid, cpu_line(i, k), text);
            }
}

/* Writes the metadata and events of a source. Returns how many spans. */
static size_t put_source(struct chrome *c, size_t index)
{
    struct timeline *t = c->timeline;
    struct timeline_event e;
    size_t spans = 0;
    c->pid = t->call->title        ? t->call->pid_shown
             : t->call->reader.pid ? t->call->reader.pid
                                   : 1;
    if (!c->spans_only)
        switches_export(&c->switches, t);
    put_process(c, index);
    if (!c->spans_only)
        put_gaps(c);
    while (timeline_next(t, &e)) {
        if (!c->spans_only)
            put_wake(c, &e);
        put_ends(c, e.ns, e.lane, e.lane->depth + e.closed, e.closed);
        put_record(c, &e);
        if (!c->spans_only) {
            put_async(c, &e);
            put_values(c, &e);
        }
        spans += e.opens;
        output_check(&c->out);
    }
    for (size_t i = 0; i < t->lanes_count; i++)
        put_ends(c, timeline_lane_end(t, t->lanes[i]), t->lanes[i],
                 t->lanes[i]->depth, t->lanes[i]->depth);
    for (size_t i = 0; !c->spans_only && i < t->asyncs.count; i++)
        if (t->asyncs.at[i].open)
            put_async_end(c, &t->asyncs.at[i], t->length_ns);
    if (!c->spans_only) {
        put_switches(c);
        switches_free(&c->switches);
    }
    return spans;
}

static void export_events(struct call *calls, const char *path, bool spans_only)
{
    struct chrome c = {.spans_only = spans_only};
    size_t count, i, spans = 0;
    struct timeline *all = timelines_open(calls, EXPORT_VALUE, &count);
    output_open(&c.out, calls, path);
    c.messages = !spans_only && call_option(calls, EXPORT_MESSAGES);
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{", c.out.file);
    for (i = 0; i < count; i++) {
        c.timeline = &all[i];
        if (!calls->title) {
            put_about(&c);
            continue;
        }
        fputs(i ? "," : "", c.out.file);
        json_text(c.out.file, all[i].call->title);
        fputs(":{", c.out.file);
        put_about(&c);
        putc('}', c.out.file);
    }
    fputs("},\n\"traceEvents\":[", c.out.file);
    for (i = 0; i < count; i++) {
        c.timeline = &all[i];
        spans += put_source(&c, i);
    }
    fputs("\n]}\n", c.out.file);
    if (spans_only && !spans)
        warn(calls, "there is no span: no format starts with >");
    timelines_close(all, count);
    output_close(&c.out);
}

void export_chrome(struct call *call, const char *path)
{
    export_events(call, path, false);
}
void export_speedscope(struct call *call, const char *path)
{
    export_events(call, path, true);
}
