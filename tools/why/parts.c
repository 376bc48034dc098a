/* parts.c - the parts of a time of a thread. */
/* SPDX-License-Identifier: MIT */
#include "why.h"

enum { DEPTH_MAX = 16, TIMED_OUT = 110, OWNER_DIED = 130 };

/* A thread whose time is taken apart, and the one that waits for it. */
struct link {
    struct why *why;
    const struct why_track *track;
    const struct link *outer;
    unsigned depth;
};

/* True if two calls are equal but for numbers: descriptors, files of a folder. */
static bool is_alike(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    while (*a && *a == *b) {
        a += strspn(a + 1, digits) + 1;
        b += strspn(b + 1, digits) + 1;
    }
    return *a == *b;
}

/* Waits of one stack are of one reason: for the locks of a table, which threads of
 * one name hold, or in calls that are alike. */
static bool is_same(const struct why_row *a, const struct why_row *b)
{
    if (a->kind != b->kind || !a->other != !b->other || !a->of != !b->of)
        return false;
    if (!a->of)
        return a->other == b->other;
    if (a->of->kind != b->of->kind || a->of->result != b->of->result)
        return false;
    if (a->of->stack && a->of->stack == b->of->stack)
        return (!a->other ||
                strcmp(a->other->lane->name, b->other->lane->name) == 0) &&
               (a->of->kind != WAIT_CALL || is_alike(a->of->call, b->of->call));
    return a->other == b->other &&
           (a->of->kind == WAIT_CALL ? strcmp(a->of->call, b->of->call) == 0
                                     : a->of->object == b->of->object);
}

/* Returns the record at or before a time, or the next. */
static struct why_mark mark_at(const struct why_list *marks, uint64_t ns,
                               bool next)
{
    size_t i = array_count_to(marks->at, marks->count, sizeof(struct why_mark),
                              next ? ns - 1 : ns);
    i = next ? i : i ? i - 1 : 0;
    return i < marks->count ? ((struct why_mark *)marks->at)[i]
                            : (struct why_mark){.ns = ns};
}

static struct why_row *row_add(const struct link *link, struct why_row *to,
                               struct why_row row, uint64_t begin, uint64_t end)
{
    struct why_row *at = to->rows, *last = at ? at + to->rows_count : at;
    row.track = link->track;
    while (at && at < last && !is_same(at, &row))
        at++;
    if (at == last) {
        at = array_add(to->rows, to->rows_count, to->rows_max);
        *at = row;
    }
    at->ns[link->why->column] += end - begin;
    at->count++;
    at->faults += at == last ? 0 : row.faults;
    at->several |=
        row.of && (row.of->call ? strcmp(row.of->call, at->of->call) != 0
                                : row.of->object != at->of->object);
    at->others |= row.other != at->other;
    at->tracks |= row.track != at->track;
    if (end - begin > at->longest) {
        at->longest = end - begin;
        at->of = row.of;
        at->other = row.other;
        at->track = row.track;
        if (row.of && why_time(link->why, row.of->begin_ns) < begin)
            begin = why_time(link->why, row.of->begin_ns);
        if (row.of && row.of->end_ns != NS_UNKNOWN &&
            why_time(link->why, row.of->end_ns) > end)
            end = why_time(link->why, row.of->end_ns);
        at->first = mark_at(&link->track->marks, begin, false);
        at->last = mark_at(&link->track->marks, end, true);
    }
    return at;
}

void why_free(struct why_row *row)
{
    for (size_t i = 0; i < row->rows_count; i++)
        why_free(&row->rows[i]);
    free(row->rows);
}

/* Returns the piece at a time, or the next; null: there is none. */
static const struct why_piece *piece_at(const struct why_list *list,
                                        uint64_t ns)
{
    const struct why_piece *pieces = list->at;
    size_t i = array_count_to(pieces, list->count, sizeof *pieces, ns);
    if (i && pieces[i - 1].end > ns)
        i--;
    return i < list->count ? &pieces[i] : NULL;
}

/* Returns when the piece at *begin ends, or at the latest `end`; *piece is null
 * between pieces. */
