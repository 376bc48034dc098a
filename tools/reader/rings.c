/* rings.c - takes records out of rings: whole records, each of them once. */
/* SPDX-License-Identifier: MIT */
/*
   A ring is read in bulk: commit words, records, commit words again. A slot
   whose two commit words agree, and are not busy, is whole: R1 to R4 of
   recorder.h for all slots at once. In a mapped file, nothing is copied, and
   each record is checked when it is taken out.

   The program continues to record, and only records before the end of this take
   count. So the oldest slots are copied first, in large pieces, into mapped
   memory: a reader that is faster than the writers is ahead of them from the
   first slot on, and nearly all of a ring is whole.

   Later takes read only the slots of the positions that were handed out since
   the last one, and wait for an unfinished record during a few takes.
*/
#include "array.h"
#include "inside.h"

enum {
    PIECE = 512, /* slots that are copied at a time: few calls of the system */
    LATE = 4     /* pieces that were overwritten before: writers are faster */
};

/* ----------------------------------------------------------------- lanes -- */

static uint64_t records_address(const struct reader *r, const struct lane *l)
{
    return l->address + ring_records_at(r);
}
static uint64_t commits_address(const struct reader *r, const struct lane *l)
{
    return l->address + ring_commits_at(r, lane_size(l));
}

uint64_t commit_of(const struct reader *reader, const struct lane *lane,
                   uint64_t slot)
{
    unsigned word = reader->memory->word_bytes;
    return bytes_word(reader->memory, lane->commits + slot * word);
}

uint64_t lane_record(const struct reader *reader, const struct lane *lane,
                     uint64_t slot, unsigned char raw[RECORD_MAX_BYTES])
{
    const struct memory *m = reader->memory;
    const bool wide = m->word_bytes == 8;
    const size_t bytes = offsets[wide].record_size;
    const unsigned char *from, *word;
    uint64_t commit;
    if (!lane->records || slot >= lane_size(lane))
        return 0;
    from = lane->records + slot * (wide ? RECORD_MAX_BYTES : bytes);
    word = lane->commits + slot * (wide ? 8 : m->word_bytes);
    commit = bytes_word(m, word);
    if (commit == 0 || (commit & 1))
        return 0;
    recorder_fence_acquire_();
    if (wide) /* of constant size: by moves, not by a call */
        memcpy(raw, from, RECORD_MAX_BYTES);
    else
        memcpy(raw, from, bytes);
    recorder_fence_acquire_();
    return bytes_word(m, word) == commit ? commit : 0;
}

uint64_t slot_record(struct reader *reader, const struct reader_recorder *r,
                     uint64_t lane, uint64_t slot,
                     unsigned char raw[RECORD_MAX_BYTES])
{
    struct memory *m = reader->memory;
    unsigned word = m->word_bytes;
    size_t bytes = offsets_of(m)->record_size;
    uint64_t ring = r->rings + lane * r->ring_bytes;
    uint64_t record = ring + ring_records_at(reader) + slot * bytes;
    uint64_t at = ring + ring_commits_at(reader, r->figures.size) + slot * word;
    unsigned char commit[8], again[8];
    if (!bytes_read(m, at, commit, word) ||
        !bytes_read(m, record, raw, bytes) || !bytes_read(m, at, again, word) ||
        memcmp(commit, again, word) != 0 || (bytes_word(m, commit) & 1))
        return 0;
    return bytes_word(m, commit);
}

uint64_t key_record(const struct reader *reader, const struct key *key,
                    unsigned char raw[RECORD_MAX_BYTES])
{
    const struct reader_inside *inside = reader->inside;
    const struct held *held;
    if (!key->held)
        return lane_record(reader, &inside->lanes[key->lane], key->slot, raw);
    held = &inside->held[key->held - 1];
    memcpy(raw, held->raw, sizeof held->raw);
    return held->commit;
}

bool key_begins(const struct reader *reader, const struct key *key)
{
    const struct memory *m = reader->memory;
    const struct lane *lane = &reader->inside->lanes[key->lane];
    const struct offsets *at = offsets_of(m);
    const unsigned char *raw =
        key->held || !lane->records
            ? NULL
            : lane->records + key->slot * at->record_size;
    return raw && bytes_word(m, raw + at->record_format) != 0;
}

