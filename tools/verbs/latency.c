/* latency.c - recorder latency: how long it takes from one record to
 * another. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "filters.h"
#include "print.h"
#include "switches.h"

enum {
    OPTION_FROM = OPTION_OWN,
    OPTION_TO,
    OPTION_BY,
    OPTION_DEADLINE,
    OPTION_MOST,
    OPTION_HISTOGRAM
};
enum { FROM = 1, TO = 2, LEFT = 4 }; /* FROM * LEFT: by the thread that left */
enum { BY_NOTHING = -1, BY_ID = 100, BY_THREAD };

/* A record that began, and has not ended. */
struct begun {
    uint64_t order, ns;
    size_t next; /* 1 + the next of its key; 0: none */
};

struct pair {
    uint64_t ns, from, to; /* their orders */
    char *texts[2];
};

struct latency {
    struct call *call;
    struct timeline timeline;
    regex_t from, to;
    int by;               /* an argument, from 0, or BY_ ... */
    const char *by_name;  /* of an argument; null: `by` says which */
    uint64_t deadline_ns; /* 0: none */
    size_t shown_max;
    /* The results: */
    unsigned char *flags; /* of each event, by time: FROM, TO */
    size_t flags_count, flags_max, matches[TO + 1];
    bool *matched; /* by recorder */
    struct ids keys, names;
    struct texts texts;
    struct called {
        char *name; /* null: none */
        bool runs, waits;
    } * called; /* by number of names */
    size_t called_max;
    struct queue {
        size_t first, last; /* 1 + index of begun; 0: none */
    } * queues;             /* by number of keys */
    size_t queues_max;
    struct begun *begun;
    size_t begun_count, begun_max;
    uint64_t *ns; /* of all pairs */
    size_t pairs, ns_max;
    uint64_t open, open_beyond, without_begin, without_key, beyond;
    double sum;
    struct pair *worst; /* by descending ns */
    size_t worst_count;
};

/* ----------------------------------------------------------------- match -- */

static void pattern_compile(const struct call *call, regex_t *to, int key,
                            const char *name)
{
    const char *text = call_option(call, key);
    const char *wrong;
    char *whole;
    if (!text)
        misuse(call, "--%s REGEX is missing", name);
    whole = need_text("^(%s)$", text);
    wrong = filters_regex(to, whole);
    if (wrong)
        misuse(call, "--%s %s: %s", name, text, wrong);
    free(whole);
}

static unsigned match(const struct latency *l, const char *text)
{
    return (regexec(&l->from, text, 0, NULL, 0) == 0 ? FROM : 0) |
           (regexec(&l->to, text, 0, NULL, 0) == 0 ? TO : 0);
}

/* Returns a thread's last name and state. Valid until the next call. */
static struct called *called_of(struct latency *l, uint64_t id)
{
    bool is_new;
    return array_at_key(l->called, &l->names, l->called_max, id, 0, 0, &is_new);
}

/* Notes the state of a switch's thread. False if it is running or waiting
 * already. */
static bool is_news(struct latency *l, enum kind kind, uint64_t id,
                    const char *name)
{
    struct called *called = called_of(l, id);
    bool waits = called->waits, runs = called->runs;
    if (*name && (!called->name || strcmp(called->name, name) != 0)) {
        free(called->name);
        called->name = need(strdup(name));
    }
    called->waits = kind == KIND_READY;
    called->runs = kind == KIND_READY ? runs : kind != KIND_OUT;
    return kind != KIND_READY || !(waits || runs);
}

/* Matches the kind and the name in a heading: "in sensor", "out encoder"; of a
 * switch both. */
