/* file.h - keeps the rings in a file, which survives the program. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_FILE_H_
#define RECORDER_FILE_H_

#include "dump.h"

RECORDER_C_BEGIN_

#ifdef RECORDER_OS_FILES_
#include "file_crash.h"
#include "file_exit.h"
#include "file_fork.h"

/* ------------------------------------------------------------------ file -- */

/* Returns how many rows the thread table has in the file. */
RECORDER_INLINE_ uintptr_t recorder_file_rows_(void)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    return registry->threads ? registry->threads_max : RECORDER_THREADS;
}

/* Returns how many bytes a new file must hold. */
struct recorder_file_size_ {
    size_t recorders;
    unsigned headers;
    uintptr_t bytes;
};
RECORDER_SELDOM_ struct recorder_file_size_
recorder_file_measure_(const struct recorder_modules_ *modules)
{
    struct recorder_file_size_ size = {0, 0, 0};
    const struct recorder *r;
    for (r = recorder_readers_enter_(); r; r = recorder_list_next_(r)) {
        size.recorders++;
        size.bytes +=
            recorder_move_low_bytes_(r) + recorder_move_high_bytes_(r);
    }
    recorder_readers_leave_();
    size.headers =
        (unsigned)(size.recorders + modules->count + RECORDER_HEADERS_SPARE_ +
                   RECORDER_CRASH_SEGMENTS_);
    if (size.headers > 65000)
        size.headers = 65000;
    size.bytes += sizeof(struct recorder_elf_) +
                  size.headers * sizeof(struct recorder_elf_header_) +
                  sizeof(struct recorder_registry) + 24 +
                  recorder_modules_note_bytes_(modules) +
                  recorder_modules_bytes_(modules) +
                  recorder_file_rows_() * sizeof(struct recorder_thread_row) +
                  RECORDER_LIVES_ * sizeof(struct recorder_life) +
                  RECORDER_AUXILIARY_MAX_ + RECORDER_PART_SPARE_ +
                  RECORDER_CRASH_ROOM_;
    size.bytes = recorder_round_up_(size.bytes, RECORDER_PART_PAGE_);
    return size;
}

/* True if a header describes bytes of a segment. */
RECORDER_SELDOM_ bool
recorder_module_is_(const char *at, const struct recorder_elf_header_ *h,
                    const struct recorder_module_segment_ *m)
{
    return at && h->flags == RECORDER_ELF_R_ && h->file_bytes == m->saved &&
           __builtin_memcmp(at, (const void *)m->start, m->saved) == 0;
}

/* Saves a segment, or shows the copy that the file has of it, at its address.
 * Returns false: the file is full. */
RECORDER_SELDOM_ bool
recorder_module_save_(struct recorder_recording_ *file,
                      const struct recorder_module_segment_ *m)
{
    unsigned i, count = file->elf->headers_count;
    char *to;
    for (i = 0; i < count; i++) {
        struct recorder_elf_header_ *h = &file->headers[i];
        bool shown = h->type == RECORDER_ELF_LOAD_;
        if ((shown ? h->address == m->start : h->type == 0) &&
            recorder_module_is_(recorder_core_bytes_(file, h), h, m)) {
            h->address = m->start;
            __atomic_store_n(&h->type, RECORDER_ELF_LOAD_, __ATOMIC_RELEASE);
            return true;
        }
    }
    if (!recorder_open_room_(file, m->saved + RECORDER_CACHE_LINE, 0))
        return false;
    to = recorder_core_take_(file, m->saved, false);
    return to && recorder_memory_copy_all_(to, m->start, m->saved) &&
           recorder_core_add_header_(file, RECORDER_ELF_LOAD_, m->start, to,
                                     m->saved, RECORDER_ELF_R_);
}

/* Hides the copies of closed libraries where another one is now: records'
 * formats lead into the file from now on. A copy is shown again if its library
 * comes back, so the file does not grow. */
RECORDER_SELDOM_ void
recorder_modules_hide_(struct recorder_recording_ *file,
                       const struct recorder_modules_ *modules)
{
    unsigned i, count = file->elf->headers_count;
    uintptr_t first = UINTPTR_MAX, end = 0;
    size_t k;
    for (k = 0; k < modules->count; k++) {
        const struct recorder_module_segment_ *m = &modules->all[k];
        first = m->start < first ? m->start : first;
        end = m->start + m->bytes > end ? m->start + m->bytes : end;
    }
    for (i = 0; i < count; i++) {
        struct recorder_elf_header_ *h = &file->headers[i];
        char *at = recorder_core_bytes_(file, h);
        if (h->type != RECORDER_ELF_LOAD_ || h->flags != RECORDER_ELF_R_ ||
            h->address >= end || h->address + h->file_bytes <= first)
            continue;
        for (k = 0; k < modules->count; k++)
            if (h->address == modules->all[k].start &&
                recorder_module_is_(at, h, &modules->all[k]))
                break;
        if (k < modules->count)
            continue;
        recorder_move_formats_(file, h->address, (uintptr_t)at, h->file_bytes);
        __atomic_store_n(&h->type, 0, __ATOMIC_RELEASE);
    }
}

