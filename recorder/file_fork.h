/* file_fork.h - a child of fork() and the recording of its parent. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_FILE_FORK_H_
#define RECORDER_FILE_FORK_H_

#include "file_open.h"

RECORDER_C_BEGIN_

/* ------------------------------------------------------------------ fork --
 *
 * A handler that interrupted record() may call fork(). The child, too, ends the
 * record after fork(), in the slot of its ticket. The child cannot find that
 * slot or its words in the file, as the parent goes on to write there. So all
 * slots with an open ticket are copied to private memory before fork(), and
 * written back in the child. Slots of other threads stay open there, as without
 * a recording: each costs the child a slot.
 */

/* Keeps a slot if it has an open ticket. `next` is the next position. */
RECORDER_INLINE_ void recorder_fork_keep_(struct recorder_recording_ *file,
                                          struct recorder_ring *ring,
                                          uintptr_t mask, uintptr_t slot,
                                          uintptr_t next)
{
    struct recorder_fork_slot_ *open = &file->open[file->open_count];
    const uintptr_t *word = recorder_commits_(ring, mask) + slot;
    const struct recorder_turn *turn = recorder_turns_(ring, mask) + slot;
    const uintptr_t *from = &recorder_records_(ring)[slot].format;
    uintptr_t *to = &open->record.format, commit;
    unsigned i, tries = 0;
    open->lap = (next - 1 - slot) & ~mask;
    do {
        commit = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        open->turn.gave_up = recorder_get_(&turn->gave_up);
        open->turn.highest = recorder_get_(&turn->highest);
        if (!(commit & RECORDER_BUSY_) &&
            !recorder_is_open_(&open->turn, commit,
                               recorder_commit_lap_(open->lap, mask)))
            return;
        for (i = 0; i < sizeof open->record / sizeof *to; i++)
            to[i] = recorder_get_(from + i);
        recorder_fence_acquire_();
    } while (recorder_get_(word) != commit && ++tries < 8);
    open->ring = ring;
    open->mask = mask;
    open->slot = slot;
    open->commit = commit;
    file->open_count++;
}

/* Keeps the slots with an open ticket; runs before fork(). */
RECORDER_SELDOM_ void recorder_fork_prepare_(struct recorder_recording_ *file)
{
    const struct recorder *r;
    uintptr_t lane, slot, next;
    file->open_count = 0;
    file->forks = recorder_order_end_();
    for (r = file->image->first; r; r = r->next)
        for (lane = 0; lane <= r->lanes_mask; lane++) {
            struct recorder_ring *ring = recorder_move_lane_(r->rings, r, lane);
            next = recorder_get_(&ring->write) + r->mask + 1;
            for (slot = 0; slot <= r->mask && next != r->mask + 1 &&
                           file->open_count < RECORDER_FORK_SLOTS_;
                 slot++)
                recorder_fork_keep_(file, ring, r->mask, slot, next);
        }
}

/* Restores a slot in the child. Laps that the parent handed out since count as
 * given up. */
RECORDER_INLINE_ void recorder_fork_put_(const struct recorder_fork_slot_ *open)
{
    struct recorder_turn *turn =
        recorder_turns_(open->ring, open->mask) + open->slot;
    uintptr_t lap = (open->ring->write + open->mask - open->slot) & ~open->mask;
    if (open->ring->write == 0)
        return; /* it was too large: it begins empty */
    recorder_records_(open->ring)[open->slot] = open->record;
    turn->gave_up = open->turn.gave_up + (lap - open->lap);
    turn->highest = lap == open->lap ? open->turn.highest : lap;
    recorder_put_(&recorder_commits_(open->ring, open->mask)[open->slot],
                  open->commit);
}

/* Returns the end of the parent's records before fork(): its counter continues
 * in the child, its clock does not. */
RECORDER_INLINE_ uintptr_t
recorder_fork_order_(const struct recorder_recording_ *file)
{
    if (recorder_order_is_clocked_())
        return file->forks;
    return recorder_get_(recorder_home_.registry->order);
}

/* Copies the parent's file into the parts of a child. Rings above 64 MB in all
 * begin empty. */
