/* list.c - recorder list: recorders and threads, as they are now. */
/* SPDX-License-Identifier: MIT */
#include "explain.h"
#include "labels.h"
#include "sources.h"

enum { OPTION_SLOTS = OPTION_OWN, OPTION_SIZES, OPTION_RATES, OPTION_INTERVAL };
#define SECOND INT64_C(1000000000) /* in ns */

static void recorder_json(const struct call *call,
                          const struct reader_recorder *r)
{
    const struct recorder_figures_ *figures = &r->figures;
    json_source(stdout, call);
    json_put(stdout,
             "'recorder':%s,'size':%" PRIu64 ",'lanes':%" PRIu64
             ",'lane_bytes':%" PRIu64 ",'kept':%" PRIu64
             ",'overwritten':%" PRIu64 ",'estimated':%hhd,'slots_kept':%" PRIu64
             ",'slots_overwritten':%" PRIu64 ",'lost':%" PRIu64
             ",'missed':%" PRIu64 ",'left_out':%" PRIu64 ",'trace':%" PRId64
             ",'watched':%hhd,'frozen':%hhd,'description':%s}\n",
             r->shown, figures->size, figures->lanes, r->ring_bytes,
             figures->kept, figures->overwritten, (bool)figures->estimated,
             figures->slots_kept, figures->slots_overwritten, figures->lost,
             figures->missed, figures->left_out,
             recorder_trace_value_(r->trace),
             recorder_trace_is_watched_(r->trace),
             recorder_trace_is_frozen_(r->trace), r->description);
}

static void thread_json(const struct call *call, const struct reader_thread *t)
{
    json_source(stdout, call);
    json_put(stdout, "'thread':%u,'tid':%d,'alive':", t->number, (int)t->id);
    json_put(stdout, t->is_task || t->known ? "%hhd" : "null",
             t->is_task || t->alive);
    json_put(stdout, ",'name':%s", t->name);
    puts(t->is_task ? ",\"task\":true}" : "}");
}

/* Prints how the program of a recording ended, if the recording tells. */
static void list_ended(struct call *call, bool as_json)
{
    const char *kind;
    int status;
    char *text = ended_text(call, &kind, &status);
    if (text && !as_json) {
        printf("ENDED %s\n", text);
    } else if (text) {
        json_source(stdout, call);
        json_put(stdout, "'ended':%s,'text':%s", kind, text);
        printf(status < 0 ? "}\n" : ",\"status\":%d}\n", status);
    }
    free(text);
}

/* Prints an object for each recorder and each thread, and for the end. */
static void list_json(struct call *call)
{
    const struct reader *reader = &call->reader;
    if (reader->clocked) {
        json_source(stdout, call);
        json_put(stdout, "'orders':%s}\n",
                 reader->clocked == UINT64_MAX ? "clock" : "counter");
    }
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (reader->recorders[i]->chosen)
            recorder_json(call, reader->recorders[i]);
    for (size_t i = 0; i < reader->threads_count; i++)
        if (!reader->threads[i].is_free)
            thread_json(call, &reader->threads[i]);
    list_ended(call, true);
}

/* Names one of several sources, above its tables. */
static void list_title(const struct call *call)
{
    char clock[64];
    if (!call->title)
        return;
    text_put(stdout, "SOURCE %s: %s, program %s, pid %" PRIu64, call->title,
             call->name, call_program(call), call->reader.pid);
    if (sources_clock(call, clock))
        printf(", clock %s", clock);
    for (size_t i = 0; i < call->labels_count; i++)
        text_put(stdout, ", %s=%s", call->labels[i].name,
                 call->labels[i].value);
    putchar('\n');
}

/* Prints how many slots a recorder of one lane needs, to keep `seconds`. */
static void print_slots(double slots_per_second, double seconds)
{
    double wanted = slots_per_second * seconds;
    uint64_t slots = 4; /* the least that RECORDER makes */
    while ((double)slots < wanted && slots < UINT64_C(1) << 62)
        slots *= 2;
    printf(" %13" PRIu64, slots);
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
        text_put(stdout, "%-*s %10" PRIu64 " %10" PRIu64 " %10" PRIu64, width,
                 r->shown, r->figures.size * r->figures.lanes,
                 (r->ring_bytes * r->figures.lanes + 1023) / 1024,
                 r->figures.slots_kept);
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

/* ---------------------------------------------------------------- rates -- */

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

static void rates_table(const struct reader *reader,
                        const struct before *before)
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
        text_put(stdout, "%-*s %12s %10" PRIu64 " %12s %12s %8" PRIu64 "\n",
                 width, r->shown, rate, r->figures.kept, span,
                 table_count(r->figures.overwritten, r->figures.estimated,
                             overwritten),
                 r->figures.lost);
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
    const char *wrong;
    uint64_t ns;
    before_set(before, &call->reader);
    sleep_ns((uint64_t)wait_ns);
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

/* --rates: how fast recorders fill, and how far they reach. */
static int rates(struct call *call)
{
    int64_t wait_ns = interval_of(call);
    bool watch = call_option(call, 'w') != NULL;
    struct before before = {0};
    const char *wrong;
    uint64_t missed;
    call_open(call, 0);
    call->reader.kernel = false; /* these switches fill no slots yet */
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
        rates_table(&call->reader, &before);
        return 0;
    }
    do {
        wrong = interval_take(call, &before, wait_ns);
        if (watch && isatty(1))
            fputs("\033[H\033[2J", stdout);
        rates_table(&call->reader, &before);
        stdout_flush(call);
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

/* ----------------------------------------------------------------- verb -- */

static bool of_rates(const struct call *call)
{
    bool is = call_option(call, OPTION_RATES) || call_option(call, 'w') ||
              call_option(call, OPTION_INTERVAL);
    if (is && call->arguments_count > 1)
        misuse(call, "--rates takes one SOURCE: %s is too much",
               call->arguments[1]);
    if (is &&
        (call_option(call, 'j') || call_option(call, OPTION_SLOTS) ||
         call_option(call, OPTION_SIZES) || call_option(call, OPTION_LABEL)))
        misuse(call, "--rates goes without --json, --slots, --sizes and "
                     "--label");
    return is;
}

static int list(struct call *call)
{
    for (int key = OPTION_SLOTS; key <= OPTION_SIZES; key++)
        if (call->selection.filters && call_option(call, key))
            misuse(call,
                   "--%s counts slots, which --grep and --where cannot "
                   "choose",
                   key == OPTION_SLOTS ? "slots" : "sizes");
    if (of_rates(call))
        return rates(call);
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
        list_ended(c, false);
    }
    return sources_close(calls);
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line"},
    {OPTION_SLOTS, "slots", NULL, "how many slots are in use, too"},
    {OPTION_SIZES, "sizes", NULL,
     "memory, time kept, and slots for 1 s, 1 min"},
    {OPTION_RATES, "rates", NULL, "records per second, and the time kept"},
    {'w', "watch", NULL, "--rates again and again, until the program ends"},
    {OPTION_INTERVAL, "interval", "S", "the seconds that --rates measures: 1"},
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
        "reason. ENDED: how the program of a recording ended.\n\n"
        "--rates: in a running program, of an interval; in a file, of the kept "
        "records. ~ marks an estimate, if records take several slots.",
    .for_people = true,
    .rows = rows,
    .run = list,
    .kernel = true,
    .registries = true};