static unsigned match_kind(struct latency *l, const struct reader_event *e)
{
    char how, name[SWITCHES_NAME_MAX] = "", shown[64], text[96];
    enum kind kind = kind_of(e->kind, &how);
    uint64_t id = e->event.argument[1], from = e->event.argument[3];
    unsigned flags = 0;
    if (kind == KIND_OTHER)
        return 0;
    if (kind == KIND_SLEEP || kind == KIND_WAKE || kind == KIND_OFF ||
        kind == KIND_ON) {
        snprintf(text, sizeof text, "%s %u%s", kind_word(kind),
                 (unsigned)e->event.argument[2] & 0xff,
                 how == '+' ? " again" : "");
        return match(l, text);
    }
    if (e->event.argument[0])
        reader_word_text(&l->call->reader, e, 0, name, sizeof name);
    else if (e->thread && kind != KIND_ENTER && kind != KIND_EXIT)
        snprintf(name, sizeof name, "%s", e->thread->name);
    if (kind != KIND_ENTER && kind != KIND_EXIT && !is_news(l, kind, id, name))
        return 0;
    if (kind == KIND_SWITCH && from && from != id) {
        struct called *left = called_of(l, from);
        left->runs = left->waits = false;
        snprintf(text, sizeof text, "out %s",
                 switches_name(left->name ? left->name : "", from, shown));
        flags = match(l, text) * LEFT;
    }
    snprintf(text, sizeof text, "%s %s",
             kind_word(kind == KIND_SWITCH ? KIND_IN : kind),
             switches_name(name, id, shown));
    return flags | match(l, text);
}

/* Finds which events match. */
static void match_all(struct latency *l)
{
    struct reader *reader = &l->call->reader;
    struct reader_event e;
    uint64_t ns;
    size_t size, i;
    while (timeline_read(&l->timeline, &e, &ns)) {
        unsigned flags = match(l, reader_message(reader, &e, &size));
        if (e.kind)
            flags |= match_kind(l, &e);
        flags |= flags / LEFT;
        *array_add(l->flags, l->flags_count, l->flags_max) =
            (unsigned char)flags;
        l->matches[FROM] += flags & FROM;
        l->matches[TO] += (flags & TO) != 0;
        for (i = 0; flags && i < reader->recorders_count; i++)
            l->matched[i] |= reader->recorders[i] == e.recorder;
    }
    timeline_rewind(&l->timeline);
}

/* ------------------------------------------------------------------- key -- */

/* Returns the index of the argument of --by, 12 or more if there is none. */
static unsigned argument_of(const struct latency *l,
                            const struct reader_argument *arguments,
                            unsigned count)
{
    unsigned i = l->by_name ? 0 : (unsigned)l->by;
    while (l->by_name && i < count &&
           !(arguments[i].name && strcmp(arguments[i].name, l->by_name) == 0))
        i++;
    return i < count && arguments[i].kind != READER_LOST ? i : 12;
}

/* Finds the queue of the events with the same key as this one. Null: the event
 * has no argument for it. Valid until the next call. */
static struct queue *queue_of(struct latency *l, const struct reader_event *e,
                              bool left)
{
    struct reader_argument arguments[12], *argument;
    uint64_t key = 0, kind = 0;
    bool is_new;
    size_t i;
    if (l->by == BY_ID && e->kind) {
        key = e->event.argument[left ? 3 : 1];
    } else if (l->by == BY_THREAD) {
        key = e->thread ? e->thread->number : e->event.thread;
    } else if (l->by != BY_NOTHING) {
        unsigned count = reader_arguments(&l->call->reader, e, arguments);
        i = argument_of(l, arguments, count);
        if (i == 12)
            return NULL;
        argument = &arguments[i];
        reader_unmark(argument, 1);
        kind = argument->kind == READER_STRING ? 1
               : argument->kind == READER_REAL ? 2
                                               : 0;
        key = texts_word(&l->texts, argument);
    }
    return array_at_key(l->queues, &l->keys, l->queues_max, key, kind, 0,
                        &is_new);
}

/* ----------------------------------------------------------------- pairs -- */

static void worst_add(struct latency *l, struct pair add)
{
    size_t at = l->worst_count;
    if (at < l->shown_max)
        l->worst_count++;
    else if (!at || l->worst[at - 1].ns >= add.ns)
        return;
    else
        at--;
    for (; at && l->worst[at - 1].ns < add.ns; at--)
        l->worst[at] = l->worst[at - 1];
    l->worst[at] = add;
}

static void end(struct latency *l, struct queue *queue, uint64_t order,
                uint64_t ns)
{
    const struct begun *begun;
    uint64_t took;
    if (!queue->first) {
        l->without_begin++;
        return;
    }
    begun = &l->begun[queue->first - 1];
    queue->first = begun->next;
    took = ns - begun->ns;
    *array_add(l->ns, l->pairs, l->ns_max) = took;
    l->sum += (double)took;
    if (l->deadline_ns && took > l->deadline_ns) {
        l->beyond++;
        worst_add(l,
                  (struct pair){.ns = took, .from = begun->order, .to = order});
    }
}

