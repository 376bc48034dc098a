/* pack_inside.h - the state of a pack between batches, for its parts. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "buffer.h"
#include "ids.h"
#include "print.h"
#include "sources.h"
#include "spans.h"
#include "timeline.h"
#include "view.h"

#include <zlib.h>

/* New rows of a table, as JSON, separated by commas. */
struct rows {
    char *text;
    size_t size;
    FILE *to;
};

struct view_pack {
    struct call *call;     /* whose event it is, of several: now */
    struct reader *reader; /* of that source */
    struct call *calls;    /* of several sources, all; else null */
    struct merge merge;
    uint64_t source, start; /* of several: its number; the date of time 0 */
    const struct value_option *values;
    size_t values_count;
    bool in_html;
    const struct switches *switches; /* that were not written; or null */
    struct switches *follow;         /* of a running program; or null */
    uint64_t missed;                 /* when they were read */
    bool ends;
    struct ids recorders, known, threads, formats, callers, sites;
    char (*names)[18]; /* of the threads, by number, as the page has them; the
                        * byte after each name: has the thread ended */
    struct rows new_recorders, new_threads, new_formats, new_callers, new_sites,
        new_series, new_names, new_fields;
    char *figures; /* as the page has them; null: it has none */
    /* of a batch: */
    uint64_t order, ns;
    struct buffer orders, times, event_threads, event_sites;
    struct series {
        struct buffer rows, reals;
        size_t count, row;
        bool seen;
    } * series;
    size_t series_count;
    struct spans_asyncs asyncs;
    unsigned char *steps; /* by number of format: enum spans_step */
    bool *fields_known;   /* the same: the page has names of arguments */
    struct buffer event_asyncs;
    uint32_t *series_of; /* by recorder and value: number + 1; 0: none */
    size_t series_of_count;
    struct buffer messages, arguments; /* of a block */
    struct buffer joined, packed;
    z_stream deflate;
};

/* Begins a row of a table; the caller writes it, pack_row_end() or a bracket
 * ends it. */
FILE *rows_next(struct rows *);
/* Writes the new rows as member `name`, if there are any, and forgets them. */
void rows_write(struct rows *, FILE *to, const char *name);
/* json_put(), with texts as the place in a page or a stream wants them. */
#define pack_print(pack, to, ...)                                              \
    put_to(to, (pack)->in_html ? PUT_HTML : PUT_JSON, __VA_ARGS__)
/* Ends a row, with the number of its source if there are several. */
void pack_row_end(const struct view_pack *, FILE *to);

/* Return the number of a thing in its table, where its row is added if the
 * page does not know it. */
uint32_t pack_recorder(struct view_pack *, const struct reader_recorder *);
uint32_t pack_format(struct view_pack *, const struct recorder_event *);
uint32_t pack_site(struct view_pack *, const struct reader_event *);
/* 0: unknown. */
uint32_t pack_thread(struct view_pack *, const struct reader_thread *);
/* Returns the number of a thread that recorded nothing, which the program gave
 * none. */
uint32_t pack_silent(struct view_pack *, const struct timeline_lane *);
