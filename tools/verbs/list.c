/* list.c - recorder list: recorders and threads, as they are now. */
/* SPDX-License-Identifier: MIT */
#include "json.h"
#include "labels.h"
#include "shown.h"
#include "sources.h"
#include "tables.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_SLOTS = OPTION_OWN, OPTION_SIZES };

static void recorder_json(const struct call *call,
                          const struct reader_recorder *r)
{
    putchar('{');
    json_source(stdout, call);
    fputs("\"recorder\":", stdout);
    json_text(stdout, r->name);
    printf(",\"size\":%llu,\"lanes\":%llu,\"lane_bytes\":%llu,"
           "\"kept\":%llu,"
           "\"overwritten\":%llu,\"estimated\":%s,\"slots_kept\":%llu,"
           "\"slots_overwritten\":%llu,\"lost\":%llu,"
           "\"missed\":%llu,\"left_out\":%llu,\"trace\":%lld,"
           "\"watched\":%s,\"frozen\":%s,\"description\":",
           (unsigned long long)r->figures.size,
           (unsigned long long)r->figures.lanes,
           (unsigned long long)r->ring_bytes,
           (unsigned long long)r->figures.kept,
           (unsigned long long)r->figures.overwritten,
           json_bool(r->figures.estimated),
           (unsigned long long)r->figures.slots_kept,
           (unsigned long long)r->figures.slots_overwritten,
           (unsigned long long)r->figures.lost,
           (unsigned long long)r->figures.missed,
           (unsigned long long)r->figures.left_out,
           (long long)recorder_trace_value_(r->trace),
           json_bool(recorder_trace_is_watched_(r->trace)),
           json_bool(recorder_trace_is_frozen_(r->trace)));
    json_text(stdout, r->description);
    puts("}");
}

static void thread_json(const struct call *call, const struct reader_thread *t)
{
    putchar('{');
    json_source(stdout, call);
    printf("\"thread\":%u,\"tid\":%d,\"alive\":%s,\"name\":", t->number,
           (int)t->id,
           t->is_task  ? "true"
           : !t->known ? "null"
                       : json_bool(t->alive));
    json_text(stdout, t->name);
    puts(t->is_task ? ",\"task\":true}" : "}");
}

/* Prints an object for each recorder and each thread. */
static void list_json(const struct call *call)
{
    const struct reader *reader = &call->reader;
    if (reader->clocked) {
        putchar('{');
        json_source(stdout, call);
        printf("\"orders\":\"%s\"}\n",
               reader->clocked == UINT64_MAX ? "clock" : "counter");
    }
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (reader->recorders[i]->chosen)
            recorder_json(call, reader->recorders[i]);
    for (size_t i = 0; i < reader->threads_count; i++)
        if (!reader->threads[i].is_free)
            thread_json(call, &reader->threads[i]);
}

/* Names one of several sources, above its tables. */
static void list_title(const struct call *call)
{
    char clock[64];
    if (!call->title)
        return;
    fputs("SOURCE ", stdout);
    table_column(stdout, call->title, 0);
    fputs(": ", stdout);
    table_column(stdout, call->name, 0);
    fputs(", program ", stdout);
    table_column(stdout, call_program(call), 0);
    printf(", pid %llu", (unsigned long long)call->reader.pid);
    if (sources_clock(call, clock))
        printf(", clock %s", clock);
    for (size_t i = 0; i < call->labels_count; i++) {
        printf(", %s=", call->labels[i].name);
        table_column(stdout, call->labels[i].value, 0);
    }
    putchar('\n');
}

/* Prints how many slots a recorder of one lane needs, to keep `seconds`. */
static void print_slots(double slots_per_second, double seconds)
{
    double wanted = slots_per_second * seconds;
    uint64_t slots = 4; /* the least that RECORDER makes */
    while ((double)slots < wanted && slots < UINT64_C(1) << 62)
        slots *= 2;
    printf(" %13llu", (unsigned long long)slots);
}

/* Prints how much memory recorders take, for how long that lasts at the rate of
 * the records that they hold, and how much they would need. */
