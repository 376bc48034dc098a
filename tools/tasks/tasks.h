/* tasks.h - the tasks of schedulers inside a program, from any memory of it. */
/* SPDX-License-Identifier: MIT */
/*
    A layout has the offsets of a scheduler's data: from the program's own
    description (recorder_tasks.h), or from the table of a known library. One
    walker reads both.

PROMISES
    * The program knows nothing of this and is not stopped.
    * Reading ends in any memory, hostile or changing: circular lists, wild
      pointers, millions of tasks.

FLOORS (a file calls only files of lower floors; gdb's library needs those from
`table` down)
    stacks     the callers in each task; equal stacks once
    command    a program as tasks.c needs it, by libdwfl; its threads
    types      offsets of a structure's members, by debug information
    table      tasks as text in columns
    cycles     tasks and threads that wait for each other in a circle
    last       the newest record of each task
    tasks      finds the layouts, reads all of their tasks
    runs       finds the threads of running tasks that name none
    context    the registers with which a task continues
    lists      finds the tasks of a layout
    task       reads a task
    libraries_table  tables of known libraries
    freertos   the objects that tasks of FreeRTOS wait for
    layouts    descriptions in the program
    cache      pages of the program's memory
*/
#pragma once

#include "ids.h"
#include "reader.h"
#include "recorder/tasks_layout.h"
#include "unwind.h"

enum {
    TASKS_MAX = 1 << 22,
    STEPS_LEAST = 1 << 16, /* through all lists and tables, plus four for each
                            * possible task */
    LAYOUTS_MAX = 64,
    STATES_MAX = 64,
    WORDS_MAX = 64,
    LISTS_MAX = 64,
    TASK_NAME_MAX = 40,
    TASK_SPAN_MAX = 4096 /* bytes read of a task */
};
#define TASK_NONE SIZE_MAX

/* --------------------------------------------------------------- program -- */

/* A program beside its memory. `of` is each function's first argument; a null
 * function: its answer is unknown. */
