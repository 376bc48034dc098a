/* diff.c - recorder diff: the differences of a bad run from a good one. */
/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "line.h"
#include "shown.h"

enum {
    OPTION_CONTEXT = OPTION_OWN,
    OPTION_MOST,
    OPTION_COLOR,
    MOST = 10,   /* differences that are shown */
    CONTEXT = 3, /* records before and after one */
    CONTEXT_MAX = 1000
};

static const char *const names[SIDES] = {"GOOD", "BAD"};

/* --------------------------------------------------------------- records -- */

/* A record that is shown, once it was read again. */
struct wanted {
    uint64_t order;
    char *text;
};
struct output {
    struct compare *c;
    size_t shown; /* findings */
    size_t context;
    bool as_json, in_color;
    struct wanted *wanted[SIDES];
    size_t count[SIDES];
};

/* The events of a thread around one, up to `context` before and after it;
 * returns their number, and the index of the one. */
static size_t events_around(const struct output *o, enum compare_side side,
                            size_t event, size_t *to, size_t *which)
{
    const struct history *h = &o->c->of[side];
    const struct compare_thread *t = &h->threads[h->events[event].thread];
    uint32_t thread = h->events[event].thread;
    size_t count = 0, i, k;
    for (i = event; i-- > t->first && count < o->context;)
        if (h->events[i].thread == thread)
            to[count++] = i;
    for (i = 0, k = count; i + 1 < k; i++) { /* they were found backwards */
        size_t swap = to[i];
        to[i] = to[--k];
        to[k] = swap;
    }
    *which = count;
    to[count++] = event;
    for (i = event + 1; i <= t->last && count <= *which + o->context; i++)
        if (h->events[i].thread == thread)
            to[count++] = i;
    return count;
}

static int by_order(const void *left, const void *right)
{
    const struct wanted *a = left, *b = right;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Reads the wanted records once more, and makes their lines. */
static void records_read(struct output *o, enum compare_side side)
{
    struct call *call = o->c->of[side].call;
    struct wanted *all = o->wanted[side];
    size_t *count = &o->count[side], kept = 0, size;
    struct reader_event e;
    FILE *file;
    qsort(all, *count, sizeof *all, by_order);
    for (size_t i = 0; i < *count; i++)
        if (!i || all[i].order != all[i - 1].order)
            all[kept++] = all[i];
    *count = kept;
    reader_rewind(&call->reader);
    while (reader_next(&call->reader, &e)) {
        struct wanted key = {.order = e.event.order};
        struct wanted *w = bsearch(&key, all, kept, sizeof *all, by_order);
        if (!w || w->text)
            continue;
        file = need(open_memstream(&w->text, &size));
        if (o->as_json)
            json_event(file, call, &e);
        else
            line_write(file, call, &e, o->in_color, false);
        fclose(file);
    }
}

static const char *record_text(const struct output *o, enum compare_side side,
                               size_t event)
{
    struct wanted key = {.order = o->c->of[side].events[event].order};
    struct wanted *w =
        bsearch(&key, o->wanted[side], o->count[side], sizeof key, by_order);
    return w && w->text ? w->text : "";
}

/* Chooses the records around the shown differences. */
static void records_choose(struct output *o)
{
    size_t most = 2 * o->context + 1, which;
    size_t *to = need(malloc(most * sizeof *to));
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        o->wanted[side] =
            need(calloc(o->shown * most + 1, sizeof *o->wanted[side]));
        for (size_t i = 0; i < o->shown; i++) {
            size_t event = o->c->findings[i].event[side], count, k;
            if (event == COMPARE_NONE)
                continue;
            count = events_around(o, side, event, to, &which);
            for (k = 0; k < count; k++)
                o->wanted[side][o->count[side]++].order =
                    o->c->of[side].events[to[k]].order;
        }
        records_read(o, side);
    }
    free(to);
}

static void records_free(struct output *o)
{
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        for (size_t i = 0; i < o->count[side]; i++)
            free(o->wanted[side][i].text);
        free(o->wanted[side]);
    }
}

/* ------------------------------------------------------------------ text -- */

