/* tracks.c - threads: their spans, states and waits by time. */
/* SPDX-License-Identifier: MIT */
#include "why.h"

enum {
    FAULT_NS = 50000,     /* on a CPU; rarer page faults are no reason */
    FAULT_ENDS_NS = 50000 /* of a page fault, after its wait */
};

/* Copies an element to the end of a list. */
static void put(struct why_list *list, const void *from, size_t size)
{
    list->at = need(array_room(list->at, &list->max, list->count + 1, size));
    memcpy((char *)list->at + list->count++ * size, from, size);
}
static void sort(struct why_list *list, size_t size,
                 int (*compare)(const void *, const void *))
{
    if (list->count)
        qsort(list->at, list->count, size, compare);
}

uint64_t why_time(const struct why *w, int64_t ns)
{
    uint64_t start = (uint64_t)w->timeline.start_ns;
    if (ns == NS_UNKNOWN)
        return UINT64_MAX;
    return ns < w->timeline.start_ns ? 0 : (uint64_t)ns - start;
}

const struct why_track *why_track(const struct why *w, unsigned number)
{
    const struct timeline_lane *lane = timeline_lane(&w->timeline, number);
    return lane ? &w->tracks[lane->index] : NULL;
}

static void states_read(struct why *w)
{
    for (size_t i = 0; i < w->switches.slices_count; i++) {
        const struct switches_slice *slice = &w->switches.slices[i];
        struct why_piece piece = {.begin = slice->begin,
                                  .end = slice->end,
                                  .state = slice->state,
                                  .stopped = slice->stopped,
                                  .cpu = slice->cpu % SWITCHES_CPUS};
        if (slice->what != SWITCHES_THREAD || slice->begin == slice->end)
            continue;
        piece.track = w->switches.threads[slice->of]->lane->index;
        put(&w->tracks[piece.track].states, &piece, sizeof piece);
        if (slice->state == SWITCHES_RUNNING)
            put(&w->cpus[piece.cpu], &piece, sizeof piece);
    }
}

/* Waits do not nest, unless a file is damaged. */
static void overlaps_cut(struct why_list *list)
{
    struct why_piece *pieces = list->at;
    sort(list, sizeof *pieces, array_compare);
    for (size_t i = 1; i < list->count; i++) {
        if (pieces[i].begin < pieces[i - 1].end)
            pieces[i].begin = pieces[i - 1].end;
        if (pieces[i].end < pieces[i].begin)
            pieces[i].end = pieces[i].begin;
    }
}

/* Reads a list of waits, or of calls. */
static void waits_read(struct why *w, const struct span *waits, size_t count)
{
    const struct recorded *recorded = w->threads->recorded;
    for (size_t i = 0; i < count; i++) {
        const struct span *wait = &waits[i];
        const struct past *past = &recorded->pasts[wait->past];
        const struct why_track *track = why_track(w, past->number);
        struct why_piece piece = {.begin = why_time(w, wait->begin_ns),
                                  .end = why_time(w, wait->end_ns),
                                  .of = wait};
        if (!track || piece.begin == UINT64_MAX)
            continue;
        piece.track = track->lane->index;
        if (piece.end == UINT64_MAX &&
            (wait->call || past->span == i + 1)) /* it continues */
            piece.end = timeline_lane_end(&w->timeline, track->lane);
        if (piece.end == UINT64_MAX || piece.begin >= piece.end)
            continue;
        put(&w->tracks[piece.track].waits, &piece, sizeof piece);
        piece.begin = piece.end;
        if (!wait->call)
            put(&w->gains, &piece, sizeof piece);
    }
    sort(&w->gains, sizeof(struct why_piece), array_compare);
    for (size_t i = 0; i < w->timeline.lanes_count; i++)
        overlaps_cut(&w->tracks[i].waits);
}

/* Returns true for records of `recorder run` itself and of switches. */
static bool is_ours(const struct reader_event *e)
{
    char how;
    return e->kind && (strncmp(e->kind, "run", 3) == 0 ||
                       kind_of(e->kind, &how) != KIND_OTHER);
}

