/* stacks.h - stacks of tasks, and what the command asks of a program. */
/* SPDX-License-Identifier: MIT */
#ifndef STACKS_H
#define STACKS_H

#include "tasks.h"
#include "threads.h"

/* Ids of notes that `recorder save` makes of tasks: above those of threads, of
 * which Linux has none above 2^22. With the number in the thread table, or with
 * the place in the list. */
enum { NOTE_NUMBER = 5000000, NOTE_PLACE = 5100000 };

/* A program's threads beside its tasks; none where they are not known. */
struct tasks_command {
    struct source *source;
    struct threads threads;
    size_t *waits;    /* of each thread, whom it waits for */
    struct ids notes; /* of a recording: the contexts of tasks in its notes */
    bool has_notes;
    struct tasks_symbol {
        uint64_t address, size;
    } * symbols; /* of known_names */
    struct type_found {
        const char *type; /* that was looked for last */
        Dwarf_Die die;
        bool is_there;
    } type;
};

/* types.c: as struct tasks_program's member. Keeps the type that it found. */
bool type_member(struct source *, struct type_found *, const char *type,
                 const char *member, uint64_t *offset, unsigned *bytes);

/* Opens the tasks of a source, its threads, and the deadlocks among both. Null,
 * or what is wrong. `searched`: as struct tasks_program has it. */
const char *command_tasks(struct tasks *, struct tasks_command *,
                          struct source *, struct memory *searched);
/* Has the program tasks? */
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
    struct place_start {
        uint64_t address;
        bool is_start, is_code;
    } starts[1024]; /* a direct-mapped cache */
};

/* Begins to read stacks of tasks. Null, or what is wrong. */
const char *stacks_open(struct task_stacks *, struct tasks *, struct source *);
/* Walks a task's stack from its saved context on; how many frames. `registers`:
 * the context; *end: the stack pointer of the outermost frame. */
unsigned stack_walk(struct task_stacks *, struct tasks *, const struct task *,
                    struct registers *, uint64_t frames[FRAMES_MAX],
                    bool *whole, uint64_t *end);
/* Notes the bytes of a stack that was walked; how many. */
size_t stack_note(struct task_stacks *, struct tasks *,
                  const struct registers *, uint64_t end);
/* Did the task stand from before `then` was read up to now? Its context is the
 * same, and so are the bytes of its stack that were noted: it may have gone on
 * and come back. */
bool stack_stood(struct task_stacks *, struct tasks *, const struct task *then,
                 const struct registers *, uint64_t end, size_t noted);
/* Reads the stacks of all chosen tasks, or only of those in deadlocks. Null, or
 * what is wrong. */
const char *stacks_read(struct task_stacks *, struct tasks *,
                        struct tasks_command *, bool all);
void stacks_close(struct task_stacks *);

#endif