/* A name, escaped. */
static void name_print(const char *name)
{
    size_t size = strlen(name);
    name = text_shown(name, &size);
    fwrite(name, 1, size, stdout);
}

static void head_print(const struct compare *c)
{
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        const struct history *h = &c->of[side];
        printf("%s%s ", side ? "; " : "", names[side]);
        name_print(h->call->name);
        printf(": %zu records, %zu threads, %s", h->count, h->threads_count,
               finding_time((double)h->length_ns));
    }
    putchar('\n');
}

/* Prints facts about the two sources that the user should know. */
static void notes_print(const struct compare *c)
{
    const struct history *good = &c->of[GOOD], *bad = &c->of[BAD];
    const char *a = good->call->reader.program, *b = bad->call->reader.program;
    size_t paired = 0;
    for (size_t i = 0; i < c->formats_count; i++)
        paired += c->formats[i].same != COMPARE_NONE;
    if (strcmp(a, b) != 0) {
        fputs("These are two programs, ", stdout);
        name_print(*a ? a : "?");
        fputs(" and ", stdout);
        name_print(*b ? b : "?");
        puts(": they are compared as far as they have formats in common.");
    }
    if (c->other_build && good->build_size && bad->build_size)
        printf("These are two builds, %02x%02x%02x%02x and %02x%02x%02x%02x: "
               "%zu formats are paired though their lines differ.\n",
               good->build[0], good->build[1], good->build[2], good->build[3],
               bad->build[0], bad->build[1], bad->build[2], bad->build[3],
               paired);
    for (enum compare_side side = GOOD; side < SIDES; side++)
        if (c->of[side].cut)
            printf("%s has not its beginning (%" PRIu64 " records "
                   "overwritten): only their common time is compared.\n",
                   names[side], c->of[side].overwritten);
}

/* The records around an event, the event itself after a `>`. */
static void around_print(const struct output *o, const struct finding *f,
                         enum compare_side side)
{
    const struct history *h = &o->c->of[side];
    size_t event = f->event[side], which, count;
    size_t *at;
    if (event == COMPARE_NONE)
        return;
    at = need(malloc((2 * o->context + 1) * sizeof *at));
    count = events_around(o, side, event, at, &which);
    printf("  %s, thread ", names[side]);
    name_print(h->threads[h->events[event].thread].name);
    puts(":");
    for (size_t i = 0; i < count; i++)
        printf("  %s %s", i == which ? ">" : " ", record_text(o, side, at[i]));
    free(at);
}

/* The place where each thread of BAD departs from the threads of GOOD. */
static void threads_print(const struct compare *c)
{
    const struct history *bad = &c->of[BAD], *good = &c->of[GOOD];
    size_t departing = 0, i;
    for (i = 0; i < bad->threads_count; i++)
        departing += bad->threads[i].departs != COMPARE_NONE;
    if (!departing)
        return;
    puts("\nTHREAD  NAME                 GOOD        BAD  DEPARTS AT");
    for (i = 0; i < bad->threads_count; i++) {
        const struct compare_thread *t = &bad->threads[i];
        size_t size = strlen(t->name);
        printf("T%-6u %-16s %9" PRIu64 " %10" PRIu64 "  ", t->number,
               text_shown(t->name, &size),
               t->match == COMPARE_NONE ? 0 : good->threads[t->match].count,
               t->count);
        if (t->departs == COMPARE_NONE)
            puts("-");
        else
            printf("%" PRIu64 " %s\n", bad->events[t->departs].order,
                   finding_site(c, bad->events[t->departs].format));
    }
}

static void text_print(const struct output *o)
{
    const struct compare *c = o->c;
    head_print(c);
    if (!c->strong_count)
        puts(c->findings_count
                 ? "No difference that is significant; this may be chance:"
                 : "No difference greater than between two runs of one "
                   "program.");
    for (size_t i = 0; i < o->shown; i++)
        printf("%zu. %s: %s\n", i + 1, finding_kind_name(c->findings[i].kind),
               c->findings[i].text);
    if (o->shown < c->findings_count)
        printf("and %zu more: --most %zu shows them\n",
               c->findings_count - o->shown, c->findings_count);
    notes_print(c);
    for (size_t i = 0; i < o->shown; i++) {
        putchar('\n');
        if (o->shown > 1)
            printf("%zu. %s: %s\n", i + 1,
                   finding_kind_name(c->findings[i].kind), c->findings[i].text);
        around_print(o, &c->findings[i], GOOD);
        around_print(o, &c->findings[i], BAD);
    }
    threads_print(c);
}