/* Touches the pages of a ring's copy, so that page faults come now and not
 * while the ring is read. Slots that were never written get no page. */
static void lane_touch(struct reader *reader, struct lane *lane)
{
    struct memory *m = reader->memory;
    uint64_t size = lane_size(lane), used, at;
    volatile unsigned char *commits = lane->commits, *records = lane->records;
    if (!m->live || !bytes_read_word(m, lane->address, &lane->write))
        return;
    used = lane->write < size ? lane->write : size;
    for (at = 0; at < used * m->word_bytes; at += PAGE_BYTES)
        commits[at] = 0;
    for (at = 0; at < used * offsets_of(m)->record_size; at += PAGE_BYTES)
        records[at] = 0;
}

/* Maps a ring, or allocates a copy of it. Null, or what is wrong. Missing bytes
 * read as zeros: an unwritten slot. */
static const char *lane_open(struct reader *reader, struct lane *lane)
{
    struct memory *m = reader->memory;
    uint64_t records = lane_size(lane) * offsets_of(m)->record_size;
    uint64_t commits = lane_size(lane) * m->word_bytes;
    unsigned char last;
    if (m->compare)
        m->compare(m->compare_context, commits_address(reader, lane), commits);
    if (m->map)
        lane->records = (unsigned char *)(uintptr_t)m->map(
            m, records_address(reader, lane), records + commits);
    if (!lane->records) {
        /* A ring that cannot be read gets no memory. */
        if (m->read(m, commits_address(reader, lane) + commits - 1, &last, 1) !=
                1 &&
            m->read(m, records_address(reader, lane), &last, 1) != 1)
            return "its rings are not in there";
        lane->copy = lane->records = calloc(1, records + commits);
        if (!lane->copy)
            return "there is no memory for its rings";
    }
    lane->commits = lane->records + records;
    if (lane->copy)
        lane_touch(reader, lane);
    return NULL;
}

void lanes_refresh(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    uint64_t bytes = 0;
    size_t i, k;
    for (i = 0; i < inside->lanes_count; i++)
        inside->lanes[i].recorder->chosen |= inside->lanes[i].begun;
    for (i = 0; i < reader->recorders_count; i++) {
        struct reader_recorder *r = reader->recorders[i];
        uint64_t all = r->figures.lanes * ring_end_at(reader, r->figures.size);
        if (!r->chosen || r->wrong)
            continue;
        if (r->lane == 0 && bytes + all > reader->memory->size)
            r->wrong = "its rings are larger than the memory";
        if (!r->wrong)
            bytes += all;
        if (r->wrong || r->lane)
            continue;
        ARRAY_NEED(inside->lanes, inside->lanes_count + r->figures.lanes,
                   inside->lanes_max);
        r->lane = inside->lanes_count + 1;
        for (k = 0; k < r->figures.lanes && !r->wrong; k++) {
            struct lane *lane = &inside->lanes[inside->lanes_count];
            memset(lane, 0, sizeof *lane);
            lane->recorder = r;
            lane->number = (unsigned)k;
            lane->address = r->rings + k * r->ring_bytes;
            r->wrong = lane_open(reader, lane);
            if (!r->wrong)
                inside->lanes_count++;
        }
    }
}

void rings_close(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    for (size_t i = 0; i < inside->lanes_count; i++) {
        free(inside->lanes[i].copy);
        free(inside->lanes[i].pending);
    }
    free(inside->lanes);
    free(inside->keys);
    free(inside->held);
    inside->held = NULL;
    inside->lanes = NULL;
    inside->keys = NULL;
}

/* ------------------------------------------------------------- positions -- */

/* Returns the commit word of a position's whole record, without its thread. */
static uint64_t commit_wanted(const struct reader *reader,
                              const struct lane *lane, uint64_t position)
{
    uint64_t lap = position & ~(lane_size(lane) - 1);
    return (lap << thread_bits(reader->memory)) & word_max(reader->memory);
}

bool slot_is_newest(const struct reader *reader, const struct lane *lane,
                    uint64_t slot, uint64_t commit)
{
    const struct memory *m = reader->memory;
    uint64_t size = lane_size(lane), mask = ((uint64_t)1 << thread_bits(m)) - 1;
    uint64_t last = ((lane->write - 1 - slot) & ~(size - 1)) + slot;
    uint64_t wanted = commit_wanted(reader, lane, last + size);
    return word_signed(m, (commit & ~mask) - wanted) >= 0;
}

