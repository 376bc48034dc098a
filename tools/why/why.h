/* why.h - why a span took its time: parts that add up to it. */
/* SPDX-License-Identifier: MIT */
/*
A thread's time has states, of records of switches (tools/export), and waits, of
records of `recorder run` (tools/threads). The reason of a blocked thread is its
wait, whose parts are the other thread's in the same time.

FLOORS (a file calls only files of lower floors)
    words     parts as text and as JSON
    parts     the parts of a time of a thread, which add up to it
    tracks    threads: their spans, states and waits by time
*/
#pragma once

#include "offer.h"
#include "recorded.h"
#include "switches.h"

#include <regex.h>

/* Times are nanoseconds since the timeline's start. */
struct why_piece {
    uint64_t begin, end;
    const struct span *of; /* a wait; or null, and a state: */
    enum switches_state state;
    bool stopped, disk; /* BLOCKED by a signal or a debugger, by a page fault */
    unsigned cpu, faults; /* faults: of memory, in this time */
    uint64_t ran;         /* ns of this time that the thread was on a CPU */
    size_t track;
};
struct why_mark {
    uint64_t ns, order; /* of a record */
};
/* Elements that are sorted by their first members, and do not overlap. */
struct why_list {
    void *at;
    size_t count, max;
};
struct why_track {
    struct timeline_lane *lane;
    struct why_list waits, states, marks, faults;
    uint64_t faulted;     /* the last record of page faults of memory: time, */
    unsigned faulted_cpu; /* processor */
};
struct why_span {
    uint64_t ns, begin, order, end_order;
    size_t track;
    const struct reader_recorder *recorder; /* null: the life of a thread */
    const char *name; /* "net: request"; one pointer for each name */
};
struct why {
    struct call *call;
    struct threads *threads; /* null: there are no records of waits */
    struct timeline timeline;
    struct switches switches;
    struct why_track *tracks;            /* by the lanes of the timeline */
    struct why_list cpus[SWITCHES_CPUS]; /* states in which a thread ran */
    struct why_list gains; /* waits that ended; `begin` is the end */
    struct offer names;    /* of all spans that were closed */
    struct why_list spans; /* the chosen ones, the longest first */
    unsigned column;       /* which ns of rows why_parts() adds to */
};

/* A REGEX for the titles or messages of spans. */
struct why_regex {
    const char *text; /* null: all spans */
    regex_t compiled;
};
/* Reads the spans that the call's selection and a REGEX choose, and all else;
 * after call_take(). */
void why_open(struct why *, struct call *, struct threads *,
              const struct why_regex *);
void why_close(struct why *);
/* Returns the track of a thread by its number; null: it is not known. */
const struct why_track *why_track(const struct why *, unsigned number);
/* Converts a time since the program's start; UINT64_MAX: it is not known. */
uint64_t why_time(const struct why *, int64_t ns);

enum why_kind {
    WHY_RAN,
    WHY_READY,  /* waited for a processor; its rows: the threads there, */
    WHY_THREAD, /* of the program, */
    WHY_OTHERS, /* or other programs */
    WHY_WAIT,   /* its rows: the parts of the other thread */
    WHY_BLOCKED,
    WHY_UNKNOWN,
    WHY_FAULTS, /* ran, and took page faults */
    WHY_DISK,   /* was blocked by a page fault */
    WHY_STOPPED
};

/* Parts of one reason. Column 0 is of one span or of several usual ones, 1 of
 * the slowest. */
struct why_row {
    enum why_kind kind;
    const struct span *of;                 /* the longest wait; or null */
    const struct why_track *track, *other; /* whose; holder, signaller */
    uint64_t ns[2], longest, count;
    double faults;
    bool several, others; /* calls or locks that are alike; holders that are */
    bool tracks;          /* parts of several threads */
    struct why_mark first, last; /* the records around the longest part */
    struct why_row *rows;
    size_t rows_count, rows_max;
};
/* Adds the parts of a span to a row's rows. */
void why_parts(struct why *, struct why_row *, const struct why_span *);
void why_free(struct why_row *);

/* Returns "app: request 7", with the message that opens a span; to be freed. */
char *why_title(const struct reader_event *, const char *message);
void why_show(struct why *, const struct why_span *, bool json);
/* If a span is the longest of its name: shows the parts of the slowest 1 % of
 * that name and of the spans near the median. */
void why_compare(struct why *, const struct why_span *first, bool json);
