/* compare.h - good runs of one program and a bad one, and their differences. */
/* SPDX-License-Identifier: MIT */
/*
    compare_open(&compare, calls, count);   all taken; the last is of BAD
    compare_all(&compare);
    ... compare.findings, the most telling first ...
    compare_close(&compare);

WHAT IS COMPARED
    docs/diff.md lists it. The events of all good runs are one side.

WHAT BOTH KEPT
    A ring that went round has lost its first records. So the sequence of a
    thread begins where all its rings have all of it; the records before are
    sequences of one recorder each. If a side was cut, records that only the
    other side has count after SETTLED records in a row that both have.

FLOORS (a file calls only files of lower floors)
    exact, sequences, values, times,
    threads, counts                             one kind of difference each
    rules                                       the table of them: statistic,
                                                threshold, sentence
    findings                                    differences, and their texts
    streams                                     sequences that both sides kept
    history                                     all events of a side
*/
#pragma once

#include "array.h"
#include "command.h"
#include "texts.h"
#include "timeline.h"

enum compare_side { GOOD, BAD, SIDES };
#define COMPARE_NONE SIZE_MAX
#define CPU_UNKNOWN UINT64_MAX

/* ---------------------------------------------------------------- events -- */

/* See naming.c. */
enum naming { NAMING_NONE, NAMING_NULL, NAMING_NAME, NAMING_CHANCE };
struct compare_format {
    const char *text, *location; /* as they are in one of the sources */
    struct call *call; /* of its first event, and the caller of that */
    uint64_t caller;
    size_t recorder;
    bool scheduler;          /* it is of recorder run: its values are chance */
    bool idle;               /* and a wait, but for no lock */
    uint64_t kept[SIDES];    /* events */
    uint64_t watched[SIDES]; /* in sequences */
    size_t first[SIDES];     /* event, of the watched ones */
    size_t same;             /* another build's line of it, or COMPARE_NONE */
    const char *names[12];   /* "bytes" of "bytes=%d", or null */
    enum naming naming[12];
};

struct compare_recorder {
    const char *name;
    bool cut[SIDES]; /* the first records are missing */
    bool scheduler;  /* it is of recorder run */
};

struct compare_value {
    uint64_t word; /* a real's bits; a string's number among compare.strings */
    unsigned char kind;   /* of struct reader_argument */
    unsigned char naming; /* by its value: enum naming */
};

/* A chain is the records of a thread, from its newest back. Back to the last
 * missing record it has all records; older records of one recorder only. The
 * records of recorder run are another chain. */
enum chained { CHAIN_NONE, CHAIN_OWN, CHAIN_ALL };
#define CHAIN_END UINT32_MAX
struct compare_event {
    uint64_t order, ns; /* since the run's first event */
    uint64_t cpu_ns;    /* its thread's time on CPUs; CPU_UNKNOWN */
    uint32_t format, thread;
    uint32_t values, ring; /* its arguments begin there in history.values */
    uint32_t before;       /* event, or CHAIN_END */
    uint32_t named;        /* the one before of its thread and name */
    uint32_t next;         /* the format that follows */
    uint8_t count;         /* of arguments */
    uint8_t chain;         /* enum chained */
};

struct compare_span {
    size_t event, end; /* that opened it, that ended it */
};

struct compare_thread {
    char name[32];
    unsigned number, run;
    size_t first, last; /* events */
    uint64_t count;
    size_t role;
};

struct compare_run {
    struct call *call;
    size_t first, end; /* events */
    struct timeline timeline;
    size_t threads; /* the first of this run */
};

/* Event `i` of a run is the i-th that timeline_next() gave. */
struct history {
    struct compare_run *runs;
    size_t runs_count;
    struct compare_event *events;
    size_t count, max, of_run; /* of_run: events of recorder run */
    struct compare_value *values;
    size_t values_count, values_max;
    struct compare_span *spans;
    size_t spans_count, spans_max;
    struct compare_thread *threads;
    size_t threads_count;
    struct ids rings; /* (recorder, lane, run) */
    uint64_t *oldest; /* order, by ring */
    size_t oldest_max;
    bool cut; /* a ring, or a selection */
    uint64_t overwritten;
    unsigned char build[64]; /* id of the program's file */
    size_t build_size;
};

