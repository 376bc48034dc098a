/* recorder_tasks.h - shows the tasks of a program's own scheduler */
/* SPDX-License-Identifier: MIT */
/*
    #include "recorder_tasks.h"             // brings recorder.h
    #include <ucontext.h>

    struct fiber {
        struct fiber *next;
        char name[16];
        int id, state;                      // 0: ready, 1: running, 2: waiting
        ucontext_t context;                 // saved by swapcontext()
    } *all_fibers;

    RECORDER_TASKS(fibers, "Fibers of the server", &all_fibers,
                   RECORDER_TASK(NEXT, struct fiber, next),
                   RECORDER_TASK(ID, struct fiber, id),
                   RECORDER_TASK(NAME, struct fiber, name),
                   RECORDER_TASK_STATES(struct fiber, state,
                                        "ready\0running\0waiting\0"),
                   RECORDER_TASK(UCONTEXT, struct fiber, context))

    $ recorder tasks 4711 --stacks          // or a core file, or in gdb

PROMISES (each names the test that keeps it)
    free        the program does nothing for it: the rows describe members that
                the scheduler has anyway, and readers look at them
                -> tests/outside/tasks.c
    whole       every task is listed, with its own stack, in a running program
                that is not stopped and in a core file -> tests/outside/tasks.c
    harmless    whatever a row or a list holds, reading it ends, and reports
                the error -> tests/outside/tasks.c
    named       a task with a number has its own name in all that it records, on
                whatever thread it runs -> tests/outside/tasks.c
    cheap       a number costs one store a switch; a table one compare-and-swap
                in a task's life -> tests/outside/tasks.c

LIMITS
    * A member must be an integer, an array or a pointer, not a bit-field.
    * Members that the scheduler changes while a reader looks are read as they
      are then: a list that changes may be read in part.
    * One number for each task: 4096 rows of the thread table (32 bits: 126),
      which -DRECORDER_THREADS=N changes up to 32766 (126).
    * recorder_task_switch() sets the number that this program, or this library,
      records with: libraries of a program that does not export its symbols have
      their own, and keep the worker's.
    * Stacks that are copied away while their task does not run are not read.

CONTENTS
    descriptions    RECORDER_TASKS and its rows
    tables          of tasks, for a scheduler that keeps no list
    numbers         by which the records of a task have its name
*/
#ifndef RECORDER_TASKS_H
#define RECORDER_TASKS_H

#include "recorder.h"
RECORDER_QUIET_
#include "recorder/tasks_layout.h"
RECORDER_LOUD_

/* ---------------------------------------------------------- descriptions -- */

/* Describes the tasks of a scheduler, at file scope. `head` is the address of
 * the variable that holds the first task, or of the head of the ring with LINK;
 * it may be any pointer. The rows, RECORDER_TASK and its like, come in any
 * order. */
#define RECORDER_TASKS(name, description, head, ...)                           \
    RECORDER_TASKS_DEFINE_(name, description, head, NULL, 0, __VA_ARGS__)
#define RECORDER_TASKS_DECLARE(name)                                           \
    extern struct recorder_tasks recorder_tasks_##name;

/* A row: the meaning of a member of a structure.
 *
 *     NEXT            of a task: the next task, or null
 *     PREVIOUS        of a task: the task before it. Where a list is damaged,
 *                     readers come from its other end, if the first task's
 *                     PREVIOUS is the last
 *     LINK            the next task's LINK, in a ring through the head
 *     RING            the next task's RING, in a ring of tasks alone: the head
 *                     has the address of the first task's RING, or null
 *     ID              a number for users; below 0, or with INTERNAL that is not
 *                     0, it is the scheduler's own, and shown on demand
 *     NAME, NAME_AT   an array of char, or a char *
 *     UCONTEXT, UCONTEXT_AT     a ucontext_t, or a ucontext_t *
 *     FCONTEXT        a context of Boost's
 *     STACK, STACK_BYTES        its lowest address, and size: so that readers
 *                     know which thread runs the task
 *     WORKER          kernel id of the thread that runs it; or, where there are
 *                     structures for them, WORKER_AT the worker, and WORKER_ID
 *                     of that
 *     WAITS           address of the object that it waits for, or null; and of
 *                     that object, OWNER: the task that holds it, or null, or
 *                     the kernel id of a thread that does; WHY_AT: a char *,
 *                     "lock"
 *     FUTEX           of an object for which threads may wait, too: its
 *                     pthread_mutex_t or futex. OWNER's task holds that,
 *                     whichever thread locked it
 *     TIMED           of a task: not 0 while its wait has a limit of time: then
 *                     the wait is no part of a deadlock
 *     SINCE           RECORDER_TIME() when its state began, a uintptr_t
 *     GROUP           address of its group; and of that, GROUP_NAME or
 *                     GROUP_NAME_AT
 *     NUMBER          see below
 */
#define RECORDER_TASK(what, type, member)                                      \
    {                                                                          \
        RECORDER_TASK_##what##_, offsetof(type, member),                       \
            sizeof(((type *)0)->member), NULL                                  \
    }
/* A state: the words for its values from 0 up, each with "\0" after it. Two of
 * them are known: `running`, of a task whose saved context is of old, and
 * `dead`, of one that is not shown. */
#define RECORDER_TASK_STATES(type, member, texts)                              \
    {                                                                          \
        RECORDER_TASK_STATE_, offsetof(type, member),                          \
            sizeof(((type *)0)->member), "" texts                              \
    }
