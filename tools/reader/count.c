/* count.c - the figures of recorders: records kept, overwritten, missed. */
/* SPDX-License-Identifier: MIT */
#include "inside.h"

/* A ring overwrote records: the kept ones begin at this time. */
static void complete_count(struct reader_recorder *r, int64_t oldest_ns)
{
    if (oldest_ns != RECORDER_TIME_UNKNOWN_ &&
        (r->complete_ns == RECORDER_TIME_UNKNOWN_ ||
         oldest_ns > r->complete_ns))
        r->complete_ns = oldest_ns;
}

/* Records of a recorder in its rings that were made after the take's end, and
 * the number of missing records from before. */
struct late {
    uint64_t slots, heads; /* records after the take's end */
    uint64_t handed;       /* positions that were handed out after that end */
    uint64_t missed;       /* positions before, whose records are overwritten */
    uint64_t unfinished;   /* positions before, whose records are not whole */
};

/* Returns by how many positions a commit word is older than the ring's next
 * position; 0: the ring handed the commit word's position out later. */
static uint64_t commit_age(const struct reader *reader, const struct lane *lane,
                           uint64_t slot, uint64_t commit)
{
    unsigned bits = thread_bits(reader->memory);
    uint64_t position = (commit >> bits) + slot - lane_size(lane);
    uint64_t age = (lane->write - position) << bits & word_max(reader->memory);
    return word_signed(reader->memory, age) > 0 ? age >> bits : 0;
}

/* Looks at the positions that a program's ring held at the take's end, `handed`
 * positions ago. Counts those missed, which the program overwrote before the
 * reader copied them: a slot has a later record, or is zero, as the reader
 * skipped the slot. Counts those unfinished, whose writers are in the call. */
static void lane_look(struct reader *reader, const struct lane *lane,
                      uint64_t handed, struct late *late)
{
    uint64_t size = lane_size(lane), max = word_max(reader->memory);
    uint64_t end = lane->write - handed, held = end & max, position;
    uint64_t gone = 0, skipped = 0, unfinished = 0;
    for (held = held < size ? held : size; held; held--) {
        position = (end - held + size) & max;
        switch (position_look(reader, lane, position)) {
        case FOUND: break;
        case GONE: gone++; break;
        case NOT_YET: /* zero: a skipped slot, or one of an unfinished record */
            if (commit_of(reader, lane, position & (size - 1)) == 0)
                skipped++;
            else
                unfinished += !position_gave_up(reader, lane, position);
        }
    }
    late->missed += gone ? gone + skipped : 0;
    late->unfinished += gone ? unfinished : unfinished + skipped;
}

static void lane_count(struct reader *reader, const struct lane *lane,
                       uint64_t *low, uint64_t *high, struct late *late)
{
    struct reader_recorder *r = lane->recorder;
    uint64_t before = r->whole, oldest = UINT64_MAX;
    int64_t oldest_ns = RECORDER_TIME_UNKNOWN_;
    uint64_t end = reader->memory->stale_order ? UINT64_MAX
                                               : order_key(reader, reader->end);
    uint64_t slot, key, format, size = lane_size(lane);
    unsigned char raw[RECORD_MAX_BYTES], newest[RECORD_MAX_BYTES];
    uint64_t commit, age, handed = 0; /* after the take's end */
    bool newer = false;
    for (slot = 0; slot < size; slot++) {
        commit = lane_record(reader, lane, slot, raw);
        if (!commit)
            continue;
        format = bytes_word(reader->memory,
                            raw + offsets_of(reader->memory)->record_format);
        r->whole++;
        r->begun += recorder_is_head_(format);
        if (!raw_key(reader, lane, raw, &key))
            continue;
        if (key >= end) {
            late->slots++;
            late->heads += recorder_is_head_(format);
            age = commit_age(reader, lane, slot, commit);
            handed = age > handed ? age : handed;
            continue;
        }
        r->figures.slots_kept++;
        r->figures.kept += recorder_is_head_(format);
        if (recorder_is_text_(format))
            continue; /* a copied text has no time */
        if (key < oldest) {
            oldest = key;
            oldest_ns = reader_time(reader, raw);
        }
        if (key >= *high) {
            *high = key;
            memcpy(newest, raw, sizeof raw);
            newer = true;
        }
    }
    if (!reader->memory->live)
        handed = 0;
    late->handed += handed;
    if (lane->records)
        lane_look(reader, lane, handed, late);
    if (newer)
        r->newest_ns = reader_time(reader, newest);
    if (oldest < *low) {
        *low = oldest;
        r->oldest_ns = oldest_ns;
    }
    if (((lane->write - lane->given_up) & word_max(reader->memory)) >
            r->whole - before ||
        lane->kept[KEPT_OVERWRITTEN])
        complete_count(r, oldest_ns);
}

