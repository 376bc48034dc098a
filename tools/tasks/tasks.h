/* tasks.h - the tasks of schedulers inside a program, from any memory of it. */
/* SPDX-License-Identifier: MIT */
/*
    A layout says where a scheduler has what: the program's own description
    (recorder_tasks.h), or what is known here of a library. One walker reads
    both.

PROMISES
    * The program knows nothing of this and is not stopped.
    * Whatever the memory holds, hostile or changing, reading ends: lists that
      go in circles, pointers to nowhere, millions of tasks.

FLOORS (a file calls only files of lower floors; down to cycles they are for
gdb's library, too, and need no libdw)
    stacks     who called whom in each task; equal stacks once
    command    what tasks.c asks of a program, by libdwfl; its threads
    types      where a structure has a member, by debug information
    table      tasks as text in columns
    cycles     tasks and threads that wait for each other in a circle
    last       the newest record of each task
    tasks      finds the layouts, reads all of their tasks
    runs       on which thread a task runs that does not say so
    context    the registers that a task goes on with
    lists      where a layout's tasks stand
    freertos   the objects that tasks of FreeRTOS wait for
    layouts    descriptions that the program holds
    known      what is known of libraries, as tables
    cache      pages of the program's memory
*/
#ifndef TASKS_H
#define TASKS_H

#include <stdio.h>

#include "ids.h"
#include "reader.h"
#include "recorder/tasks_layout.h"
#include "unwind.h"

enum {
    TASKS_MAX = 1 << 22,
    STEPS_LEAST = 1 << 16, /* through all lists, and places of tables: so many
                            * and four for each task that there may be */
    LAYOUTS_MAX = 64,
    STATES_MAX = 64,
    WORDS_MAX = 64,
    LISTS_MAX = 64,
    TASK_NAME_MAX = 40,
    TASK_SPAN_MAX = 4096 /* bytes of a task that are looked at */
};
#define TASK_NONE SIZE_MAX

/* --------------------------------------------------------------- program -- */

/* What is asked of a program beside its memory. `of` is each function's first
 * argument; a null function: it is not known. */
struct tasks_program {
    struct memory *memory;
    struct memory *searched; /* the same, for what is read to find where
                              * something is; null: `memory` */
    uint64_t registry;       /* 0: there is none */
    bool live;               /* it may go on while it is read */
    void *of;
    /* A variable's address, and its size or 0; 0: there is none. */
    uint64_t (*symbol)(void *of, const char *name, uint64_t *size);
    /* Where a member is, "a.b" of a member of a member, as debug information
     * has it; with member "", the size of the type, `struct x` or the name of a
     * typedef. False: it has none. */
    bool (*member)(void *of, const char *type, const char *member,
                   uint64_t *offset, unsigned *bytes);
    /* The variable that an address lies in: "name", "name+0x8". */
    bool (*variable)(void *of, uint64_t address, char *to, size_t size);
    bool (*is_code)(void *of, uint64_t address);
    /* Part i of the memory that the program writes to; false: there are no
     * more. */
    bool (*writable)(void *of, size_t i, uint64_t *start, uint64_t *end);
    /* The part of its memory, with the same rights and of one file or none, that
     * an address lies in. */
    bool (*mapping)(void *of, uint64_t address, uint64_t *start, uint64_t *end);
    /* Is a file mapped whose name, without folders, begins so? */
    bool (*library)(void *of, const char *name);
    /* Kernel id and, if it is asked for, stack pointer (0: not known) of thread
     * i; false: there are no more. The name for people of it. */
    bool (*thread)(void *of, size_t i, int32_t *id, uint64_t *sp);
    void (*thread_name)(void *of, size_t i, char to[64]);
    /* The address of what thread i waits for without an end, or 0. */
    uint64_t (*waits_on)(void *of, size_t i);
    /* Does thread i wait as it did, for what thread `holder` holds? */
    bool (*waits_still)(void *of, size_t i, size_t holder);
};

