/* events.h - reads this program's records as events, in order, live. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_EVENTS_H_
#define RECORDER_EVENTS_H_

#include "cursor.h"
#include "decode.h"
#include "heading.h"
#include "memory.h"
#include "record.h"
#include "regex.h"
#include "registry.h"

RECORDER_C_BEGIN_

/* ----------------------------------------------------------------- batch -- */

RECORDER_INLINE_ bool recorder_chosen_(const struct recorder *recorder,
                                       const char *regex)
{
    return !regex || recorder_regex_match_(regex, recorder->name);
}

/* True if the dump has had its time: memory that was overwritten may hold any
 * number of records. Loops ask once for each RECORDER_LOOKS_ slots. */
RECORDER_SELDOM_ bool recorder_batch_is_late_(struct recorder_batch_ *batch)
{
    if (batch->until_ns && !batch->late)
        batch->late =
            recorder_clock_ns_(RECORDER_PROCESSOR_) >= batch->until_ns;
    return batch->late;
}
#define RECORDER_LOOKS_ 4096
RECORDER_INLINE_ bool recorder_batch_stops_(struct recorder_batch_ *batch,
                                            uintptr_t slot)
{
    return slot % RECORDER_LOOKS_ == 0 && recorder_batch_is_late_(batch);
}

/* Sorts keys by order: a Shell sort with Ciura's gaps, extended by a factor of
 * 9/4. It needs no memory and no recursion, and is quick on keys from rings,
 * which are nearly sorted. */
