/* file_move.h - copies rings to where a recording has its own. */
/* SPDX-License-Identifier: MIT */
/*
For file.h, which moves them into the program's file, and file_fork.h, which
copies them into a child's.

PROMISES
    * A copy holds the whole records of its ring, and the next writer finds each
      slot as if it had always written there. -> tests/outside/recording.c
    * Texts of RECORDER_COPY are copied, too; the tokens in records find them.
      -> tests/outside/recording.c

LIMITS
    * A token of RECORDER_COPY that the program keeps while its ring is moved,
      and records later, shows question marks, or its address if the recording
      is read.

CONTENTS
    move        tokens, copies of rings, copies of recorders
*/
#ifndef RECORDER_FILE_MOVE_H_
#define RECORDER_FILE_MOVE_H_

#include "file_core.h"

RECORDER_C_BEGIN_

/* ------------------------------------------------------------------ move --
 *
 * A ring is copied as readers copy, slot by slot. The turns of the copy are
 * made as if its writers had always written there: if the last position that
 * was handed out left no whole record, all laps since the slot's record have
 * given up. While recorder_file() moves rings, no other thread runs; in a child
 * of fork(), the parent's threads may be writing into the rings that it copies.
 */
RECORDER_INLINE_ struct recorder_ring *
recorder_move_lane_(const struct recorder_ring *rings, const struct recorder *r,
                    uintptr_t lane)
{
    return (struct recorder_ring *)((uintptr_t)rings + lane * r->ring_bytes);
}

/* The recorders that are moved together, and the range of their old rings. */
struct recorder_move_ {
    struct recorder *recorder;
    struct recorder_ring *from, *to; /* its first lane */
};
struct recorder_moves_ {
    struct recorder_move_ *all;
    size_t count;
    uintptr_t first, end;
};

/* True if the address at `offset` of the old rings is the token of the text in
 * that slot, or of a lost text. */
RECORDER_SELDOM_ bool recorder_move_is_token_(const struct recorder_move_ *m,
                                                uintptr_t offset)
{
    const struct recorder_ring *ring = recorder_move_lane_(
        m->from, m->recorder, offset / m->recorder->ring_bytes);
    const uintptr_t token = (uintptr_t)m->from + offset;
    struct recorder_record text;
    uintptr_t slot = (token - (uintptr_t)recorder_records_(ring)) / sizeof text;
    if (token == (uintptr_t)ring)
        return true;
    return slot <= m->recorder->mask &&
           recorder_look_(ring, m->recorder->mask, slot, &text) &&
           recorder_is_text_(text.format) &&
           ((text.order ^ token) & (sizeof text - 1)) == 0;
}

/* Returns a record's word as it is after the move: a token points to the same
 * slot of the new ring. On 32 bits a plain number may look like a token: it
 * changes only if the slot holds that token's text. */
RECORDER_SELDOM_ uintptr_t
recorder_move_word_(const struct recorder_moves_ *m, uintptr_t word)
{
    size_t i;
    if (word - m->first >= m->end - m->first)
        return word;
    for (i = 0; i < m->count; i++) {
        const struct recorder_move_ *move = &m->all[i];
        const struct recorder *r = move->recorder;
        uintptr_t offset = word - (uintptr_t)move->from;
        if (offset >= r->ring_bytes * (r->lanes_mask + 1))
            continue;
        return sizeof word == 8 || recorder_move_is_token_(move, offset)
                   ? (uintptr_t)move->to + offset
                   : word;
    }
    return word;
}
RECORDER_SELDOM_ void recorder_move_words_(const struct recorder_moves_ *moves,
                                           struct recorder_record *r)
{
    unsigned i;
    if (recorder_is_text_(r->format))
        r->caller = recorder_move_word_(moves, r->caller);
    else
        for (i = 0; i < 4; i++)
            r->argument[i] = recorder_move_word_(moves, r->argument[i]);
}

/* One ring to copy. */
struct recorder_copying_ {
    const struct recorder_ring *from;
    struct recorder_ring *to; /* zeroed memory */
    uintptr_t mask, next;     /* next: the next position */
    const uintptr_t *before;  /* only records of a lower order; null: all */
    const struct recorder_moves_ *moves; /* null: tokens stay as they are */
};

/* Copies a slot. Returns 1 if the record of its last position is incomplete. */
RECORDER_INLINE_ uintptr_t
recorder_move_slot_(const struct recorder_copying_ *c, uintptr_t slot)
{
    const uintptr_t thread = (uintptr_t)RECORDER_THREAD_SHARED << 1;
    uintptr_t lap = (c->next - 1 - slot) & ~c->mask; /* the last handed out */
    uintptr_t turn = recorder_commit_lap_(lap, c->mask), distance;
    struct recorder_turn *to = &recorder_turns_(c->to, c->mask)[slot];
    struct recorder_record record;
    uintptr_t commit = recorder_look_(c->from, c->mask, slot, &record);
    if (commit && ((intptr_t)((commit & ~thread) - turn) > 0 ||
                   (c->before && (intptr_t)(record.order - *c->before) >= 0)))
        commit = 0; /* written after the ring's copy began */
    if (commit) {
        if (c->moves)
            recorder_move_words_(c->moves, &record);
        recorder_records_(c->to)[slot] = record;
        recorder_put_(&recorder_commits_(c->to, c->mask)[slot], commit);
    }
    distance = (turn - (commit & ~thread)) >> RECORDER_THREAD_BITS_;
    if (distance || RECORDER_LAPS_WRAP_)
        recorder_put_(&to->highest, lap); /* H1: no mark may be old */
    if (distance == 0)
        return 0;
    recorder_put_(&to->gave_up, distance);
    return recorder_get_(&recorder_turns_(c->from, c->mask)[slot].gave_up) !=
           distance;
}