static void list_sizes(const struct reader *reader)
{
    int width = table_names_width(reader);
    printf("%-*s %10s %10s %10s %12s %12s %13s %13s\n", width, "RECORDER",
           "SLOTS", "KIB", "USED", "SPAN", "SLOTS/S", "1 S NEEDS",
           "1 MIN NEEDS");
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        uint64_t ns;
        bool timed = table_span(r, &ns) && ns && r->figures.slots_kept > 1;
        double rate = 0;
        char span[32] = "-";
        if (!r->chosen || r->wrong)
            continue;
        table_column(stdout, r->name, width);
        printf(" %10llu %10llu %10llu",
               (unsigned long long)(r->figures.size * r->figures.lanes),
               (unsigned long long)(r->ring_bytes * r->figures.lanes + 1023) /
                   1024,
               (unsigned long long)r->figures.slots_kept);
        if (timed) {
            rate = (double)r->figures.slots_kept * 1e9 / (double)ns;
            table_time(ns, span);
        }
        printf(" %12s", span);
        if (timed) {
            printf(" %12.1f", rate);
            print_slots(rate, 1);
            print_slots(rate, 60);
            putchar('\n');
        } else {
            printf(" %12s %13s %13s\n", "-", "-", "-");
        }
    }
}

/* Sets KEPT to the number of records that --grep and --where choose. */
static void list_match(struct reader *reader)
{
    reader_match(reader);
    for (size_t i = 0; i < reader->recorders_count; i++)
        reader->recorders[i]->figures.kept = reader->recorders[i]->matched;
}

static int list(struct call *call)
{
    for (int key = OPTION_SLOTS; key <= OPTION_SIZES; key++)
        if (call->selection.filters && call_option(call, key))
            misuse(call,
                   "--%s counts slots, which --grep and --where cannot "
                   "choose",
                   key == OPTION_SLOTS ? "slots" : "sizes");
    struct call *calls = sources_open(call, 0);
    sources_take(calls);
    for (struct call *c = calls; c; c = c->next) {
        char *unheeded = program_without_file(c->source.pid, &c->reader);
        if (unheeded)
            warn(c, "%s", unheeded);
        free(unheeded);
        reader_count(&c->reader);
        if (c->selection.filters)
            list_match(&c->reader);
        if (call_option(call, 'j')) {
            list_json(c);
            continue;
        }
        if (c != calls)
            putchar('\n');
        list_title(c);
        if (call_option(call, OPTION_SIZES))
            list_sizes(&c->reader);
        else
            tables(stdout, &c->reader, call_option(call, OPTION_SLOTS));
    }
    return sources_close(calls);
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line"},
    {OPTION_SLOTS, "slots", NULL, "how many slots are in use, too"},
    {OPTION_SIZES, "sizes", NULL,
     "memory, time kept, and slots for 1 s, 1 min"},
    ROW_NAMES,
    ROW_GREP,
    ROW_WHERE,
    ROW_LABEL,
    {0, NULL, NULL, NULL}};

const struct verb verb_list = {
    .name = "list",
    .arguments = "SOURCE...",
    .summary = "shows the recorders, their figures, and the threads",
    .help =
        "Sequence numbers come from a counter, or from the clock if the "
        "program is compiled with RECORDER_CLOCK_ORDER: then a line above the "
        "recorders names it. EACH is the memory of a lane, which is allocated "
        "when a thread first records in it. KEPT and OVERWRITTEN are records; "
        "with --grep or --where, KEPT counts the chosen ones, and the other "
        "columns count all. A record of 5 to 12 arguments takes 2 or 3 slots, "
        "a copied text one for each 32 bytes (on 32-bit machines 16): then "
        "OVERWRITTEN is an estimate, ~, from the kept records. --sizes "
        "computes the slots for a time from the slots in use and the time "
        "from the oldest to the newest of them. If RECORDER_FILE in the "
        "environment of a process made no recording, a line on stderr has the "
        "reason.",
    .rows = rows,
    .run = list,
    .registries = true};