uint64_t figures_damaged(const struct reader_recorder *r)
{
    uint64_t slots = r->figures.size;
    slots = r->recorded < slots ? r->recorded : slots;
    return slots > r->whole ? slots - r->whole : 0;
}

/* Sets the figures of a recording that was made of events: it has one ring for
 * each recorder. */
static void figures_kept(struct reader_recorder *r, const uint64_t *kept)
{
    if (!kept[KEPT_MARK])
        return;
    r->figures.overwritten = kept[KEPT_OVERWRITTEN];
    r->figures.slots_overwritten = kept[KEPT_SLOTS_OVERWRITTEN];
    r->figures.estimated = kept[KEPT_ESTIMATED] != 0;
    if ((int64_t)kept[KEPT_MISSED] > 0)
        r->figures.missed = kept[KEPT_MISSED];
    r->figures.missed += figures_damaged(r);
    r->figures.left_out = kept[KEPT_LEFT_OUT];
}

/* Finds the newest records of recorders that were not chosen: a recording ends
 * with its newest record, whichever are. Looks at as many slots as fit in it. */
static void newest_of_others(struct reader *reader)
{
    const struct memory *m = reader->memory;
    const struct offsets *at = offsets_of(m);
    unsigned char raw[RECORD_MAX_BYTES];
    bool runs = m->live && !m->stale_order;
    uint64_t left = runs ? 0 : m->size / at->record_size, slot, high, key;
    for (size_t i = 0; i < reader->recorders_count; i++) {
        struct reader_recorder *r = reader->recorders[i];
        uint64_t size = r->figures.size;
        uint64_t all = r->lane || r->wrong ? 0 : size * r->figures.lanes;
        for (slot = high = 0; slot < all && left; slot++, left--) {
            if (!slot_record(reader, r, slot / size, slot % size, raw) ||
                recorder_is_text_(bytes_word(m, raw + at->record_format)))
                continue;
            key = order_key(reader, bytes_word(m, raw + at->record_order));
            if (key >= high)
                r->newest_ns = reader_time(reader, raw);
            high = key > high ? key : high;
        }
    }
}

void reader_count(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    size_t i = 0;
    newest_of_others(reader);
    while (i < inside->lanes_count) {
        struct reader_recorder *r = inside->lanes[i].recorder;
        uint64_t low = UINT64_MAX, high = 0;
        struct late late = {0};
        r->figures.left_out = 0;
        r->figures.kept = r->figures.slots_kept = r->figures.lost = 0;
        r->recorded = r->whole = r->begun = 0;
        r->oldest_ns = r->newest_ns = RECORDER_TIME_UNKNOWN_;
        r->complete_ns = RECORDER_TIME_UNKNOWN_;
        for (; i < inside->lanes_count && inside->lanes[i].recorder == r; i++) {
            const struct lane *lane = &inside->lanes[i];
            if (!lane->begun)
                continue; /* it was gone before it was read */
            r->recorded +=
                (lane->write - lane->given_up) & word_max(reader->memory);
            r->figures.lost += lane->lost;
            lane_count(reader, lane, &low, &high, &late);
        }
        if (!reader->memory->live)
            late = (struct late){.unfinished = late.unfinished};
        late.handed += late.missed + late.unfinished;
        recorder_figures_overwritten_(
            &r->figures,
            r->recorded > late.handed ? r->recorded - late.handed : 0,
            r->whole - late.slots, r->begun - late.heads, r->several);
        r->figures.missed = late.missed;
        figures_kept(r, inside->lanes[i - 1].kept);
        kernel_count(reader, r);
    }
}
