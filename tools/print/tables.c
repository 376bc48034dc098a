/* tables.c - recorders, threads and tweaks, as text in columns. */
/* SPDX-License-Identifier: MIT */
#include "print.h"

/* Names the state of a recorder: "on", "off", "trace", or "trace 5"; and the
 * state that triggers set: "frozen", "watched", "trace 5, watched". */
static void state_of(int64_t trace, char to[40])
{
    int64_t value = recorder_trace_value_(trace);
    bool watched = recorder_trace_is_watched_(trace);
    if (recorder_trace_is_frozen_(trace))
        strcpy(to, "frozen");
    else if (value == 0)
        strcpy(to, watched ? "watched" : "on");
    else if (value < 0)
        strcpy(to, watched ? "off, watched" : "off");
    else if (value == 1)
        strcpy(to, watched ? "trace, watched" : "trace");
    else
        snprintf(to, 40, "trace %lld%s", (long long)value,
                 watched ? ", watched" : "");
}

int table_width(const char *text, int width)
{
    size_t size = strlen(text);
    text_shown(text, &size);
    return (int)size > width ? (int)size : width;
}

int table_names_width(const struct reader *reader)
{
    int width = 8;
    for (size_t i = 0; i < reader->recorders_count; i++)
        width = table_width(reader->recorders[i]->shown, width);
    return width;
}

const char *table_count(uint64_t count, bool estimated, char to[32])
{
    snprintf(to, 32, "%s%llu", estimated ? "~" : "", (unsigned long long)count);
    return to;
}

/* A unit of time, for times that round to less than `below`. */
struct unit {
    double unit_ns, below;
    int digits, exact; /* after the point */
    const char *name;
};
static const char *time_text(uint64_t ns, bool exact, char to[32])
{
    static const struct unit units[] = {
        {1, 1000, 0, 0, "ns"},    {1e3, 1000, 1, 3, "us"},
        {1e6, 1000, 2, 3, "ms"},  {1e9, 10000, 3, 3, "s"},
        {3600e9, 100, 2, 2, "h"}, {86400e9, 1e30, 1, 1, "d"}};
    const struct unit *unit = units;
    int digits = 0;
    for (;; unit++) {
        double half = 0.5;
        digits = exact ? unit->exact : unit->digits;
        for (int i = 0; i < digits; i++)
            half /= 10;
        if ((double)ns / unit->unit_ns < unit->below - half)
            break;
    }
    snprintf(to, 32, "%.*f %s", digits, (double)ns / unit->unit_ns, unit->name);
    return to;
}
const char *table_time(uint64_t ns, char to[32])
{
    return time_text(ns, false, to);
}
const char *table_time_exact(uint64_t ns, char to[32])
{
    return time_text(ns, true, to);
}
bool table_span(const struct reader_recorder *r, uint64_t *ns)
{
    *ns = (uint64_t)r->newest_ns - (uint64_t)r->oldest_ns;
    return r->oldest_ns != RECORDER_TIME_UNKNOWN_ &&
           r->newest_ns >= r->oldest_ns;
}

static void recorders(FILE *to, const struct reader *reader, bool slots)
{
    int width = table_names_width(reader);
    fprintf(to, "%-*s %8s %5s %6s ", width, "RECORDER", "SIZE", "LANES",
            "EACH");
    if (slots)
        fprintf(to, "%8s ", "SLOTS");
    fprintf(to, "%8s %11s %6s  %-7s DESCRIPTION\n", "KEPT", "OVERWRITTEN",
            "LOST", "STATE");
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        char state[40], overwritten[32];
        if (!r->chosen)
            continue;
        state_of(r->trace, state);
        if (r->wrong) {
            text_put(to, "%-*s %s  ", width, r->shown, r->wrong);
        } else {
            text_put(to, "%-*s %8" PRIu64 " %5" PRIu64 " %5" PRIu64 "K ", width,
                     r->shown, r->figures.size, r->figures.lanes,
                     (r->ring_bytes + 1023) / 1024);
            if (slots)
                fprintf(to, "%8" PRIu64 " ", r->figures.slots_kept);
            fprintf(to, "%8" PRIu64 " %11s %6" PRIu64 "  %-7s ",
                    r->figures.kept,
                    table_count(r->figures.overwritten, r->figures.estimated,
                                overwritten),
                    r->figures.lost, state);
        }
        text_put(to, "%s\n", r->description);
    }
}

/* Prints the records of the program that a recording of events lacks. */
static void recorders_left_out(FILE *to, const struct reader *reader)
{
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        if (!r->chosen || !(r->figures.missed || r->figures.left_out))
            continue;
        text_put(to, "%s:", r->shown);
        if (r->figures.missed)
            fprintf(to, " %" PRIu64 " slots missed%s", r->figures.missed,
                    r->figures.left_out ? "," : "\n");
        if (r->figures.left_out)
            fprintf(to, " %" PRIu64 " left out\n", r->figures.left_out);
    }
}

void table_threads(FILE *to, const struct reader *reader)
{
    if (!reader->threads_count)
        return;
    fprintf(to, "%-6s %8s  %-15s STATE\n", "THREAD", "ID", "NAME");
    for (size_t i = 0; i < reader->threads_count; i++) {
        const struct reader_thread *t = &reader->threads[i];
        if (t->is_free)
            continue;
        text_put(to, "%-6u %8d  %-15s %s\n", t->number, (int)t->id, t->name,
                 t->is_task                                          ? "task"
                 : t->known && t->alive                              ? "alive"
                 : t->known || reader->ended >= RECORDER_ENDED_EXIT_ ? "ended"
                                                                     : "?");
    }
}

static void tweaks(FILE *to, const struct reader *reader)
{
    int width = 8;
    if (!reader->tweaks_count)
        return;
    for (size_t i = 0; i < reader->tweaks_count; i++)
        if (reader->tweaks[i].name)
            width = table_width(reader->tweaks[i].name, width);
    fprintf(to, "%-*s %8s  DESCRIPTION\n", width, "TWEAK", "VALUE");
    for (size_t i = 0; i < reader->tweaks_count; i++) {
        const struct reader_tweak *t = &reader->tweaks[i];
        text_put(to, "%-*s %8lld  %s\n", width, t->name ? t->name : "?",
                 (long long)t->value, t->description ? t->description : "");
    }
}

/* Prints that orders come from the clock, if the program chose it. */
static void orders(FILE *to, const struct reader *reader)
{
    if (reader->clocked == UINT64_MAX)
        fputs("Orders are by the clock.\n", to);
    else if (recorder_clocked_is_(reader->clocked))
        fprintf(
            to,
            "Orders are by the counter from %llu on, and by the clock below: "
            "a module that was opened then is compiled without "
            "RECORDER_CLOCK_ORDER.\n",
            (unsigned long long)reader->clocked);
    else if (reader->clocked)
        fprintf(to, "Orders are by the counter: %s.\n",
                reader->clocked == RECORDER_CLOCKED_NOT_TRUSTED_
                    ? "this machine's clock cannot be trusted to keep them"
                    : "not all files are compiled with RECORDER_CLOCK_ORDER");
}

void tables(FILE *to, const struct reader *reader, bool slots)
{
    orders(to, reader);
    recorders(to, reader, slots);
    recorders_left_out(to, reader);
    if (reader->threads_count)
        putc('\n', to);
    table_threads(to, reader);
    if (reader->tweaks_count)
        putc('\n', to);
    tweaks(to, reader);
}
