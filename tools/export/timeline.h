/* timeline.h - events by time, in spans, with values: for exports and views. */
/* SPDX-License-Identifier: MIT */
/*
    timeline_open(&timeline, call, option_value);
    while (timeline_next(&timeline, &event))
        ...
    // timeline.lanes[i]->spans[0 to depth-1] are open at the end

SPANS   A record whose format starts with '>' opens a span of its thread; one
        that starts with '<' closes the innermost of the same thread, recorder
        and name (spans.h). The span of an interrupt (kinds.c) has its name. As
        viewers nest spans, spans opened in between end there, too: they are
        cut, but their '<' still finds them later. A '<' without a '>' closes
        nothing: the '>' was overwritten. A span that is open at the end ends
        with its thread, or with the last record.
VALUES  --value RECORDER:N=NAME makes argument N, if it is a number, a value of
        each recorder whose name matches; RECORDER:bytes does so with the
        argument of "bytes=%d".
TIME    A record without a known time gets the time of the record before.
*/
#pragma once

#include "command.h"
#include "spans.h"

/* ----------------------------------------------------------------- value -- */

/* --value RECORDER:N=NAME or RECORDER:FIELD: an argument that is drawn as a
 * plot. */
struct value_option {
    char *names;       /* extended regular expression for whole names */
    unsigned argument; /* from 0 */
    char *field;       /* the name in the format, in place of it; or null */
    char *name;        /* NAME, or "argument 2", or the field */
};

/* Parses the option; RECORDER may hold colons. If it cannot be parsed, that is
 * misuse. */
void value_open(const struct call *, const char *option, struct value_option *);
void value_close(struct value_option *);
/* Finds the argument of a value in an event's arguments; `count` if it has
 * none. */
unsigned value_place(const char *field, unsigned argument,
                     const struct reader_argument *, unsigned count);
#define VALUE_UNKNOWN "--value %s: no recorder has that name"
/* Reports a value that no record of the recorder has, and ends the command,
 * unless another source may have the value. */
void value_lacks(const struct call *, bool another, const char *recorder,
                 const char *field, unsigned argument, const char *name);

/* True if an argument can be drawn; *value is its value. */
bool value_is_number(const struct reader_argument *);
double value_number(const struct reader_argument *);

/* -------------------------------------------------------------- timeline -- */

struct timeline_span {
    const char *name; /* the opening format after its '>' */
    const char *pair; /* the name that its end must have: spans_name() */
    size_t pair_size;
    const struct reader_recorder *recorder;
    uint64_t order, ns; /* of the record that opened it */
    size_t depth;
};

/* A line of a timeline: a thread, or all threads of one number that are not
 * known any more. */
struct timeline_lane {
    const struct reader_thread *thread; /* null: unknown */
    unsigned number;                    /* 0: unknown, too */
    size_t index;                       /* in timeline.lanes */
    uint32_t id; /* the kernel's, or one of ours that no other lane has */
    char name[32];
    bool silent; /* recorded nothing; other records name it */
    const struct switches_thread *thread_of; /* of switches.h; or null */
    struct timeline_span *spans; /* the open ones, outermost first */
    size_t depth, spans_max;
    struct timeline_span *cut; /* ended by another span's close */
    size_t cut_count, cut_max;
    int64_t last_ns; /* of its last record, since the program's start */
    bool noted;      /* it has one with a known time */
};

struct timeline_value {
    size_t recorder;    /* its index in the reader */
    unsigned argument;  /* from 0 */
    char *field;        /* the name in the format, in place of it; or null */
    char *name;         /* of the argument */
    char *label;        /* differs between recorders */
    const char *option; /* several recorders may have its value */
    bool seen;
};

