/* Events by time, spans, values: tools/export/timeline.c alone. */
/* SPDX-License-Identifier: MIT */
/* The reader is these few functions, over an array of events. */
#include "export/timeline.c"
#include "export/timeline_values.c"
#include "export/buffer.c"
#include "export/kinds.c"
#include "export/spans.c"
#include "export/value.c"
#include "reader/ids.c"
#include "reader/texts.c"

#include <criterion/criterion.h>

#include "harness/random.h"
#include "recorder/regex.h"

enum { EVENTS = 20000, THREADS = 5, RECORDERS = 3 };

static struct reader_event events[EVENTS];
static size_t events_count, events_next;
static const char *formats[EVENTS]; /* of event i, by its format i */
static struct reader_recorder recorders[RECORDERS] = {
    {.name = "net", .shown = "net", .chosen = true},
    {.name = "net_2", .shown = "net_2", .chosen = true},
    {.name = "disk", .shown = "disk", .chosen = true}};
static struct reader_recorder *all[] = {&recorders[0], &recorders[1],
                                        &recorders[2]};
static struct reader_thread threads[THREADS];
static char said[1000];

bool reader_next(struct reader *reader, struct reader_event *to)
{
    (void)reader;
    if (events_next == events_count)
        return false;
    *to = events[events_next++];
    return true;
}
void reader_rewind(struct reader *reader)
{
    (void)reader;
    events_next = 0;
}
const char *reader_format(struct reader *reader,
                          const struct recorder_event *event,
                          const char **location)
{
    (void)reader;
    *location = "?";
    return formats[event->format];
}
unsigned reader_arguments(struct reader *reader, const struct reader_event *e,
                          struct reader_argument to[12])
{
    (void)reader;
    to[0] = (struct reader_argument){.kind = READER_SIGNED,
                                     .integer = (int64_t)e->event.order};
    to[1] = (struct reader_argument){.kind = READER_STRING, .text = "1"};
    return 2;
}
bool reader_is_named(const struct reader_recorder *r, const char *names)
{
    return recorder_regex_match_(names, r->name);
}
/* No event here is of an interrupt. */
size_t reader_word_text(struct reader *reader, const struct reader_event *e,
                        unsigned i, char *to, size_t max)
{
    (void)reader, (void)e, (void)i, (void)to, (void)max;
    abort();
}
void reader_unmark(struct reader_argument *arguments, unsigned count)
{
    (void)arguments, (void)count;
    abort();
}
const char *switches_name(const char *name, uint64_t id, char to[64])
{
    (void)name, (void)id, (void)to;
    abort();
}
static void say(const char *format, va_list arguments)
{
    size_t size = strlen(said);
    vsnprintf(said + size, sizeof said - size, format, arguments);
}
void warn(const struct call *call, const char *format, ...)
{
    va_list arguments;
    (void)call;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}
void misuse(const struct call *call, const char *format, ...)
{
    va_list arguments;
    (void)call;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    cr_assert_fail("misuse: %s", said);
    abort();
}
void fail(const struct call *call, const char *format, ...)
{
    misuse(call, "%s", format);
}
void progress(struct call *call, uint64_t done, uint64_t of)
{
    (void)call;
    cr_assert_leq(done, of);
}
void *need(void *memory)
{
    cr_assert_not_null(memory);
    return memory;
}

static struct call call = {
    .reader = {.recorders = all, .recorders_count = RECORDERS}};
static struct timeline timeline;

/* An event more, of the next order. */
static void add(int64_t ns, unsigned thread, unsigned recorder,
                const char *format)
{
    size_t i = events_count++;
    formats[i] = format;
    threads[thread] = (struct reader_thread){.number = thread + 1,
                                             .id = 100 + (int32_t)thread};
    events[i] = (struct reader_event){
        .event = {.order = i + 1, .format = i, .thread = thread + 1},
        .ns = ns,
        .realtime_ns =
            ns == RECORDER_TIME_UNKNOWN_ ? 0 : 1000000 + (uint64_t)ns,
        .recorder = &recorders[recorder],
        .thread = &threads[thread]};
}

/* ------------------------------------------------------------------ time -- */

/* Goal: any events come out, each once, by (time, order). Method: random times,
 * mostly near those of the neighbours, some far off, some unknown. */
