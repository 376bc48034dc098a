/* contexts.h - the request that a thread worked for at a record. */
/* SPDX-License-Identifier: MIT */
/*
A change of a context is a record of the recorder `context` (recorder/context.h).
It belongs to the later records of its thread, until the thread's next change of
that name. Where the ring has overwritten changes, records before a thread's
first kept change have an unknown context: they are of no id.
*/
#pragma once

#include "reader.h"
#include "texts.h"

/* Changes are sorted by name, thread and order: the context of a record is a
 * binary search for each name. */
struct change {
    uint32_t name, id; /* numbers in `texts`; id 0: the context ends */
    unsigned thread;
    uint64_t order, at; /* at: as they were read */
};
/* A text that --request takes: ID, NAME=ID, or a traceparent. */
struct context_wanted {
    const char *text;
    size_t size;
};
struct context_wanted contexts_wanted(const char *text);

struct contexts {
    struct change *all;
    size_t count, max;
    struct texts texts;
    struct context_wanted wanted;
    bool cut;   /* changes were overwritten: some records are of unknown ids */
    bool found; /* a change that is kept begins or sends the wanted id */
};

/* Reads all changes of a program, after reader_take(), to choose records of a
 * request. Null: no recorder is named `context`, or *wrong is set. */
struct contexts *contexts_open(const struct reader *, const char *id,
                               const char **wrong);
void contexts_free(struct contexts *);
/* True if a record is of the request. Records of `context` that begin, end or
 * send its id are, too. */
bool contexts_has(const struct contexts *, struct reader *,
                  const struct reader_event *);

/* A record of the recorder `context`, in words. */
struct context {
    const char *name, *id, *span; /* span: 16 digits, or null */
    size_t name_size, id_size;    /* no id: the context ends */
    bool is_sent;                 /* to another thread, process or host */
};
/* Reads one; false: the event is another record. Valid until the next message of
 * the reader is made. */
bool context_of(struct reader *, const struct reader_event *, struct context *);

/* True if it begins or sends this id. */
bool contexts_is_wanted(const struct context *, struct context_wanted);
