/* sources.c - several SOURCES in one call, merged by wall-clock time. */
/* SPDX-License-Identifier: MIT */
#include "sources.h"
#include "contexts.h"
#include "labels.h"
#include "print.h"

static int status;

/* ---------------------------------------------------------------- titles -- */

/* "web1" of "log/web1.rec" */
static char *title_of_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot;
    const char *name = slash && slash[1] ? slash + 1 : path;
    dot = strrchr(name, '.');
    return need(strndup(name, dot && dot > name && strcmp(dot, ".rec") == 0
                                  ? (size_t)(dot - name)
                                  : strlen(name)));
}

/* The ways to name a source, from the shortest on; null: it has no such. */
enum { TITLES = 4 };
static char *title_try(const struct call *call, int way, size_t number)
{
    const char *host = label_of(call, "host");
    if (way == 0)
        return host ? need(strdup(host)) : title_of_path(call->name);
    if (way == 1 && host)
        return need_text("%s/%s.%" PRIu64, host, call_program(call),
                         call->reader.pid);
    if (way == 1)
        return need(strdup(call->name));
    if (way == 2)
        return need_text("%s%s%s", host ? host : "", host ? ":" : "",
                         call->name);
    return need_text("%s#%zu", call->name, number);
}

static bool title_is_taken(const struct call *calls, const struct call *of)
{
    for (const struct call *c = calls; c; c = c->next)
        if (c != of && c->title && strcmp(c->title, of->title) == 0)
            return true;
    return false;
}

/* Gives each source the shortest name that no other has. */
static void titles_make(struct call *calls, size_t count)
{
    bool *again = need(malloc(count));
    memset(again, true, count);
    for (int way = 0; way < TITLES; way++) {
        size_t i = 0;
        for (struct call *c = calls; c; c = c->next, i++)
            if (again[i]) {
                free(c->title);
                c->title = title_try(c, way, i + 1);
            }
        i = 0;
        for (struct call *c = calls; c; c = c->next)
            again[i++] = title_is_taken(calls, c);
    }
    free(again);
}

/* A process id that no other source has, as outputs know processes by it: the
 * kernel gives none above 2^22. */
static void pids_make(struct call *calls)
{
    uint64_t ours = UINT64_C(1) << 22;
    for (struct call *c = calls; c; c = c->next) {
        c->pid_shown = c->reader.pid;
        for (const struct call *k = calls; k != c; k = k->next)
            if (k->pid_shown == c->pid_shown || !c->pid_shown)
                c->pid_shown = ++ours;
        c->pid_shown = c->pid_shown ? c->pid_shown : ++ours;
    }
}

size_t sources_count(const struct call *calls)
{
    size_t count = 0;
    for (; calls; calls = calls->next)
        count++;
    return count;
}

int sources_width(const struct call *calls)
{
    int width = 0;
    for (; calls; calls = calls->next)
        width = calls->title ? table_width(calls->title, width) : width;
    return width;
}

bool sources_labelled(const struct call *calls)
{
    return calls->title || calls->labels_count;
}

bool sources_clock(const struct call *call, char to[64])
{
    const struct source_note *note = &call->source.note;
    bool ahead = note->offset_ns >= 0;
    uint64_t offset =
        ahead ? (uint64_t)note->offset_ns : 0 - (uint64_t)note->offset_ns;
    char text[32], error[32];
    if (!note->offset_ns && !note->error_ns)
        return false;
    snprintf(to, 64, "%c%s, +-%s", ahead ? '+' : '-', table_time(offset, text),
             note->error_ns ? table_time((uint64_t)note->error_ns, error)
                            : "unknown");
    return true;
}

/* ------------------------------------------------------------------ open -- */

static void open_one(struct call *call)
{
    call_open(call, 0);
}