/* ------------------------------------------------------------------ json -- */

static void json_name(const char *key, const char *text)
{
    printf("\"%s\":", key);
    json_text(stdout, text);
}

static void json_format(const struct compare *c, const char *key, size_t format)
{
    const struct compare_format *f;
    if (format == COMPARE_NONE) {
        printf(",\"%s\":null", key);
        return;
    }
    f = &c->formats[format];
    printf(",\"%s\":{", key);
    json_name("recorder", c->recorders[f->recorder].name);
    putchar(',');
    json_name("format", f->text);
    putchar(',');
    json_name("location", recorder_location_name_(f->location));
    printf(",\"good\":%" PRIu64 ",\"bad\":%" PRIu64 "}", f->watched[GOOD],
           f->watched[BAD]);
}

static void json_head(const struct compare *c)
{
    putchar('{');
    for (enum compare_side side = GOOD; side < SIDES; side++) {
        const struct history *h = &c->of[side];
        printf("%s\"%s\":{", side ? "," : "", side ? "bad" : "good");
        json_name("source", h->call->name);
        putchar(',');
        json_name("program", h->call->reader.program);
        fputs(",\"build_id\":\"", stdout);
        for (size_t i = 0; i < h->build_size; i++)
            printf("%02x", h->build[i]);
        printf("\",\"records\":%zu,\"threads\":%zu,\"ns\":%" PRIu64
               ",\"overwritten\":%" PRIu64 "}",
               h->count, h->threads_count, h->length_ns, h->overwritten);
    }
    printf(",\"same_build\":%s,\"differences\":%zu}\n",
           json_bool(!c->other_build), c->strong_count);
}

static void json_records(const struct output *o, const struct finding *f,
                         enum compare_side side)
{
    size_t event = f->event[side], count = 0, which = 0;
    size_t *at = need(malloc((2 * o->context + 1) * sizeof *at));
    if (event != COMPARE_NONE)
        count = events_around(o, side, event, at, &which);
    printf(",\"%s_order\":", side ? "bad" : "good");
    if (count)
        printf("%" PRIu64, o->c->of[side].events[event].order);
    else
        fputs("null", stdout);
    printf(",\"%s_records\":[", side ? "bad" : "good");
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i ? "," : "", record_text(o, side, at[i]));
    putchar(']');
    free(at);
}

static void json_number(const char *key, double number, bool known)
{
    struct reader_argument a = {.kind = READER_REAL, .real = number};
    printf(",\"%s\":", key);
    if (known)
        json_argument(stdout, &a);
    else
        fputs("null", stdout);
}

static void json_print(const struct output *o)
{
    const struct compare *c = o->c;
    json_head(c);
    for (size_t i = 0; i < o->shown; i++) {
        const struct finding *f = &c->findings[i];
        printf("{\"difference\":%zu,\"kind\":\"%s\",", i + 1,
               finding_kind_name(f->kind));
        json_name("text", f->text);
        printf(",\"significant\":%s", json_bool(!f->weak));
        json_number("score", f->score, true);
        json_number("p", f->p, f->p >= 0);
        json_number("good", f->good, true);
        json_number("bad", f->bad, true);
        if (f->argument >= 0)
            printf(",\"argument\":%d", f->argument);
        json_format(c, "at", f->format);
        json_format(c, "with", f->other);
        json_records(o, f, GOOD);
        json_records(o, f, BAD);
        puts("}");
    }
    for (size_t i = 0; i < c->of[BAD].threads_count; i++) {
        const struct compare_thread *t = &c->of[BAD].threads[i];
        printf("{\"thread\":%u,", t->number);
        json_name("name", t->name);
        if (t->match == COMPARE_NONE)
            fputs(",\"good_thread\":null", stdout);
        else
            printf(",\"good_thread\":%u", c->of[GOOD].threads[t->match].number);
        if (t->departs == COMPARE_NONE)
            fputs(",\"departs_at\":null", stdout);
        else
            printf(",\"departs_at\":%" PRIu64,
                   c->of[BAD].events[t->departs].order);
        puts("}");
    }
}