enum found position_look(const struct reader *reader, const struct lane *lane,
                         uint64_t position)
{
    const struct memory *m = reader->memory;
    uint64_t slot = position & (lane_size(lane) - 1);
    uint64_t commit = commit_of(reader, lane, slot);
    uint64_t mask = ((uint64_t)1 << thread_bits(m)) - 1;
    uint64_t wanted = commit_wanted(reader, lane, position);
    if ((commit & ~mask) == wanted && !(commit & 1))
        return FOUND;
    return word_signed(m, (commit & ~mask) - wanted) > 0 ? GONE : NOT_YET;
}

bool position_gave_up(struct reader *reader, const struct lane *lane,
                      uint64_t position)
{
    struct memory *m = reader->memory;
    unsigned bits = thread_bits(m);
    uint64_t size = lane_size(lane), slot = position & (size - 1), laps;
    uint64_t commit = commit_of(reader, lane, slot);
    uint64_t gave_up;
    laps = (commit_wanted(reader, lane, position) - (commit >> bits << bits)) &
           word_max(m);
    return !(commit & 1) &&
           bytes_read_word(m,
                           lane->address + ring_turns_at(reader, size) +
                               slot * 2 * m->word_bytes,
                           &gave_up) &&
           gave_up == laps >> bits;
}

/* ------------------------------------------------------------------ copy -- */

/* Reads at most PIECE slots from `slot` on into the lane's copy. Marks a slot
 * busy there if its commit word changed during the read. */
static void slots_copy(struct reader *reader, struct lane *lane, uint64_t slot,
                       uint64_t count)
{
    struct memory *m = reader->memory;
    unsigned word = m->word_bytes, bytes = offsets_of(m)->record_size;
    unsigned char again[PIECE * 8];
    unsigned char *commits = lane->commits + slot * word;
    uint64_t at = commits_address(reader, lane) + slot * word, i;
    size_t got = m->read(m, at, commits, count * word);
    memset(commits + got, 0, count * word - got);
    got = m->read(m, records_address(reader, lane) + slot * bytes,
                  lane->records + slot * bytes, count * bytes);
    memset(commits + got / bytes * word, 0, (count - got / bytes) * word);
    got = m->read(m, at, again, count * word);
    memset(again + got, 0, count * word - got);
    for (i = 0; i < count; i++)
        if (memcmp(commits + i * word, again + i * word, word) != 0) {
            memcpy(commits + i * word, again + i * word, word);
            commits[i * word + (m->big_endian ? word - 1 : 0)] |= 1;
        }
}

/* Returns how many of the positions from `first` to `end` were overwritten. */
static uint64_t positions_gone(struct reader *reader, const struct lane *lane,
                               uint64_t first, uint64_t end)
{
    struct memory *m = reader->memory;
    uint64_t gone;
    if (!bytes_read_word(m, lane->address, &gone))
        return 0;
    gone = (gone - lane_size(lane) - first) & word_max(m);
    return word_signed(m, gone) < 0 ? 0
           : gone < end - first     ? gone
                                    : end - first;
}

/* Copies the slots of positions from `first` + `size` on. False: writers
 * overwrote some during the copy. After LATE times, the rest is copied newest
 * first: writers overwrite the oldest. */
static bool positions_copy(struct reader *reader, struct lane *lane,
                           uint64_t first, uint64_t count)
{
    uint64_t size = lane_size(lane), max = word_max(reader->memory);
    uint64_t end = first + count, piece, slot;
    unsigned late = 0;
    if (!lane->copy)
        return true;
    while (first != end && late < LATE) {
        slot = first & (size - 1);
        piece = size - slot < PIECE ? size - slot : PIECE;
        piece = piece < end - first ? piece : end - first;
        slots_copy(reader, lane, slot, piece);
        first += piece;
        if (reader->memory->live &&
            position_look(reader, lane, (first - 1 + size) & max) == GONE) {
            first += positions_gone(reader, lane, first, end);
            late++;
        }
    }
    while (first != end) {
        slot = (end - 1) & (size - 1);
        piece = slot + 1 < PIECE ? slot + 1 : PIECE;
        piece = piece < end - first ? piece : end - first;
        end -= piece;
        slots_copy(reader, lane, slot + 1 - piece, piece);
        if (position_look(reader, lane, (end + size) & max) == GONE)
            break;
    }
    return late == 0;
}