/* True if a format or message is wanted as a title, as recorder spans prints it. */
static bool is_wanted_as(const struct reader_event *e, const char *text,
                         const struct why_regex *regex)
{
    char *title = why_title(e, text);
    bool is = !regexec(&regex->compiled, title, 0, NULL, 0) ||
              strncmp(title, regex->text, strlen(regex->text)) == 0;
    free(title);
    return is;
}

/* True if a record's message or title is wanted; or its format, which is the
 * title of a span without a name, as "> %s". */
static bool is_wanted(struct why *w, const struct reader_event *e,
                      const struct why_regex *regex)
{
    struct reader *reader = &w->call->reader;
    const char *text, *location;
    size_t size;
    if (!regex->text)
        return true;
    text = reader_message(reader, e, &size);
    if (!regexec(&regex->compiled, text, 0, NULL, 0) ||
        is_wanted_as(e, text, regex))
        return true;
    text = reader_format(reader, &e->event, &location);
    spans_name(text, &size);
    return !size && is_wanted_as(e, text, regex);
}

/* Numbers the orders of the records that the selection chooses, and takes the
 * selection back. */
static void chosen_read(struct why *w, const struct why_regex *regex,
                        struct ids *chosen)
{
    struct reader *reader = &w->call->reader;
    struct reader_event e;
    reader_select(reader, &w->call->selection);
    reader_rewind(reader);
    while (reader_next(reader, &e))
        if (!is_ours(&e) && is_wanted(w, &e, regex))
            ids_add(chosen, e.event.order, 0, 0, NULL);
    w->call->selection.thread = NULL;
    reader_select(reader, &(struct reader_selection){0});
    reader_rewind(reader);
    reader_count(reader);
}

/* Adds a span that a record ended, or the life of a thread; not `chosen`: its
 * name alone. */
static void span_add(struct why *w, const struct why_track *track,
                     const struct timeline_span *span, struct why_mark end,
                     bool chosen)
{
    struct why_span add = {
        end.ns - span->ns,  span->ns,       span->order, end.order,
        track->lane->index, span->recorder, NULL};
    size_t size;
    const char *title = timeline_span_title(span, &size);
    char *name =
        need_text("%s: %.*s", span->recorder ? span->recorder->shown : "life",
                  (int)size, title);
    add.name = offer_add(&w->names, name);
    free(name);
    if (chosen)
        put(&w->spans, &add, sizeof add);
}

/* Adds the life of a thread as a span, with its lowest and highest orders: a
 * slow call is recorded late, with the time of its begin. */
static void life_add(struct why *w, const struct why_track *track)
{
    const struct why_mark *marks = track->marks.at;
    struct timeline_span span = {.pair = "thread", .pair_size = 6};
    struct why_mark end;
    if (!marks || !track->lane->thread)
        return;
    end = marks[track->marks.count - 1];
    span.order = marks->order;
    span.ns = marks->ns;
    for (size_t i = 0; i < track->marks.count; i++) {
        if (marks[i].order < span.order)
            span.order = marks[i].order;
        if (marks[i].order > end.order)
            end.order = marks[i].order;
    }
    span_add(w, track, &span, end, true);
}

static int spans_compare(const void *a, const void *b)
{
    const struct why_span *left = a, *right = b;
    return array_order(right->ns, left->ns,
                       array_order(left->order, right->order, 0));
}

/* Marks the time in which the thread waited for a page: it was blocked, and has
 * run for a moment since. */
static void disk_mark(struct why_track *track, uint64_t ns)
{
    struct why_piece *states = track->states.at;
    size_t i = array_count_to(states, track->states.count, sizeof *states, ns);
    if (i < 2 || states[--i].state != SWITCHES_RUNNING ||
        ns - states[i].begin > FAULT_ENDS_NS)
        return;
    i -= states[i - 1].state == SWITCHES_READY && i > 1;
    if (states[i - 1].state == SWITCHES_BLOCKED)
        states[i - 1].disk = true;
}

