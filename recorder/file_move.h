/* file_move.h - moves rings elsewhere while others record into them. */
/* SPDX-License-Identifier: MIT */
/*
For file.h, which puts them into a file.

PROMISES
    * Nobody who records waits. No record is torn, none is there twice.
    * Texts of RECORDER_COPY come along, and what leads to them is corrected.

LIMITS
    * A token of RECORDER_COPY that is used after its ring was moved shows
      question marks.
    * A thread that is stopped inside of record() while its ring is moved, for
      longer than file.h waits, loses that record.

CONTENTS
    moving      rings, and the tokens of texts in them
    threads     their table
*/
#ifndef RECORDER_FILE_MOVE_H_
#define RECORDER_FILE_MOVE_H_

#include "events.h"
#include "memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- moving --
 *
 * A ring is copied as readers copy, slot by slot, while others write into it;
 * then its address is published, then what came into the old one meanwhile is
 * written into the new one like any record, with its order and time. The turns
 * of the new ring are made so that the next position finds each slot: where the
 * last position handed out left nothing whole, all laps since what is there
 * have given up.
 */
struct recorder_moved {
    uintptr_t commit; /* of the slot when it was copied; 0: it was not */
    uintptr_t to;     /* 1 + the slot where it was written anew; 0: the same */
};
struct recorder_move {
    struct recorder *recorder;
    struct recorder_ring *from, *to;
    uintptr_t mask, lanes, ring_bytes;
    struct recorder_moved *slots;
    struct recorder_key *keys; /* of those that came late */
    struct recorder_move_lane *lane;
};
struct recorder_move_lane {
    uintptr_t begun; /* positions handed out when it was copied */
    size_t late;     /* keys */
    bool unfinished; /* records were being written */
};
struct recorder_moves {
    struct recorder_move *all;
    size_t count, max;
    uintptr_t first, end; /* all old rings lie between them */
    char *memory, *free;
    size_t memory_bytes;
};

RECORDER_INLINE_ struct recorder_ring *
recorder_ring_at(const struct recorder_ring *rings, uintptr_t ring_bytes,
                 uintptr_t lane)
{
    return (struct recorder_ring *)((uintptr_t)rings + lane * ring_bytes);
}
RECORDER_INLINE_ bool recorder_is_text(const struct recorder_record *r)
{
    return r->format != 0 && r->format < RECORDER_TEXT_END;
}

/* What a word becomes that is a token of a text in an old ring. What has the
 * low bits of the text's order is one; where another record stands by now, its
 * text is lost, unless words are so short that a number may look like that. */
RECORDER_FUNCTION_ uintptr_t
recorder_moved_token(const struct recorder_moves *moves, uintptr_t word)
{
    const uintptr_t low = sizeof(struct recorder_record) - 1;
    size_t i;
    if (word - moves->first >= moves->end - moves->first)
        return word;
    for (i = 0; i < moves->count; i++) {
        const struct recorder_move *m = &moves->all[i];
        uintptr_t at = word - (uintptr_t)m->from, lane, slot;
        const struct recorder_ring *ring;
        struct recorder_record text;
        if (at >= m->ring_bytes * m->lanes)
            continue;
        lane = at / m->ring_bytes;
        ring = recorder_ring_at(m->from, m->ring_bytes, lane);
        slot = (word - (uintptr_t)recorder_records(ring)) / sizeof text;
        if (word != (uintptr_t)ring && slot > m->mask)
            return word;
        if (word == (uintptr_t)ring || /* the token of a lost text */
            !recorder_look(ring, m->mask, slot, &text) ||
            !recorder_is_text(&text) || ((text.order ^ word) & low))
            return word == (uintptr_t)ring || sizeof word == 8
                       ? (uintptr_t)recorder_ring_at(m->to, m->ring_bytes, lane)
                       : word;
        at = lane * (m->mask + 1) + slot;
        slot = m->slots[at].to ? m->slots[at].to - 1 : slot;
        ring = recorder_ring_at(m->to, m->ring_bytes, lane);
        return (uintptr_t)(recorder_records(ring) + slot) + (word & low);
    }
    return word;
}
RECORDER_FUNCTION_ void recorder_moved_words(const struct recorder_moves *moves,
                                             struct recorder_record *r)
{
    unsigned i;
    if (recorder_is_text(r))
        r->caller = recorder_moved_token(moves, r->caller);
    else
        for (i = 0; i < 4; i++)
            r->argument[i] = recorder_moved_token(moves, r->argument[i]);
}