static void begin(struct latency *l, struct queue *queue, uint64_t order,
                  uint64_t ns)
{
    size_t at = l->begun_count + 1;
    ARRAY_NEED(l->begun, at, l->begun_max);
    l->begun[at - 1] = (struct begun){.order = order, .ns = ns};
    if (queue->first)
        l->begun[queue->last - 1].next = at;
    else
        queue->first = at;
    queue->last = at;
    l->begun_count = at;
}

/* The time from which on no record is missing of recorders that match. */
static uint64_t complete_of(const struct latency *l)
{
    const struct reader *reader = &l->call->reader;
    int64_t from = l->timeline.start_ns;
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (l->matched[i] && reader->recorders[i]->complete_ns > from)
            from = reader->recorders[i]->complete_ns;
    return (uint64_t)from - (uint64_t)l->timeline.start_ns;
}

/* An event that ends something and begins something ends first. */
static void pair_event(struct latency *l, const struct reader_event *e,
                       uint64_t ns, unsigned flags)
{
    static const unsigned sides[] = {TO, FROM};
    for (int i = 0; i < 2; i++) {
        bool left = flags & sides[i] * LEFT;
        struct queue *queue = flags & sides[i] ? queue_of(l, e, left) : NULL;
        if (!(flags & sides[i]))
            continue;
        if (!queue)
            l->without_key++;
        else if (sides[i] == TO)
            end(l, queue, e->event.order, ns);
        else
            begin(l, queue, e->event.order, ns);
    }
}

static void pair_all(struct latency *l)
{
    struct reader_event e;
    uint64_t ns, last = 0, from = complete_of(l);
    for (size_t i = 0; timeline_read(&l->timeline, &e, &ns); i++) {
        last = ns;
        if (l->flags[i] && ns >= from)
            pair_event(l, &e, ns, l->flags[i]);
    }
    for (size_t i = 0; i < l->keys.count; i++)
        for (size_t at = l->queues[i].first; at; at = l->begun[at - 1].next) {
            l->open++;
            l->open_beyond +=
                l->deadline_ns && last - l->begun[at - 1].ns > l->deadline_ns;
        }
    timeline_rewind(&l->timeline);
}

/* ------------------------------------------------------------------ text -- */

static void worst_texts(struct latency *l)
{
    struct reader_event e;
    uint64_t ns;
    size_t size;
    while (l->worst_count && timeline_read(&l->timeline, &e, &ns))
        for (size_t i = 0; i < l->worst_count; i++)
            for (int k = 0; k < 2; k++)
                if (e.event.order == (k ? l->worst[i].to : l->worst[i].from)) {
                    free(l->worst[i].texts[k]);
                    l->worst[i].texts[k] = need(
                        strdup(reader_message(&l->call->reader, &e, &size)));
                }
}

static void print_worst(const struct latency *l)
{
    char late[32], took[32];
    for (size_t i = 0; i < l->worst_count; i++) {
        const struct pair *pair = &l->worst[i];
        printf("late by %s: %" PRIu64 " %s, %" PRIu64 " %s, %s\n",
               table_time_exact(pair->ns - l->deadline_ns, late), pair->from,
               pair->texts[0] ? pair->texts[0] : "?", pair->to,
               pair->texts[1] ? pair->texts[1] : "?",
               table_time_exact(pair->ns, took));
    }
    if (l->beyond > l->worst_count)
        printf("and %" PRIu64 " more: --most N shows more of them\n",
               l->beyond - l->worst_count);
}

