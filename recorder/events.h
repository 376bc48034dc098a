/* events.h - reads this program's records as events, in order, live. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_EVENTS_H_
#define RECORDER_EVENTS_H_

#include "event.h"
#include "record.h"
#include "regex.h"
#include "registry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- interface -- */

/* A slot's record as it was found. */
struct recorder_kept_ {
    struct recorder_record record;
    const struct recorder *recorder;
    const char *name;
    const struct recorder_ring *ring;
    uint32_t slot, thread;
};
/* Where a kept record comes in the order, and where it stands. */
struct recorder_key_ {
    uintptr_t order; /* less the batch's end, so that it ascends over a wrap */
    uintptr_t index;
};
/* The smallest orders above `after`, ascending. */
struct recorder_batch_ {
    struct recorder_kept_ *kept; /* `max` of each */
    struct recorder_key_ *keys;  /* a permutation: all below `used` */
    size_t max, used, count, next;
    uintptr_t after; /* the last order that was taken out */
    uintptr_t end;   /* orders from here on are too young */
    bool begun;      /* `after` is one; 0 may be, where orders wrap */
    bool more;       /* there was no room for all */
    const char *regex;
};

#define RECORDER_CURSOR_MAX_ 256
struct recorder_cursor {
    uint64_t missed; /* orders passed by that no event showed */
    struct recorder_batch_ batch;
    struct recorder_key_ keys[RECORDER_CURSOR_MAX_];
    struct recorder_kept_ kept[RECORDER_CURSOR_MAX_];
};

/* ----------------------------------------------------------------- batch -- */

RECORDER_INLINE_ bool recorder_chosen_(const struct recorder *recorder,
                                       const char *regex)
{
    return !regex || recorder_regex_match_(regex, recorder->name);
}

/* Sorts keys by order. Shell's method with Ciura's gaps, each further one 9/4
 * of the one before: no memory, no recursion, and quick on what rings give,
 * which is nearly sorted. */
RECORDER_FUNCTION_ void recorder_sort_keys_(struct recorder_key_ *keys,
                                            size_t count)
{
    size_t gap = 1, i, j;
    while (gap < count / 3)
        gap = gap < 4 ? 4 : gap * 9 / 4 + 1;
    for (;; gap = gap <= 4 ? 1 : (gap - 1) * 4 / 9) {
        for (i = gap; i < count; i++) {
            struct recorder_key_ key = keys[i];
            for (j = i; j >= gap && keys[j - gap].order > key.order; j -= gap)
                keys[j] = keys[j - gap];
            keys[j] = key;
        }
        if (gap == 1)
            return;
    }
}

/* Adds what is kept in one slot, if its order is wanted. A full batch is cut to
 * the lower half of its orders; the keys above it name the places that are free
 * again. */
RECORDER_INLINE_ void recorder_batch_slot_(struct recorder_batch_ *batch,
                                           const struct recorder *recorder,
                                           const struct recorder_ring *ring,
                                           uintptr_t slot, uintptr_t from,
                                           uintptr_t *to)
{
    uintptr_t commit, order;
    struct recorder_kept_ *kept;
    if (batch->count == batch->max) {
        recorder_sort_keys_(batch->keys, batch->count);
        batch->count /= 2;
        *to = batch->keys[batch->count - 1].order;
        batch->more = true;
    }
    order = recorder_get_(&recorder_records_(ring)[slot].order) - batch->end;
    if (order < from || order > *to) /* a first look, to be quick */
        return;
    if (batch->count == batch->used) {
        batch->keys[batch->used].index = batch->used;
        batch->used++;
    }
    kept = &batch->kept[batch->keys[batch->count].index];
    commit = recorder_look_(ring, recorder->mask, slot, &kept->record);
    order = kept->record.order - batch->end;
    if (!commit || order < from || order > *to)
        return;
    kept->recorder = recorder;
    kept->name = recorder->name;
    kept->ring = ring;
    kept->slot = (uint32_t)slot;
    kept->thread = recorder_commit_thread_(commit);
    batch->keys[batch->count++].order = order;
}

/* The lowest order, less `end`, that counts: above `after`, not cleared, and in
 * the half of all words that is before `end`; 0: none does. */
RECORDER_INLINE_ uintptr_t recorder_batch_from_(const struct recorder_batch_ *b)
{
    uintptr_t from = ~(UINTPTR_MAX >> 1);
    uintptr_t cleared = recorder_get_(&recorder_home_.registry->cleared);
    uintptr_t now = recorder_get_(recorder_home_.order);
    if (cleared && cleared - b->end <= now - b->end)
        return 0; /* between `end` and now: all was */
    if (cleared && cleared - b->end > from)
        from = cleared - b->end;
    if (b->begun && b->after - b->end >= from)
        from = b->after - b->end + 1;
    return from;
}