Test(timeline, sorts_by_time)
{
    uint64_t random = seed_of("sorts_by_time"), seen = 0, last = 0, order = 0;
    int64_t before = INT64_MIN, first = INT64_MAX, ns[EVENTS];
    struct timeline_event e;
    size_t unknown = 0;
    for (int i = 0; i < EVENTS; i++) {
        uint64_t r = random_of(&random);
        int64_t at = (int64_t)(i * 10 + (int64_t)(r >> 40) % 50 - 25);
        if (r % 97 == 0)
            at = (int64_t)(r >> 44) % (EVENTS * 10) - EVENTS;
        if (r % 101 == 0 || (i < 3))
            at = r % 2 ? RECORDER_TIME_UNKNOWN_ : INT64_MAX - 5;
        unknown += r % 101 == 0 || i < 3;
        add(at, r >> 8 & 3, r >> 12 & 1, "%d %s");
        if (!time_is_known(&events[i]))
            at = before; /* INT64_MIN: the first that is known, below */
        ns[i] = before = at;
    }
    for (int i = EVENTS; i-- > 0;) {
        if (ns[i] == INT64_MIN)
            ns[i] = ns[i + 1];
        first = ns[i] < first ? ns[i] : first;
    }
    timeline_open(&timeline, &call, 1);
    cr_assert_eq(timeline.start_ns, first);
    cr_assert_eq(timeline.realtime_ns, 1000000 + (uint64_t)first);
    cr_assert_not_null(strstr(said, "records have no known time"), "%s", said);
    cr_assert_eq((size_t)atoi(said), unknown, "%s", said);
    while (timeline_next(&timeline, &e)) {
        size_t i = e.read.event.order - 1;
        cr_assert_eq((uint64_t)(ns[i] - first), e.ns, "event %zu", i);
        cr_assert(seen == 0 || e.ns > last ||
                      (e.ns == last && e.read.event.order > order),
                  "event %zu", i);
        cr_assert_eq(e.lane->thread, events[i].thread);
        cr_assert_eq(all[e.recorder], events[i].recorder);
        last = e.ns;
        order = e.read.event.order;
        seen++;
        cr_assert_neq(events[i].ns, INT64_MIN + 1, "event %zu twice", i);
        events[i].ns = INT64_MIN + 1;
    }
    cr_assert_eq(seen, EVENTS);
    cr_assert_eq(timeline.length_ns, last);
    timeline_close(&timeline);
}

/* ----------------------------------------------------------------- spans -- */

/* What opens and closes, as "(name" and ")name", and "." for other records. */
static const char *spans_text(void)
{
    static char text[2000];
    struct timeline_event e;
    size_t size = 0;
    text[0] = '\0';
    timeline_open(&timeline, &call, 1);
    while (timeline_next(&timeline, &e)) {
        for (size_t n = e.closed; n-- > 0;)
            size += (size_t)sprintf(text + size, ")%s ",
                                    e.lane->spans[e.lane->depth + n].name);
        if (e.opens)
            size += (size_t)sprintf(text + size, "(%s ",
                                    e.lane->spans[e.lane->depth - 1].name);
        else
            size += (size_t)sprintf(text + size, ". ");
    }
    for (size_t i = 0; i < timeline.lanes_count; i++)
        size += (size_t)sprintf(text + size, "%zu", timeline.lanes[i]->depth);
    timeline_close(&timeline);
    return text;
}

/* Goal: spans pair by thread and recorder and nest, whatever is missing. */
Test(timeline, pairs_spans)
{
    add(1, 0, 0, "<lost its start");
    add(2, 0, 0, ">a");
    add(3, 0, 1, "> b of %d");
    add(4, 0, 1, "in b");
    add(5, 0, 2, "<disk has no span");
    add(6, 1, 0, "<nor has this thread");
    add(7, 0, 1, "<b");
    add(8, 0, 1, ">c, which a ends");
    add(9, 0, 0, "<a");
    add(10, 0, 1, "<c, too late");
    add(11, 1, 0, ">");
    add(12, 1, 0, ">x");
    cr_assert_str_eq(spans_text(),
                     ". (a (b of %d . . . )b of %d . (c, which a ends "
                     ")c, which a ends )a . . (> (x 02");
}

/* Goal: a close finds its span by its name; one that is forgotten shifts no
 * other, neither those around it nor those that follow. */
Test(timeline, a_forgotten_close_shifts_nothing)
{
    add(1, 0, 0, "> outer");
    for (int i = 0; i < 3; i++) {
        add(10 * i + 2, 0, 0, "> request %d");
        add(10 * i + 3, 0, 0, "> parse");
        if (i != 1)
            add(10 * i + 4, 0, 0, "< parse");
        add(10 * i + 5, 0, 0, "< request %d: done");
    }
    add(40, 0, 0, "< parses");
    add(41, 0, 0, "< out");
    add(42, 0, 0, "<");
    cr_assert_str_eq(spans_text(),
                     "(outer (request %d (parse )parse . )request %d . "
                     "(request %d (parse )parse )request %d . "
                     "(request %d (parse )parse . )request %d . "
                     ". . )outer . 0");
}

/* Goal: a span that another cut is measured by its own close; names agree by
 * whole words. */