static void print_text(const struct latency *l)
{
    const char *deadline = call_option(l->call, OPTION_DEADLINE);
    char text[5][32];
    print_worst(l);
    printf("%zu pair%s, %" PRIu64 " without an end", l->pairs,
           l->pairs == 1 ? "" : "s", l->open);
    if (l->open_beyond)
        printf(" (%" PRIu64 " for longer than %s)", l->open_beyond, deadline);
    if (l->without_begin)
        printf(", %" PRIu64 " without a beginning", l->without_begin);
    if (l->pairs)
        printf("; least %s, mean %s, most %s",
               table_time_exact(l->ns[0], text[0]),
               table_time_exact((uint64_t)(l->sum / (double)l->pairs), text[1]),
               table_time_exact(l->ns[l->pairs - 1], text[2]));
    if (deadline)
        printf("; %" PRIu64 " beyond %s", l->beyond, deadline);
    putchar('\n');
    if (!l->pairs)
        return;
    printf("half within %s, 90%% %s, 99%% %s, 99.9%% %s\n",
           table_time_exact(histogram_within(l->ns, l->pairs, 500), text[0]),
           table_time_exact(histogram_within(l->ns, l->pairs, 900), text[1]),
           table_time_exact(histogram_within(l->ns, l->pairs, 990), text[2]),
           table_time_exact(histogram_within(l->ns, l->pairs, 999), text[3]));
    if (call_option(l->call, OPTION_HISTOGRAM))
        histogram_print(l->ns, l->pairs);
}

static void print_json(const struct latency *l)
{
    for (size_t i = 0; i < l->worst_count; i++) {
        const struct pair *pair = &l->worst[i];
        json_put(stdout,
                 "{'late_ns':%" PRIu64 ",'ns':%" PRIu64 ",'from_order':%" PRIu64
                 ",'to_order':%" PRIu64 ",'from':%s,'to':%s}\n",
                 pair->ns - l->deadline_ns, pair->ns, pair->from, pair->to,
                 pair->texts[0] ? pair->texts[0] : "?",
                 pair->texts[1] ? pair->texts[1] : "?");
    }
    printf("{\"pairs\":%zu,\"without_end\":%" PRIu64
           ",\"without_beginning\":%" PRIu64,
           l->pairs, l->open, l->without_begin);
    if (l->pairs) {
        printf(",\"least_ns\":%" PRIu64
               ",\"mean_ns\":%.1f,\"most_ns\":%" PRIu64,
               l->ns[0], l->sum / (double)l->pairs, l->ns[l->pairs - 1]);
        histogram_parts_json(l->ns, l->pairs, "p50");
    }
    if (l->deadline_ns)
        printf(",\"deadline_ns\":%" PRIu64 ",\"beyond\":%" PRIu64
               ",\"open_beyond\":%" PRIu64,
               l->deadline_ns, l->beyond, l->open_beyond);
    puts("}");
}

/* ------------------------------------------------------------------ verb -- */

static void options_read(struct latency *l)
{
    const char *by = call_option(l->call, OPTION_BY);
    const char *deadline = call_option(l->call, OPTION_DEADLINE);
    const char *most = call_option(l->call, OPTION_MOST);
    int64_t ns;
    char *rest;
    pattern_compile(l->call, &l->from, OPTION_FROM, "from");
    pattern_compile(l->call, &l->to, OPTION_TO, "to");
    l->by = BY_NOTHING;
    if (by && (strcmp(by, "id") == 0 || strcmp(by, "thread") == 0)) {
        l->by = *by == 'i' ? BY_ID : BY_THREAD;
        l->by_name = *by == 'i' ? by : NULL; /* of records beside switches */
    } else if (by) {
        unsigned long number = strtoul(by, &rest, 10);
        bool is_name = recorder_is_letter_(*by) || *by == '_';
        if (is_name ? strlen(by) > 63 : *rest || number < 1 || number > 12)
            misuse(l->call,
                   "--by %s: is no name and no number of an argument, 1 to 12, "
                   "nor id or thread",
                   by);
        l->by = is_name ? 0 : (int)number - 1;
        l->by_name = is_name ? by : NULL;
    }
    if (deadline) {
        if (!span_of(deadline, &ns) || ns <= 0)
            misuse(l->call, "--deadline %s: is no time: 16.6ms, 500us, 1s",
                   deadline);
        l->deadline_ns = (uint64_t)ns;
    }
    l->shown_max = 10;
    if (most && !deadline)
        misuse(l->call, "--most %s: without --deadline no pair is listed",
               most);
    if (most) {
        l->shown_max = strtoul(most, &rest, 10);
        if (*rest || !*most || *most == '-' || l->shown_max > 1000000)
            misuse(l->call, "--most %s: is no number up to 1000000", most);
    }
    l->worst = need(calloc(l->shown_max + 1, sizeof *l->worst));
}

static void must_match(const struct latency *l, unsigned which, int key,
                       const char *name)
{
    if (!l->matches[which])
        fail(l->call,
             "no record is --%s %s: it is compared with whole messages, and "
             "with \"in NAME\", \"out NAME\", \"ready NAME\" of switches; .* "
             "matches any text",
             name, call_option(l->call, key));
}

