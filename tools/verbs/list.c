/* list.c - recorder list: recorders and threads, as they are now. */
/* SPDX-License-Identifier: MIT */
#include "json.h"
#include "tables.h"

#include <string.h>

enum { OPTION_SLOTS = OPTION_OWN };

/* Prints an object for each recorder and each thread. */
static void list_json(const struct reader *reader)
{
    if (reader->clocked)
        printf("{\"orders\":\"%s\"}\n",
               reader->clocked == UINT64_MAX ? "clock" : "counter");
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        if (!r->chosen)
            continue;
        fputs("{\"recorder\":", stdout);
        json_string(stdout, r->name, strlen(r->name), false);
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
               r->figures.estimated ? "true" : "false",
               (unsigned long long)r->figures.slots_kept,
               (unsigned long long)r->figures.slots_overwritten,
               (unsigned long long)r->figures.lost,
               (unsigned long long)r->figures.missed,
               (unsigned long long)r->figures.left_out,
               (long long)recorder_trace_value_(r->trace),
               recorder_trace_is_watched_(r->trace) ? "true" : "false",
               recorder_trace_is_frozen_(r->trace) ? "true" : "false");
        json_string(stdout, r->description, strlen(r->description), false);
        puts("}");
    }
    for (size_t i = 0; i < reader->threads_count; i++) {
        const struct reader_thread *t = &reader->threads[i];
        printf("{\"thread\":%u,\"tid\":%d,\"alive\":%s,\"name\":", t->number,
               (int)t->id,
               t->is_task  ? "true"
               : !t->known ? "null"
               : t->alive  ? "true"
                           : "false");
        json_string(stdout, t->name, strlen(t->name), false);
        puts(t->is_task ? ",\"task\":true}" : "}");
    }
}

static int list(struct call *call)
{
    call_open(call, 0);
    call_take(call);
    reader_count(&call->reader);
    if (call_option(call, 'j')) {
        list_json(&call->reader);
        return 0;
    }
    tables(stdout, &call->reader, call_option(call, OPTION_SLOTS));
    return 0;
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line"},
    {OPTION_SLOTS, "slots", NULL, "how many slots are in use, too"},
    ROW_NAMES,
    {0, NULL, NULL, NULL}};

const struct verb verb_list = {
    .name = "list",
    .arguments = "SOURCE",
    .summary = "shows the recorders, what they hold, and the threads",
    .help = "Orders are given by a counter, or by the clock if the program is "
            "compiled with RECORDER_CLOCK_ORDER: then a line above the "
            "recorders says by which. EACH is the memory of a lane, of which no "
            "page is there before a thread records in it. KEPT and OVERWRITTEN "
            "are records. One of 5 to 12 arguments takes 2 or 3 slots, a copied "
            "text one for each 32 bytes (on 32-bit machines 16): then the "
            "overwritten ones are an estimate, ~, from those that are kept.",
    .rows = rows,
    .run = list,
    .registries = true};
