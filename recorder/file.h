/* file.h - keeps the rings in a file, which survives the program. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_FILE_H_
#define RECORDER_FILE_H_

#include "dump.h"
#ifdef RECORDER_LINUX_
#include "file_fork.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

RECORDER_PROGRAM_ unsigned char recorder_file_asked = 0;

#ifdef RECORDER_LINUX_
/* ------------------------------------------------------------------ file -- */

/* Returns the number of rows that the thread table has in the file. */
RECORDER_INLINE_ uintptr_t recorder_file_rows(void)
{
    const struct recorder_registry *registry = recorder_home.registry;
    return registry->threads ? registry->threads_max : RECORDER_THREADS;
}

/* How much a new file must hold. */
struct recorder_file_size {
    size_t recorders;
    unsigned headers;
    uintptr_t bytes;
};
RECORDER_FUNCTION_ struct recorder_file_size
recorder_file_measure(const struct recorder_modules *modules)
{
    struct recorder_file_size size = {0, 0, 0};
    const struct recorder *r;
    for (r = recorder_walk(); r; r = recorder_walk_on(r)) {
        size.recorders++;
        size.bytes += recorder_move_low_bytes(r) + recorder_move_high_bytes(r);
    }
    recorder_unwalk();
    size.headers =
        (unsigned)(size.recorders + modules->count + RECORDER_HEADERS_SPARE);
    if (size.headers > 65000)
        size.headers = 65000;
    size.bytes += sizeof(struct recorder_elf) +
                  size.headers * sizeof(struct recorder_elf_header) +
                  sizeof(struct recorder_registry) + 24 +
                  recorder_modules_note_bytes(modules) +
                  recorder_modules_bytes(modules) +
                  recorder_file_rows() * sizeof(struct recorder_thread) +
                  RECORDER_AUXILIARY_MAX + RECORDER_PART_SPARE;
    size.bytes = recorder_round_up(size.bytes, RECORDER_PART_PAGE);
    return size;
}

/* Fills the file with all but the recorders. Returns the rows of its thread
 * table, or null if something has no room. */
RECORDER_FUNCTION_ struct recorder_thread *
recorder_file_fill(struct recorder_recording *file,
                   const struct recorder_modules *modules,
                   const struct recorder_elf *program, unsigned headers)
{
    const uint32_t writable = RECORDER_ELF_R_ | RECORDER_ELF_W_;
    const struct recorder_registry *registry = recorder_home.registry;
    struct recorder_part *part = &file->parts[0];
    struct recorder_thread *rows;
    size_t i;
    if (!recorder_core_begin(file, program, headers) ||
        !recorder_core_add_notes(file) ||
        !recorder_modules_add_note(file, modules) ||
        !recorder_core_add_segment(file, (uintptr_t)part->memory, part->memory,
                                   part->bytes, writable) ||
        !recorder_core_add_segment(file, (uintptr_t)registry, file->image,
                                   sizeof *file->image, writable) ||
        !recorder_core_add_segment(file, (uintptr_t)registry->order,
                                   file->order, sizeof *file->order, writable))
        return NULL;
    rows = (struct recorder_thread *)(void *)recorder_core_take(
        file, recorder_file_rows() * sizeof *rows, false);
    for (i = 0; i < modules->count; i++)
        if (modules->all[i].save)
            recorder_module_save(file, &modules->all[i]);
    return rows;
}

/* Moves the thread table into the file. */
RECORDER_FUNCTION_ void recorder_file_threads(struct recorder_recording *file,
                                              struct recorder_thread *rows)
{
    struct recorder_registry *registry = recorder_home.registry;
    uintptr_t count = recorder_file_rows();
    if (registry->threads)
        __builtin_memcpy(rows, registry->threads, count * sizeof *rows);
    recorder_put(&registry->threads_max, count);
    __atomic_store_n(&registry->threads, rows, __ATOMIC_RELEASE);
    file->image->threads = rows;
    file->image->threads_max = count;
}