/* Fills the file with all but the recorders. Returns the rows of its thread
 * table, or null if something has no room. */
RECORDER_APART_ struct recorder_thread_row *
recorder_file_fill_(struct recorder_recording_ *file,
                    const struct recorder_modules_ *modules,
                    const struct recorder_elf_ *program, unsigned headers)
{
    const uint32_t writable = RECORDER_ELF_R_ | RECORDER_ELF_W_;
    const struct recorder_registry *registry = recorder_home_.registry;
    struct recorder_part_ *part = &file->parts[0];
    struct recorder_thread_row *rows;
    size_t i;
    if (!recorder_core_begin_(file, program, headers) ||
        !recorder_core_add_notes_(file) ||
        !recorder_modules_add_note_(file, modules) ||
        /* Not from the ELF head on: BFD would take its notes a second time. */
        !recorder_core_add_header_(file, RECORDER_ELF_LOAD_,
                                   (uintptr_t)file->headers, file->headers,
                                   part->bytes - sizeof *file->elf, writable) ||
        !recorder_core_add_header_(file, RECORDER_ELF_LOAD_,
                                   (uintptr_t)registry, file->image,
                                   sizeof *file->image, writable) ||
        !recorder_core_add_header_(file, RECORDER_ELF_LOAD_,
                                   (uintptr_t)registry->order, file->order,
                                   sizeof *file->order, writable))
        return NULL;
    rows = (struct recorder_thread_row *)(void *)recorder_core_take_(
        file, recorder_file_rows_() * sizeof *rows, false);
    for (i = 0; i < modules->count; i++)
        if (modules->all[i].saved)
            recorder_module_save_(file, &modules->all[i]);
    recorder_crash_reserve_(file);
    return rows;
}

/* Moves the thread table into the file. */
RECORDER_SELDOM_ void recorder_file_threads_(struct recorder_recording_ *file,
                                             struct recorder_thread_row *rows)
{
    struct recorder_registry *registry = recorder_home_.registry;
    uintptr_t count = recorder_file_rows_();
    if (registry->threads)
        __builtin_memcpy(rows, registry->threads, count * sizeof *rows);
    recorder_put_(&registry->threads_max, count);
    __atomic_store_n(&registry->threads, rows, __ATOMIC_RELEASE);
    file->image->threads = rows;
    file->image->threads_max = count;
}

/* Moves the table of lives into the file: a reader must never find one that is
 * half copied. */
RECORDER_SELDOM_ void recorder_file_lives_(struct recorder_recording_ *file)
{
    struct recorder_registry *registry = recorder_home_.registry;
    file->lives = registry->lives;
    if (!file->lives)
        return;
    __builtin_memcpy(file->image->lives, file->lives,
                     RECORDER_LIVES_ * sizeof *file->lives);
    __atomic_store_n(&registry->lives, file->image->lives, __ATOMIC_RELEASE);
}

/* Moves the recorders and the thread table into the file. */
RECORDER_APART_ void recorder_file_move_(struct recorder_recording_ *file,
                                          struct recorder_moves_ *moves,
                                          size_t moves_max,
                                          struct recorder_thread_row *rows)
{
    struct recorder_registry *registry = recorder_home_.registry;
    struct recorder_clock_ clock;
    struct recorder *recorder, *copy;
    uint64_t since;
    for (recorder = recorder_readers_enter_();
         recorder && moves->count < moves_max;
         recorder = recorder_list_next_(recorder)) {
        copy = recorder_move_add_(file, recorder);
        if (copy)
            recorder_move_plan_(moves, recorder, copy->rings);
    }
    recorder_file_threads_(file, rows);
    recorder_file_lives_(file);
    recorder_recording_ = file;
    registry->image = file->image;
    __atomic_store_n(&registry->file, file->notify, __ATOMIC_RELEASE);
    recorder_move_all_(moves);
    recorder_readers_leave_();
    recorder_core_sync_(file);
    recorder_core_set_owner_(file, 1);
    /* Measures the tick rate over at least 2 ms, as readers of the file
     * cannot. */
    since =
        recorder_clock_ns_(RECORDER_MONOTONIC_) - registry->start.monotonic_ns;
    if (since < 2000000)
        recorder_os_poll_(NULL, 0, 3);
    recorder_clock_open_(&clock);
    recorder_core_sync_(file);
}