/* Fills the batch with the smallest orders from `after` on, up to `end`. */
RECORDER_FUNCTION_ void recorder_batch_fill_(struct recorder_batch_ *batch)
{
    uintptr_t from = recorder_batch_from_(batch), to = UINTPTR_MAX, lane, slot;
    const struct recorder *recorder;
    batch->count = batch->next = 0;
    batch->more = false;
    if (from == 0)
        return;
    for (recorder = recorder_readers_enter_(); recorder;
         recorder = recorder_list_next_(recorder)) {
        if (!recorder_chosen_(recorder, batch->regex))
            continue;
        for (lane = 0; lane <= recorder->lanes_mask; lane++) {
            const struct recorder_ring *ring =
                recorder_lane_(recorder, (unsigned)lane);
            for (slot = 0; slot <= recorder->mask; slot++)
                recorder_batch_slot_(batch, recorder, ring, slot, from, &to);
        }
    }
    recorder_readers_leave_();
    recorder_sort_keys_(batch->keys, batch->count);
}

/* ----------------------------------------------------------------- event -- */

RECORDER_INLINE_ const struct recorder_kept_ *
recorder_batch_at_(const struct recorder_batch_ *batch, size_t i)
{
    return &batch->kept[batch->keys[i].index];
}

/* How many records of the batch, from i on, are one event: a head and what goes
 * on from it; 1 for what is no head. */
RECORDER_INLINE_ size_t recorder_batch_run_(const struct recorder_batch_ *batch,
                                            size_t i)
{
    const struct recorder_kept_ *head = recorder_batch_at_(batch, i);
    size_t run = 1;
    if (head->record.format < RECORDER_TEXT_END_)
        return 1;
    for (; run < 3 && i + run < batch->count; run++) {
        const struct recorder_kept_ *kept = recorder_batch_at_(batch, i + run);
        if (kept->record.format != 0 || kept->ring != head->ring ||
            kept->record.caller != head->record.caller ||
            kept->record.order - head->record.order > 2)
            break; /* the next head, or part of one that is gone */
    }
    return run;
}

/* All of the ticks of a record's time. */
#ifdef RECORDER_WRAPS_
RECORDER_FUNCTION_ uint64_t recorder_ticks_of_(const struct recorder_record *r)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t count;
    uint64_t ticks;
    bool known;
    do { /* another wrap may come meanwhile */
        count = __atomic_load_n(&registry->wraps_count, __ATOMIC_ACQUIRE);
        ticks = r->time;
        known = recorder_clock_widen_(registry->wraps, (uint32_t)count,
                                      (uint32_t)r->order, &ticks);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (recorder_get_(&registry->wraps_count) != count);
    return known ? ticks : RECORDER_TICKS_UNKNOWN_;
}
#else
RECORDER_INLINE_ uint64_t recorder_ticks_of_(const struct recorder_record *r)
{
    return r->time;
}
#endif

/* Widens the run of records at i; bits of `lost` for the words not found. */
RECORDER_FUNCTION_ void recorder_event_of_(const struct recorder_batch_ *batch,
                                           size_t i, size_t run,
                                           struct recorder_event *event)
{
    const struct recorder_kept_ *head = recorder_batch_at_(batch, i);
    size_t j, k;
    event->order = head->record.order;
    event->time = recorder_ticks_of_(&head->record);
    event->caller = head->record.caller;
    event->format = head->record.format;
    event->thread = head->thread;
    event->recorder = head->recorder;
    event->name = head->name;
    event->lost = 0xfff;
    for (j = 0; j < 12; j++)
        event->argument[j] = 0;
    for (j = 0; j < run; j++) {
        const struct recorder_record *r =
            &recorder_batch_at_(batch, i + j)->record;
        size_t at = 4 * (r->order - head->record.order);
        for (k = 0; k < 4; k++)
            event->argument[at + k] = r->argument[k];
        event->lost &= ~(0xfu << at);
    }
}

/* Takes the next event out of a batch. False: the batch is used up, or what is
 * left of it may go on in the next. `missed` grows by the orders passed by;
 * null: nobody asks. */