/* ----------------------------------------------------------------- cache -- */

/* Pages of a memory, as they were when they were first read. */
struct cache {
    struct memory memory; /* first: it is used as one */
    struct memory *of;
    struct cache_page *pages;
    size_t mask; /* pages - 1 */
    unsigned epoch;
};
/* False: there is no memory. `count`: a power of two. */
bool cache_open(struct cache *, struct memory *of, size_t count);
void cache_close(struct cache *);
/* Forgets all pages. */
void cache_renew(struct cache *);

/* --------------------------------------------------------------- layouts -- */

enum list_kind {
    LIST_NEXT,  /* `at` holds the first task; NEXT leads on */
    LIST_LINK,  /* `at` is the head of a ring of links */
    LIST_RING,  /* `at` holds a link in a ring of tasks alone */
    LIST_TABLE, /* `at` is an array of `count` addresses, some null */
    LIST_ITEMS  /* `at` is an array of `count` heads of rings of items, which
                 * name a task */
};
struct task_list {
    enum list_kind kind;
    uint64_t at, count;
    const char *state; /* of all in it, or null: the row tells */
};

/* Where a task waits for an event, which tells more: a structure with a number
 * that says what it is, and an object. */
enum event_kind {
    EVENT_PLAIN,  /* no object */
    EVENT_OBJECT, /* nobody holds it */
    EVENT_OWNED,  /* its OWNER does */
    EVENT_TASK    /* it is a task itself */
};
struct task_event {
    unsigned object_at, kind_at, kind_bytes;
    unsigned next_at; /* the next of a ring of events, any of which will do */
    struct {
        uint64_t bit; /* in the number; 0 ends them */
        const char *why;
        enum event_kind kind;
    } kinds[12];
};

/* Where waiting tasks stand in a ring that goes through the object: the link in
 * a task is WAITS; the ring's head stands so far in the object, or, of who
 * waits for the end of a task, in that. */
struct task_ring {
    unsigned head_at, owner_at, end_at;
    unsigned timed_at; /* in a task: null, unless it waits for a time */
};

/* FreeRTOS: tasks stand in lists by items, and wait in lists of objects. All
 * but `pending` and `names` are offsets and sizes. */
struct freertos {
    uint64_t list_bytes, end;    /* of a list; the item in it that ends it */
    uint64_t next, task, inside; /* of an item: the next, its task, its list */
    uint64_t value;              /* of an item; all bits are set in an end's */
    unsigned value_bytes;
    uint64_t receive, send; /* of a queue: lists of tasks that wait */
    uint64_t first, item;   /* null in a mutex; 0 in a semaphore */
    uint64_t held, most;    /* messages */
    uint64_t bits;          /* of a group of events: the list */
    uint64_t notified;      /* of a task: 1 while it waits to be */
    unsigned count_bytes, notified_bytes; /* of numbers; 0: there is none */
    bool has_bits;
    uint64_t pending; /* the list of those that wait no more, or 0 */
    struct freertos_name {
        uint64_t object;
        char name[TASK_NAME_MAX];
    } names[32]; /* that the program gave queues */
    size_t names_count;
};

/* A way to save a context: as RECORDER_TASK_WORDS has it. */
struct task_form {
    unsigned machine; /* EM_ARM */
    const char *words;
    unsigned count;
};

struct layout {
    char name[TASK_NAME_MAX];
    struct layout_row {
        bool is_set;
        uint64_t offset;
        unsigned bytes;
    } rows[RECORDER_TASK_WHATS_];
    char states_text[512];
    const char *states[STATES_MAX]; /* in it, or of a table */
    unsigned states_count;
    unsigned char words[WORDS_MAX];
    unsigned words_count;
    struct task_list lists[LISTS_MAX];
    size_t lists_count;
    const struct task_form *forms;  /* or null; a count of 0 ends them */
    struct freertos *freertos;      /* or null */
    const struct task_event *event; /* WAITS's value is its address; or null */
    const struct task_ring *ring;   /* or null */
    uint64_t waits_in, owned_in;    /* states, as bits, in which WAITS and OWNER
                                  * are true; 0: all */
    bool on_first;                  /* all run on the first thread */
    bool runs_without;              /* no context: the task runs */
    bool owners_are_tasks;          /* an owner that is none is no owner */
    uint64_t low, span;             /* the part of a task that has all rows */
};

