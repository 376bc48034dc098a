/* contention.c - how long was waited, by locks, places and threads. */
/* SPDX-License-Identifier: MIT */
#include "recorded.h"
#include "array.h"

/* The time up to which the recording is complete: now, if the program runs. */
static int64_t end_of(const struct threads *threads)
{
    const struct recorded *recorded = threads->recorded;
    const struct reader *reader = &recorded->reader;
    uint64_t start = reader->clock.start.realtime_ns;
    bool runs = reader->memory->live && !reader->memory->stale_order;
    uint64_t now = runs ? reader_realtime(reader) : 0;
    return start && now > start ? (int64_t)(now - start) : recorded->last_ns;
}

/* ----------------------------------------------------------- contention -- */

static struct contention *row_of(struct contentions *to, uint64_t key,
                                 bool is_stack, enum wait_kind kind)
{
    bool is_new;
    struct contention *row = array_at_key(to->all, &to->ids, to->max, key,
                                          is_stack, 0, &is_new);
    if (is_new) {
        *row =
            (struct contention){.key = key, .is_stack = is_stack, .kind = kind};
        to->count++;
    }
    return row;
}

static void wait_count(struct contention *row, uint64_t ns, uint64_t site,
                       uint64_t stack)
{
    row->waited++;
    row->ns += ns;
    if (ns < row->longest_ns)
        return;
    row->longest_ns = ns;
    row->longest_site = site;
    row->longest_stack = stack;
}

static void totals_count(struct contentions *to, const struct recorded *from)
{
    for (size_t i = 0; i < from->totals_count; i++) {
        const struct total *total = &from->totals[i];
        struct contention *row = row_of(to, total->object, false, total->kind);
        row->kind = total->kind;
        row->taken += total->taken;
        row->waited += total->waited;
        row->ns += total->ns;
        if (total->longest_ns < row->longest_ns)
            continue;
        row->longest_ns = total->longest_ns;
        row->longest_site = total->longest_at;
    }
}

/* How long a wait has lasted; 0: its beginning is not known. */
static uint64_t lasted(const struct span *span, int64_t end_ns)
{
    return span->begin_ns != NS_UNKNOWN && end_ns > span->begin_ns
               ? (uint64_t)end_ns - (uint64_t)span->begin_ns
               : 0;
}

/* Gives the longest wait for a lock its stack, if the record is kept: a total
 * has only the return address of the call, which is in a header of C++. */
static void stacks_find(struct contentions *to, const struct recorded *from)
{
    enum { ROUNDED_NS = 1000 };
    for (size_t i = 0; i < from->spans_count; i++) {
        const struct span *span = &from->spans[i];
        size_t at = ids_find(&to->ids, span->object, false, 0);
        struct contention *row = at == IDS_NONE ? NULL : &to->all[at];
        if (row && row->kind == span->kind && span->stack &&
            span->site == row->longest_site &&
            lasted(span, span->end_ns) + ROUNDED_NS >= row->longest_ns)
            row->longest_stack = span->stack;
    }
}

static struct contention *
span_row(struct contentions *to, const struct span *span, enum contention_by by)
{
    if (by == BY_OBJECT || by == BY_NONE)
        return row_of(to, span->object, false, span->kind);
    if (by == BY_THREAD)
        return row_of(to, span->past, false, WAIT_NONE);
    return span->stack ? row_of(to, span->stack, true, span->kind)
                       : row_of(to, span->site, false, span->kind);
}

/* Counts a wait in its row, which it returns. */
static struct contention *span_count(struct contentions *to,
                                     const struct span *span,
                                     enum contention_by by, int64_t end_ns)
{
    struct contention *row = span_row(to, span, by);
    row->object =
        !row->waited || row->object == span->object ? span->object : 0;
    wait_count(row, lasted(span, end_ns), span->site, span->stack);
    return row;
}

/* Waits that have not ended: of objects, they are not in the totals yet. */
static void waits_count(struct contentions *to, const struct threads *threads,
                        enum contention_by by)
{
    for (size_t i = 0; i < threads->count; i++) {
        const struct thread *thread = &threads->all[i];
        const struct past *past = thread->past;
        struct contention *row;
        struct span span;
        if (thread->wait.kind == WAIT_NONE || thread->wait.kind == WAIT_CALL)
            continue;
        if (by == BY_OBJECT && thread->wait.kind == WAIT_THREAD)
            continue; /* a join is no lock */
        if (by == BY_NONE && (thread->peer || !thread->wait.object))
            continue;
        span = (struct span){
            .past = past ? (size_t)(past - threads->recorded->pasts) : 0,
            .kind = thread->wait.kind,
            .object = thread->wait.object,
            .begin_ns = NS_UNKNOWN};
        if (by != BY_NONE && past && past->waits) {
            span.begin_ns = past->wait_ns;
            span.stack = past->wait_stack;
            span.site = past->wait_site;
            row = span_count(to, &span, by, to->end_ns);
        } else if (by == BY_OBJECT || by == BY_NONE) {
            row = span_row(to, &span, by);
        } else {
            continue;
        }
        *array_add(row->waiting, row->waiting_count, row->waiting_max) = i;
        if (!past || !past->waits)
            continue;
        row->goes_on = true;
        if (lasted(&span, to->end_ns) > row->goes_on_ns)
            row->goes_on_ns = lasted(&span, to->end_ns);
    }
}

/* True for waits that need no holder: an idle thread waits for a condition. */
static bool is_idle(const struct contention *row)
{
    return row->kind == WAIT_CONDITION || row->kind == WAIT_SEMAPHORE ||
           row->kind == WAIT_BARRIER || row->kind == WAIT_THREAD;
}