RECORDER_FUNCTION_ void recorder_sort_keys_(struct recorder_key_ *keys,
                                            size_t count)
{
    size_t gap = 1, i = 1, j;
    while (i < count && keys[i - 1].order <= keys[i].order)
        i++;
    if (i >= count)
        return; /* they were sorted: of one ring that never came round */
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

/* Adds the record of one slot, if its order is between `from` and *to. Halves a
 * full batch first: the lower orders stay, *to becomes their highest, and the
 * keys above them name free places. */
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
    if (order < from || order > *to) /* most slots: need no copy */
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

/* Returns the lowest order, less `end`, that counts: it is above `after`, not
 * cleared, and in the half of all words before `end`. 0: no order counts. */
RECORDER_INLINE_ uintptr_t recorder_batch_from_(const struct recorder_batch_ *b)
{
    uintptr_t from = ~(UINTPTR_MAX >> 1);
    uintptr_t cleared = recorder_get_(&recorder_home_.registry->cleared);
    uintptr_t now = recorder_order_now_();
    if (cleared && cleared - b->end <= now - b->end)
        return 0; /* everything before `end` was cleared */
    if (cleared && cleared - b->end > from)
        from = cleared - b->end;
    if (b->begun && b->after - b->end >= from)
        from = b->after - b->end + 1;
    return from;
}

/* Counts the events that a recorder keeps whose order, less `end`, is at least
 * `from`: up to `max`, the newest slots first, so that few are looked at. */
RECORDER_FUNCTION_ size_t recorder_events_from_(struct recorder_batch_ *batch,
                                                const struct recorder *recorder,
                                                uintptr_t from, size_t max)
{
    uintptr_t lane, i;
    size_t count = 0;
    for (lane = 0; lane <= recorder->lanes_mask; lane++) {
        const struct recorder_ring *ring =
            recorder_lane_(recorder, (unsigned)lane);
        uintptr_t write = recorder_get_(&ring->write);
        for (i = 0; i <= recorder->mask && count < max &&
                    !recorder_batch_stops_(batch, i);
             i++) {
            uintptr_t slot = (write - 1 - i) & recorder->mask;
            const struct recorder_record *r = &recorder_records_(ring)[slot];
            uintptr_t commit =
                recorder_get_(&recorder_commits_(ring, recorder->mask)[slot]);
            count += commit && !(commit & RECORDER_BUSY_) &&
                     recorder_get_(&r->order) - batch->end >= from &&
                     recorder_is_head_(recorder_get_(&r->format));
        }
    }
    return count;
}

/* The order, less the batch's end, of the oldest of the last events of a
 * recorder; `from` where it keeps no more than these. Found by bisection, as
 * there may be no memory for the orders. */
RECORDER_SELDOM_ uintptr_t
recorder_batch_from_last_(struct recorder_batch_ *batch,
                          const struct recorder *recorder, uintptr_t from)
{
    uintptr_t low = from, high = UINTPTR_MAX;
    if (recorder_events_from_(batch, recorder, from, batch->last) < batch->last)
        return from;
    while (low < high && !batch->late) {
        uintptr_t middle = high - (high - low) / 2;
        if (recorder_events_from_(batch, recorder, middle, batch->last) <
            batch->last)
            high = middle - 1;
        else
            low = middle;
    }
    return low;
}

/* Fills the batch with the smallest orders from `after` on, up to `end`. */
RECORDER_FUNCTION_ void recorder_batch_fill_(struct recorder_batch_ *batch)
{
    uintptr_t all = recorder_batch_from_(batch), to = UINTPTR_MAX, lane, slot;
    uintptr_t from = all;
    struct recorder_walk_ walk;
    const struct recorder *recorder;
    batch->count = batch->next = 0;
    batch->more = false;
    if (all == 0)
        return;
    for (recorder = recorder_walk_begin_(&walk); recorder && !batch->late;
         recorder = recorder_walk_next_(&walk)) {
        if (!recorder_chosen_(recorder, batch->regex))
            continue;
        if (batch->last)
            from = recorder_batch_from_last_(batch, recorder, all);
        for (lane = 0; lane <= recorder->lanes_mask; lane++) {
            const struct recorder_ring *ring =
                recorder_lane_(recorder, (unsigned)lane);
            for (slot = 0; slot <= recorder->mask &&
                           !recorder_batch_stops_(batch, slot);
                 slot++)
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

/* Returns how many records of the batch, from i on, are one event: a head and
 * its continuations. 1 if record i is no head. */
RECORDER_INLINE_ size_t recorder_batch_run_(const struct recorder_batch_ *batch,
                                            size_t i)
{
    const struct recorder_kept_ *head = recorder_batch_at_(batch, i);
    size_t run = 1;
    if (!recorder_is_head_(head->record.format))
        return 1;
    for (; run < 3 && i + run < batch->count; run++) {
        const struct recorder_kept_ *kept = recorder_batch_at_(batch, i + run);
        if (kept->record.format != 0 || kept->ring != head->ring ||
            kept->record.caller != head->record.caller ||
            kept->record.order - head->record.order > 2)
            break; /* another head, or a continuation without its head */
    }
    return run;
}

/* Returns the time of a record, in 64 bits of ticks. */
RECORDER_FUNCTION_ uint64_t recorder_ticks_of_(const struct recorder_record *r)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t count;
    uint64_t ticks = r->time;
    bool known;
    if (!RECORDER_NOTES_WRAPS_)
        return ticks;
    do { /* until no wrap was noted during the copy */
        count = __atomic_load_n(&registry->wraps_count, __ATOMIC_ACQUIRE);
        ticks = r->time;
        known = recorder_clock_widen_(registry->wraps, (uint32_t)count,
                                      (uint32_t)r->order, &ticks);
        recorder_fence_acquire_();
    } while (recorder_get_(&registry->wraps_count) != count);
    return known ? ticks : RECORDER_TICKS_UNKNOWN_;
}

/* Makes an event of the run of records at i. */
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
    event->severity = -1; /* recorder_next_severity_() sets it */
    event->hardware = false;
    event->recorder = head->recorder;
    event->name = head->name;
    event->missing_arguments = 0xfff;
    for (j = 0; j < 12; j++)
        event->argument[j] = 0;
    for (j = 0; j < run; j++) {
        const struct recorder_record *r =
            &recorder_batch_at_(batch, i + j)->record;
        size_t at = 4 * (r->order - head->record.order);
        for (k = 0; k < 4; k++)
            event->argument[at + k] = r->argument[k];
        event->missing_arguments &= ~(0xfu << at);
    }
}

/* Takes the next event out of a batch. Returns false where the batch is used
 * up, or its last event may continue in the next batch. Adds the orders passed
 * by to *missed, unless that is null. */
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
        is_head = recorder_is_head_(r->format);
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
        if (missed && r->format == 0) /* a continuation without its head */
            ++*missed;
    }
    return false;
}

/* True if an order between `after` and the batch's last is not in it. */
RECORDER_FUNCTION_ bool recorder_batch_gap_(const struct recorder_batch_ *batch)
{
    size_t i = batch->count;
    return i &&
           recorder_batch_at_(batch, i - 1)->record.order - batch->after != i;
}

