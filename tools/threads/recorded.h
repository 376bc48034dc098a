/* recorded.h - threads and locks as `recorder run` recorded them. */
/* SPDX-License-Identifier: MIT */
/*
   Headings name the events (run/events.h); readers take their arguments by
   position. A cell (thread_self, thread_now, thread_held, thread_calls,
   lock_total) has the last state; the other recorders are rings, whose oldest
   records may be overwritten.
*/
#pragma once

#include "threads.h"

enum { HOLDS_MAX = 6, CHAIN_MAX = 6 };
#define NS_UNKNOWN RECORDER_TIME_UNKNOWN_

struct hold {
    uint64_t object, site;
    uint64_t stack; /* that took it, or 0: only the call is known */
    uint64_t life; /* of a chain: the number of earlier locks at the address */
    bool reads;
};

/* The lock in a word of a record, whose lowest bit says that it is read. */
static inline struct hold hold_of(uint64_t word, uint64_t site, uint64_t stack)
{
    return (struct hold){.object = word & ~(uint64_t)1,
                         .site = site,
                         .stack = stack,
                         .reads = word & 1};
}

/* A thread's past, and its present as far as it was recorded. */
struct past {
    unsigned number; /* T1 */
    int32_t id;
    char name[17];
    bool is_named; /* by recorder_thread_name() */
    bool has_self; /* its record in thread_self was read */
    bool joined;
    bool is_made;         /* by pthread_create: these are known */
    unsigned maker;       /* the number of the thread that made it */
    uint64_t after;       /* earlier records of the maker have lower sequence
                     * numbers */
    unsigned forked_from; /* its number in the parent; 0: none */
    uint64_t start, argument, first; /* function; a word at the argument */
    uint64_t made_at;                /* site */
    uint64_t made_stack, stack_bytes;
    uint64_t handle;     /* its pthread_t */
    uint64_t stack_high; /* where its stack ends; 0: unknown */
    int64_t made_ns, ended_ns;
    bool ended;
    struct hold holds[HOLDS_MAX];
    uint64_t held_stacks[2]; /* of these, in 16 bits each */
    unsigned holds_count; /* HOLDS_MAX: there may be more */
    bool waits;           /* and these say for what */
    uint64_t wait_order;  /* of the record of the wait */
    struct wait wait;
    uint64_t wait_stack, wait_site;
    int64_t wait_ns; /* when it began */
    uint64_t locks;  /* that it took */
    char *call;      /* of libc, "read", in which it may be, */
    int32_t call_fd; /* its descriptor, below 0: none, */
    int64_t call_ns; /* since then, unless it has a later record: */
    int64_t last_ns;
    bool has_calls;
    bool is_parents; /* a thread of the process that forked this one */
    size_t heir;     /* 1 + the past of the thread that continues it; 0: none */
    size_t index;    /* among the threads; THREAD_NONE */
    size_t span;     /* 1 + the one that has begun; 0: none */
};

/* A wait, begun and ended. */
struct span {
    size_t past;
    enum wait_kind kind;
    uint64_t object, stack, site;
    int64_t begin_ns, end_ns; /* NS_UNKNOWN: not in the records */
    unsigned by;              /* the thread that ended it; 0: unknown */
    int64_t given_ns;         /* when that thread did; or NS_UNKNOWN */
    int64_t first_ns; /* when another may have, as the first; or NS_UNKNOWN */
    int32_t holder_id;        /* of a lock, at the beginning; 0: unknown */
    int32_t result;           /* an errno */
    char *call;               /* of WAIT_CALL: "read 5 /tmp/file" */
    int64_t returned;         /* by the call, */
    uint64_t asked;           /* this number of bytes or descriptors */
};

struct total {
    uint64_t object;
    enum wait_kind kind;
    uint64_t taken, waited, longest_at; /* taken: 0, unless it was counted */
    uint64_t ns, longest_ns;
};

/* A thread's end, for which another one waited. */
struct join {
    size_t past, by;
    uint64_t order; /* later orders of `by` are after the join */
};

/* A lock that was taken while others were held. */
struct chain {
    uint64_t object, life, site, stack;
    uint64_t order; /* of the record */
    bool reads;
    size_t past;
    struct hold holds[CHAIN_MAX]; /* the newest first */
    unsigned holds_count;
};

struct stack {
    uint64_t number;
    uint64_t *frames; /* return addresses */
    unsigned count;
    bool has_snapshot; /* with more frames than these */
    uint64_t same;     /* the number of the first that has these frames */
    size_t first;      /* for recorded.c: the first stack of a hash */
};

/* A file of code, of a stack or a function. */
struct code_file {
    uint64_t start, end;
    char *path;
    unsigned char id[20]; /* its build-id */
    unsigned id_size;
};

