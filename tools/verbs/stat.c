/* stat.c - recorder stat: how fast recorders fill, and how far they reach. */
/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tables.h"

enum { OPTION_INTERVAL = OPTION_OWN };
#define SECOND INT64_C(1000000000) /* in ns */

/* The counts of all recorders when the last interval began, and its length. */
struct before {
    uint64_t *recorded;
    size_t count;
    uint64_t ns; /* when it ended */
    double seconds;
    bool chosen; /* --grep or --where: rates are of chosen records */
};

static void before_set(struct before *before, const struct reader *reader)
{
    before->recorded = need(realloc(
        before->recorded, (reader->recorders_count + 1) * sizeof(uint64_t)));
    for (size_t i = 0; i < reader->recorders_count; i++)
        before->recorded[i] = reader->recorders[i]->recorded;
    before->count = reader->recorders_count;
}

/* True if records take more than a slot, so that slots tell only roughly how
 * many there were. */
static bool is_estimate(const struct reader_recorder *r)
{
    return r->begun != r->whole;
}

/* Returns records per second: of a running program since `before`, else of the
 * kept records; below 0: unknown. */
static double rate_of(const struct reader_recorder *r, size_t i,
                      const struct before *before)
{
    uint64_t ns;
    if (before->recorded && before->chosen)
        return (double)r->matched / before->seconds;
    if (before->recorded) {
        uint64_t first = i < before->count ? before->recorded[i] : 0;
        if (r->recorded < first) /* its library was opened again */
            first = 0;
        return (double)(r->recorded - first) / before->seconds *
               (is_estimate(r) ? (double)r->begun / (double)r->whole : 1);
    }
    return table_span(r, &ns) && ns && r->figures.kept
               ? (double)(r->figures.kept - 1) * 1e9 / (double)ns
               : -1;
}

static void table(const struct reader *reader, const struct before *before)
{
    int width = table_names_width(reader);
    printf("%-*s %12s %10s %12s %12s %8s\n", width, "RECORDER", "RECORDS/S",
           "KEPT", "SPAN", "OVERWRITTEN", "LOST");
    for (size_t i = 0; i < reader->recorders_count; i++) {
        const struct reader_recorder *r = reader->recorders[i];
        char span[32] = "-", rate[32] = "-", overwritten[32];
        double per_second;
        uint64_t ns;
        if (!r->chosen || r->wrong)
            continue;
        per_second = rate_of(r, i, before);
        if (per_second >= 0)
            snprintf(rate, sizeof rate, "%s%.1f",
                     before->recorded && !before->chosen && is_estimate(r) ? "~"
                                                                           : "",
                     per_second);
        if (table_span(r, &ns))
            table_time(ns, span);
        table_column(stdout, r->name, width);
        printf(" %12s %10llu %12s %12s %8llu\n", rate,
               (unsigned long long)r->figures.kept, span,
               table_count(r->figures.overwritten, r->figures.estimated,
                           overwritten),
               (unsigned long long)r->figures.lost);
    }
}

/* Replaces the kept records by the ones that --grep and --where choose. */
static void kept_set(struct reader_recorder *r,
                     const struct reader_recorder *of)
{
    r->figures.kept = of->matched;
    r->oldest_ns = of->matched_oldest_ns;
    r->newest_ns = of->matched_newest_ns;
}

/* Does the same for a running program. Its reader gives each event once, so
 * another reader takes all present ones. */
static void kept_now(struct call *call)
{
    struct reader now, *reader = &call->reader;
    if (reader_open(&now, call->source.memory, reader->registry))
        return;
    now.codes = reader->codes;
    if (!reader_select(&now, &call->selection) && !reader_take(&now)) {
        reader_match(&now);
        for (size_t i = 0; i < reader->recorders_count; i++)
            for (size_t k = 0; k < now.recorders_count; k++)
                if (now.recorders[k]->address == reader->recorders[i]->address)
                    kept_set(reader->recorders[i], now.recorders[k]);
    }
    reader_close(&now);
}

static int64_t interval_of(struct call *call)
{
    const char *text = call_option(call, OPTION_INTERVAL);
    int64_t ns = SECOND;
    if (text &&
        (!span_of(text, &ns) || ns < SECOND / 100 || ns > 3600 * SECOND))
        misuse(call, "--interval %s: 0.01 to 3600 seconds", text);
    return ns;
}

/* Waits, and takes the records of the interval. Returns null, or the reason why
 * the program is no longer readable. */
static const char *interval_take(struct call *call, struct before *before,
                                 int64_t wait_ns)
{
    struct timespec wait = {(time_t)(wait_ns / SECOND),
                            (long)(wait_ns % SECOND)};
    const char *wrong;
    uint64_t ns;
    before_set(before, &call->reader);
    nanosleep(&wait, NULL);
    wrong = reader_take(&call->reader);
    ns = recorder_clock_ns_(RECORDER_MONOTONIC_);
    before->seconds = (double)(ns - before->ns) / 1e9;
    before->ns = ns;
    reader_count(&call->reader);
    if (before->chosen) {
        reader_match(&call->reader);
        kept_now(call);
    }
    return wrong;
}

static int stat(struct call *call)
{
    int64_t wait_ns = interval_of(call);
    bool watch = call_option(call, 'w') != NULL;
    struct before before = {0};
    const char *wrong;
    uint64_t missed;
    call_open(call, 0);
    if (watch && !call->source.memory->live)
        fail(call, "does not change: --watch is for running programs");
    call_take(call);
    before.ns = recorder_clock_ns_(RECORDER_MONOTONIC_);
    reader_count(&call->reader);
    before.chosen = call->selection.filters != NULL;
    if (before.chosen)
        reader_match(&call->reader);
    if (before.chosen && !call->source.pid)
        for (size_t i = 0; i < call->reader.recorders_count; i++)
            kept_set(call->reader.recorders[i], call->reader.recorders[i]);
    missed = call->reader.missed;
    if (!call->source.pid && !watch) {
        table(&call->reader, &before);
        return 0;
    }
    do {
        wrong = interval_take(call, &before, wait_ns);
        if (watch && isatty(1))
            fputs("\033[H\033[2J", stdout);
        table(&call->reader, &before);
        if (fflush(stdout) != 0)
            fail(call, "stdout: %s", strerror(errno));
    } while (watch && !wrong);
    if (before.chosen && call->reader.missed != missed)
        warn(call,
             "%llu records were overwritten before they could be looked at: "
             "RECORDS/S is less than it was",
             (unsigned long long)(call->reader.missed - missed));
    free(before.recorded);
    if (wrong)
        warn(call, "%s", wrong);
    return !wrong || strcmp(wrong, READER_GONE) == 0 ? 0 : 1;
}

static const struct option_row rows[] = {
    {'w', "watch", NULL, "again and again, until the program ends"},
    {OPTION_INTERVAL, "interval", "S", "measure for S seconds: 1"},
    ROW_NAMES,
    ROW_GREP,
    ROW_WHERE,
    {0, NULL, NULL, NULL}};

const struct verb verb_stat = {
    .name = "stat",
    .arguments = "SOURCE",
    .summary = "shows records per second, and the time span that is kept",
    .help = "In a running program, the rate is measured during an interval; "
            "in a file, it is the rate of the kept records. ~ marks an "
            "estimate, if records take several slots. With --grep or --where, "
            "OVERWRITTEN and LOST count all records, the other columns the "
            "chosen ones.",
    .rows = rows,
    .run = stat,
    .registries = true};