/* How a ring is copied: `before` null, or only what is of a lower order;
 * `moves` null, or tokens become those of the new rings, and `slots` say what
 * was copied. */
struct recorder_copying {
    const struct recorder_ring *from;
    struct recorder_ring *to;
    uintptr_t mask, next; /* the position to be handed out next */
    const uintptr_t *before;
    const struct recorder_moves *moves;
    struct recorder_moved *slots;
};

/* Copies a slot. Returns whether what should be there is not yet whole. */
RECORDER_INLINE_ bool recorder_slot_copy(const struct recorder_copying *c,
                                         uintptr_t slot)
{
    const uintptr_t thread = (uintptr_t)RECORDER_THREAD_NONE << 1;
    uintptr_t lap = (c->next - 1 - slot) & ~c->mask; /* the last handed out */
    uintptr_t turn = recorder_commit_lap(lap, c->mask), distance;
    struct recorder_turn *to = &recorder_turns(c->to, c->mask)[slot];
    struct recorder_record record;
    uintptr_t commit = recorder_look(c->from, c->mask, slot, &record);
    if (commit && ((intptr_t)((commit & ~thread) - turn) > 0 ||
                   (c->before && (intptr_t)(record.order - *c->before) >= 0)))
        commit = 0; /* of a later position, of another process */
    if (c->moves)
        c->slots[slot].commit = commit;
    if (commit) {
        if (c->moves)
            recorder_moved_words(c->moves, &record);
        recorder_records(c->to)[slot] = record;
        recorder_put(&recorder_commits(c->to, c->mask)[slot], commit);
    }
    distance = (turn - (recorder_get(&recorder_commits(c->to, c->mask)[slot]) &
                        ~thread)) >>
               RECORDER_THREAD_BITS_;
    if (distance == 0 && recorder_get(&to->gave_up) == 0)
        return false;
    recorder_put(&to->gave_up, distance);
    recorder_put(&to->highest, lap);
    return distance &&
           recorder_get(&recorder_turns(c->from, c->mask)[slot].gave_up) !=
               distance;
}

/* Copies a ring into zeroed memory. Returns whether there were records that are
 * not whole. */
RECORDER_FUNCTION_ bool recorder_ring_copy(struct recorder_copying *c)
{
    uintptr_t slot, unfinished = 0, begun, rounds;
    c->next = recorder_get(&c->from->write) + c->mask + 1;
    if (c->next == c->mask + 1 &&
        recorder_get(recorder_commits(c->from, c->mask)) == 0)
        return false; /* nothing was ever written: leave the pages alone */
    for (slot = 0; slot <= c->mask; slot++)
        unfinished += recorder_slot_copy(c, slot);
    /* And what came meanwhile, until that is little. */
    for (rounds = 0; c->moves && rounds < 16; rounds++) {
        begun = c->next;
        c->next = recorder_get(&c->from->write) + c->mask + 1;
        if (c->next - begun > c->mask)
            begun = c->next - c->mask - 1;
        for (; begun != c->next; begun++)
            if (recorder_slot_copy(c, begun & c->mask))
                unfinished++;
    }
    recorder_put(&c->to->write, c->next - c->mask - 1);
    recorder_put(&c->to->lost, recorder_get(&c->from->lost));
    recorder_put(&c->to->given_up,
                 recorder_get(&c->from->given_up) + unfinished);
    return unfinished != 0;
}

/* Memory to move up to `count` recorders of `slots` slots and `lanes` lanes in
 * all. */
