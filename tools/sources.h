/* sources.h - several SOURCES in one call, merged by wall-clock time. */
/* SPDX-License-Identifier: MIT */
/*
    struct call *calls = sources_open(call, 0), *of;
    sources_take(calls);
    merge_begin(&merge, calls);
    while ((of = merge_next(&merge, &event)))
        line_write(stdout, of, &event, ...);
    merge_end(&merge);
    return sources_close(calls);

One SOURCE is the call itself; several are a list, by `next`, of a call each.
Inside a source, events come by sequence number; between sources, by the largest
wall-clock time that each has reached, as sources share nothing else. Sources
with equal times come in the order of the arguments. A source that cannot be
read is left out, with a message, and the exit status is 1.
*/
#pragma once

#include "command.h"

/* Opens the arguments from `first` on. Ends the command if none can be. */
struct call *sources_open(struct call *, int first);
/* Takes all of them, and applies the options that choose events. */
void sources_take(struct call *calls);
/* Closes several. Returns the exit status: 1 if a source was left out. */
int sources_close(struct call *calls);

/* True if outputs have columns that tell sources apart. */
bool sources_labelled(const struct call *calls);
size_t sources_count(const struct call *calls);
/* The width of the titles, for columns. */
int sources_width(const struct call *calls);
/* Writes "+1.200 ms, +-400.0 us": a source's clock against its fleet's. False:
 * it was not measured. */
bool sources_clock(const struct call *, char to[64]);
/* The date at which the first of them started; 0: unknown. */
uint64_t sources_start(const struct call *calls);
/* Warns of recorders of which nothing can be read. */
void sources_warn(const struct call *calls);

struct merge {
    struct merge_source {
        struct call *call;
        size_t argument;
        uint64_t key; /* the largest wall-clock time until now */
        struct reader_event event;
    } * all, **heap; /* the heap has the sources with an event */
    size_t count;
    bool begun;
};
void merge_begin(struct merge *, struct call *calls);
/* Gets the next event and returns whose it is; null: there is none. */
struct call *merge_next(struct merge *, struct reader_event *);
void merge_end(struct merge *);
