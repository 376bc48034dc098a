/* diff.c - recorder diff: the differences of a bad run from good ones. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <math.h>

#include "array.h"
#include "explain.h"

enum {
    OPTION_CONTEXT = OPTION_OWN,
    OPTION_MOST,
    OPTION_COLOR,
    OPTION_EXACT,
    OPTION_ANY,
    OPTION_TIMES,
    CANNOT_TELL = 125, /* as git bisect run has it */
    LEAST = 4,         /* records of a side */
    MOST = 10,         /* differences that are shown */
    CONTEXT = 3,       /* records before and after one */
    CONTEXT_MAX = 1000
};

static const char *const names[SIDES] = {"GOOD", "BAD"};

/* --------------------------------------------------------------- records -- */

struct diff_shown {
    struct compare *c;
    size_t shown; /* causes */
    size_t context;
    bool as_json, in_color, all_times;
    char *ends;          /* that BAD ended otherwise than GOOD; or null */
    size_t *at[SIDES];   /* room for the events around one */
    char **texts[SIDES]; /* lines of events that are shown, or null */
};

/* Lists the events of a thread around one, up to `context` before and after it,
 * in o->at; returns their number, and the index of the one. */
static size_t events_around(const struct diff_shown *o, enum compare_side side,
                            size_t event, size_t *which)
{
    const struct history *h = &o->c->of[side];
    uint32_t thread = h->events[event].thread;
    const struct compare_thread *t = &h->threads[thread];
    size_t i = event, count = 0;
    *which = 0;
    while (i > t->first && *which < o->context)
        *which += h->events[--i].thread == thread;
    for (; i <= t->last && count <= *which + o->context; i++)
        if (h->events[i].thread == thread)
            o->at[side][count++] = i;
    return count;
}

/* The last record of another thread of its run before an event; COMPARE_NONE:
 * there is none. */
static size_t last_before(const struct diff_shown *o, enum compare_side side,
                          size_t event, size_t thread)
{
    const struct history *h = &o->c->of[side];
    const struct compare_thread *t = &h->threads[thread];
    if (h->events[event].thread == thread || !t->count ||
        t->run != history_run(h, event) || t->first >= event)
        return COMPARE_NONE;
    for (size_t i = event; i-- > t->first;)
        if (h->events[i].thread == thread)
            return i;
    return COMPARE_NONE;
}

/* The text of a record that is chosen, until it is read again: a damaged file
 * may lack it then. */
static char chosen[1];

static void records_choose(struct diff_shown *o, const struct finding *f,
                           enum compare_side side)
{
    size_t event = f->event[side], count, which, k;
    if (event == COMPARE_NONE)
        return;
    count = events_around(o, side, event, &which);
    for (k = 0; k < count; k++)
        o->texts[side][o->at[side][k]] = chosen;
    for (k = 0; f->rule == RULE_EXACT && k < o->c->of[side].threads_count; k++)
        if ((which = last_before(o, side, event, k)) != COMPARE_NONE)
            o->texts[side][which] = chosen;
}

/* Reads all records once more, and makes the lines of those chosen. */
static void records_read(struct diff_shown *o, enum compare_side side)
{
    const struct history *h = &o->c->of[side];
    struct reader_event e;
    uint64_t ns;
    size_t size;
    for (struct compare_run *run = h->runs; run < h->runs + h->runs_count;
         run++) {
        size_t i = run->first, end = run->end;
        while (end > i && !o->texts[side][end - 1])
            end--;
        timeline_rewind(&run->timeline);
        while (i < end && timeline_read(&run->timeline, &e, &ns)) {
            FILE *file;
            if (e.event.order != h->events[i].order || !o->texts[side][i++])
                continue; /* of switches, or not shown */
            file = need(open_memstream(&o->texts[side][i - 1], &size));
            if (o->as_json)
                json_event(file, run->call, &e);
            else
                line_write(file, run->call, &e, o->in_color, false);
            fclose(file);
        }
    }
}