/* Sets the severity of an event, which the heading of its format says; none if
 * that cannot be read. */
RECORDER_FUNCTION_ void recorder_next_severity_(struct recorder_cursor *cursor,
                                                struct recorder_event *event)
{
    struct recorder_severity_cached_ *cached =
        &cursor->cached[(event->format ^ event->format >> 6) %
                        RECORDER_SEVERITIES_MAX_];
    struct recorder_headed_ heading;
    struct recorder_decoded_ decoded;
    if (cached->format != event->format) {
        char bytes[RECORDER_HEADING_MAX_ + 1];
        struct recorder_memory_ memory;
        ptrdiff_t size;
        recorder_memory_open_(&memory);
        size = recorder_memory_copy_(&memory, event->format, bytes,
                                     sizeof bytes - 1);
        recorder_memory_close_(&memory);
        bytes[size > 0 ? size : 0] = '\0';
        recorder_heading_(bytes, &heading);
        cached->format = event->format;
        cached->severity = heading.severity;
        cached->hardware = heading.hardware;
        cached->decoded = recorder_decode_is_(&heading);
    }
    event->severity = cached->severity;
    event->hardware = cached->hardware;
    if (cached->decoded &&
        recorder_decode_(event, cached->severity, cached->hardware, &decoded)) {
        event->severity = decoded.severity;
        event->hardware = decoded.hardware;
    }
}

/* Counts the positions that all rings handed out, and how many of them have a
 * record, not yet taken out, of an order below the batch's end. */
RECORDER_SELDOM_ uintptr_t
recorder_batch_positions_(const struct recorder_batch_ *batch, bool whole)
{
    uintptr_t from = recorder_batch_from_(batch), count = 0, lane, slot;
    struct recorder_walk_ walk;
    const struct recorder *r = recorder_walk_begin_(&walk);
    for (; r; r = recorder_walk_next_(&walk))
        for (lane = 0; lane <= r->lanes_mask; lane++) {
            const struct recorder_ring *ring =
                recorder_lane_(r, (unsigned)lane);
            if (!whole)
                count += recorder_get_(&ring->write) -
                         recorder_get_(&ring->given_up);
            for (slot = 0; slot <= r->mask && whole && from; slot++) {
                uintptr_t commit =
                    recorder_get_(&recorder_commits_(ring, r->mask)[slot]);
                uintptr_t order =
                    recorder_get_(&recorder_records_(ring)[slot].order);
                count += commit && !(commit & RECORDER_BUSY_) &&
                         order - batch->end >= from;
            }
        }
    recorder_readers_leave_();
    return count;
}
/* Counts missed records in gaps of sequence numbers: positions handed out, less
 * those read, less those still in the ring. The count starts again after a
 * clearing, or when a ring has gone. */
RECORDER_SELDOM_ void recorder_next_missed_(struct recorder_cursor *cursor)
{
    uintptr_t cleared = recorder_get_(&recorder_home_.registry->cleared);
    uintptr_t handed = recorder_batch_positions_(&cursor->batch, false);
    uintptr_t left, gone;
    cursor->batch.end = recorder_order_now_();
    recorder_order_end_(); /* those positions are whole */
    left = handed - recorder_batch_positions_(&cursor->batch, true);
    if (handed < cursor->handed || cleared != cursor->cleared)
        cursor->taken = left - cursor->gone;
    gone = (intptr_t)(left - cursor->taken) > 0 ? left - cursor->taken : 0;
    cursor->missed += (uint64_t)(intptr_t)(gone - cursor->gone);
    if ((int64_t)cursor->missed < 0) /* the program had set it to 0 */
        cursor->missed = 0;
    cursor->gone = gone;
    cursor->handed = handed;
    cursor->cleared = cleared;
}

/* Looks for the next batch. */
RECORDER_FUNCTION_ void recorder_next_batch_(struct recorder_cursor *cursor)
{
    struct recorder_batch_ *batch = &cursor->batch;
    size_t i;
    batch->kept = cursor->kept;
    batch->keys = cursor->keys;
    batch->max = RECORDER_CURSOR_MAX_;
    if (recorder_order_has_gaps_())
        recorder_next_missed_(cursor);
    batch->end = recorder_order_end_();
    recorder_batch_fill_(batch);
    /* A missing order may have been drawn and not yet written: a writer that
     * runs has written it by a second look. */
    if (!recorder_order_has_gaps_() && recorder_batch_gap_(batch))
        recorder_batch_fill_(batch);
    for (i = 0; i < RECORDER_SEVERITIES_MAX_; i++)
        cursor->cached[i].format = 0; /* a library may have been closed */
}