struct task {
    uint64_t address;
    uint32_t layout, list;
    int64_t id;
    char name[TASK_NAME_MAX];
    char why[16];        /* kind of what it waits for, or "" */
    uint64_t state;      /* its value */
    uint64_t object;     /* that it waits for, or 0 */
    uint64_t owner_at;   /* address of the task that holds it, or 0 */
    size_t owner;        /* and its index, or TASK_NONE */
    size_t owner_thread; /* where OWNER is the kernel id of a thread: which */
    size_t group;        /* index of its group, or TASK_NONE */
    size_t thread;       /* index of the thread that runs it, or TASK_NONE */
    int32_t worker;      /* kernel id of that, or 0 */
    uint32_t number;     /* in the thread table, or 0 */
    uint32_t records;    /* the number whose last record is its own, or 0 */
    uint64_t since;   /* ticks when its state began, or 0; and how long ago: */
    int64_t since_ns; /* below 0: not known */
    size_t stack;     /* stacks.c's: which, or TASK_NONE */
    bool internal, running, dead;
    bool moved;   /* it ran while it was looked at */
    bool blocked; /* whatever its list says */
    bool timed;   /* it waits no longer than a time */
    bool in_deadlock, chosen;
};

/* Tasks and threads that wait for each other in a circle, by numbers: tasks
 * from 0 up, threads behind them. */
struct task_cycle {
    size_t *nodes, count;
};

struct tasks {
    struct tasks_program program;
    struct cache cache; /* of the lists */
    struct layout *layouts;
    size_t layouts_count;
    struct task *all;
    size_t count, max;
    size_t limit; /* of count: TASKS_MAX, or what the memory has room for */
    uint64_t steps_left; /* through lists */
    struct ids ids;      /* of their addresses */
    struct group {
        uint64_t address;
        char name[TASK_NAME_MAX];
    } * groups;
    size_t groups_count, groups_max;
    struct ids group_ids;
    size_t *order; /* of all, as they are shown */
    struct task_cycle *cycles;
    size_t cycles_count, cycles_max;
    size_t *holders; /* of threads: the task that holds what the thread waits
                      * for, as its OWNER says, or TASK_NONE; or null */
    struct task_last *lasts; /* by thread number, or null */
    size_t lasts_count;
    char warnings[1024]; /* a line each */
    char why[256];
};

/* Finds and reads all tasks. Null, or what is wrong; then it is closed. */
const char *tasks_open(struct tasks *, const struct tasks_program *);
void tasks_close(struct tasks *);
/* Reads a task again, as it is now, past the cache; false: it is gone. Without
 * what it waits for, where a ring tells that: then task_again_waits() does. */
bool task_again(struct tasks *, const struct task *, struct task *now);
void task_again_waits(struct tasks *, struct task *now);
/* The task that holds what threads wait for at an address, as a FUTEX row has
 * it; TASK_NONE: no description tells. */