static void records_open(struct diff_shown *o)
{
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        o->at[side] = need(malloc((2 * o->context + 2) * sizeof(size_t)));
        o->texts[side] = need(calloc(o->c->of[side].count, sizeof(char *)));
        for (size_t i = 0; i < o->shown; i++)
            records_choose(o, &o->c->findings[i], side);
        records_read(o, side);
    }
}

static void records_close(struct diff_shown *o)
{
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        for (size_t i = 0; i < o->c->of[side].count; i++)
            if (o->texts[side][i] != chosen)
                free(o->texts[side][i]);
        free(o->texts[side]);
        free(o->at[side]);
    }
}

/* ------------------------------------------------------------------ text -- */

static void head_print(const struct compare *c)
{
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        const struct history *h = &c->of[side];
        for (size_t i = 0; i < h->runs_count; i++) {
            const struct compare_run *run = &h->runs[i];
            size_t end = i + 1 < h->runs_count ? h->runs[i + 1].threads
                                               : h->threads_count;
            text_put(stdout, "%s%s %s: %zu records, %zu threads, %s",
                     side || i ? "; " : "", names[side], run->call->name,
                     run->end - run->first, end - run->threads,
                     finding_time((double)run->timeline.length_ns));
        }
    }
    putchar('\n');
}

/* The mean length of the runs of a side, in ns. */
static double mean_length(const struct history *h)
{
    double ns = 0;
    for (size_t i = 0; i < h->runs_count; i++)
        ns += (double)h->runs[i].timeline.length_ns;
    return ns / (double)h->runs_count;
}

/* Prints facts about the sources that the user should know. */
static void notes_print(const struct compare *c)
{
    const struct history *good = &c->of[GOOD], *bad = &c->of[BAD];
    const char *a = good->runs[0].call->reader.program;
    const char *b = bad->runs[0].call->reader.program;
    double times = mean_length(bad) / mean_length(good);
    double records =
        (double)bad->count * (double)good->runs_count / (double)good->count;
    size_t paired = 0;
    for (size_t i = 0; i < c->formats_count; i++)
        paired += c->formats[i].same != COMPARE_NONE;
    if (strcmp(a, b) != 0)
        printf("These are two programs, %s and %s: they are compared as far "
               "as they have formats in common.\n",
               finding_name(*a ? a : "?"), finding_name(*b ? b : "?"));
    if (c->other_build && good->build_size && bad->build_size)
        printf("These are two builds, %02x%02x%02x%02x and %02x%02x%02x%02x: "
               "%zu formats are paired though their lines differ.\n",
               good->build[0], good->build[1], good->build[2], good->build[3],
               bad->build[0], bad->build[1], bad->build[2], bad->build[3],
               paired);
    if (!c->strong_count && times >= 4 && records < 2)
        printf("BAD took %s times as long, and has no more records; --times "
               "shows the spans and steps, also those that are too few to "
               "compare.\n",
               finding_number(round(times)));
    for (enum compare_side side = GOOD; side < SIDES; side++)
        if (c->of[side].cut)
            printf("%s has not its beginning (%" PRIu64 " records "
                   "overwritten): only their common time is compared.\n",
                   names[side], c->of[side].overwritten);
}

/* The records around an event, the event itself after a `>`. */
static void around_print(const struct diff_shown *o, const struct finding *f,
                         enum compare_side side)
{
    const struct history *h = &o->c->of[side];
    size_t event = f->event[side], which, count, *at = o->at[side];
    if (event == COMPARE_NONE)
        return;
    count = events_around(o, side, event, &which);
    printf("  %s, thread %s:\n", names[side],
           finding_name(h->threads[h->events[event].thread].name));
    for (size_t i = 0; i < count; i++)
        printf("  %s %s", i == which ? ">" : " ", o->texts[side][at[i]]);
}

enum { WIDTH = 70 }; /* of a column */

/* A record in a column: its line without the newline. */
static void column_print(const struct diff_shown *o, enum compare_side side,
                         size_t event)
{
    const char *text = event == COMPARE_NONE ? "" : o->texts[side][event];
    int size = (int)text_cut(text, strcspn(text, "\n"), WIDTH);
    printf("%-*.*s", side == GOOD ? WIDTH : 0, size, text);
}