/* A saved stack pointer: the DWARF numbers of the registers that were pushed
 * there, from that address up, as "\17\16\15\14\3\6\20" of x86-64: r15 r14 r13
 * r12 rbx rbp and the return address. The task's stack pointer is above them.
 * \377 is a word without meaning; of Cortex-M, \376 is xPSR and \375 is
 * EXC_RETURN; of RISC-V, \374 is mstatus. */
#define RECORDER_TASK_WORDS(type, member, numbers)                             \
    {                                                                          \
        RECORDER_TASK_WORDS_, offsetof(type, member), sizeof("" numbers) - 1,  \
            "" numbers                                                         \
    }
/* The same, where the member is the address of a structure that begins with the
 * saved stack pointer. After \373, a number is the register in that structure's
 * next word. */
#define RECORDER_TASK_WORDS_AT(type, member, numbers)                          \
    {                                                                          \
        RECORDER_TASK_WORDS_AT_, offsetof(type, member),                       \
            sizeof("" numbers) - 1, "" numbers                                 \
    }

/* ---------------------------------------------------------------- tables -- */

/* The same for a scheduler that keeps no list of all its tasks: they enter a
 * table of `max` places. */
#define RECORDER_TASKS_TABLE(name, description, max, ...)                      \
    __attribute__((unused)) static void *recorder_tasks_table_##name[max];     \
    RECORDER_TASKS_DEFINE_(name, description, NULL,                            \
                           recorder_tasks_table_##name, max, __VA_ARGS__)

#ifdef RECORDER_NOTHING_
#define RECORDER_TASKS_DEFINE_(name, description, head, table, max, ...)       \
    RECORDER_AGAIN_(extern __attribute__((                                     \
        unused)) struct recorder_tasks recorder_tasks_##name)                  \
    RECORDER_ENDS_
#define recorder_tasks_enter(tasks) ((void)sizeof *(tasks))
#define recorder_task_enter(tasks, task) ((void)(task), true)
#define recorder_task_leave(tasks, task) ((void)sizeof *(tasks), (void)(task))
#define recorder_task_begin(name) ((void)(name), 0u)
#define recorder_task_worker() 0u
#define recorder_task_switch(number) ((void)(number))
#define recorder_task_end(number) ((void)(number))
#else
#define RECORDER_TASKS_DEFINE_(name, description, head, table, max, ...)       \
    static const struct recorder_task_row recorder_tasks_rows_##name[] = {     \
        __VA_ARGS__};                                                          \
    RECORDER_AGAIN_(extern struct recorder_tasks recorder_tasks_##name)        \
    struct recorder_tasks recorder_tasks_##name = {                            \
        #name,                                                                 \
        "" description,                                                        \
        recorder_tasks_rows_##name,                                            \
        sizeof recorder_tasks_rows_##name /                                    \
            sizeof *recorder_tasks_rows_##name,                                \
        head,                                                                  \
        table,                                                                 \
        max,                                                                   \
        NULL};                                                                 \
    RECORDER_UNSEEN_ __attribute__((                                           \
        constructor(101))) static void recorder_tasks_enter_##name(void)       \
    {                                                                          \
        recorder_tasks_enter(&recorder_tasks_##name);                          \
    }                                                                          \
    RECORDER_AT_CLOSE_(101) recorder_tasks_leave_##name(void)                  \
    {                                                                          \
        recorder_tasks_leave_(&recorder_tasks_##name);                         \
    }                                                                          \
    RECORDER_ENDS_

RECORDER_C_BEGIN_

/* Where constructors do not run, main() calls this, of &recorder_tasks_NAME. */
RECORDER_CALLED_PROTOTYPE_ void
recorder_tasks_enter(struct recorder_tasks *tasks);
RECORDER_CALLED_PROTOTYPE_ void
recorder_tasks_leave_(struct recorder_tasks *tasks);

/* Put a task into the table of &recorder_tasks_NAME, and take it out, from any
 * thread and at any moment. False: the table is full. */
RECORDER_CALLED_PROTOTYPE_ bool
recorder_task_enter(struct recorder_tasks *tasks, void *task);
RECORDER_CALLED_PROTOTYPE_ void
recorder_task_leave(struct recorder_tasks *tasks, const void *task);

/* --------------------------------------------------------------- numbers --
 *
 * A worker calls, in its own context:
 *
 *     unsigned mine = recorder_task_worker();          // once
 *     recorder_task_switch(task->number);              // in front of a task
 *     switch_to(task);
 *     recorder_task_switch(mine);                      // and after it
 */

/* Takes a row of the thread table for a task, with 15 bytes of its name.
 * Returns its number; 0: all rows are taken, and the task records as its
 * worker. */
RECORDER_CALLED_PROTOTYPE_ unsigned recorder_task_begin(const char *name);
/* The number of the calling thread. */
RECORDER_CALLED_PROTOTYPE_ unsigned recorder_task_worker(void);
/* The calling thread's next records have that number; 0 changes nothing. Before
 * it sleeps or ends, a worker restores its own. */
#ifdef RECORDER_COMPILE_ONCE
extern void recorder_task_switch(unsigned number);
#else
RECORDER_INLINE_ void recorder_task_switch(unsigned number);
#endif
/* The task has ended: its row stays for its records, until rows are scarce. */
RECORDER_CALLED_PROTOTYPE_ void recorder_task_end(unsigned number);

RECORDER_C_END_

RECORDER_QUIET_
#ifndef RECORDER_DECLARED_
#include "recorder/tasks.h"
#endif
RECORDER_LOUD_
#endif /* RECORDER_NOTHING_ */

#endif
