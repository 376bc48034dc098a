/* entry.h - an event of `recorder run`, for what reads recordings of it. */
/* SPDX-License-Identifier: MIT */
#ifndef ENTRY_H
#define ENTRY_H

#include "recorded.h"

#include <string.h>

/* An event, with its format and its thread. */
struct entry {
    struct recorded *recorded;
    const struct reader_event *event;
    const char *format;
    const uint64_t *word;
    struct past *past; /* null: the thread that wrote it is not known */
};

/* Does the format begin so? */
static inline bool begins(const char *format, const char *with)
{
    return strncmp(format, with, strlen(with)) == 0;
}
/* The kind of an object, by how the format goes on; WAIT_NONE: it is none. */
enum wait_kind kind_read(const char *format);

/* lives.c: of locks, the totals, the orders in which they were taken, and of
 * threads who waited for another's end. */
void total_read(const struct entry *);
void order_read(const struct entry *);
void join_read(const struct entry *);

#endif
