/* compare.h - two sources of one program, and their differences. */
/* SPDX-License-Identifier: MIT */
/*
    compare_open(&compare, good_call, bad_call);   both taken
    compare_all(&compare);
    ... compare.findings, what tells most first ...
    compare_close(&compare);

WHAT IS COMPARED
    Formats are the same if recorder, text and place are; between two builds the
    line may be another. Threads go by name, those of one name by what they
    record, then by creation. The order of records counts within a thread only.

WHAT BOTH KEPT
    A ring that went round has lost what was first. So the sequence of a thread
    begins where all its rings still have all of it: a stream. Where rings reach
    back differently, each recorder has streams of its own besides. Where one
    source has lost its beginning, the other's streams begin where it has shown
    SETTLED records in a row that the first knows: what was overwritten there is
    neither new here nor gone there.

FLOORS (a file calls only files of lower floors)
    rates, sequences, values, times, threads    one kind of difference each
    findings                                    what was found, and its text
    streams                                     sequences that both kept
    history                                     all events of a source
    statistics
*/
#ifndef COMPARE_H
#define COMPARE_H

#include "command.h"
#include "ids.h"
#include "statistics.h"

enum compare_side { GOOD, BAD, SIDES };
#define COMPARE_NONE SIZE_MAX

/* ---------------------------------------------------------------- events -- */

struct compare_format {
    const char *text, *location; /* as in one of the sources */
    size_t recorder;
    uint64_t kept[SIDES];    /* events */
    uint64_t watched[SIDES]; /* in streams */
    size_t first[SIDES];     /* event, of those watched */
    size_t same;             /* another build's line of it, or COMPARE_NONE */
};

struct compare_recorder {
    const char *name;
    bool cut[SIDES];                          /* its beginning is missing */
    uint64_t first_ns[SIDES], last_ns[SIDES]; /* of the watched part */
};

struct compare_value {
    uint64_t word; /* a real's bits; a string's number among compare.strings */
    unsigned char kind; /* of struct reader_argument */
};

struct compare_event {
    uint64_t order, ns; /* since the source's first event */
    uint32_t format, thread;
    uint32_t values, ring; /* where its arguments begin in history.values */
    uint8_t count;         /* of arguments */
};

struct compare_span {
    size_t event; /* that opened it */
    uint64_t ns;
};

struct compare_thread {
    char name[32];
    unsigned number;
    size_t first, last; /* events */
    uint64_t count;
    uint64_t longest_ns; /* silence between two of its records */
    size_t match;        /* of the other side; COMPARE_NONE */
    size_t departs;      /* first event that departs; COMPARE_NONE */
};

/* Event `i` of a source is the i-th that timeline_next() gave. */
struct history {
    struct call *call;
    struct compare_event *events;
    size_t count, max;
    struct compare_value *values;
    size_t values_count, values_max;
    struct compare_span *spans;
    size_t spans_count, spans_max;
    struct compare_thread *threads;
    size_t threads_count;
    uint64_t length_ns;
    struct ids rings; /* (recorder, lane) */
    uint64_t *oldest; /* order, by ring */
    size_t oldest_max;
    bool cut; /* a ring, or a selection */
    uint64_t overwritten;
    unsigned char build[64]; /* id of the program's file */
    size_t build_size;
};

/* --------------------------------------------------------------- streams -- */

/* A sequence of a thread: of all its events, or of one recorder's. */
struct stream {
    size_t kind; /* 0: all; 1 + recorder */
    size_t thread;
    uint32_t *events;
    size_t count, max;
};
struct streams {
    struct stream *all;
    size_t count, max;
};

/* -------------------------------------------------------------- findings -- */

enum finding_kind {
    FINDING_NEW,
    FINDING_GONE,
    FINDING_ORDER,
    FINDING_SHARE,
    FINDING_RATE,
    FINDING_VALUE,
    FINDING_RANGE,
    FINDING_GROWS,
    FINDING_SLOW,
    FINDING_COUNT,
    FINDING_THREAD,
    FINDING_ENDS,
    FINDINGS
};
struct finding {
    enum finding_kind kind;
    double score; /* how much it tells, from 0 to 100 */
    double p;     /* below 0: none was computed */
    bool weak;    /* so seldom that it may be chance */
    size_t format, other; /* formats; COMPARE_NONE */
    int argument;         /* from 0; -1: none */
    double good, bad;     /* figures that the text has */
    size_t event[SIDES];  /* the event to show records around; COMPARE_NONE */
    size_t place;         /* of BAD's event, in its thread's stream */
    char *text;
};

struct compare {
    struct history of[SIDES];
    struct ids format_ids, recorder_ids, string_ids;
    struct compare_format *formats;
    size_t formats_count, formats_max;
    struct compare_recorder *recorders;
    size_t recorders_count, recorders_max;
    char **strings; /* null: one of too many */
    size_t strings_count, strings_max;
    bool other_build;
    bool apart; /* recorders have separate streams, too */
    struct streams streams[SIDES];
    uint32_t *listed[SIDES];  /* watched events, by format */
    size_t *listed_at[SIDES]; /* where each format's begin; one more */
    size_t *before;           /* the format that mostly comes before each */
    struct finding *findings;
    size_t findings_count, findings_max;
    size_t strong_count; /* of them, not weak */
};

/* ----------------------------------------------------------------- calls -- */

void compare_open(struct compare *, struct call *good, struct call *bad);
void compare_all(struct compare *);
void compare_close(struct compare *);

/* history.c: reads all events of a side. */
void history_read(struct compare *, enum compare_side);
void history_close(struct history *);
/* After both: pairs formats of two builds. */
void history_pair_formats(struct compare *);

/* streams.c: makes the streams of both sides, and counts their events. */
void streams_make(struct compare *);
void streams_free(struct compare *);

/* threads.c: pairs threads, once streams are made. */
void threads_match(struct compare *);

/* Each adds its findings. */
void rates_find(struct compare *);
void sequences_find(struct compare *);
void values_find(struct compare *);
void times_find(struct compare *);
void threads_find(struct compare *);

/* findings.c */
/* "net: "%d bytes" net.c:12", escaped, valid for three calls more. */
const char *finding_site(const struct compare *, size_t format);
/* `"%d bytes"`, the same. */
const char *finding_format(const struct compare *, size_t format);
/* A text among compare.strings, the same. */
const char *finding_string(const struct compare *, size_t string);
/* "1.5 ms", of nanoseconds; "12.25"; "41%": valid for seven calls more. */
const char *finding_time(double ns);
const char *finding_number(double);
const char *finding_share(double part, double whole);
/* "once", "12 times". */
const char *finding_times(double);
/* "p < 1e-9". */
const char *finding_p(double p);
/* Adds one whose text is this. */
void finding_add(struct compare *, struct finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A finding of a kind, with nothing known. */
struct finding finding_of(enum finding_kind, double score, size_t format);
/* The score of a p-value, up to `most`. */
double finding_score(double p, double most);
/* "new", "order": the kind's name. */
const char *finding_kind_name(enum finding_kind);

#endif