size_t task_of_futex(struct tasks *, uint64_t address);
/* Adds a line of warning, once. */
void tasks_warn(struct tasks *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "ready", or a number as text. */
const char *task_state(const struct tasks *, const struct task *, char to[24]);
const char *task_group(const struct tasks *, const struct task *);
/* Chooses what is shown: of groups whose name matches an extended regular
 * expression (null: all); internal ones if wanted. Null, or what is wrong. */
const char *tasks_choose(struct tasks *, const char *group, bool internal);

/* layouts.c: adds the descriptions that the program's registry lists. */
const char *layouts_read(struct tasks *);
/* Another layout, zeroed; null: there are too many. */
struct layout *layout_add(struct tasks *);
/* Sets `low` and `span`; false: its members are too far apart. */
bool layout_span(struct layout *);
/* Notes that an answer depends on the members of a task at an address, and on
 * no byte between these. */
void layout_need(const struct layout *, struct memory *, uint64_t address);
/* Adds texts with NULs between them to a layout's states. */
void layout_states(struct layout *, const char *texts, size_t size);

/* freertos.c: finds what is known by debug information alone, and has LIST_ITEMS
 * as long as they are; false, and a warning: it has none. */
bool freertos_open(struct tasks *, struct layout *);
/* Reads what a task waits for, by the list that has its event item; 0: none. */
void freertos_wait(struct tasks *, const struct layout *, uint64_t list,
                   struct task *);
/* The name that the program gave an object, or null. */
const char *freertos_name(const struct layout *, uint64_t object);

/* known.c: adds the layouts of libraries that are in the program. */
const char *known_read(struct tasks *);

/* lists.c: adds the tasks of all of a layout's lists. */
const char *lists_read(struct tasks *, size_t layout);
/* tasks.c: adds the task at an address. False, and a warning: it cannot be
 * read. *is_new: it was not known before. */
bool task_add(struct tasks *, size_t layout, size_t list, uint64_t address,
              bool *is_new);

/* --------------------------------------------------------------- context -- */

/* DWARF numbers of a processor's stack pointer and program counter. */
struct task_machine {
    unsigned elf, word_bytes, sp, pc;
};
const struct task_machine *task_machine(const struct memory *);
/* Reads with what registers a task goes on. False: that is not known. *exact:
 * the program counter was interrupted, else a call returns to it. *xpsr: of a
 * Cortex-M, else 0. */
bool task_registers(const struct tasks *, struct memory *, const struct task *,
                    struct registers *, bool *exact, uint64_t *xpsr);

/* runs.c: tells which thread runs each task that runs and names no worker: the
 * only thread, or the only one in whose part of the memory its stack lies. */
void runs_link(struct tasks *);

/* ------------------------------------------------------------------ last -- */

/* The newest record of a thread number. */
struct task_last {
    char *text; /* "net: 12 bytes", or null: there is none */
    int64_t age_ns;
    bool has_age;
};
/* Reads it for all numbers, and since when states are; the reader has taken
 * nothing yet. */
const char *lasts_read(struct tasks *, struct reader *);

/* ---------------------------------------------------------------- cycles -- */

/* What each thread waits for: next[i], a thread's index, or TASK_NONE. Finds
 * the cycles through tasks; of a running program, those that stand at some looks
 * in a row. A thread that runs a task is reached through that. */
const char *task_cycles_find(struct tasks *, const size_t *next, size_t count);

/* ----------------------------------------------------------------- table -- */

struct task_columns {
    bool address, last; /* show these, too */
    bool marks;
    uint64_t here; /* with marks: address of the task to mark with a * */
};
/* All chosen tasks. Returns how many. */
size_t tasks_table(FILE *, const struct tasks *, const struct task_columns *);
/* Groups, and how many of their tasks are in which state. */
void tasks_groups(FILE *, const struct tasks *);
/* "lock B, held by right", "thread 4713 worker1", or "". */
void task_waits(const struct tasks *, const struct task *, char to[256]);
/* "thread 4713 worker1", by its index, or TASK_NONE, or else its id. */
void task_thread(const struct tasks *, size_t thread, int32_t id, char to[80]);
/* "lock B": what it waits for. */
void task_object(const struct tasks *, const struct task *, char to[192]);
/* The name, or "#7", or its address. */
void task_title(const struct tasks *, const struct task *, char to[64]);

#endif
