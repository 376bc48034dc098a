/* file_fork.h - a child of fork() and the recording of its parent. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_FILE_FORK_H_
#define RECORDER_FILE_FORK_H_

#include "file_open.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ fork -- */

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
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_part *last = &file->parts[file->parts_count - 1];
    char *memory[RECORDER_PARTS] = {0};
    struct recorder *recorder;
    struct recorder_held held;
    bool whole = true, lost = false;
    int fd = -1;
    unsigned i;
    recorder_os_hold_signals(&held);
    if (file->own_process)
        fd = recorder_open_new(file, last->offset + last->bytes);
    for (i = 0; i < file->parts_count; i++) {
        const struct recorder_part *part = &file->parts[i];
        memory[i] = fd >= 0 ? recorder_os_share(fd, part->offset, part->bytes)
                            : recorder_os_reserve(part->bytes);
        if (!memory[i])
            whole = false;
    }
    if (fd >= 0)
        recorder_os_close(fd);
    if (whole)
        recorder_fork_inherit(file, memory);
    for (i = 0; i < file->parts_count; i++) {
        const struct recorder_part *part = &file->parts[i];
        if (whole &&
            recorder_os_move_over(memory[i], part->memory, part->bytes))
            continue;
        fd = -1; /* without memory for a copy, the child begins empty */
        if (!recorder_os_map_over(part->memory, part->bytes))
            lost = true;
        registry->threads_count = 0;
    }
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
    recorder_os_release_signals(&held);
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