/* Sorts locks first, of these the unfinished waits, and then the longest: the
 * length of a wait is unknown if its program was killed. */
static int row_compare(const void *a, const void *b)
{
    const struct contention *left = a, *right = b;
    int last = array_order(right->waited, left->waited,
                           array_order(left->key, right->key, 0));
    int length = array_order(right->ns, left->ns, last);
    return array_order(is_idle(left), is_idle(right),
                       array_order(right->goes_on, left->goes_on, length));
}

/* Most waiting threads first. */
static int waiting_compare(const void *a, const void *b)
{
    const struct contention *left = a, *right = b;
    return array_order(right->waiting_count, left->waiting_count,
                       array_compare(a, b));
}

void contention_find(struct contentions *to, const struct threads *threads,
                     enum contention_by by)
{
    const struct recorded *recorded = threads->recorded;
    *to = (struct contentions){.end_ns = by == BY_NONE ? 0 : end_of(threads)};
    if (by == BY_OBJECT) {
        totals_count(to, recorded);
        stacks_find(to, recorded);
    }
    for (size_t i = 0;
         (by == BY_SITE || by == BY_THREAD) && i < recorded->spans_count; i++)
        if (recorded->spans[i].end_ns != NS_UNKNOWN &&
            recorded->spans[i].begin_ns != NS_UNKNOWN)
            span_count(to, &recorded->spans[i], by, recorded->spans[i].end_ns);
    waits_count(to, threads, by);
    ids_free(&to->ids);
    array_sort(to->all, to->count,
               by == BY_NONE ? waiting_compare : row_compare);
}

void contention_free(struct contentions *to)
{
    for (size_t i = 0; i < to->count; i++)
        free(to->all[i].waiting);
    free(to->all);
}

/* ------------------------------------------------------------- activity -- */

struct change {
    int64_t ns;
    int runs, lives;
};

static int change_compare(const void *a, const void *b)
{
    const struct change *left = a, *right = b;
    return array_order(left->ns, right->ns, 0);
}

/* Finds the time since which no record of a wait was overwritten, and the figures
 * of the records of threads. */
static void begin_find(struct activity *to, struct recorded *recorded)
{
    reader_count(&recorded->reader);
    for (size_t i = 0; i < recorded->reader.recorders_count; i++) {
        const struct reader_recorder *r = recorded->reader.recorders[i];
        if (strcmp(r->name, "lock_wait") == 0 && r->figures.overwritten &&
            recorded->first_ns != NS_UNKNOWN)
            to->begin_ns = recorded->first_ns;
        if (strcmp(r->name, "thread_life") == 0)
            to->life = &r->figures;
    }
}

static void change_add(struct change *changes, size_t *count, int64_t ns,
                       int runs, int lives, const struct activity *within)
{
    ns = ns < within->begin_ns ? within->begin_ns
         : ns > within->end_ns ? within->end_ns
                               : ns;
    changes[(*count)++] = (struct change){ns, runs, lives};
}

static size_t changes_collect(const struct recorded *recorded,
                              const struct activity *within,
                              struct change *changes)
{
    size_t count = 0;
    for (size_t i = 0; i < recorded->pasts_count; i++) {
        const struct past *past = &recorded->pasts[i];
        if (past->ended && past->ended_ns == NS_UNKNOWN)
            continue;
        change_add(changes, &count, past->made_ns, 1, 1, within);
        if (past->ended)
            change_add(changes, &count, past->ended_ns, -1, -1, within);
    }
    for (size_t i = 0; i < recorded->spans_count; i++) {
        const struct span *span = &recorded->spans[i];
        const struct past *past = &recorded->pasts[span->past];
        bool goes_on = span->end_ns == NS_UNKNOWN;
        if ((goes_on && (past->ended || past->span != i + 1)) ||
            (past->ended && past->ended_ns == NS_UNKNOWN))
            continue;
        change_add(changes, &count, span->begin_ns, -1, 0, within);
        if (!goes_on)
            change_add(changes, &count, span->end_ns, 1, 0, within);
    }
    return count;
}

static void levels_sum(struct activity *to, const struct change *changes,
                       size_t count, size_t most)
{
    int64_t at = to->begin_ns;
    long runs = 0, lives = 0;
    to->levels_count = most + 1;
    to->levels = need(calloc(to->levels_count, sizeof *to->levels));
    for (size_t i = 0; i < count; i++) {
        size_t level = runs < 0 ? 0 : (size_t)runs;
        to->levels[level < most ? level : most] += changes[i].ns - at;
        at = changes[i].ns;
        runs += changes[i].runs;
        lives += changes[i].lives;
        if (lives > 0 && (size_t)lives > to->most)
            to->most = (size_t)lives;
    }
}

void activity_find(struct activity *to, const struct threads *threads)
{
    struct recorded *recorded = threads->recorded;
    size_t count = 2 * (recorded->pasts_count + recorded->spans_count);
    struct change *changes = need(calloc(count + 1, sizeof *changes));
    const bool is_over = recorded_is_over(recorded);
    *to = (struct activity){.end_ns = end_of(threads)};
    begin_find(to, recorded);
    for (size_t i = 0; i < recorded->pasts_count; i++) {
        to->alive += !is_over && !recorded->pasts[i].ended;
        to->made += recorded->pasts[i].is_made;
    }
    if (to->end_ns < to->begin_ns)
        to->end_ns = to->begin_ns;
    count = changes_collect(recorded, to, changes);
    array_sort(changes, count, change_compare);
    changes[count++] = (struct change){.ns = to->end_ns};
    levels_sum(to, changes, count, recorded->pasts_count);
    free(changes);
}