/* Makes the file and moves everything into it. Returns false, and says what is
 * wrong, if it cannot. */
RECORDER_SELDOM_ bool recorder_file_begin_(struct recorder_recording_ *file,
                                           const char *path)
{
    struct recorder_modules_ modules;
    struct recorder_file_size_ size;
    struct recorder_elf_ program;
    struct recorder_moves_ moves = {NULL, 0, 0, 0};
    struct recorder_thread_row *rows = NULL;
    size_t moves_bytes;
    size_t length = recorder_length_(path, RECORDER_PATH_MAX_);
    int fd = -1;
    if (length >= RECORDER_PATH_MAX_ - 8) {
        recorder_open_say_(path, "File name too long", NULL);
        return false;
    }
    __builtin_memcpy(file->pattern, path, length);
    for (; *path; path++)
        file->own_process |= path[0] == '%' && path[1] == 'p';
    recorder_os_folder_(file->folder, sizeof file->folder - 1);
    recorder_os_path_(file->program, sizeof file->program - 1);
    if (!recorder_os_machine_(&program)) {
        recorder_open_say_(file->pattern, "the program cannot be read", NULL);
        return false;
    }
    if (!recorder_modules_open_(&modules, file, NULL)) {
        recorder_open_fail_(file->pattern, "mmap", -RECORDER_ENOMEM_);
        return false;
    }
    size = recorder_file_measure_(&modules);
    moves_bytes = (size.recorders + 1) * sizeof *moves.all;
    moves.all = (struct recorder_move_ *)recorder_os_memory_(moves_bytes);
    if (!moves.all) {
        recorder_open_fail_(file->pattern, "mmap", -RECORDER_ENOMEM_);
    } else {
        fd = recorder_open_new_(file, size.bytes);
        if (fd >= 0 && recorder_core_map_(file, fd, 0, size.bytes))
            rows = recorder_file_fill_(file, &modules, &program, size.headers);
        if (rows) {
            recorder_os_keep_(fd);
            recorder_file_move_(file, &moves, size.recorders, rows);
        } else if (fd >= 0) {
            if (file->parts_count) /* Windows deletes no file that is mapped */
                recorder_os_unmap_(file->parts[0].memory, file->parts[0].bytes);
            recorder_os_close_(fd);
            recorder_os_unlink_(file->path);
            recorder_open_fail_(file->path, "mmap", -RECORDER_ENOMEM_);
        }
        recorder_os_unmap_(moves.all, moves_bytes);
    }
    recorder_modules_close_(&modules);
    return rows != NULL;
}

/* Says, once, that the file has no room for a library. Its recorders stay in
 * memory. */
RECORDER_SELDOM_ void recorder_file_full_(struct recorder_recording_ *file)
{
    if (file->image->file_asked == RECORDER_FILE_FULL_)
        return;
    file->image->file_asked = RECORDER_FILE_FULL_;
    recorder_home_.registry->file_asked = RECORDER_FILE_FULL_;
    recorder_open_say_(file->path,
                       "no room for the formats and recorders of one more "
                       "library",
                       NULL);
}

/* Adds the formats of a library that was opened; `of` is an address in it. */
RECORDER_APART_ void recorder_file_module_(struct recorder_recording_ *file,
                                            const void *of)
{
    struct recorder_modules_ modules;
    uintptr_t count = file->elf->headers_count;
    bool has_room = true;
    size_t i;
    if (!recorder_modules_open_(&modules, file, of))
        return;
    recorder_modules_hide_(file, &modules);
    for (i = 0; i < modules.count; i++)
        if (modules.all[i].saved)
            has_room &= recorder_module_save_(file, &modules.all[i]);
    if (has_room && file->elf->headers_count != count) /* the library is new */
        has_room = recorder_open_room_(
                       file, 24 + recorder_modules_note_bytes_(&modules), 0) &&
                   recorder_modules_add_note_(file, &modules);
    if (!has_room)
        recorder_file_full_(file);
    recorder_modules_close_(&modules);
}

/* Gives a recorder rings in the file, before anybody records into it. If its
 * library was closed and is back, it gets its earlier rings. */
RECORDER_SELDOM_ void recorder_file_recorder_(struct recorder_recording_ *file,
                                              struct recorder *recorder)
{
    struct recorder *copy = recorder_move_copy_of_(file, recorder);
    if (copy) {
        recorder_move_show_(file, recorder, copy);
        __atomic_store_n(&recorder->rings, copy->rings, __ATOMIC_RELEASE);
        return;
    }
    if (recorder_open_room_(file, recorder_move_low_bytes_(recorder),
                            recorder_move_high_bytes_(recorder)))
        copy = recorder_move_add_(file, recorder);
    if (copy) { /* an earlier constructor may have recorded into it */
        struct recorder_move_ move;
        struct recorder_moves_ moves = {NULL, 0, 0, 0};
        moves.all = &move;
        recorder_move_plan_(&moves, recorder, copy->rings);
        recorder_move_all_(&moves);
    } else {
        recorder_file_full_(file);
    }
}

