/* entry.h - an event of `recorder run`, for the readers of its recordings. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "../../run/events.h"
#include "recorded.h"

/* RUN_EVENT_made and the like; 0 is none of them. */
#define RUN_EVENT(name) RUN_EVENT_##name,
enum run_event { RUN_EVENT_NONE, RUN_EVENTS(RUN_EVENT) };
#undef RUN_EVENT

/* An event, as its heading names it, and its thread. */
struct entry {
    struct recorded *recorded;
    const struct reader_event *event;
    enum run_event is;
    enum wait_kind kind; /* of a wait, or of a total */
    bool timed;          /* a wait until a time */
    const uint64_t *word;
    struct past *past; /* null: the thread that wrote it is not known */
};

/* Sets the event and the kind of wait that a heading names; false: it is of no
 * event of `recorder run`, or of another schema. */
bool heading_read(struct entry *, const char *heading);
/* recorded_locks.c: totals of locks, the orders in which threads took them, and
 * joins. */
void total_read(const struct entry *);
void order_read(const struct entry *);
void join_read(const struct entry *);