static void row_print(const struct diff_shown *o, size_t good, char mark,
                      size_t bad)
{
    if (mark == '|' && (strlen(o->texts[GOOD][good]) > WIDTH ||
                        strlen(o->texts[BAD][bad]) > WIDTH)) {
        printf("| %s", o->texts[GOOD][good]); /* cut ones may look the same */
        printf("| %s", o->texts[BAD][bad]);
        return;
    }
    fputs("  ", stdout);
    column_print(o, GOOD, good);
    printf(" %c ", mark);
    column_print(o, BAD, bad);
    putchar('\n');
}

/* The last record of each other thread before. */
static void others_print(const struct diff_shown *o, const struct finding *f)
{
    for (size_t i = 0; i < o->c->of[BAD].threads_count; i++) {
        size_t bad = last_before(o, BAD, f->event[BAD], i);
        size_t good = i < o->c->of[GOOD].threads_count
                          ? last_before(o, GOOD, f->event[GOOD], i)
                          : COMPARE_NONE;
        if (good != COMPARE_NONE || bad != COMPARE_NONE)
            row_print(o, good, '-', bad);
    }
}

/* The records around the first difference of two runs, side by side, and the
 * last records of other threads: < and > are of one run only, | differs. */
static void exact_print(const struct diff_shown *o, const struct finding *f)
{
    size_t *const *at = o->at, i[SIDES] = {0}, count[SIDES], from[SIDES];
    size_t end[SIDES];
    const size_t *skips = f->skips;
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        count[side] = events_around(o, side, f->event[side], &from[side]);
        end[side] = from[side] + (skips[GOOD] || skips[BAD] ? skips[side] : 1);
    }
    printf("  %-70s   %s\n", names[GOOD], names[BAD]);
    while (i[GOOD] < count[GOOD] || i[BAD] < count[BAD]) {
        bool before = i[GOOD] < from[GOOD] && i[BAD] < from[BAD];
        bool good = i[GOOD] < count[GOOD], bad = i[BAD] < count[BAD];
        char mark = ' ';
        if (!before && (i[GOOD] < end[GOOD] || i[BAD] < end[BAD])) {
            good = good && i[GOOD] < end[GOOD];
            bad = bad && i[BAD] < end[BAD];
            mark = good && bad ? '|' : good ? '<' : '>';
        }
        if (!good && !bad)
            break;
        row_print(o, good ? at[GOOD][i[GOOD]] : COMPARE_NONE, mark,
                  bad ? at[BAD][i[BAD]] : COMPARE_NONE);
        i[GOOD] += good;
        i[BAD] += bad;
    }
    others_print(o, f);
}

static void times_print(const struct diff_shown *o)
{
    const struct compare *c = o->c;
    bool head = false;
    for (size_t i = 0; i < c->times_count; i++) {
        const struct compare_time *t = &c->times[i];
        if (!o->all_times && (*t->verdict == '-' || *t->verdict == 't'))
            continue;
        if (!head)
            puts("\nVERDICT    PER RUN GOOD/BAD    MEDIAN GOOD/BAD       P99 "
                 "GOOD/BAD     TOTAL GOOD/BAD    RATIO  SPAN OR STEP");
        head = true;
        printf("%-8s %8.0f/%-8.0f %9s/%-9s %9s/%-9s %9s/%-9s %5s  ", t->verdict,
               t->count[GOOD] / (double)c->of[GOOD].runs_count, t->count[BAD],
               finding_time(t->median[GOOD]), finding_time(t->median[BAD]),
               finding_time(t->high[GOOD]), finding_time(t->high[BAD]),
               finding_time(t->total[GOOD]), finding_time(t->total[BAD]),
               finding_number(t->median[BAD] / t->median[GOOD]));
        puts(time_text(c, t));
    }
}

static void finding_print(const struct compare *c, size_t i)
{
    printf("%zu. %s: %s%s\n", i + 1, rule_rows[c->findings[i].rule].name,
           c->findings[i].text,
           c->findings[i].weak && c->strong_count ? " (may be chance)" : "");
}