struct timeline_event {
    struct reader_event read;
    uint64_t ns; /* since timeline.start_ns */
    struct timeline_lane *lane;
    size_t recorder;               /* its index in the reader */
    const char *format, *location; /* never null */
    struct reader_argument arguments[12];
    unsigned arguments_count;
    bool opens;    /* the last of lane->spans */
    size_t closed; /* number of spans that end, at lane->spans[lane->depth]: the
                    * first is this record's, the others are cut */
    const struct timeline_span *ended; /* its own, which may have been cut
                                        * before; null: none */
    enum spans_step step;     /* of an asynchronous span, or SPANS_NONE: */
    struct spans_async async; /* that, with this step */
    bool was_open;            /* before it */
    struct timeline_lane *by; /* the thread that ended this wait; or null */
};

struct timeline {
    struct call *call;
    int64_t start_ns;     /* of the first event, since the program's start */
    uint64_t length_ns;   /* from there to the last */
    uint64_t later_ns;    /* of several: from the first's start to its own */
    uint64_t realtime_ns; /* at start_ns, since 1970; 0: unknown */
    struct timeline_lane **lanes;
    size_t lanes_count;
    struct timeline_value *values;
    size_t values_count;
    struct spans_asyncs asyncs;
    bool switches; /* there are records of switches: switches.h */
    struct timeline_inside *inside; /* timeline.c's own */
};

/* Values of `value_key` for verbs without --value. The second warns of no
 * records whose time is unknown. */
enum { TIMELINE_PLAIN = -1, TIMELINE_QUIET = -2 };
/* After reader_take(). `value_key` is the option --value of the verb. */
void timeline_open(struct timeline *, struct call *, int value_key);
/* Gets the next event, by (time, order). Its pointers are valid until the next
 * call, formats and locations until the end. */
bool timeline_next(struct timeline *, struct timeline_event *);
/* Gets no more than the event and its time, since timeline.start_ns. */
bool timeline_read(struct timeline *, struct reader_event *, uint64_t *ns);
/* Goes back to the first event. */
void timeline_rewind(struct timeline *);
void timeline_close(struct timeline *);

/* Opens a timeline for each of a list of calls, and sets their later_ns: a
 * source without a date begins with the first. *count: how many. */
struct timeline *timelines_open(struct call *calls, int value_key,
                                size_t *count);
void timelines_close(struct timeline *, size_t count);

/* True if a recorder has records of switches. */
bool timeline_says(const struct timeline *, size_t recorder);
/* Returns the time since the timeline's start from which on no record of
 * switches is missing. After reader_count(). */
uint64_t timeline_complete(const struct timeline *);
/* Returns the lane of the thread that had a number last; null: there is
 * none. */
struct timeline_lane *timeline_lane(const struct timeline *, unsigned number);
/* Adds the lane of a thread that recorded nothing, and is known by this id. */
struct timeline_lane *timeline_lane_add(struct timeline *, uint64_t id,
                                        const char *name);

/* Returns when the spans that are open at the end of a lane end: with its
 * thread, or with the last record of all. */
uint64_t timeline_lane_end(const struct timeline *,
                           const struct timeline_lane *);
/* Returns the name of the span that an event opens: its format, or the subject
 * of an interrupt's. */
const char *timeline_opened(const struct timeline_event *);
/* Returns the format or message of a span without its '>' or '<'. */
const char *timeline_span_name(const char *text);
/* Returns the name of a span in tables: one of no characters is its format. */
const char *timeline_span_title(const struct timeline_span *, size_t *size);

/* Adds the values of an option --value; warns of values that no event had, and
 * frees them: for timeline_open() and timeline_close(). */
void timeline_values_open(struct timeline *, const char *option);
void timeline_values_close(struct timeline *);
/* Returns the argument that is a value in this event, or null. */
const struct reader_argument *timeline_value(const struct timeline_value *,
                                             const struct timeline_event *);
/* Returns the name of argument `i`: the NAME of --value, that which its format
 * gives it, or "arg1". */
const char *timeline_name(const struct timeline *,
                          const struct timeline_event *, unsigned i);

/* Returns "40 records overwritten, 2 lost" of a recorder, or null if there are
 * none. *ns: the end of that gap, since the timeline's start. */
const char *timeline_gap(const struct timeline *, size_t recorder,
                         uint64_t *ns);
