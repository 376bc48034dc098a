/* library.h - the reader as a shared library, for a memory that others read. */
/* SPDX-License-Identifier: MIT */
/*
    struct library *library = library_new(&target);
    const char *wrong;
    library_candidate(library, address);        // or library_scan()
    wrong = library_open(library);
    if (!wrong)
        wrong = library_take(library, "net.*", 100);
    while (!wrong && *(text = library_dump(library)))
        fputs(text, stdout);
    library_free(library);

    gdb/recorder-gdb.py calls it by ctypes: what changes here changes there. All
    texts are valid until the next call, unless it is said how long.
*/
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose recorders are read: struct memory of reader.h, as functions without a
 * context, and how its processor sees words. */
struct library_target {
    size_t (*read)(uint64_t address, void *to, size_t size);
    /* Null pointers: nothing can be written; threads are not known; nor is
     * what cannot have changed. */
    bool (*write)(uint64_t address, const void *from, size_t size);
    bool (*thread)(int32_t id, char name[16]);
    bool (*constant)(uint64_t address);
    /* Of tasks; null pointers: not known. See struct tasks_program. */
    uint64_t (*symbol)(const char *name, uint64_t *size);
    bool (*member)(const char *type, const char *member, uint64_t *offset,
                   uint32_t *bytes);
    bool (*variable)(uint64_t address, char *to, size_t size);
    bool (*is_code)(uint64_t address);
    bool (*writable)(size_t i, uint64_t *start, uint64_t *end);
    bool (*has_library)(const char *name);
    bool (*kernel_thread)(size_t i, int32_t *id, uint64_t *sp);
    void (*thread_name)(size_t i, char to[64]);
    uint64_t size;                /* bytes of memory there are at most */
    uint32_t word_bytes, machine; /* EM_X86_64, or 0: unknown */
    bool big_endian, live, native, stale_order;
};

/* One record, by its order. */
struct library_event {
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
struct library_task {
    const char *name, *group, *state; /* escaped; until library_free() */
    uint64_t address;
    int64_t id;
    int64_t thread; /* index of the thread that runs it, or -1 */
    bool running, dead, internal;
};

/* The registers that a task goes on with, by DWARF number; the program counter
 * is 63 at most. */
struct library_registers {
    uint64_t value[64], known; /* a bit for each */
    uint64_t xpsr;             /* of a Cortex-M, else 0 */
    uint32_t sp, pc;           /* their numbers */
};

struct library;

/* Makes a library for a target, which is copied. Null: there is no memory. */
struct library *library_new(const struct library_target *);
void library_free(struct library *);

/* Looks for the registry at an address, and in all that lies from `start` to
 * `end`; how many with recorders were found by now. */
size_t library_candidate(struct library *, uint64_t address);
size_t library_scan(struct library *, uint64_t start, uint64_t end);

/* Null, or what is wrong, as of all functions here that give a text of it. */
const char *library_open(struct library *);
/* Reads the rings of recorders by a regular expression, or null; the last so
 * many records, or 0 for all. Of library_take(), library_at() and
 * library_clear(), one is called, once: another look is another library. */
const char *library_take(struct library *, const char *names, uint64_t last);

/* The texts of `recorder list`: all of it; its part about threads. */
const char *library_list(struct library *);
const char *library_threads(struct library *);
/* The text of `recorder dump`, piece by piece, in whole lines; "": its end. */
const char *library_dump(struct library *);
/* Warnings, a line each: several registries, damaged recorders; "": none. */
const char *library_several(struct library *);
const char *library_warnings(struct library *);
/* Finds the record of an order, whatever its recorder. */
const char *library_at(struct library *, uint64_t order,
                       struct library_event *);

/* Does what `recorder set` does with such settings. */
const char *library_set(struct library *, const char *settings);
/* Hides all records made up to now. */
const char *library_clear(struct library *);

/* Reads the tasks of schedulers, with or without recorders in the program. */
const char *library_tasks_open(struct library *);
/* The texts of them: warnings; groups; all whose group matches an extended
 * regular expression (null: all), with the scheduler's own if `internal`; the
 * one at address `here` is marked. Null: the expression is wrong. */
const char *library_tasks_warnings(struct library *);
const char *library_groups(struct library *);
const char *library_tasks(struct library *, const char *group, bool internal,
                          uint64_t here);
/* Task i, by group and id; false: there are no more. */
bool library_task(struct library *, size_t i, struct library_task *);
/* False: its context is not known. */
bool library_task_registers(struct library *, size_t i,
                            struct library_registers *);

/* The names of recorders, and of tweaks behind them; null: there are no more.
 * Valid until library_free(). */
const char *library_name(struct library *, size_t i);

#endif