/* A difference, its consequences, and the records around it. */
static void detail_print(const struct diff_shown *o, size_t i)
{
    const struct compare *c = o->c;
    putchar('\n');
    if (o->shown > 1)
        finding_print(c, i);
    for (size_t k = c->findings_causes; k < c->findings_count; k++)
        if (c->findings[k].cause == i + 1)
            printf("   with it, %s: %s\n", rule_rows[c->findings[k].rule].name,
                   c->findings[k].text);
    if (c->findings[i].rule == RULE_EXACT) {
        exact_print(o, &c->findings[i]);
        return;
    }
    around_print(o, &c->findings[i], GOOD);
    around_print(o, &c->findings[i], BAD);
}

static void text_print(const struct diff_shown *o)
{
    const struct compare *c = o->c;
    head_print(c);
    if (o->ends)
        printf("ended: %s\n", o->ends);
    if (!c->strong_count && !(o->ends && !c->findings_causes))
        puts(c->findings_causes
                 ? "No difference that is significant; this may be chance:"
                 : "No difference greater than between two runs of one "
                   "program.");
    for (size_t i = 0; i < o->shown; i++)
        finding_print(c, i);
    if (o->shown < c->findings_causes)
        printf("and %zu more: --most %zu shows them\n",
               c->findings_causes - o->shown, c->findings_causes);
    notes_print(c);
    for (size_t i = 0; i < o->shown; i++)
        detail_print(o, i);
    times_print(o);
}

/* ------------------------------------------------------------------ json -- */

static void json_format(const struct compare *c, const char *key, size_t format)
{
    const struct compare_format *f =
        format == COMPARE_NONE ? NULL : &c->formats[format];
    if (!f)
        json_put(stdout, ",%s:null", key);
    else
        json_put(stdout,
                 ",%s:{'recorder':%s,'format':%s,'location':%s,'good':%" PRIu64
                 ",'bad':%" PRIu64 "}",
                 key, c->recorders[f->recorder].name, f->text,
                 recorder_location_name_(f->location), f->watched[GOOD],
                 f->watched[BAD]);
}

static void json_head(const struct diff_shown *o)
{
    const struct compare *c = o->c;
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        const struct history *h = &c->of[side];
        json_put(stdout, side ? ",%s:[" : "{%s:[", side ? "bad" : "good");
        for (size_t i = 0; i < h->runs_count; i++) {
            const struct compare_run *run = &h->runs[i];
            fputs(i ? "," : "", stdout);
            json_put(stdout,
                     "{'source':%s,'program':%s,'records':%zu,'ns':%" PRIu64
                     "}",
                     run->call->name, run->call->reader.program,
                     run->end - run->first, run->timeline.length_ns);
        }
        printf("],\"%s_build_id\":\"", side ? "bad" : "good");
        for (size_t i = 0; i < h->build_size; i++)
            printf("%02x", h->build[i]);
        printf("\",\"%s_overwritten\":%" PRIu64, side ? "bad" : "good",
               h->overwritten);
    }
    json_put(stdout, ",'same_build':%d,'differences':%zu,'ended':%s}\n",
             !c->other_build, c->strong_count + (o->ends != NULL), o->ends);
}

static void json_records(const struct diff_shown *o, const struct finding *f,
                         enum compare_side side)
{
    size_t event = f->event[side], count = 0, which;
    if (event != COMPARE_NONE)
        count = events_around(o, side, event, &which);
    json_count(side ? "bad_order" : "good_order",
               count ? o->c->of[side].events[event].order : 0, count > 0);
    printf(",\"%s_records\":[", side ? "bad" : "good");
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i ? "," : "", o->texts[side][o->at[side][i]]);
    putchar(']');
}

static void json_number(const char *key, double number)
{
    struct reader_argument a = {.kind = READER_REAL, .real = number};
    json_put(stdout, ",%s:", key);
    json_argument(stdout, &a);
}

