/* stacks.h - stacks of tasks, and what the command asks of a program. */
/* SPDX-License-Identifier: MIT */
#ifndef STACKS_H
#define STACKS_H

#include "tasks.h"
#include "threads.h"

/* A program's threads beside its tasks; none where they are not known. */
struct tasks_command {
    struct source *source;
    struct threads threads;
    size_t *waits; /* of each thread, whom it waits for */
    struct tasks_symbol {
        uint64_t address, size;
    } * symbols; /* of known_names */
};

/* Opens the tasks of a source, its threads, and the deadlocks among both. Null,
 * or what is wrong. */
const char *command_tasks(struct tasks *, struct tasks_command *,
                          struct source *);
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
    struct place_start {
        uint64_t address;
        bool is_start, is_code;
    } starts[1024]; /* a direct-mapped cache */
};

/* Reads the stacks of all chosen tasks, or only of those in deadlocks. Null, or
 * what is wrong. */
const char *stacks_read(struct task_stacks *, struct tasks *,
                        struct tasks_command *, bool all);
void stacks_close(struct task_stacks *);

#endif
