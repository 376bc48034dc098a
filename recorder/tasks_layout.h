/* tasks_layout.h - a scheduler's description of its tasks, in memory. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_TASKS_LAYOUT_H_
#define RECORDER_TASKS_LAYOUT_H_

#include "language.h"

RECORDER_C_BEGIN_

/* The meaning of a row: values for readers, which skip unknown ones. `bytes` is
 * the member's size unless another meaning is given. */
enum recorder_task_what_ {
    RECORDER_TASK_NOTHING_,
    /* Of a task: */
    RECORDER_TASK_NEXT_,     /* address of the next task; null ends the list */
    RECORDER_TASK_LINK_,     /* address of the next task's own LINK, in a ring
                               * that goes through the head of the list */
    RECORDER_TASK_ID_,       /* an integer with a sign */
    RECORDER_TASK_NAME_,     /* an array of char */
    RECORDER_TASK_NAME_AT_,  /* a char * */
    RECORDER_TASK_STATE_,    /* `more`: "ready\0running\0", of values from 0 */
    RECORDER_TASK_WORDS_,    /* the saved stack pointer. `bytes`: how many;
                               * `more`: the DWARF number of each word there */
    RECORDER_TASK_UCONTEXT_, /* a ucontext_t */
    RECORDER_TASK_UCONTEXT_AT_, /* a ucontext_t * */
    RECORDER_TASK_FCONTEXT_,    /* an fcontext_t of Boost's */
    RECORDER_TASK_STACK_,       /* the lowest address of its stack */
    RECORDER_TASK_STACK_BYTES_, /* and its size */
    RECORDER_TASK_WAITS_,       /* address of the awaited object; null: none */
    RECORDER_TASK_WHY_AT_,      /* a char *: "mutex" */
    RECORDER_TASK_GROUP_,       /* address of its group */
    RECORDER_TASK_WORKER_, /* kernel id of the thread that runs it; 0: none */
    RECORDER_TASK_WORKER_AT_, /* address of a worker, or null */
    RECORDER_TASK_NUMBER_,    /* by recorder_task_begin() */
    RECORDER_TASK_INTERNAL_,  /* not 0: it is the scheduler's own */
    RECORDER_TASK_PREVIOUS_,  /* address of the task before, or null */
    RECORDER_TASK_SINCE_,     /* RECORDER_TIME() when its state began; 0: not
                               * known */
    /* Of an awaited object: */
    RECORDER_TASK_OWNER_, /* address of the task that must act first, or null */
    /* Of a group: */
    RECORDER_TASK_GROUP_NAME_,
    RECORDER_TASK_GROUP_NAME_AT_,
    /* Of a worker: */
    RECORDER_TASK_WORKER_ID_, /* kernel id of its thread */
    /* Of an awaited object: */
    RECORDER_TASK_FUTEX_, /* the pthread_mutex_t, or the word for the kernel, by
                           * which threads wait for it */
    /* Of a task: */
    RECORDER_TASK_TIMED_, /* not 0: it waits no longer than a time */
    RECORDER_TASK_RING_,  /* address of the next task's RING; after the last
                           * task, of the first one's */
    RECORDER_TASK_WORDS_AT_, /* as WORDS; the member has the address of the saved
                              * stack pointer */
    RECORDER_TASK_WHATS_
};

/* Numbers in `more` of WORDS that are no registers. */
enum {
    RECORDER_TASK_SKIP_ = 0377,       /* a word without meaning */
    RECORDER_TASK_XPSR_ = 0376,       /* of Cortex-M: bit 9 set: sp += 4 */
    RECORDER_TASK_EXC_RETURN_ = 0375, /* bit 4 clear: 16 more words follow here,
                                       * and 72 more bytes at the end */
    RECORDER_TASK_MSTATUS_ =
        0374, /* of RISC-V: its trap came from machine mode,
                                    * and has interrupts off */
    RECORDER_TASK_BESIDE_ =
        0373 /* the register that is named next is not on the
                                  * stack but after the saved stack pointer */
};

/* A row. All members are words, so that readers need no table of offsets. */
struct recorder_task_row {
    uintptr_t what, offset, bytes;
    const void *more;
};

/* A scheduler's description. */
struct recorder_tasks {
    const char *name, *description;
    const struct recorder_task_row *rows;
    uintptr_t rows_count;
    const void *head; /* address of the list's head; null: there is a table */
    void **table;     /* of tasks, with free places between them */
    uintptr_t table_max;
    struct recorder_tasks *next; /* in the registry's list */
};
RECORDER_ASSERT_(sizeof(struct recorder_task_row) == 4 * sizeof(void *) &&
                     sizeof(struct recorder_tasks) == 8 * sizeof(void *),
                 "tasks_layout.h has a member that is no word");

RECORDER_C_END_
#endif