RECORDER_FUNCTION_ bool recorder_moves_open(struct recorder_moves *moves,
                                            size_t count, size_t slots,
                                            size_t lanes)
{
    __builtin_memset(moves, 0, sizeof *moves);
    moves->max = count;
    moves->first = UINTPTR_MAX;
    moves->memory_bytes =
        count * sizeof *moves->all +
        slots * (sizeof(struct recorder_moved) + sizeof(struct recorder_key)) +
        lanes * sizeof(struct recorder_move_lane) + (3 * count + 1) * 16;
    moves->memory = (char *)recorder_os_memory(moves->memory_bytes);
    moves->free = moves->memory;
    if (moves->memory)
        moves->all = (struct recorder_move *)(void *)recorder_carve(
            &moves->free, count * sizeof *moves->all);
    return moves->memory != NULL;
}
RECORDER_FUNCTION_ void recorder_moves_close(const struct recorder_moves *moves)
{
    recorder_munmap(moves->memory, moves->memory_bytes);
}

/* Plans a move, which begins with all moves known. */
RECORDER_FUNCTION_ void recorder_moves_add(struct recorder_moves *moves,
                                           struct recorder *recorder,
                                           struct recorder_ring *to)
{
    struct recorder_move *m = &moves->all[moves->count++];
    uintptr_t end;
    m->recorder = recorder;
    m->from = recorder->rings;
    m->to = to;
    m->mask = recorder->mask;
    m->lanes = recorder->lanes_mask + 1;
    m->ring_bytes = recorder->ring_bytes;
    m->slots = (struct recorder_moved *)(void *)recorder_carve(
        &moves->free, m->lanes * (m->mask + 1) * sizeof *m->slots);
    m->keys = (struct recorder_key *)(void *)recorder_carve(
        &moves->free, m->lanes * (m->mask + 1) * sizeof *m->keys);
    m->lane = (struct recorder_move_lane *)(void *)recorder_carve(
        &moves->free, m->lanes * sizeof *m->lane);
    end = (uintptr_t)m->from + m->lanes * m->ring_bytes;
    if ((uintptr_t)m->from < moves->first)
        moves->first = (uintptr_t)m->from;
    if (end > moves->end)
        moves->end = end;
}

/* From here on records go to the new rings. */
RECORDER_FUNCTION_ void recorder_moves_publish(struct recorder_moves *moves)
{
    size_t i;
    uintptr_t lane;
    for (i = 0; i < moves->count; i++) {
        struct recorder_move *m = &moves->all[i];
        for (lane = 0; lane < m->lanes; lane++) {
            struct recorder_ring *to =
                recorder_ring_at(m->to, m->ring_bytes, lane);
            struct recorder_copying copy = {0, 0, 0, 0, 0, 0, 0};
            copy.from = recorder_ring_at(m->from, m->ring_bytes, lane);
            copy.to = to;
            copy.mask = m->mask;
            copy.moves = moves;
            copy.slots = m->slots + lane * (m->mask + 1);
            m->lane[lane].unfinished = recorder_ring_copy(&copy);
            m->lane[lane].begun = to->write;
        }
        __atomic_store_n(&m->recorder->rings, m->to, __ATOMIC_RELEASE);
    }
}

/* How many more records a new ring takes before what was copied is gone. */
RECORDER_INLINE_ uintptr_t recorder_move_room(const struct recorder_move *m,
                                              uintptr_t lane)
{
    const struct recorder_ring *to =
        recorder_ring_at(m->to, m->ring_bytes, lane);
    uintptr_t since = recorder_get(&to->write) - m->lane[lane].begun;
    return since > m->mask ? 0 : m->mask + 1 - since;
}

/* Finds what came into an old ring after it was copied, as far as a ring would
 * still have it. */