Test(timeline, spans_that_cross)
{
    struct timeline_event e;
    uint64_t ns[5] = {0};
    add(1, 0, 0, "> a");
    add(2, 0, 0, "> b");
    add(4, 0, 0, "< a");
    add(8, 0, 0, "< b, %d bytes");
    add(9, 0, 0, "> read block %d");
    add(19, 0, 0, "< read, %d KiB");
    timeline_open(&timeline, &call, 1);
    for (int i = 0; timeline_next(&timeline, &e);)
        if (e.ended)
            ns[i++] = e.ns - e.ended->ns;
    cr_assert(ns[0] == 3 && ns[1] == 6 && ns[2] == 10 && ns[3] == 0);
    timeline_close(&timeline);
}

/* Goal: what an ended thread left open ends with its last record. */
Test(timeline, ended_threads_end_their_spans)
{
    struct timeline_event e;
    add(1, 0, 0, "> a");
    add(5, 0, 1, "last of T1");
    add(2, 1, 0, "> b");
    add(9, 1, 0, "goes on");
    threads[0].known = threads[1].known = threads[1].alive = true;
    timeline_open(&timeline, &call, 1);
    while (timeline_next(&timeline, &e))
        ;
    cr_assert_eq(timeline_lane_end(&timeline, timeline.lanes[0]), 5);
    cr_assert_eq(timeline_lane_end(&timeline, timeline.lanes[1]), 8);
    timeline_close(&timeline);
}

/* Goal: where the thread is not known, records of several would mix. */
Test(timeline, unknown_threads_have_no_spans)
{
    add(1, 0, 0, ">a");
    add(2, 0, 0, "<a");
    events[0].thread = events[1].thread = NULL;
    events[1].event.thread = RECORDER_THREAD_SHARED;
    timeline_open(&timeline, &call, 1);
    cr_assert_eq(timeline.lanes_count, 2);
    cr_assert_str_eq(timeline.lanes[0]->name, "earlier T1");
    cr_assert_str_eq(timeline.lanes[1]->name, "unknown thread");
    cr_assert_neq(timeline.lanes[0]->id, timeline.lanes[1]->id);
    timeline_close(&timeline);
    events_next = 0;
    cr_assert_str_eq(spans_text(), ". . 00");
}

/* Goal: no two lanes have one id, though the kernel gave it to two threads. */
Test(timeline, lanes_have_ids_of_their_own)
{
    add(1, 0, 0, "a");
    add(2, 1, 0, "b");
    add(3, 2, 0, "c");
    threads[1].id = threads[0].id;
    threads[2].id = 0; /* no operating system */
    timeline_open(&timeline, &call, 1);
    cr_assert_eq(timeline.lanes_count, 3);
    cr_assert_eq(timeline.lanes[0]->id, 100);
    cr_assert_neq(timeline.lanes[1]->id, 100);
    cr_assert_neq(timeline.lanes[2]->id, 0);
    cr_assert_neq(timeline.lanes[1]->id, timeline.lanes[2]->id);
    timeline_close(&timeline);
}

/* ---------------------------------------------------------------- values -- */

/* Goal: a value is a number of a recorder whose whole name matches. */
Test(timeline, values_are_chosen)
{
    struct timeline_event e;
    int numbers = 0;
    add(1, 0, 0, "%d %s");
    add(2, 0, 1, "%d %s");
    add(3, 0, 2, "%d %s");
    call.options[0] = (struct call_option){1, "net[_[:alnum:]]*:1=bytes"};
    call.options[1] = (struct call_option){1, "disk:2"};
    call.options[2] = (struct call_option){1, "et:1=part of a name"};
    call.options_count = 3;
    call.title = "one of several";
    timeline_open(&timeline, &call, 1);
    cr_assert_eq(timeline.values_count, 3);
    cr_assert_str_eq(timeline.values[0].label, "net bytes");
    cr_assert_str_eq(timeline.values[1].label, "net_2 bytes");
    cr_assert_str_eq(timeline.values[2].label, "argument 2");
    cr_assert_not_null(strstr(said, "et:1=part of a name: no recorder"));
    while (timeline_next(&timeline, &e)) {
        for (size_t i = 0; i < timeline.values_count; i++) {
            const struct reader_argument *a =
                timeline_value(&timeline.values[i], &e);
            if (!a)
                continue;
            numbers++;
            cr_assert_eq(value_number(a), (double)e.read.event.order);
            cr_assert_str_eq(timeline_name(&timeline, &e, 0), "bytes");
        }
        cr_assert_str_eq(timeline_name(&timeline, &e, 2), "arg3");
    }
    cr_assert_eq(numbers, 2);
    timeline_close(&timeline);
    cr_assert_not_null(strstr(said, "disk has no number as argument 2"), "%s",
                       said);
}