/* ------------------------------------------------------------------ verb -- */

static size_t number_of(const struct call *call, int key, const char *name,
                        size_t usual, size_t most)
{
    const char *text = call_option(call, key);
    unsigned long long number;
    char *end;
    if (!text)
        return usual;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (*end || *text < '0' || *text > '9' || errno || number > most)
        misuse(call, "--%s %s: a number up to %zu", name, text, most);
    return (size_t)number;
}

static int diff(struct call *call)
{
    static char buffer[1 << 16];
    static struct call bad;
    struct compare c;
    struct output o = {
        .c = &c,
        .context =
            number_of(call, OPTION_CONTEXT, "context", CONTEXT, CONTEXT_MAX),
        .shown = number_of(call, OPTION_MOST, "most", MOST, 1000000),
        .as_json = call_option(call, 'j') != NULL};
    o.in_color =
        !o.as_json && line_color(call, call_option(call, OPTION_COLOR));
    if (call->arguments_count != 2)
        misuse(call, "it takes two sources: GOOD and BAD");
    if (call_option(call, OPTION_ELF) || call_option(call, OPTION_MEMORY))
        misuse(call, "recorder save makes a recording of --elf and --memory, "
                     "to be compared");
    bad = *call;
    call_open(call, 0);
    call_open(&bad, 1);
    call_take(call);
    call_take(&bad);
    compare_open(&c, call, &bad);
    compare_all(&c);
    if (o.shown > c.findings_count)
        o.shown = c.findings_count;
    records_choose(&o);
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (o.as_json)
        json_print(&o);
    else
        text_print(&o);
    if (fflush(stdout) != 0 || ferror(stdout))
        fail(NULL, "stdout: %s", strerror(errno));
    records_free(&o);
    compare_close(&c);
    call_close(&bad);
    return c.strong_count ? 1 : 0;
}

static const struct option_row rows[] = {
    {'j', "json", NULL,
     "one JSON object a line: the sources, each difference with the records "
     "around it, each thread"},
    {OPTION_MOST, "most", "N", "the N most telling differences: 10"},
    {OPTION_CONTEXT, "context", "N",
     "N records of the thread before and after: 3"},
    {OPTION_COLOR, "color", "WHEN",
     "always, never, or auto: on a terminal, unless NO_COLOR is set"},
    {0, NULL, NULL, NULL}};

const struct verb verb_diff = {
    .name = "diff",
    .arguments = "GOOD BAD",
    .summary = "compares a bad run of a program with a good one",
    .help =
        "GOOD and BAD are sources: recordings, core files or processes. The "
        "output has a line for each difference, the most telling first; then "
        "each with the records around it; then the place where each thread "
        "departs.\n\n"
        "new, gone: a format that only one has. order: a sequence that GOOD "
        "never has, after the same one, two and three records of a thread. "
        "share: after a record comes another more or less often. rate: a "
        "format is more or less frequent than run length, time and the "
        "formats before it explain. value: an argument has a value that GOOD "
        "never has, or much more often. range, grows: a number left its "
        "range, or grows with time. time: a span, or a step from a record to "
        "the next, takes another time. count: a loop turns more or less "
        "often. thread, ends: a thread that only one has, or that ends "
        "early.\n\n"
        "p is the chance of an equal difference between two runs of one "
        "program, by G-tests, Mann-Whitney's and Fisher's test, with Holm's "
        "correction for many tests. Only the time that both kept is compared: "
        "if a ring of one overwrote its beginning, the beginning of the other "
        "does not count. Addresses count only as null or not.\n\n"
        "A sequence or value that GOOD never has, and BAD rarely enough for "
        "chance (Fisher's test: p > 0.001), is listed last, and does not "
        "change the exit status: threads race.\n\n"
        "Exit status: 0, no difference; 1, some; 2, trouble or misuse.",
    .rows = rows,
    .selects = true,
    .run = diff,
    .trouble = 2};