struct recorded {
    struct reader reader; /* another reader has another selection */
    struct past *pasts;
    size_t pasts_count, pasts_max;
    struct ids numbers; /* of pasts */
    struct stack *stacks;
    size_t stacks_max;
    struct ids stack_ids;
    struct total *totals;
    size_t totals_count, totals_max;
    struct span *spans;
    size_t spans_count, spans_max;
    struct span *calls; /* of libc that took long */
    size_t calls_count, calls_max;
    struct chain *chains;
    size_t chains_count, chains_max;
    struct join *joins;
    size_t joins_count, joins_max;
    struct ids lives; /* of locks: 1 + the newest of each address */
    uint64_t *lives_of;
    size_t lives_max;
    struct code_file *files;
    size_t files_count, files_max;
    unsigned seen_most;        /* threads at once; there were more; or 0 */
    bool is_sandboxed;         /* the program, which made threads then */
    int64_t first_ns, last_ns; /* of waits: from when all are known */
    bool has_snapshots;        /* of stacks: see snapshots_extend() */
    bool is_other;             /* another version of the library recorded it */
};

/* Reads the records of a reader's program. Returns null without records, or
 * with *wrong set to the error. */
extern const char recorded_other[]; /* wrong: its events are not known here */
struct recorded *recorded_read(const struct reader *, const char **wrong);
/* Does the same for the recorders with these names only. */
struct recorded *recorded_look(const struct reader *, const char *names,
                               const char **wrong);
void recorded_free(struct recorded *);
/* True for a recording whose program called exit(); false of null. */
bool recorded_is_over(const struct recorded *);
/* The recorded thread of a number; null: unknown. After fork(), the child's
 * thread. */
struct past *recorded_past(const struct recorded *, unsigned number);
/* The past of a thread that continues: it, or its heir. */
size_t recorded_heir(const struct recorded *, size_t past);
/* Adds the files that the program opened after the source's list of files was
 * made. */
void recorded_files(const struct recorded *, struct source *);
/* The frames of a stack; null: it is not kept. */
struct stack *recorded_stack(const struct recorded *, uint64_t number);

/* The addresses of calls in a stack or, if it is not kept, of the site alone;
 * returns their number. */
unsigned recorded_frames(struct threads *, uint64_t number, uint64_t site,
                         uint64_t frames[FRAMES_MAX]);

/* ------------------------------------------------------------------ join -- */

/* Gives threads their pasts, and adds ended threads, or all threads to a source
 * without any. */
void recorded_join(struct threads *);
/* Gives recorded threads their waits, and finds the holders. */
void recorded_waits(struct threads *);
/* Looks at a running process again: true if recorded threads still wait, and if
 * one of them still holds the lock of another's wait. */
struct recorded *recorded_again(const struct threads *, const char *names);
bool recorded_still(const struct recorded *again, const struct thread *);
bool recorded_holds(struct threads *, const struct recorded *again,
                    const struct thread *waiting, const struct thread *holder);

/* ------------------------------------------------------------ contention -- */

/* A row of waits: for an object, at a place, or by a thread. */
struct contention {
    uint64_t key; /* an object, a stack, or the index of a past */
    enum wait_kind kind;
    bool is_stack;  /* of a place: `key` is one's number; else a site */
    uint64_t taken; /* 0, unless it was counted */
    uint64_t waited, ns, longest_ns;
    uint64_t longest_site, longest_stack; /* 0: unknown */
    uint64_t object; /* of a place: the awaited object, if always the same */
    size_t *waiting; /* threads that wait now, by index */
    size_t waiting_count, waiting_max;
    bool goes_on;        /* a recorded wait has not ended: */
    uint64_t goes_on_ns; /* the longest wait of all */
};
struct contentions {
    struct contention *all;
    size_t count, max;
    struct ids ids;
    int64_t end_ns; /* until when waits that have not ended are counted */
};
enum contention_by { BY_OBJECT, BY_SITE, BY_THREAD, BY_NONE };

/* Sums up the waits, the longest first; BY_NONE: objects for which threads wait
 * now, most threads first, which needs no recording. Sums by objects are exact; sums by
 * places and threads count the waits that are kept. */
void contention_find(struct contentions *, const struct threads *,
                     enum contention_by);
void contention_free(struct contentions *);
/* The wait of the first thread that waits for an object. */
static inline const struct wait *waited_for(const struct threads *threads,
                                            const struct contention *row)
{
    return &threads->all[row->waiting[0]].wait;
}

/* How many threads ran at once, and for how long. */
struct activity {
    int64_t *levels; /* ns, by how many ran; to be freed */
    size_t levels_count;
    int64_t begin_ns, end_ns;
    size_t alive, made, most;
    const struct recorder_figures_ *life; /* of thread_life; null: no record */
};
void activity_find(struct activity *, const struct threads *);

/* ----------------------------------------------------------------- order -- */

enum { CIRCLE_MAX = 5, CIRCLES_MAX = 100 };

/* A thread took a lock, holding another. */
struct taking {
    const struct chain *chain;
    unsigned held; /* which of the chain's */
};
struct circle {
    struct taking takings
        [CIRCLE_MAX]; /* each thread takes a lock that the next one holds */
    unsigned count;
    bool of_class; /* perhaps: it may be another lock of its place */
};
struct order {
    struct circle *circles;
    size_t count, max;
    bool more; /* the search was given up before its end */
};

/* Finds the circles. */
void order_find(struct order *, const struct recorded *);
void order_free(struct order *);
