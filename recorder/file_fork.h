/* file_fork.h - a child of fork() and the recording of its parent. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_FILE_FORK_H_
#define RECORDER_FILE_FORK_H_

#include "file_open.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ fork --
 *
 * A handler that interrupted record() may call fork(). In the child, too, the
 * record goes on behind it, in the slot of its ticket. The file does not tell
 * the child which slot that is, nor what was in it: the parent goes on as well.
 * So all slots with an open ticket are kept in private memory in front of
 * fork(), and put back in the child. Those of other threads stay open there,
 * as without a recording: each costs the child a slot.
 */

/* Keeps a slot if it has an open ticket. `next`: the position handed out next. */
RECORDER_INLINE_ void recorder_fork_keep(struct recorder_recording *file,
                                         struct recorder_ring *ring,
                                         uintptr_t mask, uintptr_t slot,
                                         uintptr_t next)
{
    struct recorder_fork_slot *open = &file->open[file->open_count];
    const uintptr_t *word = recorder_commits(ring, mask) + slot;
    const struct recorder_turn *turn = recorder_turns(ring, mask) + slot;
    const uintptr_t *from = &recorder_records(ring)[slot].format;
    uintptr_t *to = &open->record.format, commit, distance;
    unsigned i, tries = 0;
    open->lap = (next - 1 - slot) & ~mask;
    do {
        commit = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        distance = recorder_commit_lap(open->lap, mask) -
                   recorder_commit_turn(commit & ~(uintptr_t)RECORDER_BUSY_);
        open->turn.gave_up = recorder_get(&turn->gave_up);
        open->turn.highest = recorder_get(&turn->highest);
        if (!(commit & RECORDER_BUSY_) &&
            ((intptr_t)distance <= 0 ||
             open->turn.gave_up == distance >> RECORDER_THREAD_BITS_))
            return;
        for (i = 0; i < sizeof open->record / sizeof *to; i++)
            to[i] = recorder_get(from + i);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (recorder_get(word) != commit && ++tries < 8);
    open->ring = ring;
    open->mask = mask;
    open->slot = slot;
    open->commit = commit;
    file->open_count++;
}

/* In front of fork(). */
RECORDER_FUNCTION_ void recorder_fork_prepare(struct recorder_recording *file)
{
    const struct recorder *r;
    uintptr_t lane, slot, next;
    file->open_count = 0;
    for (r = file->image->first; r; r = r->next)
        for (lane = 0; lane <= r->lanes_mask; lane++) {
            struct recorder_ring *ring = recorder_move_lane(r->rings, r, lane);
            next = recorder_get(&ring->write) + r->mask + 1;
            for (slot = 0; slot <= r->mask && next != r->mask + 1 &&
                           file->open_count < RECORDER_FORK_SLOTS;
                 slot++)
                recorder_fork_keep(file, ring, r->mask, slot, next);
        }
}

/* In the child: puts a slot back. Laps that the parent handed out since count
 * as given up. */
RECORDER_INLINE_ void recorder_fork_put(const struct recorder_fork_slot *open)
{
    struct recorder_turn *turn =
        recorder_turns(open->ring, open->mask) + open->slot;
    uintptr_t lap = (open->ring->write + open->mask - open->slot) & ~open->mask;
    if (open->ring->write == 0)
        return; /* it was too large, and begins empty */
    recorder_records(open->ring)[open->slot] = open->record;
    turn->gave_up = open->turn.gave_up + (lap - open->lap);
    turn->highest = lap == open->lap ? open->turn.highest : lap;
    recorder_put(&recorder_commits(open->ring, open->mask)[open->slot],
                 open->commit);
}

/* Copies the parent's file into the parts of a child. Rings above 64 MB in all
 * begin empty. */
RECORDER_FUNCTION_ void
recorder_fork_inherit(const struct recorder_recording *file,
                      char *const to[RECORDER_PARTS])
{
    const struct recorder_registry *registry = recorder_home.registry;
    uintptr_t order = recorder_get(registry->order), left = 64u << 20;
    const struct recorder *r;
    struct recorder_thread *row;
    uintptr_t process[RECORDER_NOTE_WORDS];
    unsigned i;
    for (i = 0; i < file->parts_count; i++)
        __builtin_memcpy(to[i], file->parts[i].memory, file->parts[i].low);
    recorder_core_owner(process, 0); /* the child's, and not whole yet */
    __builtin_memcpy(to[0] + (file->note - file->parts[0].memory), process,
                     sizeof process);
    for (r = file->image->first; r; r = r->next) {
        uintptr_t bytes = recorder_move_high_bytes(r), at = 0;
        for (i = 0; i < file->parts_count; i++) {
            at = (uintptr_t)r->rings - (uintptr_t)file->parts[i].memory;
            if (at < file->parts[i].bytes)
                break;
        }
        if (bytes > left || i == file->parts_count)
            continue;
        left -= bytes;
        recorder_move_rings(r, r->rings,
                            (struct recorder_ring *)(void *)(to[i] + at),
                            &order, NULL);
    }
    /* Threads of the parent may have taken rows after fork(). */
    row =
        (struct recorder_thread *)(void *)(to[0] + ((char *)registry->threads -
                                                    file->parts[0].memory));
    if (registry->threads_count < registry->threads_max)
        __builtin_memset(row + registry->threads_count, 0,
                         (registry->threads_max - registry->threads_count) *
                             sizeof *row);
}

/* In a child of fork(), which must not write into its parent's file: maps other
 * memory at the same addresses, of a file of its own or of none. */
RECORDER_FUNCTION_ void recorder_fork_child(struct recorder_recording *file)
{
    const long move = 3; /* MREMAP_MAYMOVE, MREMAP_FIXED */
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_part *last = &file->parts[file->parts_count - 1];
    char *memory[RECORDER_PARTS] = {0};
    struct recorder *recorder;
    struct recorder_held held;
    bool whole = true, lost = false;
    int fd = -1;
    unsigned i;
    recorder_signals_hold(&held);
    if (file->own_process)
        fd = recorder_open_new(file, last->offset + last->bytes);
    for (i = 0; i < file->parts_count; i++) {
        const struct recorder_part *part = &file->parts[i];
        memory[i] = fd >= 0
                        ? recorder_os_share(fd, part->offset, part->bytes)
                        : (char *)recorder_mmap(NULL, part->bytes, 3,
                                                RECORDER_MAP_NORESERVE_, -1, 0);
        if (!memory[i] || memory[i] == (char *)-1)
            whole = false;
    }
    if (fd >= 0)
        recorder_os_close(fd);
    if (whole)
        recorder_fork_inherit(file, memory);
    for (i = 0; i < file->parts_count; i++) {
        const struct recorder_part *part = &file->parts[i];
        if (whole && recorder_syscall(SYS_mremap, memory[i], part->bytes,
                                      part->bytes, move, part->memory) != -1)
            continue;
        fd = -1; /* without memory for a copy, the child begins empty */
        if (recorder_mmap(part->memory, part->bytes, 3, RECORDER_MAP_FIXED_, -1,
                          0) == (void *)-1)
            lost = true;
        registry->threads_count = 0;
    }
    for (i = 0; i < file->open_count && whole && !lost; i++)
        recorder_fork_put(&file->open[i]);
    for (recorder = registry->first; recorder && lost;
         recorder = recorder->next)
        recorder->trace = -1;
    if (lost)
        registry->threads = NULL;
    if (fd >= 0) {
        recorder_core_set_owner(file, 1);
        file->image->pid = recorder_os_process();
        recorder_core_sync(file);
    } else {
        registry->image = NULL;
        registry->file = NULL;
        recorder_recording = NULL;
    }
    recorder_signals_release(&held);
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