/* ------------------------------------------------------------------ take -- */

/* Adds a key. A follower never goes back: a record whose writer was stopped for
 * longer than records are held back is missed. */
static void key_add(struct reader *reader, uint64_t order, uint32_t lane,
                    uint32_t slot)
{
    struct reader_inside *inside = reader->inside;
    if (order < inside->shown) {
        reader->missed++;
        return;
    }
    ARRAY_NEED(inside->keys, inside->keys_count + 1, inside->keys_max);
    inside->keys[inside->keys_count++] =
        (struct key){.order = order, .lane = lane, .slot = slot};
}

bool raw_key(const struct reader *reader, const struct lane *lane,
             const unsigned char *raw, uint64_t *key)
{
    const struct offsets *at = offsets_of(reader->memory);
    *key =
        order_key(reader, bytes_word(reader->memory, raw + at->record_order));
    if (reader->inside->kernel && kernel_has(reader, lane->recorder, raw, *key))
        return false;
    return reader->cleared == 0 || *key >= order_key(reader, reader->cleared);
}

/* The key of the record in a slot; false: there is none, or it was cleared. */
static bool slot_key(const struct reader *reader, const struct lane *lane,
                     uint64_t slot, uint64_t *key)
{
    unsigned char raw[RECORD_MAX_BYTES];
    return lane_record(reader, lane, slot, raw) &&
           raw_key(reader, lane, raw, key);
}

/* True if a record begins in the slot; false: it contains a continuation or a
 * text. */
static bool slot_begins(const struct reader *reader, const struct lane *lane,
                        uint64_t slot)
{
    unsigned char raw[RECORD_MAX_BYTES];
    return lane_record(reader, lane, slot, raw) &&
           bytes_word(reader->memory,
                      raw + offsets_of(reader->memory)->record_format) >=
               RECORDER_TEXT_END_;
}

/* Adds positions that were overwritten before they were seen to the records
 * that were missed: an estimate, where records take several. */
static void lane_missed(struct reader *reader, const struct lane *lane,
                        uint64_t count)
{
    if (lane->heads && lane->heads != lane->slots) {
        count = count / lane->slots * lane->heads +
                count % lane->slots * lane->heads / lane->slots;
        count += count == 0;
        reader->missed_estimated = true;
    }
    reader->missed += count;
}

static void position_take(struct reader *reader, uint32_t lane,
                          uint64_t position)
{
    struct lane *l = &reader->inside->lanes[lane];
    uint64_t slot = position & (lane_size(l) - 1), key;
    bool counts = slot_key(reader, l, slot, &key);
    if (!counts && position_look(reader, l, position) != FOUND)
        return; /* just overwritten */
    l->owed--;
    l->seen += !counts;
    l->slots += counts;
    l->heads += counts && slot_begins(reader, l, slot);
    if (counts)
        key_add(reader, key, lane, (uint32_t)slot);
}

/* Of a position that is kept, bits 60 to 62 say how often it was looked at, and
 * bit 63 that it was handed out before the first take: then it may be one that
 * was given up, and is not owed. */
static const uint64_t EARLY = 8;

/* Keeps a position that was not whole, as long as there is room. */
static void pending_add(const struct reader *reader, struct lane *lane,
                        uint64_t position)
{
    if (!lane->pending)
        lane->pending = need(malloc(PENDING_MAX_LOG * sizeof *lane->pending));
    if (lane->pending_count < (reader->logs ? PENDING_MAX_LOG : PENDING_MAX))
        lane->pending[lane->pending_count++] = position;
}

/* Begins a log with the positions that may still be in their slots. */
static void lane_begin(const struct reader *reader, struct lane *lane)
{
    uint64_t size = lane_size(lane);
    if (lane->copy)
        memset(lane->commits, 0, size * reader->memory->word_bytes);
    lane->next = lane->write < size ? 0 : lane->write - size;
    lane->pending_count = 0;
    lane->begun = true;
}

