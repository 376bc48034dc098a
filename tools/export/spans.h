/* spans.h - which records are one span: by name, and across threads by id. */
/* SPDX-License-Identifier: MIT */
/*
    > NAME ...      opens a span of its thread
    < NAME ...      closes the innermost of that thread, recorder and name
    >> NAME %u ...  opens a span of no thread: its first argument is its id
    => NAME %u ...  takes the span further, in this thread
    << NAME %u ...  closes the span of that recorder, name and id, in any thread

NAME ends before the first conversion, argument's name
("request" of "> request id=%d"), or one of ,:;=( but not :: and may have
fewer whole words on one side than on the other: "< read, %u bytes" closes
"> read block %u". Without a name, "<" closes the innermost of the recorder.
*/
#pragma once

#include "reader.h"
#include "texts.h"

/* Returns the name in a format, and its size. */
const char *spans_name(const char *format, size_t *size);
/* How well the names of an opening and a closing record agree: 2 the same, 1
 * one begins with the other, 0 not. */
int spans_match(const char *open, size_t open_size, const char *close,
                size_t close_size);

/* The effect of a record on an asynchronous span. */
enum spans_step { SPANS_NONE, SPANS_OPENS, SPANS_GOES_ON, SPANS_CLOSES };
enum spans_step spans_step(const char *format);

/* An asynchronous span. Spans of one key share a row, one after the other. */
struct spans_async {
    const char *name; /* of a format; not terminated */
    size_t name_size;
    const struct reader_recorder *recorder;
    uint64_t order, ns;  /* of the record that opened it */
    size_t number, turn; /* of the row; of its spans, from 0 */
    bool open;
};

/* All of them; zeros: none. */
struct spans_asyncs {
    struct spans_async *at;
    size_t count, max;
    struct ids ids;
    struct texts texts;
};

/* Finds the row of a record, by its recorder, name and first argument; null: it
 * has none. Valid until the next call. */
struct spans_async *spans_async(struct spans_asyncs *, const char *format,
                                const struct reader_recorder *,
                                const struct reader_argument *, unsigned count);
void spans_free(struct spans_asyncs *);