/* Takes the next event out of the cursor's batch, and counts. */
RECORDER_INLINE_ bool recorder_next_take_(struct recorder_cursor *cursor,
                                          struct recorder_event *event)
{
    size_t next = cursor->batch.next;
    bool taken = recorder_batch_take_(
        &cursor->batch, event,
        recorder_order_has_gaps_() ? NULL : &cursor->missed);
    cursor->taken += cursor->batch.next - next;
    return taken;
}

RECORDER_CALLED_ bool recorder_next(struct recorder_cursor *cursor,
                                    struct recorder_event *event)
{
    struct recorder_batch_ *batch = &cursor->batch;
    uintptr_t cleared = recorder_get_(&recorder_home_.registry->cleared);
    if (cleared && (intptr_t)(cleared - batch->after) > 1) {
        batch->after = cleared - 1; /* cleared records are not missed */
        batch->begun = true;
        batch->count = batch->next = 0;
    }
    if (!recorder_next_take_(cursor, event)) {
        recorder_next_batch_(cursor);
        if (!recorder_next_take_(cursor, event))
            return false;
    }
    recorder_next_severity_(cursor, event);
    return true;
}

/* --------------------------------------------------------------- summary -- */

struct recorder_summary_ {
    const struct recorder *recorder;
    const char *name;
    intptr_t trace;
    struct recorder_figures_ figures;
};

RECORDER_FUNCTION_ void recorder_summarize_(struct recorder_batch_ *batch,
                                            const struct recorder *recorder,
                                            struct recorder_summary_ *to)
{
    uintptr_t lane, slot, written = 0, whole = 0, records = 0;
    uintptr_t mask = recorder->mask;
    struct recorder_batch_ all = *batch; /* from the oldest record on */
    struct recorder_figures_ *figures = &to->figures;
    uintptr_t from, several = 0;
    all.begun = false;
    from = recorder_batch_from_(&all);
    to->recorder = recorder;
    to->name = recorder->name;
    to->trace = __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED);
    figures->size = mask + 1;
    figures->lanes = recorder->lanes_mask + 1;
    figures->kept = figures->slots_kept = figures->lost = 0;
    figures->missed = figures->left_out = 0;
    for (lane = 0; lane < figures->lanes; lane++) {
        const struct recorder_ring *ring =
            recorder_lane_(recorder, (unsigned)lane);
        uintptr_t next = recorder_get_(&ring->write);
        written += next - recorder_get_(&ring->given_up);
        figures->lost += recorder_get_(&ring->lost);
        several |= recorder_get_(&ring->several);
        for (slot = 0; slot <= mask && !recorder_batch_stops_(batch, slot);
             slot++) {
            const struct recorder_record *r = &recorder_records_(ring)[slot];
            uintptr_t commit =
                recorder_get_(&recorder_commits_(ring, mask)[slot]);
            bool counts = from && recorder_get_(&r->order) - batch->end >= from;
            bool begins = recorder_is_head_(recorder_get_(&r->format));
            written -= recorder_is_open_(
                &recorder_turns_(ring, mask)[slot], commit,
                recorder_commit_lap_(next + mask - slot, mask));
            if (commit == 0 || (commit & RECORDER_BUSY_))
                continue;
            whole++;
            records += begins;
            figures->slots_kept += counts;
            figures->kept += counts && begins;
        }
    }
    recorder_figures_overwritten_(figures, written, whole, records, several);
}

/* Sums up the index-th recorder that the batch chooses. Returns false if there
 * are fewer, or the dump has had its time. */
RECORDER_SELDOM_ bool recorder_summary_at_(size_t index,
                                           struct recorder_batch_ *batch,
                                           struct recorder_summary_ *to)
{
    struct recorder_walk_ walk;
    const struct recorder *recorder = recorder_walk_begin_(&walk);
    for (; recorder; recorder = recorder_walk_next_(&walk))
        if (recorder_chosen_(recorder, batch->regex) && index-- == 0) {
            recorder_summarize_(batch, recorder, to);
            break;
        }
    recorder_readers_leave_();
    return recorder != NULL && !batch->late;
}

RECORDER_C_END_
#endif