static uint64_t ran_ns(const struct why_track *track, uint64_t begin,
                       uint64_t end)
{
    const struct why_piece *states = track->states.at;
    size_t i = array_count_to(states, track->states.count, sizeof *states, end);
    uint64_t ns = 0;
    while (i-- > 0 && states[i].end > begin)
        if (states[i].state == SWITCHES_RUNNING)
            ns += (states[i].end < end ? states[i].end : end) -
                  (states[i].begin > begin ? states[i].begin : begin);
    return ns;
}

/* Adds the time between two records of page faults, if they were many. */
static void faults_read(struct why_track *track, const struct reader_event *e,
                        uint64_t ns)
{
    const uint64_t *word = e->event.argument;
    struct why_piece piece = {.begin = track->faulted, .end = ns};
    char how;
    if (!e->kind || kind_of(e->kind, &how) != KIND_FAULTS)
        return;
    if (how == 'd') {
        disk_mark(track, ns);
        return;
    }
    piece.cpu = word[2] & 0xff;
    piece.faults = word[3] < UINT16_MAX ? (unsigned)word[3] : 0;
    if (piece.begin && piece.begin < ns && piece.cpu == track->faulted_cpu)
        piece.ran = ran_ns(track, piece.begin, ns);
    if (piece.ran && piece.ran / FAULT_NS <= piece.faults)
        put(&track->faults, &piece, sizeof piece);
    track->faulted = ns;
    track->faulted_cpu = piece.cpu;
}

static void events_read(struct why *w, const struct ids *chosen, bool all)
{
    struct timeline_event e;
    struct why_track *track;
    struct why_mark mark;
    bool lives = all;
    while (timeline_next(&w->timeline, &e)) {
        /* a cell of recorder run has the time of its last change */
        if (strncmp(e.read.recorder->name, "thread_", 7) == 0 &&
            strcmp(e.read.recorder->name, "thread_life") != 0)
            continue;
        track = &w->tracks[e.lane->index];
        mark = (struct why_mark){e.ns, e.read.event.order};
        put(&track->marks, &mark, sizeof mark);
        faults_read(track, &e.read, e.ns);
        if (!e.ended || e.step || is_ours(&e.read))
            continue;
        lives = false;
        span_add(w, track, e.ended, mark,
                 all || ids_find(chosen, e.ended->order, 0, 0) != IDS_NONE);
    }
    for (size_t i = 0; i < w->timeline.lanes_count && lives; i++)
        life_add(w, &w->tracks[i]);
    sort(&w->spans, sizeof(struct why_span), spans_compare);
}

void why_open(struct why *w, struct call *call, struct threads *threads,
              const struct why_regex *regex)
{
    struct ids chosen = {0};
    bool all = !call_selects(call) && !regex->text;
    *w = (struct why){.call = call, .threads = threads};
    chosen_read(w, regex, &chosen);
    timeline_open(&w->timeline, call, TIMELINE_QUIET);
    switches_export(&w->switches, &w->timeline);
    w->tracks = need(calloc(w->timeline.lanes_count + 1, sizeof *w->tracks));
    for (size_t i = 0; i < w->timeline.lanes_count; i++)
        w->tracks[i].lane = w->timeline.lanes[i];
    states_read(w);
    if (threads) {
        const struct recorded *recorded = threads->recorded;
        waits_read(w, recorded->spans, recorded->spans_count);
        waits_read(w, recorded->calls, recorded->calls_count);
    }
    events_read(w, &chosen, all);
    ids_free(&chosen);
}

void why_close(struct why *w)
{
    for (size_t i = 0; i < w->timeline.lanes_count; i++) {
        free(w->tracks[i].waits.at);
        free(w->tracks[i].states.at);
        free(w->tracks[i].marks.at);
        free(w->tracks[i].faults.at);
    }
    for (size_t i = 0; i < SWITCHES_CPUS; i++)
        free(w->cpus[i].at);
    free(w->tracks);
    free(w->gains.at);
    free(w->spans.at);
    offer_free(&w->names);
    switches_free(&w->switches);
    timeline_close(&w->timeline);
}