RECORDER_FUNCTION_ bool recorder_batch_take_(struct recorder_batch_ *batch,
                                             struct recorder_event *event,
                                             uint64_t *missed)
{
    while (batch->next < batch->count) {
        size_t run = recorder_batch_run_(batch, batch->next), i;
        const struct recorder_record *r;
        bool is_head;
        if (batch->more && batch->next > 0 && batch->next + 3 > batch->count)
            return false;
        r = &recorder_batch_at_(batch, batch->next)->record;
        is_head = r->format >= RECORDER_TEXT_END_;
        if (is_head)
            recorder_event_of_(batch, batch->next, run, event);
        for (i = 0; i < run; i++) {
            uintptr_t order =
                recorder_batch_at_(batch, batch->next)->record.order;
            if (missed)
                *missed += (uintptr_t)(order - batch->after - 1);
            batch->after = order;
            batch->begun = true;
            batch->next++;
        }
        if (is_head)
            return true;
        if (missed && r->format == 0) /* its head was overwritten */
            ++*missed;
    }
    return false;
}

/* Does the batch pass an order by, between `after` and its last? */
RECORDER_FUNCTION_ bool recorder_batch_gap_(const struct recorder_batch_ *batch)
{
    size_t i = batch->count;
    return i &&
           recorder_batch_at_(batch, i - 1)->record.order - batch->after != i;
}

RECORDER_FUNCTION_ bool recorder_next(struct recorder_cursor *cursor,
                                      struct recorder_event *event)
{
    struct recorder_batch_ *batch = &cursor->batch;
    uintptr_t cleared = recorder_get_(&recorder_home_.registry->cleared);
    if (cleared && (intptr_t)(cleared - batch->after) > 1) {
        batch->after = cleared - 1; /* what was cleared is not missed */
        batch->begun = true;
        batch->count = batch->next = 0;
    }
    if (recorder_batch_take_(batch, event, &cursor->missed))
        return true;
    batch->kept = cursor->kept;
    batch->keys = cursor->keys;
    batch->max = RECORDER_CURSOR_MAX_;
    batch->end = __atomic_load_n(recorder_home_.order, __ATOMIC_ACQUIRE);
    recorder_batch_fill_(batch);
    /* An order that is not there may be on its way, taken and not yet written:
     * a writer that runs is done at a second look. */
    if (recorder_batch_gap_(batch))
        recorder_batch_fill_(batch);
    return recorder_batch_take_(batch, event, &cursor->missed);
}

/* --------------------------------------------------------------- summary -- */

struct recorder_summary_ {
    const struct recorder *recorder;
    const char *name;
    struct recorder_figures_ figures;
};

RECORDER_FUNCTION_ void recorder_summarize_(const struct recorder *recorder,
                                            uintptr_t end,
                                            struct recorder_summary_ *to)
{
    uintptr_t lane, slot, written = 0, whole = 0;
    struct recorder_batch_ all = {0, 0, 0, 0, 0, 0, 0, 0, false, false, 0};
    struct recorder_figures_ *figures = &to->figures;
    uintptr_t from;
    all.end = end;
    from = recorder_batch_from_(&all);
    to->recorder = recorder;
    to->name = recorder->name;
    figures->size = recorder->mask + 1;
    figures->lanes = recorder->lanes_mask + 1;
    figures->kept = figures->lost = 0;
    for (lane = 0; lane < figures->lanes; lane++) {
        const struct recorder_ring *ring =
            recorder_lane_(recorder, (unsigned)lane);
        written += recorder_get_(&ring->write) - recorder_get_(&ring->given_up);
        figures->lost += recorder_get_(&ring->lost);
        for (slot = 0; slot < figures->size; slot++) {
            uintptr_t commit =
                recorder_get_(&recorder_commits_(ring, recorder->mask)[slot]);
            if (commit == 0 || (commit & RECORDER_BUSY_))
                continue;
            whole++;
            figures->kept +=
                from &&
                recorder_get_(&recorder_records_(ring)[slot].order) - end >=
                    from;
        }
    }
    figures->overwritten = written > whole ? written - whole : 0;
}

/* Sums up the index-th recorder that `regex` chooses. False: there are not as
 * many. */
RECORDER_FUNCTION_ bool recorder_summary_at_(size_t index, const char *regex,
                                             uintptr_t end,
                                             struct recorder_summary_ *to)
{
    const struct recorder *recorder = recorder_readers_enter_();
    for (; recorder; recorder = recorder_list_next_(recorder))
        if (recorder_chosen_(recorder, regex) && index-- == 0) {
            recorder_summarize_(recorder, end, to);
            break;
        }
    recorder_readers_leave_();
    return recorder != NULL;
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