struct call *sources_open(struct call *call, int first)
{
    struct call *calls = NULL, **last = &calls;
    int count = call->arguments_count;
    size_t opened = 0;
    if (count - first < 2) {
        call_open(call, first);
        return call;
    }
    if (call_option(call, 'e') || call_option(call, OPTION_ELF) ||
        call_option(call, OPTION_REGISTRY))
        misuse(call, "--executable, --elf and --registry are of one SOURCE");
    descriptors_raise();
    for (int i = first; i < count; i++) {
        struct call *one = need(malloc(sizeof *one));
        *one = *call;
        one->arguments = call->arguments + i;
        one->arguments_count = 1;
        if (call_try(one, open_one)) {
            *last = one;
            last = &one->next;
            opened++;
        } else {
            status = 1;
        }
    }
    if (!calls)
        exit(1);
    titles_make(calls, opened);
    pids_make(calls);
    return calls;
}

int sources_close(struct call *calls)
{
    while (calls->title) { /* else it is the only one, and main() closes it */
        struct call *next = calls->next;
        call_close(calls);
        free(calls->title);
        free(calls);
        if (!next)
            break;
        calls = next;
    }
    return status;
}

/* ------------------------------------------------------------------ take -- */

/* Resolves --since or --until: relative times count from the newest record of
 * all, or from the start of the first program. Returns a date. */
static uint64_t date_of(struct call *calls, const char *text)
{
    struct call *first = NULL, *last = NULL;
    uint64_t oldest = UINT64_MAX, newest = 0, order;
    int64_t ns;
    if (strspn(text, "0123456789") == strlen(text))
        misuse(calls,
               "%s: a sequence number is of one SOURCE; of several, name a time",
               text);
    for (struct call *c = calls; c; c = c->next) {
        uint64_t start = reader_start_realtime(&c->reader);
        uint64_t end = start + (uint64_t)call_newest_ns(c);
        if (start && start < oldest)
            oldest = start, first = c;
        if (start && end >= newest)
            newest = end, last = c;
    }
    if (!first)
        fail(NULL, "no source has a date, so %s is no time in them", text);
    if (*text != '-' && span_of(text, &ns))
        last = first;
    call_when(last, text, &order, &ns);
    return reader_start_realtime(&last->reader) + (uint64_t)ns;
}

static void dates_select(struct call *calls, const char *since,
                         const char *until)
{
    uint64_t from = since ? date_of(calls, since) : 0;
    uint64_t to = until ? date_of(calls, until) : 0;
    for (struct call *c = calls; c; c = c->next) {
        struct reader_selection *s = &c->selection;
        uint64_t start = reader_start_realtime(&c->reader);
        if (!start) {
            warn(c, "has no date: --since and --until do not choose in it");
            continue;
        }
        s->since_set = since;
        s->since_ns = (int64_t)(from - start);
        s->until_set = until;
        s->until_ns = (int64_t)(to - start);
    }
}

static void selections_apply(struct call *calls)
{
    for (struct call *c = calls; c; c = c->next) {
        reader_select(&c->reader, &c->selection);
        reader_rewind(&c->reader);
    }
}

/* Leaves the last N events of all sources, out of the last N of each. */
static void last_select(struct call *calls, uint64_t last)
{
    struct merge merge;
    struct reader_event event;
    struct call *of;
    uint64_t left = 0;
    merge_begin(&merge, calls);
    while (merge_next(&merge, &event))
        left++;
    merge_end(&merge);
    for (of = calls; of; of = of->next)
        reader_rewind(&of->reader);
    merge_begin(&merge, calls);
    for (of = calls; of; of = of->next)
        of->selection.last = 0;
    for (; (of = merge_next(&merge, &event)); left--)
        of->selection.last += left <= last;
    merge_end(&merge);
    for (of = calls; of; of = of->next)
        if (!of->selection.last)
            of->selection.since_order = of->reader.end; /* nothing */
}

