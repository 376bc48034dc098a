/* list.c - recorder list: recorders and threads, as they are now. */
/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <string.h>

/* What record() does: "on", "off", "trace", or "trace 5". */
static void state_of(int64_t trace, char to[32])
{
    if (trace == 0)
        strcpy(to, "on");
    else if (trace < 0)
        strcpy(to, "off");
    else if (trace == 1)
        strcpy(to, "trace");
    else
        snprintf(to, 32, "trace %lld", (long long)trace);
}

/* Text of the program's, in a column: nothing in it moves the cursor. */
static void column(const char *text, int width)
{
    int count = 0;
    for (; *text; text++, count++)
        putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
    for (; count < width; count++)
        putchar(' ');
}

static int width_of(const char *text, int width)
{
    int length = (int)strlen(text);
    return length > width ? length : width;
}

static void list_recorders(const struct reader *reader)
{
    int width = 8;
    for (size_t i = 0; i < reader->recorders_count; i++)
        width = width_of(reader->recorders[i]->name, width);
    printf("%-*s %8s %5s %8s %11s %6s  %-7s DESCRIPTION\n", width, "RECORDER",
           "SIZE", "LANES", "KEPT", "OVERWRITTEN", "LOST", "STATE");
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        char state[32];
        if (!r->chosen)
            continue;
        state_of(r->trace, state);
        column(r->name, width);
        if (r->wrong)
            printf(" %s", r->wrong);
        else
            printf(" %8llu %5llu %8llu %11llu %6llu  %-7s ",
                   (unsigned long long)r->figures.size,
                   (unsigned long long)r->figures.lanes,
                   (unsigned long long)r->figures.kept,
                   (unsigned long long)r->figures.overwritten,
                   (unsigned long long)r->figures.lost, state);
        column(r->description, 0);
        putchar('\n');
    }
}

static void list_threads(const struct reader *reader)
{
    if (!reader->threads_count)
        return;
    printf("\n%-6s %8s  %-15s STATE\n", "THREAD", "ID", "NAME");
    for (size_t i = 0; i < reader->threads_count; i++) {
        const struct reader_thread *t = &reader->threads[i];
        printf("%-6u %8d  ", t->number, (int)t->id);
        column(t->name, 15);
        printf(" %s\n", !t->known ? "?" : t->alive ? "alive" : "ended");
    }
}

static void list_tweaks(const struct reader *reader)
{
    int width = 8;
    if (!reader->tweaks_count)
        return;
    for (size_t i = 0; i < reader->tweaks_count; i++)
        if (reader->tweaks[i].name)
            width = width_of(reader->tweaks[i].name, width);
    printf("\n%-*s %8s  DESCRIPTION\n", width, "TWEAK", "VALUE");
    for (size_t i = 0; i < reader->tweaks_count; i++) {
        const struct reader_tweak *t = &reader->tweaks[i];
        column(t->name ? t->name : "?", width);
        printf(" %8lld  ", (long long)t->value);
        column(t->description ? t->description : "", 0);
        putchar('\n');
    }
}

/* One object a recorder and a thread. */
static void list_json(const struct reader *reader)
{
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        if (!r->chosen)
            continue;
        fputs("{\"recorder\":", stdout);
        json_string(stdout, r->name, strlen(r->name), false);
        printf(",\"size\":%llu,\"lanes\":%llu,\"kept\":%llu,"
               "\"overwritten\":%llu,\"lost\":%llu,\"trace\":%lld,"
               "\"description\":",
               (unsigned long long)r->figures.size,
               (unsigned long long)r->figures.lanes,
               (unsigned long long)r->figures.kept,
               (unsigned long long)r->figures.overwritten,
               (unsigned long long)r->figures.lost, (long long)r->trace);
        json_string(stdout, r->description, strlen(r->description), false);
        puts("}");
    }
    for (size_t i = 0; i < reader->threads_count; i++) {
        const struct reader_thread *t = &reader->threads[i];
        printf("{\"thread\":%u,\"tid\":%d,\"alive\":%s,\"name\":", t->number,
               (int)t->id, !t->known  ? "null"
                           : t->alive ? "true"
                                      : "false");
        json_string(stdout, t->name, strlen(t->name), false);
        puts("}");
    }
}

static int list(struct call *call)
{
    if (call->arguments_count > 1)
        misuse(call, "one SOURCE");
    call_open(call, 0);
    call_take(call);
    reader_count(&call->reader);
    if (call_option(call, 'j')) {
        list_json(&call->reader);
        return 0;
    }
    list_recorders(&call->reader);
    list_threads(&call->reader);
    list_tweaks(&call->reader);
    return 0;
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line"}, {0, NULL, NULL, NULL}};

const struct verb verb_list = {
    "list",
    "SOURCE",
    "shows the recorders, what they hold, and the threads",
    NULL,
    rows,
    false,
    list};
