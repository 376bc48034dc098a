/* why.c - recorder why: where the time of spans went. */
/* SPDX-License-Identifier: MIT */
#include "why.h"
#include "filters.h"
#include "show.h"

enum { OPTION_SLOWEST = OPTION_OWN, OPTION_SEQ };

/* The number of an option, above 0; 0: it was not given. */
static uint64_t above_0(const struct call *call, int key)
{
    const char *text = call_option(call, key);
    uint64_t number = text ? number_of(call, text, "N", UINT64_MAX) : 0;
    if (text && !number)
        misuse(call, "%s: is no number above 0", text);
    return number;
}

/* The second argument chooses spans by their titles, or as --grep does. */
static void regex_take(const struct call *call, struct why_regex *regex)
{
    const char *wrong = call->arguments_count > 2 ? "is one too many" : NULL;
    regex->text = NULL;
    if (call->arguments_count == 2) {
        regex->text = call->arguments[1];
        wrong = filters_regex(&regex->compiled, regex->text);
    }
    if (wrong)
        misuse(call, "%s: %s", call->arguments[call->arguments_count - 1],
               wrong);
}

/* Opens the threads of `recorder run`; null: it recorded none. */
static struct threads *threads_find(struct call *call, struct threads *threads)
{
    const char *wrong =
        threads_open(threads, &call->source, &call->reader, false);
    if (wrong == recorded_other)
        fail(call, "%s", wrong);
    if (!wrong && !threads->recorded)
        threads_close(threads);
    return !wrong && threads->recorded ? threads : NULL;
}

/* The number of a recorder's records with reasons that were overwritten since
 * the first chosen span began. */
static uint64_t overwritten(const struct why *w, size_t which)
{
    const struct reader_recorder *r = w->call->reader.recorders[which];
    uint64_t from = why_time(w, r->complete_ns); /* UINT64_MAX: none was */
    bool has_reasons = strcmp(r->name, "lock_wait") == 0 ||
                       strcmp(r->name, "slow_call") == 0 ||
                       timeline_says(&w->timeline, which);
    for (size_t i = 0; i < w->spans.count && has_reasons; i++)
        if (((struct why_span *)w->spans.at)[i].begin < from)
            return r->figures.overwritten;
    return 0;
}

static void missing_warn(const struct why *w)
{
    const struct reader *reader = &w->call->reader;
    uint64_t count = 0;
    for (size_t i = 0; i < reader->recorders_count; i++) {
        call_warn_lacking(w->call, reader->recorders[i]);
        count += overwritten(w, i);
    }
    if (count)
        warn(w->call,
             "%" PRIu64 " records of waits, calls or switches were "
             "overwritten: what they told is \"not known\"",
             count);
    if (!w->switches.any)
        warn(w->call, "there are no records of switches, so the time on a CPU "
                      "is not known: RECORDER_SWITCHES=64,why adds them, in "
                      "a program that includes recorder_kernel.h");
    if (!w->threads)
        warn(w->call, "there are no records of waits: recorder run adds them");
}

static void spans_show(struct why *w, const char *wanted, uint64_t slowest,
                       uint64_t seq, bool json)
{
    const struct why_span *spans = w->spans.at;
    size_t shown = 0;
    for (size_t i = 0; i < w->spans.count && !slowest && !seq; i++)
        why_compare(w, &spans[i], json);
    slowest = slowest || seq ? slowest : 1;
    for (size_t i = 0; i < w->spans.count; i++)
        if (seq ? spans[i].order == seq || spans[i].end_order == seq
                : i < slowest) {
            if (shown++ && !json)
                putchar('\n');
            why_show(w, &spans[i], json);
        }
    if (!shown && seq)
        fail(w->call,
             "record %" PRIu64 " opens and closes no span that is kept", seq);
    if (!shown)
        fail(w->call, "no span that was closed is chosen%s",
             offer_text(&w->names, wanted));
}

static int run(struct call *call)
{
    uint64_t slowest = above_0(call, OPTION_SLOWEST);
    uint64_t seq = above_0(call, OPTION_SEQ);
    const char *names;
    struct threads threads;
    struct why w;
    struct why_regex regex;
    regex_take(call, &regex);
    call_open(call, 0);
    names = call->selection.names;
    call->selection.names = NULL; /* all records are taken */
    reader_select(&call->reader, &call->selection);
    call_take(call);
    call->selection.names = names;
    call_names_check(call);
    why_open(&w, call, threads_find(call, &threads), &regex);
    spans_show(&w, regex.text ? regex.text : "", slowest, seq,
               call_option(call, 'j'));
    missing_warn(&w);
    why_close(&w);
    if (regex.text)
        regfree(&regex.compiled);
    if (w.threads)
        threads_close(&threads);
    return 0;
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line, times in nanoseconds"},
    {OPTION_SLOWEST, "slowest", "N", "the parts of the N slowest spans"},
    {OPTION_SEQ, "seq", "N", "of the span that record N opens or closes"},
    {0, NULL, NULL, NULL}};

const struct verb verb_why = {
    .name = "why",
    .arguments = "SOURCE [REGEX]",
    .summary = "shows where the time of slow spans went",
    .help =
        "Compares the slowest 1 % of the spans of each name with those near "
        "the median, and splits the slowest span into parts, which add up to "
        "its time. REGEX chooses spans by their names, as recorder spans shows "
        "them, or their first messages; the options, by their first records. "
        "RECORDS are the sequence numbers around the longest piece of a part, "
        "for --since and --until of recorder dump --by-time. "
        "Below a wait for another thread are the parts of that thread in the "
        "same time. Without spans, the life of each thread is one. With "
        "recorder_functions.h and -finstrument-functions, each call of a "
        "function is one: REGEX is its name.\n\n"
        "recorder run records waits. RECORDER_SWITCHES=64,why in the "
        "environment of a program that includes recorder_kernel.h adds which "
        "thread ran, page faults and, for root, stops. A time for which the "
        "records have no reason is \"not known\".",
    .rows = rows,
    .selects = true,
    .kernel = true,
    .calls = true,
    .run = run};
