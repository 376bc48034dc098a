/* spans.c - recorder spans: how often and how long, by the name of spans. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "print.h"
#include "timeline.h"

enum { OPTION_HISTOGRAM = OPTION_OWN };

/* All spans of one recorder and name. */
struct name {
    const struct reader_recorder *recorder;
    char *text, *title; /* "net: request", and "by id" after it */
    bool is_async;
    uint64_t *ns; /* of closed spans */
    size_t count, max;
    uint64_t total, open, longest, longest_order;
};

struct spans {
    struct call *call;
    struct timeline timeline;
    struct ids ids;
    struct name *names;
    size_t names_count, names_max;
    uint64_t without_begin;
    const struct reader_recorder *without_recorder; /* of the first of those */
    uint64_t without_order;
};

/* Finds the row of a name. Valid until the next call. */
static struct name *name_of(struct spans *s,
                            const struct reader_recorder *recorder,
                            const char *text, size_t size, bool is_async)
{
    struct name *name;
    bool is_new;
    name = array_at_key(s->names, &s->ids, s->names_max, recorder->address,
                        texts_add(&s->timeline.asyncs.texts, text, size),
                        is_async, &is_new);
    s->names_count = s->ids.count;
    if (is_new)
        *name = (struct name){.recorder = recorder,
                              .text = need(strndup(text, size)),
                              .title = need_text("%s: %.*s%s", recorder->shown,
                                                 (int)size, text,
                                                 is_async ? " (by id)" : ""),
                              .is_async = is_async};
    return name;
}

static struct name *name_of_span(struct spans *s,
                                 const struct timeline_span *span)
{
    size_t size;
    const char *title = timeline_span_title(span, &size);
    return name_of(s, span->recorder, title, size, false);
}

static struct name *name_of_async(struct spans *s,
                                  const struct spans_async *async)
{
    return name_of(s, async->recorder, async->name_size ? async->name : "?",
                   async->name_size ? async->name_size : 1, true);
}

static void add(struct name *name, uint64_t ns, uint64_t order)
{
    *array_add(name->ns, name->count, name->max) = ns;
    name->total += ns;
    if (name->count == 1 || ns > name->longest) {
        name->longest = ns;
        name->longest_order = order;
    }
}

static void without_begin(struct spans *s, const struct timeline_event *e)
{
    if (s->without_begin++)
        return;
    s->without_recorder = e->read.recorder;
    s->without_order = e->read.event.order;
}

static void add_event(struct spans *s, const struct timeline_event *e)
{
    if (e->step == SPANS_OPENS && e->was_open)
        name_of_async(s, &e->async)->open++;
    if (e->step == SPANS_CLOSES && e->was_open)
        add(name_of_async(s, &e->async), e->ns - e->async.ns, e->async.order);
    else if (e->ended && e->read.kind && strcmp(e->read.kind, "left") == 0)
        name_of_span(s, e->ended)->open++; /* it did not return */
    else if (e->ended)
        add(name_of_span(s, e->ended), e->ns - e->ended->ns, e->ended->order);
    else if (e->step == SPANS_CLOSES || (!e->step && e->format[0] == '<'))
        without_begin(s, e);
}

static void add_open(struct spans *s)
{
    struct timeline *t = &s->timeline;
    for (size_t i = 0; i < t->lanes_count; i++) {
        struct timeline_lane *lane = t->lanes[i];
        for (size_t n = 0; n < lane->depth; n++)
            name_of_span(s, &lane->spans[n])->open++;
        for (size_t n = 0; n < lane->cut_count; n++)
            name_of_span(s, &lane->cut[n])->open++;
    }
    for (size_t i = 0; i < t->asyncs.count; i++)
        if (t->asyncs.at[i].open)
            name_of_async(s, &t->asyncs.at[i])->open++;
}

/* ----------------------------------------------------------------- print -- */

static int longer(const void *a, const void *b)
{
    const struct name *left = a, *right = b;
    int names = strcmp(left->recorder->shown, right->recorder->shown);
    return array_order(right->total, left->total,
                       names ? names : strcmp(left->text, right->text));
}

static void print_json(const struct name *name)
{
    json_put(stdout,
             "{'recorder':%s,'span':%s,'by_id':%hhd,'count':%zu,'open':%" PRIu64
             ",'total_ns':%" PRIu64,
             name->recorder->shown, name->text, name->is_async, name->count,
             name->open, name->total);
    if (name->count)
        histogram_parts_json(name->ns, name->count, "median");
    if (name->count)
        printf(",\"least_ns\":%" PRIu64 ",\"longest_ns\":%" PRIu64
               ",\"longest_order\":%" PRIu64,
               name->ns[0], name->longest, name->longest_order);
    printf(",\"histogram\":[");
    histogram_json(name->ns, name->count);
    puts("]}");
}