/* Moves the recorders and the thread table into the file. */
RECORDER_FUNCTION_ void recorder_file_move(struct recorder_recording *file,
                                           struct recorder_moves *moves,
                                           size_t moves_max,
                                           struct recorder_thread *rows)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_clock clock;
    struct recorder *recorder, *copy;
    uint64_t since;
    for (recorder = recorder_walk(); recorder && moves->count < moves_max;
         recorder = recorder_walk_on(recorder)) {
        copy = recorder_move_add(file, recorder);
        if (copy)
            recorder_move_plan(moves, recorder, copy->rings);
    }
    recorder_file_threads(file, rows);
    recorder_recording = file;
    registry->image = file->image;
    __atomic_store_n(&registry->file, file->notify, __ATOMIC_RELEASE);
    recorder_move_all(moves);
    recorder_unwalk();
    recorder_core_sync(file);
    recorder_core_set_owner(file, 1);
    /* Measures the tick rate over at least 2 ms: readers of the file cannot. */
    since =
        recorder_clock_ns(RECORDER_MONOTONIC_) - registry->start.monotonic_ns;
    if (since < 2000000)
        recorder_os_poll(NULL, 0, 3);
    recorder_clock_open(&clock);
    recorder_core_sync(file);
}

/* Makes the file and moves everything into it. Returns false, and says what is
 * wrong, if it cannot. */
RECORDER_FUNCTION_ bool recorder_file_begin(struct recorder_recording *file,
                                            const char *path)
{
    struct recorder_modules modules;
    struct recorder_file_size size;
    struct recorder_elf program;
    struct recorder_moves moves = {NULL, 0, 0, 0};
    struct recorder_thread *rows = NULL;
    size_t moves_bytes;
    size_t length = recorder_length(path, RECORDER_PATH_MAX);
    int fd = -1;
    if (length >= RECORDER_PATH_MAX - 8) {
        recorder_open_say(path, "File name too long", NULL);
        return false;
    }
    __builtin_memcpy(file->pattern, path, length);
    for (; *path; path++)
        file->own_process |= path[0] == '%' && path[1] == 'p';
    recorder_syscall(SYS_getcwd, file->folder, sizeof file->folder - 1);
    recorder_syscall(SYS_readlinkat, (long)RECORDER_AT_CWD_, "/proc/self/exe",
                     file->program, sizeof file->program - 1);
    if (recorder_os_file("/proc/self/exe", &program, sizeof program) !=
            sizeof program ||
        __builtin_memcmp(program.ident, "\177ELF", 4) != 0) {
        recorder_open_say("/proc/self/exe", "cannot be read", NULL);
        return false;
    }
    if (!recorder_modules_open(&modules, file, NULL)) {
        recorder_open_fail(file->pattern, "mmap", -RECORDER_ENOMEM_);
        return false;
    }
    size = recorder_file_measure(&modules);
    moves_bytes = (size.recorders + 1) * sizeof *moves.all;
    moves.all = (struct recorder_move *)recorder_os_memory(moves_bytes);
    if (!moves.all) {
        recorder_open_fail(file->pattern, "mmap", -RECORDER_ENOMEM_);
    } else {
        fd = recorder_open_new(file, size.bytes);
        if (fd >= 0 && recorder_core_map(file, fd, 0, size.bytes))
            rows = recorder_file_fill(file, &modules, &program, size.headers);
        if (fd >= 0) {
            if (!rows) {
                recorder_os_unlink(file->path);
                recorder_open_fail(file->path, "mmap", -RECORDER_ENOMEM_);
            }
            recorder_os_close(fd);
        }
        if (rows)
            recorder_file_move(file, &moves, size.recorders, rows);
        else if (file->parts_count)
            recorder_munmap(file->parts[0].memory, file->parts[0].bytes);
        recorder_munmap(moves.all, moves_bytes);
    }
    recorder_modules_close(&modules);
    return rows != NULL;
}

/* Adds the formats of a library that was opened; `of` is an address in it. */
RECORDER_FUNCTION_ void recorder_file_module(struct recorder_recording *file,
                                             const void *of)
{
    struct recorder_modules modules;
    size_t i;
    if (!recorder_modules_open(&modules, file, of))
        return;
    if (modules.count &&
        recorder_open_room(file,
                           recorder_modules_bytes(&modules) + 24 +
                               recorder_modules_note_bytes(&modules) +
                               RECORDER_LINE_BYTES,
                           0)) {
        uintptr_t count = file->elf->headers_count;
        for (i = 0; i < modules.count; i++)
            if (modules.all[i].save)
                recorder_module_save(file, &modules.all[i]);
        if (file->elf->headers_count != count) /* the library is new */
            recorder_modules_add_note(file, &modules);
    }
    recorder_modules_close(&modules);
}

/* Gives a recorder rings in the file, before anybody records into it. One whose
 * library was closed and is back gets those that it had. */