static void json_finding(const struct diff_shown *o, size_t i)
{
    const struct compare *c = o->c;
    const struct finding *f = &c->findings[i];
    json_put(stdout, "{'difference':%zu,'kind':%s,'text':%s,'significant':%d",
             i + 1, rule_rows[f->rule].name, f->text, !f->weak);
    if (f->cause)
        printf(",\"consequence_of\":%zu", f->cause);
    json_number("score", f->score);
    json_number("size", f->size);
    json_number("good", f->good);
    json_number("bad", f->bad);
    if (f->argument >= 0)
        printf(",\"argument\":%d", f->argument);
    json_format(c, "at", f->format);
    json_format(c, "with", f->other);
    if (!f->cause && i < o->shown) {
        json_records(o, f, GOOD);
        json_records(o, f, BAD);
    }
    puts("}");
}

static void json_time(const struct compare *c, const struct compare_time *t)
{
    json_put(stdout, "{'verdict':%s", t->verdict);
    json_format(c, "from", t->from);
    json_format(c, "to", t->to);
    for (enum compare_side side = GOOD; side < SIDES; side++)
        for (int i = 0; i < 5; i++) {
            const double *of[] = {t->count, t->median, t->high, t->total,
                                  t->cpu};
            static const char *const keys[] = {"count", "median_ns", "p99_ns",
                                               "total_ns", "cpu_mean_ns"};
            printf(",\"%s_%s\":%.0f", side ? "bad" : "good", keys[i],
                   t->count[side] > 0 && !isnan(of[i][side]) ? of[i][side] : 0);
        }
    puts("}");
}

static void json_print(const struct diff_shown *o)
{
    const struct compare *c = o->c;
    size_t i;
    json_head(o);
    for (i = 0; i < o->shown; i++)
        json_finding(o, i);
    for (i = c->findings_causes; i < c->findings_count; i++)
        if (c->findings[i].cause <= o->shown)
            json_finding(o, i);
    for (i = 0; i < c->times_count; i++)
        json_time(c, &c->times[i]);
}

/* ------------------------------------------------------------------ ends -- */

/* How the program of a recording ended; equal ends are equal texts. */
static char *end_of(struct call *call)
{
    const char *kind;
    int status;
    char *text = ended_text(call, &kind, &status);
    if (text && (strcmp(kind, "unknown") == 0 || strcmp(kind, "running") == 0 ||
                 (strcmp(kind, "exit") == 0 && status < 0)))
        *text = '\0';
    else if (text)
        text[strcspn(text, ":")] = '\0'; /* of a crash, its signal */
    return text ? text : need(strdup(""));
}

/* Returns words if the last run ended otherwise than each other; null: it did
 * not, or an end is not known. */
static char *ends_compare(struct call *calls, size_t count)
{
    char *bad = end_of(&calls[count - 1]), *line = NULL, *good = NULL;
    bool differ = *bad != '\0';
    for (size_t i = 0; differ && i + 1 < count; i++) {
        free(good);
        good = end_of(&calls[i]);
        differ = *good && strcmp(good, bad) != 0;
    }
    if (differ)
        line = need_text("%s in BAD, %s in GOOD", bad, good);
    free(good);
    free(bad);
    return line;
}

/* ------------------------------------------------------------------ verb -- */

static void misuses(const struct call *call)
{
    int count = call->arguments_count;
    if (count < 2)
        misuse(call, "it takes two sources or more: GOOD and BAD");
    if (count > 2 && strcmp(call->arguments[-1], "--") != 0)
        misuse(call, "several good runs end with --: diff GOOD GOOD -- BAD");
    if (call_option(call, OPTION_ELF) || call_option(call, OPTION_MEMORY))
        misuse(call, "recorder save makes a recording of --elf and --memory, "
                     "to be compared");
}