/* -------------------------------------------------------------- findings -- */

/* A row of the table in rules.c. */
enum rule {
    RULE_EXACT,
    RULE_NEW,
    RULE_GONE,
    RULE_ORDER,
    RULE_SHARE,
    RULE_NAN,
    RULE_VARIES,
    RULE_STUCK,
    RULE_VALUE,
    RULE_PART,
    RULE_FAR,
    RULE_DRIFT,
    RULE_LEVEL,
    RULE_SPREAD,
    RULE_MACHINE,
    RULE_SLOW,
    RULE_SLOWS,
    RULE_PASSES,
    RULE_LATE,
    RULE_THREAD,
    RULE_ENDS,
    RULE_ONCE,
    RULE_COUNT,
    RULES
};
struct finding {
    enum rule rule;
    double score;         /* how much it tells */
    double size;          /* the effect, in units of its threshold */
    bool weak;            /* so seldom that it may be chance */
    size_t format, other; /* formats; COMPARE_NONE */
    int argument;         /* from 0; -1: none */
    double good, bad;     /* figures that the text has */
    size_t event[SIDES];  /* records around it are shown; COMPARE_NONE */
    size_t cause;         /* 1 + the cause whose consequence it is; 0: none */
    size_t place;         /* of a cause, from 1 */
    size_t skips[SIDES];  /* at a departure, records that only this side has */
    char *text;
};

/* How long a span, or a step from a record to the next, takes. */
struct compare_time {
    size_t from, to; /* formats; of a span, `to` is COMPARE_NONE */
    double count[SIDES], median[SIDES], high[SIDES], total[SIDES]; /* ns */
    double cpu[SIDES]; /* ns on CPUs of a pass, in the mean; NAN: unknown */
    bool waits;        /* may be, for other threads */
    const char *verdict;
};

struct compare {
    struct history of[SIDES];
    struct ids format_ids, recorder_ids, known_ids;
    size_t *known; /* formats, by the addresses of texts */
    size_t known_max;
    struct texts texts, strings; /* strings: of arguments */
    struct compare_format *formats;
    size_t formats_count, formats_max;
    struct compare_recorder *recorders;
    size_t recorders_max;
    bool other_build, exact;  /* exact: any departure is a difference */
    bool threaded;            /* BAD has several threads, or waits for others */
    uint32_t *listed[SIDES];  /* watched events, by format */
    size_t *listed_at[SIDES]; /* where each format's begin; one more */
    size_t roles_count;
    struct compare_time *times;
    size_t times_count, times_max;
    struct finding *findings;
    size_t findings_count, findings_max;
    size_t findings_causes; /* the first of them; the rest are consequences */
    size_t strong_count;    /* causes that are not weak */
};

/* ----------------------------------------------------------------- calls -- */

void compare_open(struct compare *, struct call *calls, size_t count);
void compare_all(struct compare *);
void compare_close(struct compare *);

/* history.c: adds all events of a call to a side. */
void history_read(struct compare *, enum compare_side, struct call *);
void history_close(struct history *);
/* After all: pairs formats of two builds. */
void history_pair_formats(struct compare *);

/* The i-th argument of an event. */
static inline const struct compare_value *history_value(const struct history *h,
                                                        size_t event, size_t i)
{
    return &h->values[h->events[event].values + i];
}
static inline size_t history_run(const struct history *h, size_t event)
{
    return h->threads[h->events[event].thread].run;
}
static inline double compare_number(const struct compare_value *v)
{
    double real;
    if (v->kind == READER_UNSIGNED)
        return (double)v->word;
    if (v->kind != READER_REAL)
        return (double)(int64_t)v->word;
    memcpy(&real, &v->word, sizeof real);
    return real;
}

static inline double compare_odds(double part, double whole)
{
    return (part + 0.5) / (whole - part + 0.5);
}

/* streams.c: makes the chains of both sides, and lists the watched events. */
void streams_make(struct compare *);

/* threads.c: gives threads their roles, once chains are made. */
void threads_match(struct compare *);

/* Each adds the differences that it finds. */
void exact_find(struct compare *);
void sequences_find(struct compare *);
void rates_find(struct compare *);
void values_find(struct compare *);
void times_find(struct compare *);
void counts_find(struct compare *);
void threads_find(struct compare *);