RECORDER_FUNCTION_ void recorder_move_late(struct recorder_move *m,
                                           uintptr_t lane, uintptr_t end)
{
    const struct recorder_ring *ring =
        recorder_ring_at(m->from, m->ring_bytes, lane);
    struct recorder_move_lane *l = &m->lane[lane];
    const struct recorder_moved *slots = m->slots + lane * (m->mask + 1);
    struct recorder_key *keys = m->keys + lane * (m->mask + 1);
    uintptr_t room = recorder_move_room(m, lane), slot;
    size_t i;
    if (!l->unfinished && recorder_get(&ring->write) == l->begun)
        return;
    for (slot = 0; slot <= m->mask; slot++) {
        struct recorder_record record;
        uintptr_t commit = recorder_look(ring, m->mask, slot, &record);
        if (!commit || commit == slots[slot].commit)
            continue;
        keys[l->late].index = slot;
        keys[l->late++].order = record.order - end;
    }
    recorder_sort_keys(keys, l->late);
    if (l->late > room) {
        for (i = 0; i < room; i++)
            keys[i] = keys[l->late - room + i];
        l->late = room;
    }
}

/* Writes the i-th of them into the new ring, if it is a text or if it is none.
 * Where there is no room for all that follow, it would not be there longer. */
RECORDER_FUNCTION_ void recorder_move_again(const struct recorder_moves *moves,
                                            const struct recorder_move *m,
                                            uintptr_t lane, size_t i, bool text)
{
    struct recorder_ring *to = recorder_ring_at(m->to, m->ring_bytes, lane);
    uintptr_t at = lane * (m->mask + 1), slot = m->keys[at + i].index;
    struct recorder_record record, *written;
    uintptr_t commit = recorder_look(
        recorder_ring_at(m->from, m->ring_bytes, lane), m->mask, slot, &record);
    if (!commit || recorder_is_text(&record) != text ||
        recorder_move_room(m, lane) < (text ? 1 : m->lane[lane].late - i))
        return;
    recorder_moved_words(moves, &record);
    written = recorder_write_words(to, m->mask, recorder_commit_thread(commit),
                                   &record);
    if (written)
        m->slots[at + slot].to =
            1 + (uintptr_t)(written - recorder_records(to));
}
RECORDER_FUNCTION_ void recorder_moves_again(struct recorder_moves *moves)
{
    uintptr_t end = recorder_get(recorder_home.order), lane;
    struct recorder_move *m, *last = moves->all + moves->count;
    size_t i;
    for (m = moves->all; m < last; m++)
        for (lane = 0; lane < m->lanes; lane++)
            recorder_move_late(m, lane, end);
    for (m = moves->all; m < last; m++) /* the last piece of a text first */
        for (lane = 0; lane < m->lanes; lane++)
            for (i = m->lane[lane].late; i-- > 0;)
                recorder_move_again(moves, m, lane, i, true);
    for (m = moves->all; m < last; m++)
        for (lane = 0; lane < m->lanes; lane++)
            for (i = 0; i < m->lane[lane].late; i++)
                recorder_move_again(moves, m, lane, i, false);
}

/* Tokens of old rings in records of the new ones, made since these are there.
 * The exact word is replaced by what it means now, so that it does not matter
 * if another record has come there. */
RECORDER_FUNCTION_ void recorder_move_tokens(const struct recorder_moves *moves,
                                             const struct recorder_move *m)
{
    uintptr_t lane, position;
    unsigned i;
    for (lane = 0; lane < m->lanes; lane++) {
        struct recorder_ring *ring =
            recorder_ring_at(m->to, m->ring_bytes, lane);
        uintptr_t end = recorder_get(&ring->write);
        uintptr_t count = end - m->lane[lane].begun;
        if (count > m->mask + 1)
            count = m->mask + 1;
        for (position = end - count; position != end; position++) {
            struct recorder_record record,
                *there = &recorder_records(ring)[position & m->mask];
            if (!recorder_look(ring, m->mask, position & m->mask, &record) ||
                recorder_is_text(&record))
                continue;
            for (i = 0; i < 4; i++) {
                uintptr_t old = record.argument[i];
                uintptr_t now = recorder_moved_token(moves, old);
                if (now != old)
                    __atomic_compare_exchange_n(&there->argument[i], &old, now,
                                                false, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED);
            }
        }
    }
}

