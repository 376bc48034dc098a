/* switches.h - states of threads and processors, from records of switches. */
/* SPDX-License-Identifier: MIT */
/*
    reader_count(&call->reader);
    timeline_open(&timeline, call, option_value);
    struct switches s = {.timeline = &timeline, .until_ns = UINT64_MAX};
    switches_read(&s);
    // s.threads, s.interrupts, s.cpus
    switches_free(&s);

One state machine, for tables, exports and the page. It reads the records of
recorder_switch.h by their headings (kinds.c) and their four words: name and id
of the subject, processor | number << 8, and one more. Nothing is guessed, and
nothing has to come in pairs:

    A thread is UNKNOWN until a record names its state. `in` and `switch` end
    the run of the thread on that processor; without a reason in the record,
    that thread becomes UNKNOWN. A second `in` of the same thread counts
    nothing.
    `in k` is the kernel's, which records the end of each run but the last of a
    thread that ended: this run, and a run whose end was overwritten, took an
    UNKNOWN time.
    `out` of a thread without a known run sets its state, and makes the time
    since the thread's record before UNKNOWN, unless the state is the same. So
    does a second processor on which a thread appears: the end of its run on the
    first is not known. `ready` changes nothing for a thread that runs.
    BLOCKED lasts until `ready` or, without that record, until the thread runs.
    `exit` takes interrupts off until it finds its interrupt; interrupts nested
    in that one, and interrupts that are open at the end, took an UNKNOWN time.
    `exit` without `enter` counts nothing. Of more than 32 nested interrupts the
    outermost are forgotten.
    `enter`, `in` and `switch` end a sleep.
    An id that ended and comes back with another name is another thread.
    If rings overwrote records, all states begin after the last missing record.
    They end with the last record.
*/
#pragma once

#include "ids.h"
#include "timeline.h"

/* ----------------------------------------------------------------- kinds -- */

/* The words of headings of recorder_switch.h. */
enum kind {
    KIND_OTHER,
    KIND_SWITCH, /* the subject runs; how: the other thread left: b p e */
    KIND_IN,     /* it runs */
    KIND_OUT,    /* it left; how: b blocked, p stays ready, e has ended,
                  * s stopped */
    KIND_READY,
    KIND_SLEEP, /* of a processor, until an interrupt: */
    KIND_WAKE,
    KIND_ENTER, /* of an interrupt: */
    KIND_EXIT,
    KIND_OFF, /* of interrupts; how: + they were off before */
    KIND_ON,
    KIND_FAULTS, /* page faults of a thread; how: m memory, d disk */
    KINDS
};

/* Reads the kind of an event; *how: the letter after it, or 0. Unknown words
 * are skipped. */
enum kind kind_of(const char *words, char *how);
/* "in": the word of a kind. */
const char *kind_word(enum kind);

/* -------------------------------------------------------------- switches -- */

enum switches_state {
    SWITCHES_UNKNOWN,
    SWITCHES_RUNNING,
    SWITCHES_READY,
    SWITCHES_BLOCKED,
    SWITCHES_ENDED,
    SWITCHES_STATES
};
enum { SWITCHES_NAME_MAX = 41, SWITCHES_NESTED_MAX = 32, SWITCHES_CPUS = 256 };

struct switches_thread {
    uint32_t row; /* of a page that follows: it has this thread there */
    uint64_t id;
    uint64_t named; /* address of its name; 0: none */
    char name[SWITCHES_NAME_MAX];
    char shown[SWITCHES_NAME_MAX + 65]; /* its name, or its id; both, where
                                         * several have that name */
    unsigned number;                    /* RECORDER_THREAD's; 0: none */
    struct timeline_lane *lane;         /* for an export */
    size_t index;
    enum switches_state state; /* at the end, and since when */
    uint64_t since;
    uint64_t ended; /* when, the last time */
    unsigned cpu;
    bool woken;
    bool stopped; /* BLOCKED by a signal or a debugger */
    bool told;    /* a record will end this run: `in k` */
    bool gone;    /* the thread has ended, as its row says */
    /* In the window: */
    uint64_t ns[SWITCHES_STATES];
    uint64_t runs, blocked, preempted;
    uint64_t longest_run, longest_wait, longest_wake;
    bool waited, wakes; /* some wait ended; some after `ready` */
};