/* Takes the positions from `next` on, and the pending ones. */
static void lane_take_new(struct reader *reader, uint32_t index)
{
    struct lane *lane = &reader->inside->lanes[index];
    uint64_t size = lane_size(lane), max = word_max(reader->memory);
    uint64_t count = (lane->write - lane->next) & max, position, slot;
    unsigned i, pending = 0;
    bool whole;
    if (count > size) { /* lapped: the unseen records are gone */
        lane->pending_count = 0;
        lane->next = lane->write - size;
        count = size;
    }
    for (i = 0; i < lane->pending_count; i++) {
        uint64_t wait = lane->pending[i] >> 60;
        bool is_early = wait & EARLY;
        position = (lane->pending[i] & (UINT64_MAX >> 4)) & max;
        slot = position & (size - 1);
        if (lane->copy)
            slots_copy(reader, lane, slot, 1);
        switch (position_look(reader, lane, position)) {
        case FOUND:
            lane->owed += is_early;
            position_take(reader, index, position);
            break;
        case GONE: break;
        case NOT_YET: /* given up, or its writer is stopped or dead */
            wait += !reader->logs;
            if ((wait & ~EARLY) <= PATIENCE)
                lane->pending[pending++] = position | wait << 60;
        }
    }
    lane->pending_count = pending;
    whole = positions_copy(reader, lane, lane->next, count);
    for (position = lane->next + size; count--; position++) {
        switch (position_look(reader, lane, position & max)) {
        case FOUND: position_take(reader, index, position & max); break;
        case GONE: break;
        case NOT_YET:
            if (whole)
                pending_add(reader, lane, position & max);
        }
    }
    lane->next = lane->write;
    if (lane->owed > (int64_t)lane->pending_count) {
        lane_missed(reader, lane, (uint64_t)lane->owed - lane->pending_count);
        lane->owed = (int64_t)lane->pending_count;
    }
}

/* Takes all slots; of a copied ring only those ever written. A 32-bit `write`
 * may have wrapped and cannot tell. */
static void lane_take_all(struct reader *reader, uint32_t index)
{
    struct lane *lane = &reader->inside->lanes[index];
    unsigned word = reader->memory->word_bytes;
    uint64_t count = lane_size(lane), max = word_max(reader->memory);
    uint64_t slot, key, position = lane->write + count;
    if (lane->copy) {
        memset(lane->commits, 0, count * word);
        if (word == 8 && lane->write < count)
            count = lane->write;
    }
    positions_copy(reader, lane, lane->write - count, count);
    lane->next = lane->write;
    lane->begun = true;
    lane->owed = 0;
    for (slot = 0; slot < count; slot++)
        if (slot_key(reader, lane, slot, &key))
            key_add(reader, key, index, (uint32_t)slot);
    lane->pending_count = 0; /* newest first */
    for (slot = 0; reader->memory->live && slot < count; slot++)
        if (position_look(reader, lane, --position & max) == NOT_YET)
            pending_add(reader, lane, (position & max) | EARLY << 60);
}

/* Reads a recording's own figures of a ring made of events. */
static void lane_kept(struct reader *reader, struct lane *lane)
{
    struct memory *m = reader->memory;
    struct reader_inside *inside = reader->inside;
    uint64_t at = kept_at(inside->head_bytes);
    unsigned char bytes[8 * KEPT_NUMBERS];
    if (at + sizeof bytes > inside->head_bytes ||
        !bytes_read(m, lane->address + at, bytes, sizeof bytes) ||
        bytes_number(m, bytes, 8) != KEPT_MAGIC)
        return;
    for (int i = 0; i < KEPT_NUMBERS; i++)
        lane->kept[i] = bytes_number(m, bytes + 8 * i, 8);
    lane->recorder->origin = lane->kept[KEPT_ORIGIN];
    inside->texts = lane->kept[KEPT_TEXTS];
    inside->texts_end = lane->kept[KEPT_TEXTS_END];
    inside->texts_empty = lane->kept[KEPT_EMPTY] == 1;
}

/* For a log: true if a library was closed and opened again, and this is its new
 * ring at the same address: the last record taken from it is missing or
 * differs. */