static void print_row(const struct name *name, int width)
{
    char text[4][32], order[32] = "-";
    text_put(stdout, "%-*s", width, name->title);
    for (int i = 0; i < 4; i++)
        strcpy(text[i], "-");
    if (name->count) {
        table_time(name->total, text[0]);
        table_time(histogram_within(name->ns, name->count, 500), text[1]);
        table_time(histogram_within(name->ns, name->count, 990), text[2]);
        table_time(name->longest, text[3]);
        snprintf(order, sizeof order, "%" PRIu64, name->longest_order);
    }
    printf(" %8zu %10s %10s %10s %10s %9s %7" PRIu64 "\n", name->count, text[0],
           text[1], text[2], text[3], order, name->open);
}

static void print_table(const struct spans *s)
{
    int width = 4;
    for (size_t i = 0; i < s->names_count; i++)
        width = table_width(s->names[i].title, width);
    printf("%-*s %8s %10s %10s %10s %10s %9s %7s\n", width, "SPAN", "COUNT",
           "TOTAL", "MEDIAN", "99%", "LONGEST", "AT", "OPEN");
    for (size_t i = 0; i < s->names_count; i++) {
        print_row(&s->names[i], width);
        if (call_option(s->call, OPTION_HISTOGRAM))
            histogram_print(s->names[i].ns, s->names[i].count);
    }
}

/* ------------------------------------------------------------------ verb -- */

static bool has_spans(const struct spans *s,
                      const struct reader_recorder *recorder)
{
    for (size_t i = 0; i < s->names_count; i++)
        if (s->names[i].recorder == recorder)
            return true;
    return false;
}

static void warnings(const struct spans *s)
{
    const struct reader *reader = &s->call->reader;
    uint64_t overwritten = 0;
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        if (r->chosen)
            call_warn_lacking(s->call, r);
        if (has_spans(s, r))
            overwritten += r->figures.overwritten;
    }
    if (overwritten)
        warn(s->call,
             "%" PRIu64
             " records were overwritten: their spans are not counted",
             overwritten);
    if (s->without_begin)
        warn(s->call,
             "%" PRIu64 " %s a span without a beginning, "
             "overwritten or of another name; the first is %" PRIu64 " of %s",
             s->without_begin,
             s->without_begin == 1 ? "record closes" : "records close",
             s->without_order, s->without_recorder->shown);
    if (!s->names_count)
        warn(s->call, call_selects(s->call)
                          ? "there is no span among the chosen records"
                          : "there is no span: no format starts with >");
}

static int run(struct call *call)
{
    struct spans s = {.call = call};
    struct timeline_event e;
    call_open(call, 0);
    call_take(call);
    reader_count(&call->reader);
    timeline_open(&s.timeline, call, TIMELINE_QUIET);
    while (timeline_next(&s.timeline, &e))
        add_event(&s, &e);
    add_open(&s);
    for (size_t i = 0; i < s.names_count; i++)
        histogram_sort(s.names[i].ns, s.names[i].count);
    array_sort(s.names, s.names_count, longer);
    warnings(&s);
    if (call_option(call, 'j'))
        for (size_t i = 0; i < s.names_count; i++)
            print_json(&s.names[i]);
    else if (s.names_count)
        print_table(&s);
    for (size_t i = 0; i < s.names_count; i++) {
        free(s.names[i].text);
        free(s.names[i].title);
        free(s.names[i].ns);
    }
    free(s.names);
    ids_free(&s.ids);
    timeline_close(&s.timeline);
    return 0;
}

static const struct option_row rows[] = {
    {OPTION_HISTOGRAM, "histogram", NULL, "the distribution of times, too"},
    {'j', "json", NULL,
     "a JSON object a line for each name, with a histogram of [from, to, "
     "count] in ns"},
    {0, NULL, NULL, NULL}};

const struct verb verb_spans = {
    .name = "spans",
    .arguments = "SOURCE",
    .summary = "count, total, median, 99% and longest of spans, by name",
    .help =
        "A span is a block with RECORDER_SPAN(net, \"request %d\", id), or the "
        "time from a format with > to one with <. Its name ends at the first "
        "conversion or one of ,:;=( so that all requests are one line. A "
        "record closes the innermost span of its thread, recorder and name: a "
        "span without an end shifts no other, and counts as OPEN. \"by id\" "
        "are spans of >> and <<, which may begin and end in different threads: "
        "their first argument identifies them. AT is the sequence number of "
        "the record that opened the longest: see it with dump --since "
        "NUMBER.\n\n"
        "Spans that began before the first kept record are not counted. "
        "recorder why takes the slowest apart.",
    .rows = rows,
    .selects = true,
    .calls = true,
    .run = run};