/* Called through the registry on events: RECORDER_FILE_. */
RECORDER_SELDOM_ void recorder_file_notify_(int what, const void *of)
{
    struct recorder_recording_ *file = recorder_recording_;
    struct recorder_held_ held;
    int *at = recorder_os_errno_(), error = *at;
    if (!file)
        return;
    if (what == RECORDER_FILE_FORKED_) {
        recorder_fork_child_(file);
    } else if (what == RECORDER_FILE_FORKS_) {
        if (!file->forgets)
            recorder_fork_prepare_(file);
    } else if (what == RECORDER_FILE_CRASHED_) {
        recorder_crash_write_((const struct recorder_crash_note_ *)of);
    } else if (what == RECORDER_FILE_SYNC_) {
        recorder_core_sync_(file);
    } else {
        recorder_os_hold_signals_(&held);
        if (what == RECORDER_FILE_MODULE_)
            recorder_file_module_(file, of);
        else
            recorder_file_recorder_(file, (struct recorder *)(uintptr_t)of);
        recorder_core_sync_(file);
        recorder_os_release_signals_(&held);
    }
    *at = error;
}

/* Opens a recording, for recorder_file() and RECORDER_FILE. `threads` is the
 * message if the process has more than one thread. */
RECORDER_SELDOM_ bool recorder_file_open_(const char *path, const char *threads)
{
    struct recorder_recording_ *file;
    struct recorder_signal_set_ all;
    struct recorder_held_ held;
    bool done = false;
    recorder_os_hold_signals_(&held);
    recorder_start_();
    if (recorder_home_.registry->image) {
        recorder_open_say_(path, "the process has a recording already", NULL);
    } else if (!recorder_os_is_alone_()) {
        recorder_open_say_(path, threads, NULL);
    } else {
        /* A handler that records now would write into the old ring. */
        __builtin_memset(&all, 0xff, sizeof all);
        recorder_os_mask_(RECORDER_SIG_BLOCK_, &all, NULL);
        file = (struct recorder_recording_ *)recorder_os_memory_(sizeof *file);
        if (file)
            file->notify = recorder_file_notify_;
        done = file && recorder_file_begin_(file, path);
        if (file && !done)
            recorder_os_unmap_(file, sizeof *file);
        recorder_exit_begin_(false);
    }
    recorder_os_release_signals_(&held);
    return done;
}

RECORDER_ANY_ bool recorder_file(const char *path)
{
    return path && *path &&
           recorder_file_open_(path,
                               "the process has threads: RECORDER_FILE in its "
                               "environment makes the file before main(), "
                               "recorder save PID makes one at any time");
}

/* From now on, a child of fork() begins with empty rings, in memory, whatever
 * the path says: that takes no time. */
RECORDER_SELDOM_ void recorder_file_forget_in_child_(void)
{
    if (recorder_recording_)
        recorder_recording_->forgets = true;
}

RECORDER_AT_CLOSE_(103) recorder_file_leave_(void)
{
    if (recorder_home_.registry->file == recorder_file_notify_)
        recorder_home_.registry->file = NULL;
}
#else
RECORDER_SELDOM_ bool recorder_file_open_(const char *path, const char *threads)
{
    (void)threads;
    return recorder_complain_("", path, 500,
                              "this system makes no recordings; records into "
                              "memory");
}
RECORDER_ANY_ bool recorder_file(const char *path)
{
    return path && *path && recorder_file_open_(path, "");
}
RECORDER_INLINE_ void recorder_exit_begin_(bool preloaded)
{
    (void)preloaded;
}
#endif

/* A library that is preloaded into programs leaves RECORDER_FILE to them. */
RECORDER_UNSEEN_ __attribute__((constructor(103))) static void
recorder_file_enter_(void)
{
    const char *path = recorder_os_environment_("RECORDER_FILE");
    struct recorder_registry *registry = recorder_home_.registry;
    if (RECORDER_PRELOADED_)
        return;
    recorder_exit_begin_(false); /* a library may have made the file */
    if (registry->file_asked >= RECORDER_FILE_LOOKED_ || registry->image)
        return;
    registry->file_asked = RECORDER_FILE_LOOKED_;
    if (path && *path)
        recorder_file_open_(path, "a library started threads before the file "
                                  "could be made: recorder save PID makes one "
                                  "at any time");
}

RECORDER_C_END_
#endif