RECORDER_SELDOM_ void
recorder_fork_inherit_(const struct recorder_recording_ *file,
                       char *const to[RECORDER_PARTS_])
{
    const struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t order = recorder_fork_order_(file), left = 64u << 20;
    const struct recorder *r;
    struct recorder_thread_row *row;
    uintptr_t process[RECORDER_NOTE_WORDS_];
    unsigned i;
    for (i = 0; i < file->parts_count; i++)
        __builtin_memcpy(to[i], file->parts[i].memory, file->parts[i].low);
    recorder_core_owner_(process, 0); /* the child's, and not whole yet */
    __builtin_memcpy(to[0] + (file->note - file->parts[0].memory), process,
                     sizeof process);
    for (r = file->image->first; r; r = r->next) {
        uintptr_t bytes = recorder_move_high_bytes_(r), at = 0;
        for (i = 0; i < file->parts_count; i++) {
            at = (uintptr_t)r->rings - (uintptr_t)file->parts[i].memory;
            if (at < file->parts[i].bytes)
                break;
        }
        if (bytes > left || i == file->parts_count)
            continue;
        left -= bytes;
        recorder_move_rings_(r, r->rings,
                             (struct recorder_ring *)(void *)(to[i] + at),
                             &order, NULL);
    }
    /* Threads of the parent may have taken rows after fork(). */
    row = (struct recorder_thread_row *)(void *)(to[0] +
                                                 ((char *)registry->threads -
                                                  file->parts[0].memory));
    if (registry->threads_count < registry->threads_max)
        __builtin_memset(row + registry->threads_count, 0,
                         (registry->threads_max - registry->threads_count) *
                             sizeof *row);
}

/* Runs in a child of fork(), which must not write into its parent's file: maps
 * other memory at the same addresses, of a new file or of none. */
RECORDER_APART_ void recorder_fork_child_(struct recorder_recording_ *file)
{
    struct recorder_registry *registry = recorder_home_.registry;
    struct recorder_part_ *last = &file->parts[file->parts_count - 1];
    char *memory[RECORDER_PARTS_] = {0};
    struct recorder *recorder;
    struct recorder_held_ held;
    bool whole = !file->forgets, lost = false;
    int fd = -1;
    unsigned i;
    recorder_os_hold_signals_(&held);
    if (file->lives) { /* a child without a file has this one */
        __builtin_memcpy(file->lives, registry->lives,
                         RECORDER_LIVES_ * sizeof *file->lives);
        registry->lives = file->lives;
    }
    if (file->own_process && whole)
        fd = recorder_open_new_(file, last->offset + last->bytes);
    for (i = 0; i < file->parts_count && whole; i++) {
        const struct recorder_part_ *part = &file->parts[i];
        memory[i] = fd >= 0 ? recorder_os_share_(fd, part->offset, part->bytes)
                            : recorder_os_reserve_(part->bytes);
        if (!memory[i])
            whole = false;
    }
    if (fd >= 0)
        recorder_os_close_(fd);
    if (whole)
        recorder_fork_inherit_(file, memory);
    for (i = 0; i < file->parts_count; i++) {
        const struct recorder_part_ *part = &file->parts[i];
        if (whole &&
            recorder_os_move_over_(memory[i], part->memory, part->bytes))
            continue;
        fd = -1; /* without a copy, the child begins empty */
        if (!recorder_os_map_over_(part->memory, part->bytes))
            lost = true;
        registry->threads_count = 0;
    }
    for (i = 0; i < file->open_count && whole && !lost; i++)
        recorder_fork_put_(&file->open[i]);
    for (recorder = registry->first; recorder && lost;
         recorder = recorder->next)
        recorder->trace = -1;
    if (lost)
        registry->threads = NULL;
    if (fd >= 0) {
        if (file->lives)
            registry->lives = file->image->lives;
        recorder_core_set_owner_(file, 1);
        file->image->pid = recorder_os_process_();
        if (file->image->ended != RECORDER_ENDED_NOT_)
            file->image->ended = 0; /* the parent was about to end */
        recorder_core_sync_(file);
    } else {
        registry->image = NULL;
        registry->file = NULL;
        recorder_recording_ = NULL;
    }
    recorder_os_release_signals_(&held);
}

RECORDER_C_END_
#endif