/* Ends the command if no source has a chosen recorder, thread or request. */
static void choice_check(struct call *calls)
{
    const char *request = calls->selection.context;
    for (struct call *c = calls; c && request; c = c->next)
        if (c->reader.contexts && c->reader.contexts->found)
            request = NULL;
    call_selection_check(calls);
    if (request)
        fail(NULL, "%s: no record of these sources belongs to this request",
             request);
}

void sources_take(struct call *calls)
{
    const char *since = call_option(calls, OPTION_SINCE);
    const char *until = call_option(calls, OPTION_UNTIL);
    struct call **at = &calls->next;
    if (!calls->title) {
        call_take(calls);
        return;
    }
    /* The first stays the head of the list, whatever becomes of it. */
    if (!call_try(calls, call_take_all))
        status = 1;
    while (*at)
        if (call_try(*at, call_take_all)) {
            at = &(*at)->next;
        } else {
            status = 1;
            *at = (*at)->next;
        }
    choice_check(calls);
    if (since || until) {
        dates_select(calls, since, until);
        selections_apply(calls);
    }
    if (calls->selection.last) {
        last_select(calls, calls->selection.last);
        selections_apply(calls);
    }
}

uint64_t sources_start(const struct call *calls)
{
    uint64_t first = 0;
    for (; calls; calls = calls->next) {
        uint64_t start = reader_start_realtime(&calls->reader);
        if (start && (!first || start < first))
            first = start;
    }
    return first;
}

void sources_warn(const struct call *calls)
{
    for (; calls; calls = calls->next)
        for (size_t i = 0; i < calls->reader.recorders_count; i++)
            if (calls->reader.recorders[i]->wrong)
                warn(calls, "recorder %s: %s", calls->reader.recorders[i]->name,
                     calls->reader.recorders[i]->wrong);
}

/* ----------------------------------------------------------------- merge -- */

static bool comes_before(const struct merge_source *a,
                         const struct merge_source *b)
{
    return a->key < b->key || (a->key == b->key && a->argument < b->argument);
}

/* Puts the source at place `i` of the heap where it belongs. */
static void heap_sink(struct merge *merge, size_t i)
{
    struct merge_source **heap = merge->heap, *it = heap[i];
    size_t child;
    while ((child = 2 * i + 1) < merge->count) {
        if (child + 1 < merge->count &&
            comes_before(heap[child + 1], heap[child]))
            child++;
        if (!comes_before(heap[child], it))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = it;
}

static bool source_next(struct merge_source *source)
{
    const struct reader_event *e = &source->event;
    if (!reader_next(&source->call->reader, &source->event))
        return false;
    if (e->ns != RECORDER_TIME_UNKNOWN_ && e->realtime_ns > source->key)
        source->key = e->realtime_ns;
    return true;
}

void merge_begin(struct merge *merge, struct call *calls)
{
    size_t count = sources_count(calls), i = 0;
    *merge = (struct merge){.all = need(calloc(count, sizeof *merge->all)),
                            .heap = need(calloc(count, sizeof *merge->heap))};
    for (struct call *c = calls; c; c = c->next, i++) {
        merge->all[i] = (struct merge_source){.call = c, .argument = i};
        if (source_next(&merge->all[i]))
            merge->heap[merge->count++] = &merge->all[i];
    }
    for (i = merge->count / 2; i-- > 0;)
        heap_sink(merge, i);
}

struct call *merge_next(struct merge *merge, struct reader_event *event)
{
    if (merge->begun && merge->count == 1)
        return reader_next(&merge->heap[0]->call->reader, event)
                   ? merge->heap[0]->call
                   : NULL;
    if (merge->begun && merge->count) {
        if (!source_next(merge->heap[0]))
            merge->heap[0] = merge->heap[--merge->count];
        if (merge->count)
            heap_sink(merge, 0);
    }
    merge->begun = true;
    if (!merge->count)
        return NULL;
    *event = merge->heap[0]->event;
    return merge->heap[0]->call;
}

void merge_end(struct merge *merge)
{
    free(merge->heap);
    free(merge->all);
    *merge = (struct merge){0};
}