static uint64_t step(const struct why_list *list, uint64_t begin, uint64_t end,
                     const struct why_piece **piece)
{
    uint64_t until;
    *piece = piece_at(list, begin);
    if (!*piece)
        return end;
    until = (*piece)->begin > begin ? (*piece)->begin : (*piece)->end;
    if ((*piece)->begin > begin)
        *piece = NULL;
    return until < end ? until : end;
}

/* Adds the threads that ran on the processor on which a thread ran next. */
static void ready_add(const struct link *link, struct why_row *to,
                      uint64_t begin, uint64_t end)
{
    const struct why_list *states = &link->track->states;
    const struct why_piece *next = piece_at(states, begin), *ran;
    struct why_row *row =
        row_add(link, to, (struct why_row){.kind = WHY_READY}, begin, end);
    const struct why_piece *last =
        (const struct why_piece *)states->at + states->count;
    while (next && next < last &&
           (next->state == SWITCHES_READY || next->state == SWITCHES_BLOCKED))
        next++;
    for (uint64_t until; next && next < last && begin < end; begin = until) {
        struct why_row there = {.kind = WHY_OTHERS};
        until = step(&link->why->cpus[next->cpu], begin, end, &ran);
        if (ran) {
            there.kind = WHY_THREAD;
            there.other = &link->why->tracks[ran->track];
        }
        row_add(link, row, there, begin, until);
    }
}

static void parts(const struct link *, struct why_row *, uint64_t begin,
                  uint64_t end);

/* Adds a wait for another thread, with the parts of that thread unless it waits
 * for this one. */
static void other_add(const struct link *link, struct why_row *to,
                      const struct span *wait, const struct why_track *other,
                      uint64_t begin, uint64_t end)
{
    const struct link *at = link;
    struct link next = {link->why, other, link, link->depth + 1};
    struct why_row *row;
    if (begin >= end)
        return;
    row =
        row_add(link, to,
                (struct why_row){.kind = WHY_WAIT, .of = wait, .other = other},
                begin, end);
    while (at && at->track != other)
        at = at->outer;
    if (other && !at && next.depth < DEPTH_MAX)
        parts(&next, row, begin, end);
}

static const struct why_track *track_of_id(const struct why *w, int32_t id)
{
    for (size_t i = 0; id && i < w->timeline.lanes_count; i++)
        if (w->tracks[i].lane->id == (uint32_t)id)
            return &w->tracks[i];
    return NULL;
}

/* Returns the thread whose end a join waited for: the last one of that handle
 * that was made by then. */
static const struct why_track *joined(const struct why *w,
                                      const struct span *wait)
{
    const struct recorded *recorded = w->threads->recorded;
    const struct past *found = NULL;
    for (size_t i = 0; i < recorded->pasts_count; i++)
        if (recorded->pasts[i].handle == wait->object &&
            (wait->end_ns == NS_UNKNOWN ||
             recorded->pasts[i].made_ns <= wait->end_ns))
            found = &recorded->pasts[i];
    return found ? why_track(w, found->number) : NULL;
}

/* Adds the time in which the first holder had the lock, up to the first unlock, and
 * the time up to the arrival of the last holder, which may come out of a wait that
 * is older than this one. Returns the time of the arrival. */
static uint64_t holders_add(const struct link *link, struct why_row *to,
                            const struct span *wait,
                            const struct why_track *holder,
                            const struct why_track *by, uint64_t begin,
                            uint64_t until)
{
    const uint64_t since = why_time(link->why, wait->begin_ns);
    const struct why_piece *own = piece_at(&by->waits, since);
    uint64_t left = why_time(link->why, wait->first_ns), came = begin;
    if (own && own->begin < since && own->end > begin)
        came = own->end < until ? own->end : until;
    if (left == UINT64_MAX)
        left = came;
    if (left > until)
        left = until;
    if (left > begin)
        other_add(link, to, wait, holder, begin, left);
    else
        left = begin;
    if (came > left)
        ready_add(link, to, left, came);
    return came > left ? came : left;
}

/* The holders of a lock come one after another: the first is in the record of
 * the wait, each that had waited for the lock has a record of its wait's end,
 * and the last one unlocked it. */