RECORDER_SELDOM_ void recorder_move_ring_(struct recorder_copying_ *c)
{
    uintptr_t slot, unfinished = 0;
    c->next = recorder_get_(&c->from->write) + c->mask + 1;
    if (c->next == c->mask + 1 &&
        recorder_get_(recorder_commits_(c->from, c->mask)) == 0)
        return; /* nothing was ever written: its pages stay untouched */
    for (slot = 0; slot <= c->mask; slot++)
        unfinished += recorder_move_slot_(c, slot);
    recorder_put_(&c->to->write, c->next - c->mask - 1);
    recorder_put_(&c->to->lost, recorder_get_(&c->from->lost));
    recorder_put_(&c->to->several, recorder_get_(&c->from->several));
    recorder_put_(&c->to->given_up,
                  recorder_get_(&c->from->given_up) + unfinished);
}

/* Copies all lanes of a recorder. */
RECORDER_SELDOM_ void
recorder_move_rings_(const struct recorder *r, const struct recorder_ring *from,
                     struct recorder_ring *to, const uintptr_t *before,
                     const struct recorder_moves_ *moves)
{
    uintptr_t lane;
    for (lane = 0; lane <= r->lanes_mask; lane++) {
        struct recorder_copying_ copy;
        copy.from = recorder_move_lane_(from, r, lane);
        copy.to = recorder_move_lane_(to, r, lane);
        copy.mask = r->mask;
        copy.before = before;
        copy.moves = moves;
        recorder_move_ring_(&copy);
    }
}

/* Adds a recorder to the plan. All are planned before the first is moved: its
 * records may hold tokens of any other. */
RECORDER_SELDOM_ void recorder_move_plan_(struct recorder_moves_ *moves,
                                            struct recorder *r,
                                            struct recorder_ring *to)
{
    struct recorder_move_ *m = &moves->all[moves->count++];
    uintptr_t first = (uintptr_t)r->rings;
    uintptr_t end = first + (r->lanes_mask + 1) * r->ring_bytes;
    m->recorder = r;
    m->from = r->rings;
    m->to = to;
    if (moves->count == 1 || first < moves->first)
        moves->first = first;
    if (moves->count == 1 || end > moves->end)
        moves->end = end;
}

/* Empties an old ring and fills its records with question marks: a token that
 * the program kept shows these. */
RECORDER_SELDOM_ void recorder_move_clear_(struct recorder_ring *ring,
                                             uintptr_t mask)
{
    uintptr_t slot;
    if (recorder_get_(&ring->write) == 0)
        return;
    for (slot = 0; slot <= mask; slot++) {
        char *to = (char *)&recorder_records_(ring)[slot];
        if (recorder_get_(&recorder_commits_(ring, mask)[slot]) == 0)
            continue;
        recorder_put_(&recorder_commits_(ring, mask)[slot], 0);
        __builtin_memset(to, '?', sizeof(struct recorder_record) - 1);
        to[sizeof(struct recorder_record) - 1] = '\0';
    }
}

/* Moves all planned recorders. No thread may record until it returns. */
RECORDER_SELDOM_ void recorder_move_all_(const struct recorder_moves_ *moves)
{
    size_t i;
    uintptr_t lane;
    for (i = 0; i < moves->count; i++) {
        const struct recorder_move_ *m = &moves->all[i];
        recorder_move_rings_(m->recorder, m->from, m->to, NULL, moves);
        __atomic_store_n(&m->recorder->rings, m->to, __ATOMIC_RELEASE);
    }
    for (i = 0; i < moves->count; i++)
        for (lane = 0; lane <= moves->all[i].recorder->lanes_mask; lane++)
            recorder_move_clear_(recorder_move_lane_(moves->all[i].from,
                                                     moves->all[i].recorder,
                                                     lane),
                                 moves->all[i].recorder->mask);
}

/* Copies a string into the file. Returns null if there is no room. */
RECORDER_SELDOM_ const char *
recorder_move_string_(struct recorder_recording_ *file, const char *string)
{
    size_t size = recorder_length_(string, RECORDER_PATH_MAX_);
    char *to = recorder_core_take_(file, size + 1, false);
    if (!to)
        return NULL;
    __builtin_memcpy(to, string, size);
    return to;
}
RECORDER_INLINE_ uintptr_t recorder_move_low_bytes_(const struct recorder *r)
{
    return recorder_length_(r->name, RECORDER_PATH_MAX_) +
           recorder_length_(r->description, RECORDER_PATH_MAX_) +
           4 * RECORDER_CACHE_LINE;
}
RECORDER_INLINE_ uintptr_t recorder_move_high_bytes_(const struct recorder *r)
{
    return recorder_round_up_(r->ring_bytes * (r->lanes_mask + 1),
                              RECORDER_CACHE_LINE);
}