RECORDER_FUNCTION_ void recorder_file_recorder(struct recorder_recording *file,
                                               struct recorder *recorder)
{
    struct recorder *copy = recorder_move_copy_of(file, recorder);
    if (copy &&
        (copy->mask != recorder->mask ||
         copy->ring_bytes != recorder->ring_bytes ||
         copy->lanes_mask != recorder->lanes_mask ||
         __builtin_memcmp(copy->name, recorder->name,
                          recorder_length(copy->name, RECORDER_PATH_MAX) + 1)))
        copy = NULL;
    if (copy) {
        __atomic_store_n(&recorder->rings, copy->rings, __ATOMIC_RELEASE);
        return;
    }
    if (recorder_open_room(file, recorder_move_low_bytes(recorder),
                           recorder_move_high_bytes(recorder)))
        copy = recorder_move_add(file, recorder);
    if (copy) { /* an earlier constructor may have recorded into it */
        struct recorder_move move;
        struct recorder_moves moves = {NULL, 0, 0, 0};
        moves.all = &move;
        recorder_move_plan(&moves, recorder, copy->rings);
        recorder_move_all(&moves);
    }
}

/* Called through the registry when something happens: RECORDER_FILE_. */
RECORDER_FUNCTION_ void recorder_file_notify(int what, const void *of)
{
    struct recorder_recording *file = recorder_recording;
    struct recorder_held held;
    int *at = recorder_errno(), error = *at;
    if (!file)
        return;
    if (what == RECORDER_FILE_FORKED) {
        recorder_fork_child(file);
    } else if (what == RECORDER_FILE_FORKS) {
        recorder_fork_prepare(file);
    } else if (what == RECORDER_FILE_SYNC) {
        recorder_core_sync(file);
    } else {
        recorder_signals_hold(&held);
        if (what == RECORDER_FILE_MODULE)
            recorder_file_module(file, of);
        else
            recorder_file_recorder(file, (struct recorder *)(uintptr_t)of);
        recorder_core_sync(file);
        recorder_signals_release(&held);
    }
    *at = error;
}

/* recorder_file() and RECORDER_FILE; `threads` is what to say if the process
 * has more than one thread. */
RECORDER_FUNCTION_ bool recorder_file_open(const char *path,
                                           const char *threads)
{
    struct recorder_recording *file;
    struct recorder_signal_set all;
    struct recorder_held held;
    bool done = false;
    recorder_signals_hold(&held);
    recorder_start();
    if (recorder_home.registry->image) {
        recorder_open_say(path, "the process has a recording already", NULL);
    } else if (recorder_os_process_stat(recorder_os_process(),
                                        RECORDER_STAT_THREADS_) > 1) {
        recorder_open_say(path, threads, NULL);
    } else {
        /* A handler that records meanwhile would write into the old ring. */
        __builtin_memset(&all, 0xff, sizeof all);
        recorder_os_mask(RECORDER_SIG_BLOCK_, &all, NULL);
        file = (struct recorder_recording *)recorder_os_memory(sizeof *file);
        if (file)
            file->notify = recorder_file_notify;
        done = file && recorder_file_begin(file, path);
        if (file && !done)
            recorder_munmap(file, sizeof *file);
    }
    recorder_signals_release(&held);
    return done;
}

RECORDER_FUNCTION_ bool recorder_file(const char *path)
{
    return path && *path &&
           recorder_file_open(path,
                              "the process has threads: RECORDER_FILE in its "
                              "environment makes the file before main(), "
                              "recorder save PID makes one at any time");
}

#ifdef RECORDER_IN_LIBRARY_
__attribute__((destructor(103))) static void recorder_file_leave(void)
{
    if (recorder_home.registry->file == recorder_file_notify)
        recorder_home.registry->file = NULL;
}
#endif
#else
RECORDER_FUNCTION_ bool recorder_file_open(const char *path,
                                           const char *threads)
{
    struct recorder_string say;
    char text[1024];
    (void)threads;
    say = recorder_string_at(text, sizeof text);
    recorder_add_string(&say, "recorder: ");
    recorder_add_name(&say, path, sizeof text - 200);
    recorder_add_string(&say, ": recordings are made on Linux only; goes on in "
                              "memory\n");
    recorder_say(&say);
    return false;
}
RECORDER_FUNCTION_ bool recorder_file(const char *path)
{
    return path && *path && recorder_file_open(path, "");
}
#endif

__attribute__((constructor(103))) static void recorder_file_enter(void)
{
    const char *path = recorder_os_environment("RECORDER_FILE");
    if (recorder_file_asked || recorder_home.registry->image)
        return;
    recorder_file_asked = 1;
    if (path && *path && recorder_os_trusted())
        recorder_file_open(path, "a library started threads before the file "
                                 "could be made: recorder save PID makes one "
                                 "at any time");
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
