/* absence.h - conditions on missing, too frequent and too long records. */
/* SPDX-License-Identifier: MIT */
/*
    net: silent 5s             no record meets the rest for this time
    http: open>100ms           a span that a record began is still open
    errors: sw2 >10/s          more than 10 in a second; <10/s: fewer
    pool: 1>90 for 5s          each record of one format met the rest for this
                               time; also with a rate
    process: rss>1G for 1min   also descriptors and threads: figures of /proc,
                               without `for` at once; only with -o or a NAME

    condition.h describes the rest of a condition.
*/
#pragma once

#include "command.h"

struct absence {
    enum {
        ABSENCE_NONE,
        ABSENCE_SILENT,
        ABSENCE_OPEN,
        ABSENCE_MORE,
        ABSENCE_FEWER,
        ABSENCE_HOLDS
    } kind;
    uint64_t ns, limit;        /* its time; of a rate, the number of records */
    uint64_t begun_ns;         /* of the silence, or of the window of a rate */
    uint64_t count;            /* of records in the window */
    bool said;                 /* this silence was, or that it holds */
    uint64_t for_ns, since_ns; /* since when it holds; 0: it does not */
    const char *format;        /* of the record that began it, */
    char *line;                /* and that record */
    struct open {
        const char *format; /* of the record that began the span */
        uint64_t id, ns;    /* its first argument, of ">>"; or its thread */
        const struct reader_recorder *recorder;
        char *line; /* null: it was reported */
    } * opens;
    size_t opens_count, opens_max;
};

/* Takes the words above out of a condition. Returns null, or the error. */
const char *absence_read(struct absence *, char *condition, uint64_t now);
/* Notes a record of the recorders; `meets`: the rest of the condition. */
void absence_note(struct absence *, struct reader *, struct reader_event *,
                  bool meets, uint64_t now);
/* Returns a line if the condition holds now, which the caller frees. */
char *absence_due(struct absence *, const char *condition, uint64_t now);

/* A condition on figures of a process, "process: rss>1G for 1min". */
struct figure {
    const char *text;
    char name[16];
    bool less;
    uint64_t limit, for_ns;
};
/* False: it is none; ends the command if it is wrong. */
bool figure_read(struct call *, struct figure *, const char *text);
/* True if the figure of a process is beyond its limit; *value gets it. */
bool figure_is(const struct figure *, int pid, uint64_t *value);