/* Leaves question marks in an old ring, so that a token that was kept for long
 * shows no text of another. */
RECORDER_FUNCTION_ void recorder_move_clear(const struct recorder_move *m)
{
    uintptr_t lane, slot, word;
    unsigned i;
    __builtin_memset(&word, '?', sizeof word);
    ((char *)&word)[sizeof word - 1] = '\0';
    for (lane = 0; lane < m->lanes; lane++) {
        struct recorder_ring *ring =
            recorder_ring_at(m->from, m->ring_bytes, lane);
        if (recorder_get(&ring->write) == 0)
            continue;
        for (slot = 0; slot <= m->mask; slot++) {
            uintptr_t *commit = &recorder_commits(ring, m->mask)[slot];
            uintptr_t *to = &recorder_records(ring)[slot].format;
            if (recorder_get(commit) == 0)
                continue;
            recorder_put(commit, 0);
            __atomic_thread_fence(__ATOMIC_RELEASE);
            for (i = 0; i < sizeof(struct recorder_record) / sizeof *to; i++)
                recorder_put(to + i, word);
        }
    }
}

RECORDER_FUNCTION_ bool recorder_is_listed(const struct recorder *wanted)
{
    const struct recorder *recorder =
        __atomic_load_n(&recorder_home.registry->first, __ATOMIC_SEQ_CST);
    while (recorder && recorder != wanted)
        recorder = recorder_walk_on(recorder);
    return recorder != NULL;
}

/* Brings over what came late, a while after the new rings were published. */
RECORDER_FUNCTION_ void recorder_moves_finish(struct recorder_moves *moves)
{
    uint64_t start = recorder_clock_ns(RECORDER_MONOTONIC_);
    size_t i, kept = 0;
    recorder_walk();
    for (i = 0; i < moves->count; i++) /* libraries may be closed meanwhile */
        if (recorder_is_listed(moves->all[i].recorder))
            moves->all[kept++] = moves->all[i];
    moves->count = kept;
    recorder_moves_again(moves);
    for (i = 0; i < moves->count; i++)
        recorder_move_tokens(moves, &moves->all[i]);
    while (__atomic_load_n(&recorder_home.registry->readers, __ATOMIC_SEQ_CST) >
               1 &&
           recorder_clock_ns(RECORDER_MONOTONIC_) - start < 1000000000u)
        recorder_os_yield(); /* they may be in an old ring */
    if (__atomic_load_n(&recorder_home.registry->readers, __ATOMIC_SEQ_CST) ==
        1)
        for (i = 0; i < moves->count; i++)
            recorder_move_clear(&moves->all[i]);
    recorder_unwalk();
}

/* --------------------------------------------------------------- threads -- */

/* Moves the thread table. A row that is taken meanwhile is copied later. */
RECORDER_FUNCTION_ void
recorder_threads_copy(const struct recorder_thread *from,
                      struct recorder_thread *to, uintptr_t count)
{
    uintptr_t i;
    for (i = 0; i < count; i++) {
        const struct recorder_thread *row = &from[i];
        uint16_t state = __atomic_load_n(&row->state, __ATOMIC_ACQUIRE);
        char name[sizeof row->name];
        unsigned j;
        if (state == RECORDER_ROW_FREE || state == RECORDER_ROW_TAKEN ||
            (to[i].state == state && to[i].named >= row->named))
            continue;
        for (j = 0; j < sizeof name; j++)
            name[j] = __atomic_load_n(&row->name[j], __ATOMIC_RELAXED);
        name[sizeof name - 1] = '\0';
        recorder_put(&to[i].first, recorder_get(&row->first));
        __atomic_store_n(&to[i].id, row->id, __ATOMIC_RELAXED);
        __atomic_store_n(&to[i].named, row->named, __ATOMIC_RELAXED);
        recorder_thread_set_name(&to[i], name);
        __atomic_store_n(&to[i].state, state, __ATOMIC_RELEASE);
    }
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