static void wait_add(const struct link *link, struct why_row *to,
                     const struct span *wait, uint64_t begin, uint64_t end)
{
    const struct why *w = link->why;
    const struct why_piece *gain = w->gains.at, *last = gain + w->gains.count;
    uint64_t since = why_time(w, wait->begin_ns), until = end;
    uint64_t given = why_time(w, wait->given_ns);
    const struct why_track *by = why_track(w, wait->by);
    const struct why_track *holder = track_of_id(w, wait->holder_id);
    if (wait->result == TIMED_OUT || given <= since) {
        by = NULL; /* it ended another wait */
        given = UINT64_MAX;
    }
    if (given < until)
        until = given > begin ? given : begin;
    if (wait->kind == WAIT_THREAD)
        by = joined(w, wait);
    gain += array_count_to(gain, w->gains.count, sizeof *gain, since);
    for (; wait->holder_id && gain < last && gain->end < until; gain++) {
        if (gain->of->object != wait->object ||
            (wait->kind == WAIT_READ && gain->of->kind == WAIT_READ) ||
            (gain->of->result && gain->of->result != OWNER_DIED) ||
            &w->tracks[gain->track] == link->track)
            continue;
        other_add(link, to, wait, holder, begin, gain->end);
        begin = gain->end > begin ? gain->end : begin;
        holder = &w->tracks[gain->track];
    }
    if (wait->holder_id && by && by != holder && begin < until)
        begin = holders_add(link, to, wait, holder, by, begin, until);
    other_add(link, to, wait, by ? by : holder, begin, until);
    if (until < end)
        ready_add(link, to, until, end);
}

static void state_add(const struct link *link, struct why_row *to,
                      const struct why_piece *state,
                      const struct why_piece *wait,
                      const struct why_piece *faults, uint64_t begin,
                      uint64_t end)
{
    static const enum why_kind kinds[SWITCHES_STATES] = {
        [SWITCHES_UNKNOWN] = WHY_UNKNOWN,
        [SWITCHES_ENDED] = WHY_UNKNOWN,
        [SWITCHES_RUNNING] = WHY_RAN,
        [SWITCHES_BLOCKED] = WHY_BLOCKED};
    enum switches_state is = state ? state->state : SWITCHES_UNKNOWN;
    struct why_row row = {.kind = kinds[is]};
    if (is == SWITCHES_READY) {
        ready_add(link, to, begin, end);
        return;
    }
    if (state && state->stopped) {
        row.kind = WHY_STOPPED;
    } else if (wait &&
               (is != SWITCHES_RUNNING || wait->of->kind == WAIT_SPIN)) {
        wait_add(link, to, wait->of, begin, end);
        return;
    } else if (state && state->disk) {
        row.kind = WHY_DISK;
    } else if (is == SWITCHES_RUNNING && faults) {
        row.kind = WHY_FAULTS;
        row.faults = (double)faults->faults * (double)(end - begin) /
                     (double)faults->ran;
    }
    row_add(link, to, row, begin, end);
}

static void parts(const struct link *link, struct why_row *to, uint64_t from,
                  uint64_t end)
{
    const struct why_piece *wait, *state, *faults;
    for (uint64_t until, begin = from; begin < end; begin = until) {
        until = step(&link->track->waits, begin, end, &wait);
        until = step(&link->track->states, begin, until, &state);
        until = step(&link->track->faults, begin, until, &faults);
        if (faults && (faults->begin < from || faults->end > end))
            faults = NULL; /* they may have been outside */
        state_add(link, to, state, wait, faults, begin, until);
    }
}

static int rows_compare(const void *a, const void *b)
{
    const struct why_row *left = a, *right = b;
    uint64_t l = left->ns[0] + left->ns[1], r = right->ns[0] + right->ns[1];
    return array_order(r, l, 0);
}
static void rows_sort(struct why_row *row)
{
    array_sort(row->rows, row->rows_count, rows_compare);
    for (size_t i = 0; i < row->rows_count; i++)
        rows_sort(&row->rows[i]);
}

void why_parts(struct why *w, struct why_row *to, const struct why_span *span)
{
    const struct link link = {w, &w->tracks[span->track], NULL, 0};
    to->ns[w->column] += span->ns;
    to->count++;
    parts(&link, to, span->begin, span->begin + span->ns);
    rows_sort(to);
}