static bool lane_is_another(struct reader *reader, const struct lane *lane)
{
    struct memory *m = reader->memory;
    uint64_t size = lane_size(lane), max = word_max(m);
    uint64_t last = (lane->next - 1 + size) & max, slot = last & (size - 1);
    uint64_t at =
        slot * offsets_of(m)->record_size + offsets_of(m)->record_order;
    unsigned word = m->word_bytes;
    unsigned char order[8];
    uint64_t write;
    bool is_quiet = reader->inside->due || reader->inside->still > 1;
    if (!reader->logs || !lane->begun || !lane->copy || lane->next == 0 ||
        (lane->write == lane->next && !is_quiet) ||
        position_look(reader, lane, last) != FOUND ||
        !bytes_read(m, records_address(reader, lane) + at, order, word) ||
        memcmp(order, lane->copy + at, word) == 0 ||
        !bytes_read_word(m, lane->address, &write))
        return false;
    /* Or its slot was overwritten: by a position of the next lap. */
    return ((write - lane->next + 1) & max) <= size &&
           !(m->stays && m->stays(m, lane->address, 1));
}

/* Takes one ring; returns null, or the error. Its head is read first: later
 * records belong to the next take, which knows them by their positions. */
static void lane_take(struct reader *reader, uint32_t index)
{
    struct lane *lane = &reader->inside->lanes[index], was = *lane;
    size_t keys = reader->inside->keys_count;
    uint64_t missed = reader->missed;
    struct memory *m = reader->memory;
    unsigned word = m->word_bytes;
    unsigned char bytes[24];
    uint64_t before = lane->begun ? lane->write - lane->given_up : 0;
    lane->address =
        lane->recorder->rings + lane->number * lane->recorder->ring_bytes;
    if (!bytes_read_word(m, lane->address, &lane->write))
        return; /* its library was closed, or the core file lacks it */
    if (word_signed(m, lane->write - lane->next) < 0 ||
        lane_is_another(reader, lane)) {
        lane->begun = false; /* its library was opened again */
        lane->owed = 0;
        before = 0;
    }
    if (bytes_read(m, lane->address + ring_given_up_at(reader), bytes,
                   3 * word)) {
        lane->given_up = bytes_word(m, bytes);
        lane->lost = bytes_word(m, bytes + word);
        /* Where a ring was made of events, it has another word here. */
        lane->recorder->several |= bytes_word(m, bytes + 2 * word) == 1;
    }
    if (!lane->begun)
        lane_kept(reader, lane);
    lane->owed += word_signed(m, lane->write - lane->given_up - before);
    lane->handed += word_signed(m, lane->write - lane->given_up - before);
    if (lane->begun && lane->next == lane->write && !lane->pending_count)
        return;
    if (!lane->begun && reader->logs)
        lane_begin(reader, lane);
    if (lane->begun)
        lane_take_new(reader, index);
    else
        lane_take_all(reader, index);
    if (!lane->copy || !m->live ||
        (m->stays && m->stays(m, lane->address, 1)) ||
        recorder_is_there(reader, lane->recorder))
        return;
    was.pending = lane->pending;
    *lane = was; /* its library was closed: the memory has other data */
    memset(lane->commits, 0, lane_size(lane) * word);
    reader->inside->keys_count = keys;
    reader->missed = missed;
}

/* Returns 1 + log2 of a ring's laps; 0: it made none. */
static unsigned lane_laps(const struct lane *lane)
{
    uint64_t laps = lane->write / lane_size(lane);
    return laps ? 64 - (unsigned)__builtin_clzll(laps) : 0;
}

/* Fastest rings first (by log2 of laps): they fill first with records newer
 * than this take's end. */
void lanes_take(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    inside->pending = 0;
    for (unsigned laps = 64 + 1; laps--;)
        for (uint32_t i = 0; i < inside->lanes_count; i++) {
            if (lane_laps(&inside->lanes[i]) != laps)
                continue;
            lane_take(reader, i);
            inside->pending += inside->lanes[i].pending_count;
        }
}

size_t reader_unfinished(const struct reader *reader)
{
    size_t count = 0;
    for (size_t i = 0; i < reader->inside->lanes_count; i++) {
        const struct lane *lane = &reader->inside->lanes[i];
        for (unsigned j = 0; j < lane->pending_count; j++)
            count += (lane->pending[j] >> 60 & EARLY) != 0;
    }
    return count;
}