static void warnings(const struct latency *l)
{
    const struct reader *reader = &l->call->reader;
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (l->matched[i])
            call_warn_lacking(l->call, reader->recorders[i]);
    if (l->without_key && !l->keys.count)
        fail(l->call, "no record that matches has an argument %s",
             call_option(l->call, OPTION_BY));
    if (l->without_key)
        warn(l->call, "--by %s: %" PRIu64 " matching records lack the argument",
             call_option(l->call, OPTION_BY), l->without_key);
}

static void latency_close(struct latency *l)
{
    for (size_t i = 0; i < l->worst_count; i++) {
        free(l->worst[i].texts[0]);
        free(l->worst[i].texts[1]);
    }
    for (size_t i = 0; i < l->names.count; i++)
        free(l->called[i].name);
    free(l->called);
    free(l->worst);
    free(l->flags);
    free(l->matched);
    free(l->queues);
    free(l->begun);
    free(l->ns);
    ids_free(&l->keys);
    texts_free(&l->texts);
    ids_free(&l->names);
    regfree(&l->from);
    regfree(&l->to);
    timeline_close(&l->timeline);
}

static int run(struct call *call)
{
    struct latency l = {.call = call};
    bool late;
    options_read(&l);
    call_open(call, 0);
    call_take(call);
    reader_count(&call->reader);
    l.matched = need(calloc(call->reader.recorders_count + 1, 1));
    timeline_open(&l.timeline, call, TIMELINE_PLAIN);
    match_all(&l);
    must_match(&l, FROM, OPTION_FROM, "from");
    must_match(&l, TO, OPTION_TO, "to");
    pair_all(&l);
    warnings(&l);
    if (l.pairs)
        histogram_sort(l.ns, l.pairs);
    worst_texts(&l);
    if (call_option(call, 'j'))
        print_json(&l);
    else
        print_text(&l);
    stdout_flush(NULL);
    late = l.beyond || l.open_beyond;
    latency_close(&l);
    return late;
}

static const struct option_row rows[] = {
    {OPTION_FROM, "from", "REGEX",
     "the beginning: a whole message, or a switch: \"in NAME\", \"out NAME\", "
     "\"ready NAME\", \"enter NAME\", \"exit NAME\"; extended syntax, any "
     "case unless a letter is a capital, as in --grep"},
    {OPTION_TO, "to", "REGEX", "the end, in the same way"},
    {OPTION_BY, "by", "N",
     "both have the same argument N, from 1 on, or of this name, as in "
     "\"bytes=%d\"; id: of the thread that a switch is about; thread: both "
     "are of one thread"},
    {OPTION_DEADLINE, "deadline", "TIME",
     "shows pairs that took longer than 16.6ms, 500us, 1s, worst first"},
    {OPTION_MOST, "most", "N", "of --deadline, the N worst: 10"},
    {OPTION_HISTOGRAM, "histogram", NULL, "the distribution of times"},
    {'j', "json", NULL, "JSON objects, a line each: late pairs, all figures"},
    {0, NULL, NULL, NULL}};

const struct verb verb_latency = {
    .name = "latency",
    .arguments = "SOURCE",
    .summary = "measures the time from one record to another",
    .help =
        "recorder latency SOURCE --from 'ready sensor' --to 'in sensor' "
        "measures the time that a thread waits for a processor; --from '> "
        "frame .*' --to '< frame .*' --by 1 --deadline 16.6ms lists late "
        "frames.\n\n"
        "Each --to record ends the oldest open --from record, with the same "
        "--by argument if that is given. \"ready\" of a thread that runs, or "
        "is ready already, begins nothing. A record that matches both --from "
        "and --to ends a pair before it begins one: with the same REGEX twice, "
        "periods are measured. Records are ordered by timestamp, and count "
        "from the time since which no matching recorder overwrote any. "
        "recorder why shows where the time of spans went.\n\n"
        "Exit status: 0, all in time; 1, a pair took longer than the "
        "deadline, or began longer ago and has not ended; 2, trouble or "
        "misuse.",
    .rows = rows,
    .selects = true,
    .run = run,
    .kernel = true,
    .trouble = 2};