struct tasks_program {
    struct memory *memory;
    struct memory *searched; /* the same memory, for searches; null: `memory` */
    uint64_t registry;       /* 0: there is none */
    bool live;               /* it may run while it is read */
    void *of;
    /* A variable's address, and its size or 0; 0: there is none. */
    uint64_t (*symbol)(void *of, const char *name, uint64_t *size);
    /* The offset of a member, "a.b" of a member of a member, by debug
     * information; with member "", the size of the type, or the name of a
     * typedef. False: unknown. */
    bool (*member)(void *of, const char *type, const char *member,
                   uint64_t *offset, unsigned *bytes);
    /* The variable at an address: "name", "name+0x8". */
    bool (*variable)(void *of, uint64_t address, char *to, size_t size);
    bool (*is_code)(void *of, uint64_t address);
    /* Part i of the memory that the program writes to; false: there are no
     * more. */
    bool (*writable)(void *of, size_t i, uint64_t *start, uint64_t *end);
    /* The part of its memory around an address, with the same rights and of one
     * file or none. */
    bool (*mapping)(void *of, uint64_t address, uint64_t *start, uint64_t *end);
    /* True if a file is mapped whose name, without folders, begins with
     * `name`. */
    bool (*library)(void *of, const char *name);
    /* Kernel id and, if `sp` is not null, stack pointer (0: unknown) of thread
     * i; false: there are no more. The thread's name for people. */
    bool (*thread)(void *of, size_t i, int32_t *id, uint64_t *sp);
    void (*thread_name)(void *of, size_t i, char to[64]);
    /* The address at which thread i waits without a time limit, or 0. */
    uint64_t (*waits_on)(void *of, size_t i);
    /* True if thread i still waits for thread `holder`. */
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
/* `count`: a power of two. */
void cache_open(struct cache *, struct memory *of, size_t count);
void cache_close(struct cache *);
/* Forgets all pages. */
void cache_renew(struct cache *);

/* --------------------------------------------------------------- layouts -- */

enum list_kind {
    LIST_NEXT,  /* `at` holds the first task, each NEXT another */
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

/* The event that a task waits for: a structure with a number for its kind, and
 * an object. */
enum event_kind {
    EVENT_PLAIN,  /* no object */
    EVENT_OBJECT, /* it has no holder */
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

/* Waiting tasks in a ring through the object: the link in a task is WAITS.
 * head_at: offset of the ring's head in the object, or end_at: in a task that
 * others join. */
struct task_ring {
    unsigned head_at, owner_at, end_at;
    unsigned timed_at; /* in a task: null, unless it waits for a time */
};

/* FreeRTOS: lists hold tasks by items, and objects have lists of waiting tasks.
 * All but `pending` and `names` are offsets and sizes. */
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
    uint64_t pending; /* the list of woken tasks, or 0 */
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

/* Traits of a known library; a program's own description has zeros. */
struct task_traits {
    const struct task_form *forms;  /* or null; a count of 0 ends them */
    const struct task_event *event; /* WAITS's value is its address; or null */
    const struct task_ring *ring;   /* or null */
    uint64_t waits_in, owned_in;    /* states, as bits, in which WAITS and OWNER
                                  * are true; 0: all */
    bool on_first;                  /* all run on the first thread */
    bool runs_without;              /* no context: the task runs */
    bool owners_are_tasks;          /* an unknown owner is no owner */
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
    struct freertos *freertos; /* or null */
    struct task_traits traits;
    uint64_t low, span; /* the part of a task that has all rows */
};

struct task {
    uint64_t address;
    uint32_t layout, list;
    int64_t id;
    char name[TASK_NAME_MAX];
    char why[16];        /* kind of the awaited object, or "" */
    uint64_t state;      /* its value */
    uint64_t object;     /* that it waits for, or 0 */
    uint64_t owner_at;   /* address of the task that holds it, or 0 */
    size_t owner;        /* and its index, or TASK_NONE */
    size_t owner_thread; /* the holder, if OWNER is a thread's kernel id */
    size_t group;        /* index of its group, or TASK_NONE */
    size_t thread;       /* index of the thread that runs it, or TASK_NONE */
    int32_t worker;      /* kernel id of that, or 0 */
    uint32_t number;     /* in the thread table, or 0 */
    uint32_t records;    /* the number of its last record, or 0 */
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
 * from 0 up, then threads. */
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
    size_t limit;        /* of count: TASKS_MAX, or fewer in a small memory */
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
    size_t *holders; /* of threads: the task that holds the thread's awaited
                      * object, by its OWNER, or TASK_NONE; or null */
    struct task_last *lasts; /* by thread number, or null */
    size_t lasts_count;
    char warnings[1024]; /* a line each */
};

/* Finds and reads all tasks. Returns null, or the error; then it is closed. */
const char *tasks_open(struct tasks *, const struct tasks_program *);
void tasks_close(struct tasks *);
/* Reads a task again, past the cache; false: it is gone. The object of a wait
 * in a ring is read by task_again_waits(). */
bool task_again(struct tasks *, const struct task *, struct task *now);
void task_again_waits(struct tasks *, struct task *now);
/* The task that holds the object at an address, by a FUTEX row; TASK_NONE: no
 * description has one. */
size_t task_of_futex(struct tasks *, uint64_t address);
/* Adds a line of warning, once. */
void tasks_warn(struct tasks *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "ready", or a number as text. */
const char *task_state(const struct tasks *, const struct task *, char to[24]);
const char *task_group(const struct tasks *, const struct task *);
/* Chooses the shown tasks: groups whose name matches an extended regular
 * expression (null: all); internal ones if wanted. Returns null, or the
 * error. */
const char *tasks_choose(struct tasks *, const char *group, bool internal);

/* layouts.c: adds the descriptions that the program's registry lists. */
const char *layouts_read(struct tasks *);
/* Another layout, zeroed; null: there are too many. */
struct layout *layout_add(struct tasks *);
/* Sets `low` and `span`; false: its members are too far apart. */
bool layout_span(struct layout *);
/* Notes that an answer depends on the members of a task, and on no byte between
 * them. */
void layout_need(const struct layout *, struct memory *, uint64_t address);
/* Finds the first existing member of several, with | between them, in debug
 * information; false: none exists. */
bool layout_member(struct tasks *, const char *type, const char *members,
                   uint64_t *offset, unsigned *bytes);
/* Adds texts with NULs between them to a layout's states. */
void layout_states(struct layout *, const char *texts, size_t size);

/* freertos.c: reads the offsets from debug information, and the lengths of
 * LIST_ITEMS; false, and a warning: it lacks them. */
bool freertos_open(struct tasks *, struct layout *);
/* Reads the awaited object, by the list that holds the event item; 0: none. */
void freertos_wait(struct tasks *, const struct layout *, uint64_t list,
                   struct task *);
/* The name that the program gave an object, or null. */
const char *freertos_name(const struct layout *, uint64_t object);

/* libraries_table.c: symbol i of its tables; null: there are no more. */
const char *library_name(size_t i);
/* Adds the layouts of libraries that are in the program. */
void libraries_read(struct tasks *);

/* lists.c: adds the tasks of all of a layout's lists. */
void lists_read(struct tasks *, size_t layout);
/* task.c: adds the task at an address. False, and a warning: it cannot be
 * read. *is_new: it was not known before. */
bool task_add(struct tasks *, size_t layout, size_t list, uint64_t address,
              bool *is_new);
/* Sets the awaited objects of all tasks that wait in rings. */
void task_rings_read(struct tasks *);
/* The stack of a task, by its rows; false: unknown. */
bool task_stack(struct tasks *, const struct task *, uint64_t *low,
                uint64_t *bytes);

/* --------------------------------------------------------------- context -- */

/* The registers with which a task continues. */
struct task_context {
    struct registers registers;
    bool exact;    /* the program counter was interrupted; else a call returns
                    * to it */
    uint64_t xpsr; /* of a Cortex-M, else 0 */
};
/* False: unknown. */
bool task_registers(const struct tasks *, struct memory *, const struct task *,
                    struct task_context *);

/* runs.c: finds the thread of each running task that names no worker: the only
 * thread, or the only one whose stack is in the same part of memory as the
 * task's. */
void runs_link(struct tasks *);

/* ------------------------------------------------------------------ last -- */

/* The newest record of a thread number. */
struct task_last {
    char *text; /* "net: 12 bytes", or null: there is none */
    int64_t age_ns;
    bool has_age;
};
/* Reads the last records of all numbers, and the starts of states; the reader
 * has taken nothing yet. */
const char *lasts_read(struct tasks *, struct reader *);

/* ---------------------------------------------------------------- cycles -- */

/* Finds the cycles through tasks: next[i] is the index of the thread that
 * thread i waits for, or TASK_NONE. In a running program, only cycles that last
 * for several looks count. A thread that runs a task is reached through the
 * task. */
void task_cycles_find(struct tasks *, const size_t *next, size_t count);

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
/* "lock B": the awaited object. */
void task_object(const struct tasks *, const struct task *, char to[192]);
/* The name, or "#7", or its address. */
void task_title(const struct tasks *, const struct task *, char to[64]);

/* --------------------------------------------------------- task_snapshot -- */

struct call;
struct notes;
/* Changes bytes that a memory keeps. */
typedef void tasks_put(struct memory *, uint64_t address,
                       const unsigned char *from, size_t size);

/* Reads the tasks of a call's source, if it has any, through a memory that
 * keeps all read bytes. Notes each thread and task, and lets the memory keep
 * their stacks. A task that ran in between has no note. */
void tasks_save(struct call *, struct memory *keeper, tasks_put *,
                struct notes *);