/* Ends the command where there is too little to compare. */
static void check(const struct compare *c)
{
    uint64_t common = 0;
    call_filters_check(c->of[GOOD].runs[0].call);
    for (enum compare_side side = GOOD; side < SIDES; side++)
        if (c->of[side].count < LEAST)
            fail(c->of[side].runs[0].call,
                 "has %zu records, which are too few to compare",
                 c->of[side].count);
    for (size_t i = 0; i < c->formats_count; i++)
        common += c->formats[i].kept[GOOD] && c->formats[i].kept[BAD];
    if (!common)
        fail(NULL, "GOOD and BAD have no format in common");
    if (c->exact && (c->of[GOOD].cut || c->of[BAD].cut))
        fail(NULL, "--exact needs whole runs: records were overwritten or left "
                   "out");
}

static int diff(struct call *call)
{
    static char buffer[1 << 16];
    struct compare c;
    const char *context = call_option(call, OPTION_CONTEXT);
    const char *most = call_option(call, OPTION_MOST);
    struct diff_shown o = {
        .c = &c,
        .context = context ? number_of(call, context, "--context", CONTEXT_MAX)
                           : CONTEXT,
        .shown = most ? number_of(call, most, "--most", UINT64_MAX) : MOST,
        .all_times = call_option(call, OPTION_TIMES) != NULL,
        .as_json = call_option(call, 'j') != NULL};
    size_t count = (size_t)call->arguments_count;
    struct call *calls = need(calloc(count, sizeof *calls));
    bool cut_off = false; /* a file lacks bytes, as a warning says */
    misuses(call);
    o.in_color =
        !o.as_json && line_color(call, call_option(call, OPTION_COLOR));
    for (size_t i = 0; i < count; i++) {
        calls[i] = *call;
        call_open(&calls[i], (int)i);
        call_take(&calls[i]);
    }
    compare_open(&c, calls, count);
    c.exact = call_option(call, OPTION_EXACT) != NULL;
    check(&c);
    compare_all(&c);
    o.ends = ends_compare(calls, count);
    if (call_option(call, OPTION_ANY))
        c.strong_count = c.findings_causes;
    if (o.shown > c.findings_causes)
        o.shown = c.findings_causes;
    records_open(&o);
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (o.as_json)
        json_print(&o);
    else
        text_print(&o);
    stdout_flush(NULL);
    records_close(&o);
    for (size_t i = 0; i < count; i++) {
        cut_off |= calls[i].source.cut_off;
        call_close(&calls[i]);
    }
    free(calls);
    count = c.strong_count + (o.ends != NULL);
    free(o.ends);
    compare_close(&c);
    return cut_off ? CANNOT_TELL : count ? 1 : 0;
}

static const struct option_row rows[] = {
    {'j', "json", NULL,
     "one JSON object a line: the sources, each difference with the records "
     "around it, each span and step, each thread"},
    {OPTION_MOST, "most", "N", "the N most telling differences: 10"},
    {OPTION_CONTEXT, "context", "N",
     "N records of the thread before and after: 3"},
    {OPTION_EXACT, "exact", NULL,
     "the first record that differs is a difference, also in runs that are not "
     "deterministic"},
    {OPTION_ANY, "any", NULL,
     "also a difference that may be chance sets the exit status"},
    {OPTION_TIMES, "times", NULL,
     "the table of all spans and steps, also of equal times"},
    {OPTION_COLOR, "color", "WHEN",
     "always, never, or auto: on a terminal, unless NO_COLOR is set"},
    {0, NULL, NULL, NULL}};

const struct verb verb_diff = {
    .name = "diff",
    .arguments = "GOOD BAD | GOOD... -- BAD",
    .summary = "compares a bad run of a program with a good one",
    .help =
        "GOOD and BAD are sources: recordings, core files or processes. "
        "Several good runs end with --; variations among them are no "
        "differences. The output has a line for each difference, the most "
        "telling first; then each difference with its consequences and the "
        "records around it; then spans and steps that became slower or "
        "faster.\n\n"
        "docs/diff.md has the kinds of differences, and their thresholds.\n\n"
        "Exit status, for git bisect run: 0, no difference; 1, some; 125, "
        "unknown: trouble, too few records, a cut file; 2, misuse. A "
        "difference that may be chance is shown last and counts with --any "
        "only.",
    .rows = rows,
    .selects = true,
    .run = diff,
    .for_people = true,
    .trouble = CANNOT_TELL};
