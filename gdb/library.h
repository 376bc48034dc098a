/* library.h - the reader as a shared library, for a memory that others read. */
/* SPDX-License-Identifier: MIT */
/*
    struct recorder_gdb *library = recorder_gdb_new(&target);
    const char *wrong;
    recorder_gdb_candidate(library, address);        // or recorder_gdb_scan()
    wrong = recorder_gdb_open(library);
    if (!wrong)
        wrong = recorder_gdb_take(library, "net.*", 100);
    while (!wrong && *(text = recorder_gdb_dump(library)))
        fputs(text, stdout);
    recorder_gdb_free(library);

    gdb/recorder-gdb.py calls it by ctypes, and needs each change of this file. All
    texts are valid until the next call, unless a comment says otherwise.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory;

/* Whose recorders are read: functions of struct memory and of struct
 * tasks_program, which need no first argument, and how the processor sees
 * words. Null pointers: no writing, or not known. */
struct recorder_gdb_target {
    size_t (*read)(struct memory *, uint64_t address, void *to, size_t size);
    bool (*write)(struct memory *, uint64_t address, const void *from,
                  size_t size);
    bool (*thread)(struct memory *, int32_t id, char name[16]);
    bool (*constant)(struct memory *, uint64_t address);
    uint64_t (*symbol)(void *, const char *name, uint64_t *size);
    bool (*member)(void *, const char *type, const char *member,
                   uint64_t *offset, unsigned *bytes);
    bool (*variable)(void *, uint64_t address, char *to, size_t size);
    bool (*is_code)(void *, uint64_t address);
    bool (*writable)(void *, size_t i, uint64_t *start, uint64_t *end);
    bool (*has_library)(void *, const char *name);
    bool (*kernel_thread)(void *, size_t i, int32_t *id, uint64_t *sp);
    void (*thread_name)(void *, size_t i, char to[64]);
    uint64_t size;                /* bytes of memory there are at most */
    uint32_t word_bytes, machine; /* EM_X86_64, or 0: unknown */
    bool big_endian, live, native, stale_order;
};

/* One record, by its order. */
struct recorder_gdb_event {
    const char *line; /* of the dump, with its newline */
    const char *file; /* "dir/file.c", NUL-terminated */
    const char *name; /* of the thread that wrote it; "": unknown */
    uint64_t caller;
    uint32_t file_line; /* 0: unknown */
    int32_t thread;     /* its id of the kernel's; 0: unknown */
    bool alive;         /* as far as is known */
    bool is_task;       /* it is no thread, but a task with a number */
};

/* A task of a scheduler inside the program. */
struct recorder_gdb_task {
    const char *name, *group, *state; /* escaped; until recorder_gdb_free() */
    uint64_t address;
    int64_t id;
    int64_t thread; /* index of the thread that runs it, or -1 */
    bool running, dead, internal;
};

/* The registers with which a task continues, by DWARF number; the program
 * counter is 63 at most. */
struct recorder_gdb_registers {
    uint64_t value[64], known; /* a bit for each */
    uint64_t xpsr;             /* of a Cortex-M, else 0 */
    uint32_t sp, pc;           /* their numbers */
};

struct recorder_gdb;

/* Makes a library for a target, which is copied. Null: there is no memory. */
struct recorder_gdb *recorder_gdb_new(const struct recorder_gdb_target *);
void recorder_gdb_free(struct recorder_gdb *);

/* Look for the registry at an address, and from `start` to `end`. Return the
 * number of registries with recorders found until now. */
size_t recorder_gdb_candidate(struct recorder_gdb *, uint64_t address);
size_t recorder_gdb_scan(struct recorder_gdb *, uint64_t start, uint64_t end);

/* Null, or what is wrong, as of all functions here that give a text of it. */
const char *recorder_gdb_open(struct recorder_gdb *);
/* Reads the rings of recorders that match a regular expression, or null; the
 * last `last` records, or 0 for all. One of recorder_gdb_take(),
 * recorder_gdb_at() and recorder_gdb_set() is called, once: another look needs
 * another library. */
const char *recorder_gdb_take(struct recorder_gdb *, const char *names,
                              uint64_t last);

/* The texts of `recorder list`: all of it; its part about threads. */
const char *recorder_gdb_list(struct recorder_gdb *);
const char *recorder_gdb_threads(struct recorder_gdb *);
/* The text of `recorder dump`, piece by piece, in whole lines; "": its end. */
const char *recorder_gdb_dump(struct recorder_gdb *);
/* Warnings, a line each: several registries, damaged recorders; "": none. */
const char *recorder_gdb_several(struct recorder_gdb *);
const char *recorder_gdb_warnings(struct recorder_gdb *);
/* Finds the record of an order, whatever its recorder. */
const char *recorder_gdb_at(struct recorder_gdb *, uint64_t order,
                            struct recorder_gdb_event *);

/* Does the same as `recorder set` with these settings. */
const char *recorder_gdb_set(struct recorder_gdb *, const char *settings);

/* Reads the tasks of schedulers, with or without recorders in the program. */
const char *recorder_gdb_tasks_open(struct recorder_gdb *);
/* The texts of them: warnings; groups; all whose group matches an extended
 * regular expression (null: all), with the scheduler's own if `internal`; the
 * one at address `here` is marked. Null: the expression is wrong. */
const char *recorder_gdb_tasks_warnings(struct recorder_gdb *);
const char *recorder_gdb_groups(struct recorder_gdb *);
const char *recorder_gdb_tasks(struct recorder_gdb *, const char *group,
                               bool internal, uint64_t here);
/* Task i, by group and id; false: there are no more. */
bool recorder_gdb_task(struct recorder_gdb *, size_t i,
                       struct recorder_gdb_task *);
/* False: its context is not known. */
bool recorder_gdb_task_registers(struct recorder_gdb *, size_t i,
                                 struct recorder_gdb_registers *);

/* Reads the threads of a running process, by its id, or of a file, as the command
 * does, by the library's own way to it; `executable` and `sysroot`: as its
 * options, or null. Once, and instead of recorder_gdb_open(). */
const char *recorder_gdb_threads_open(struct recorder_gdb *, const char *source,
                                      const char *executable,
                                      const char *sysroot);
/* The text of `recorder threads`; of one thread, if not null, by its number,
 * kernel id or name: "" is returned where there is none. And of `recorder
 * locks`. */
const char *recorder_gdb_waits(struct recorder_gdb *, const char *wanted);
const char *recorder_gdb_locks(struct recorder_gdb *);

/* The names of recorders, and then of tweaks; null: no more. Valid until
 * recorder_gdb_free(). */
const char *recorder_gdb_name(struct recorder_gdb *, size_t i);