struct switches_interrupt {
    uint64_t id;
    uint64_t named;
    char name[SWITCHES_NAME_MAX];
    uint64_t count, ns; /* ns: without those nested in it */
    uint64_t longest;   /* with them */
    uint64_t unknown_ns;
};

struct switches_cpu {
    struct switches_thread *runs; /* null: unknown */
    struct switches_nested {
        size_t interrupt;
        uint64_t since, inside; /* inside: ns of those nested in it */
    } nested[SWITCHES_NESTED_MAX];
    unsigned depth;
    bool asleep, sleeps; /* sleeps: by some record */
    uint64_t asleep_since;
    bool off, offs; /* interrupts are; offs: by some record */
    uint64_t off_since, off_end;
    /* In the window: */
    uint64_t threads_ns, idle_ns, interrupts_ns, off_ns;
    uint64_t off_count, off_longest;
    uint64_t off_caller;      /* of the longest */
    const char *off_location; /* of its record's format */
};

/* A time in which something did not change. */
enum switches_what {
    SWITCHES_THREAD,
    SWITCHES_INTERRUPT,
    SWITCHES_IDLE,
    SWITCHES_OFF
};
struct switches_slice {
    uint64_t begin, end; /* since the timeline's start */
    uint64_t sequence;
    size_t of; /* index of its thread or interrupt */
    enum switches_what what;
    enum switches_state state; /* of an interrupt: RUNNING, or UNKNOWN end */
    bool stopped;
    unsigned cpu, depth; /* depth: of an interrupt, from 0 */
};

struct switches {
    struct timeline *timeline; /* null: it follows a reader */
    struct reader *reader;
    uint64_t since_ns, until_ns; /* the window, since the timeline's start */
    bool keeps;                  /* slices, too */
    /* Set by switches_read(): */
    uint64_t begin_ns, end_ns; /* of known states, in the window; begin = end:
                                * there are none */
    bool any;                  /* there is a record of switches */
    struct switches_thread **threads;
    size_t threads_count;
    struct switches_interrupt *interrupts;
    size_t interrupts_count;
    struct switches_cpu *cpus[SWITCHES_CPUS]; /* null: in no record */
    struct switches_slice *slices;            /* by begin */
    size_t slices_count;
    /* switches.c's own: */
    struct ids ids, vectors;
    struct switches_thread **latest; /* by number of ids */
    size_t threads_max, interrupts_max, latest_max, slices_max;
    uint64_t now;
    struct switches_heard *heard; /* of a reader that is followed */
    size_t heard_count, heard_max;
    uint64_t newest, newest_before; /* of all takes, and but the last */
    uint64_t cut_ns;                /* when lasting states last got a slice */
    int64_t complete;               /* from when on the first take has all */
    size_t named;                   /* threads, when names were made */
};

/* Reads all events of the timeline, and goes back to its first. */
void switches_read(struct switches *);
/* Does the same with all slices, for an export, and gives each thread a lane of
 * the timeline. Does nothing without records of switches, or, after a
 * warning, if the call leaves out some threads. */
void switches_export(struct switches *, struct timeline *);
void switches_free(struct switches *);

/* The same for a reader that follows a program, take by take. Times are since
 * the program's start; slices are those since the caller set slices_count to 0.

    switches_follow(&s, reader);
    // of each take: switches_hear() for each event, then switches_heard()
*/
void switches_follow(struct switches *, struct reader *);
/* Copies the words of an event. `row`: of its thread, for the page. */
void switches_hear(struct switches *, const struct reader_event *,
                   uint32_t row);
/* Ends a take. Records older than the newest of the take before are complete,
 * as takes do not overlap, and are read by time; the others wait for the next
 * take unless `last`. Lasting states get a slice now and then. `gap`:
 * records are missing before this take, so all states become unknown. */
void switches_heard(struct switches *, bool gap, bool last);
/* Returns the name of a slice's thread or interrupt. */
const char *switches_slice_name(const struct switches *,
                                const struct switches_slice *, char to[64]);

/* Makes the name of a thread or interrupt: its id where it has none. */
const char *switches_name(const char *name, uint64_t id, char to[64]);
