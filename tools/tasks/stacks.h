/* stacks.h - stacks of tasks, and the command's view of a program. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tasks.h"
#include "threads.h"

/* Ids of the notes that task_snapshot.c makes for tasks. Linux has no thread ids above
 * 2^22. The id adds the number in the thread table, or the place in the
 * list. */
enum { NOTE_NUMBER = 5000000, NOTE_PLACE = 5100000 };

/* A program's threads beside its tasks; empty if they are not known. */
struct tasks_command {
    struct source *source;
    struct threads threads;
    size_t *waits;    /* of each thread, whom it waits for */
    struct ids notes; /* of a recording: the contexts of tasks in its notes */
    bool has_notes;
    struct tasks_symbol {
        const char *name; /* by library_name() */
        uint64_t address, size;
    } * symbols;
    size_t symbols_count, symbols_max;
    struct type_found {
        const char *type; /* that was looked for last */
        Dwarf_Die die;
        bool is_there;
    } type;
};

/* types.c: struct tasks_program's `member`. Keeps the type that it found. */
bool type_member(struct source *, struct type_found *, const char *type,
                 const char *member, uint64_t *offset, unsigned *bytes);

/* Opens the tasks of a source, its threads, and the deadlocks among both.
 * Returns null, or the error. `searched`: see struct tasks_program. */
const char *command_tasks(struct tasks *, struct tasks_command *,
                          struct source *, struct memory *searched);
/* True if the program has tasks. */
bool command_has_tasks(struct source *);
void command_close(struct tasks *, struct tasks_command *);

/* Stacks that differ. */
struct task_stacks {
    struct task_stack {
        uint64_t *frames;
        unsigned count;
        bool whole;
        size_t tasks, first; /* how many have it; one of them */
    } * all;
    size_t count, max;
    struct ids ids;
    struct unwind unwind;
    unsigned char *span; /* the bytes of a stack, twice */
};

/* Begins to read stacks of tasks. Returns null, or the error. */
const char *stacks_open(struct task_stacks *, struct tasks *, struct source *);
/* Walks a task's stack from its saved context. Returns the number of frames.
 * `registers`: the context; *end: the stack pointer of the outermost frame. */
unsigned stack_walk(struct task_stacks *, struct tasks *, const struct task *,
                    struct registers *, uint64_t frames[FRAMES_MAX],
                    bool *whole, uint64_t *end);
/* Notes the bytes of a stack after a walk; returns their number. */
size_t stack_note(struct task_stacks *, struct tasks *,
                  const struct registers *, uint64_t end);
/* True if the task has the same context and the same noted bytes of stack as
 * before. It may still have run and returned to the same place. */
bool stack_stood(struct task_stacks *, struct tasks *, const struct task *then,
                 const struct registers *, uint64_t end, size_t noted);
/* Reads the stacks of all chosen tasks, or only of tasks in deadlocks. Returns
 * null, or the error. */
const char *stacks_read(struct task_stacks *, struct tasks *,
                        struct tasks_command *, bool all);
void stacks_close(struct task_stacks *);