/* True if `recorder` is like a copy: their rings have one layout, and names and
 * descriptions are equal. */
RECORDER_SELDOM_ bool recorder_move_is_like_(const struct recorder *copy,
                                             const struct recorder *recorder)
{
    size_t name = recorder_length_(recorder->name, RECORDER_PATH_MAX_);
    size_t words = recorder_length_(recorder->description, RECORDER_PATH_MAX_);
    return copy->mask == recorder->mask &&
           copy->ring_bytes == recorder->ring_bytes &&
           copy->lanes_mask == recorder->lanes_mask &&
           recorder_length_(copy->name, RECORDER_PATH_MAX_) == name &&
           recorder_length_(copy->description, RECORDER_PATH_MAX_) == words &&
           __builtin_memcmp(copy->name, recorder->name, name) == 0 &&
           __builtin_memcmp(copy->description, recorder->description, words) ==
               0;
}

/* Returns the file's copy of a closed recorder like this one; null if there is
 * none. */
RECORDER_SELDOM_ struct recorder *
recorder_move_copy_of_(struct recorder_recording_ *file,
                       const struct recorder *recorder)
{
    struct recorder *copy;
    for (copy = file->image->first; copy; copy = copy->next) {
        const struct recorder *open = recorder_readers_enter_();
        while (open && open->rings != copy->rings)
            open = recorder_list_next_(open);
        recorder_readers_leave_();
        if (!open && recorder_move_is_like_(copy, recorder))
            break;
    }
    return copy;
}

/* Shows a copy, for debuggers, where its recorder is now, and there no other
 * copy. */
RECORDER_SELDOM_ void
recorder_move_show_(const struct recorder_recording_ *file,
                    const struct recorder *recorder,
                    const struct recorder *copy)
{
    unsigned i, count = file->elf->headers_count;
    for (i = 0; i < count; i++) {
        struct recorder_elf_header_ *h = &file->headers[i];
        if (h->file_bytes != sizeof *copy)
            continue;
        if (recorder_core_bytes_(file, h) == (const char *)copy) {
            h->address = (uintptr_t)recorder;
            __atomic_store_n(&h->type, RECORDER_ELF_LOAD_, __ATOMIC_RELEASE);
        } else if (h->address == (uintptr_t)recorder) {
            __atomic_store_n(&h->type, 0, __ATOMIC_RELEASE);
        }
    }
}

/* Adds a recorder with empty rings to the file. Returns its copy there, or null
 * if there is no room. */
RECORDER_SELDOM_ struct recorder *
recorder_move_add_(struct recorder_recording_ *file,
                   const struct recorder *recorder)
{
    struct recorder *copy = (struct recorder *)(void *)recorder_core_take_(
        file, sizeof *copy, false);
    struct recorder_ring *rings =
        (struct recorder_ring *)(void *)recorder_core_take_(
            file, recorder_move_high_bytes_(recorder), true);
    struct recorder **link =
        file->last ? &file->last->next : &file->image->first;
    if (!copy || !rings)
        return NULL;
    *copy = *recorder;
    copy->name = recorder_move_string_(file, recorder->name);
    copy->description = recorder_move_string_(file, recorder->description);
    copy->rings = rings;
    copy->next = NULL;
    if (!copy->name || !copy->description)
        return NULL;
    recorder_core_add_header_(file, RECORDER_ELF_LOAD_, (uintptr_t)recorder,
                              copy, sizeof *copy,
                              RECORDER_ELF_R_ | RECORDER_ELF_W_);
    recorder_move_show_(file, recorder, copy);
    __atomic_store_n(link, copy, __ATOMIC_RELEASE);
    file->last = copy;
    return copy;
}

/* Redirects the format pointers of all records from the `bytes` at `from`,
 * of a closed library, to its copy at `to` in the file. A writer may replace a
 * record at the same time: only the pointer that was read is changed. */
RECORDER_SELDOM_ void
recorder_move_formats_(const struct recorder_recording_ *file, uintptr_t from,
                       uintptr_t to, uintptr_t bytes)
{
    const struct recorder *r;
    uintptr_t lane, slot;
    for (r = file->image->first; r; r = r->next)
        for (lane = 0; lane <= r->lanes_mask; lane++)
            for (slot = 0; slot <= r->mask; slot++) {
                uintptr_t *format = &recorder_records_(recorder_move_lane_(
                    r->rings, r, lane))[slot]
                                         .format;
                uintptr_t old = recorder_get_(format);
                if (old - from < bytes)
                    __atomic_compare_exchange_n(format, &old, old - from + to,
                                                false, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED);
            }
}

RECORDER_C_END_
#endif