/* naming.c: an argument is a name (of a process, a thread, an address, a
 * descriptor) by its value or by its name; or its name says that it differs
 * from run to run, as a time does. */
enum naming naming_of(const char *name, const char *format, unsigned argument);
enum naming value_naming(const struct compare *, enum compare_side,
                         size_t event, unsigned argument);
/* After the events are listed: arguments that are opened in one format and
 * closed in another, as descriptors are, become names. */
void naming_find_handles(struct compare *);
/* True if the words around an argument tell that it is a queue's length. */
bool naming_is_gauge(const struct compare_format *, unsigned argument);
/* True if a format says that its thread waits. */
bool naming_is_wait(const struct compare_format *);
/* Notes the naming of a value by itself; `text`: of a string. */
void naming_keep(struct call *, struct compare_value *, const char *text);

/* times.c: how many steps from a format to another may wait; COMPARE_NONE: any
 * format. */
size_t times_waits(const struct compare *, size_t from, size_t to);
/* "step from net: ... to disk: ...", "span net: ...". */
const char *time_text(const struct compare *, const struct compare_time *);

/* findings.c */
/* Prints a text, which is valid for some 50 calls more of this and of the
 * functions below. */
__attribute__((format(printf, 1, 2))) const char *
finding_text(const char *format, ...);
/* "net: "%d bytes" net.c:12", escaped. */
const char *finding_site(const struct compare *, size_t format);
/* `"%d bytes"`. */
const char *finding_format(const struct compare *, size_t format);
/* The name of a thread. */
const char *finding_name(const char *);
/* "bytes of net: ...", "argument 2 of net: ...". */
const char *finding_argument(const struct compare *, size_t format, unsigned);
/* A value as a text. */
const char *finding_value(const struct compare *, const struct compare_value *);
/* "1.5 ms", of nanoseconds; "12.25"; "41%". */
const char *finding_time(double ns);
const char *finding_number(double);
const char *finding_share(double part, double whole);
/* "once", "12 times". */
const char *finding_times(double);
/* A finding with the figures of both sides; its events are the first ones. */
struct finding finding_of(const struct compare *, enum rule, double size,
                          size_t format, double good, double bad);
/* Adds a finding; its text is the rule's sentence with these arguments. */
void finding_add(struct compare *, struct finding, ...);

/* --------------------------------------------------------------- rules.c -- */

/* None of `of_b`, where there were `a` of `of_a`: Fisher's exact test. */
double statistics_none(double a, double of_a, double of_b);

struct rule_row {
    const char *name;     /* "new", "order": as the output has it */
    double score;         /* how much a finding tells, at its threshold */
    double effect;        /* the least effect, in the unit of the statistic */
    double noise;         /* ... and as a multiple of GOOD's and BAD's blocks */
    const char *sentence; /* of printf, for finding_add() */
};
extern const struct rule_row rule_rows[RULES];

/* A number that was recorded, and its event. */
struct point {
    double x;
    uint32_t event, run;
};
struct points {
    struct point *at;
    size_t count, max;
};
void points_add(struct points *, double x, size_t event, size_t run);

/* The blocks of a side's points, up to BLOCKS of each run, as figures. */
struct level {
    double count, mean, wander;   /* of the blocks' means: their deviation */
    double spread, spread_wander; /* mean of log(deviation in a block) */
    double drift;     /* the largest from a quarter to a later one */
    double deviation; /* of all points */
    double least, most, run_least, run_most; /* of points; of runs' means */
    double blocks, trend; /* trend: the least correlation of blocks with time */
};
/* False: there are too few points to tell. */
bool level_of(const struct points *, struct level *);
/* How many thresholds of a rule apart two levels are: >= 1 is a difference. */
double rule_size(enum rule, const struct level *good, const struct level *bad,
                 double unit);
/* The same of points that are 1 or 0, which it frees; 0 if they are too few. */
double rule_size_parts(enum rule, struct points of[SIDES],
                       struct level to[SIDES]);
/* The same of the levels of a format's watched events: 1 where an argument is a
 * word (`what`), or, if `argument` is -1, where that format follows; else 0. */
double rule_size_where(const struct compare *, enum rule, size_t format,
                       int argument, uint64_t what, struct level to[SIDES]);
