/* fields.h - an event as one row of named values. */
/* SPDX-License-Identifier: MIT */
#ifndef FIELDS_H
#define FIELDS_H

#include "reader.h"

/* The names, in their order: NAME("order") and so on. The arguments of an event
 * come besides. */
#define FIELD_NAMES(NAME)                                                      \
    NAME("order")                                                              \
    NAME("ns")                                                                 \
    NAME("wall_ns")                                                            \
    NAME("recorder")                                                           \
    NAME("severity")                                                           \
    NAME("severity_text")                                                      \
    NAME("kind")                                                               \
    NAME("thread")                                                             \
    NAME("thread_name")                                                        \
    NAME("tid")                                                                \
    NAME("location")                                                           \
    NAME("file")                                                               \
    NAME("line")                                                               \
    NAME("caller")                                                             \
    NAME("format")                                                             \
    NAME("message")
enum {
    FIELD_ORDER,
    FIELD_NS,
    FIELD_WALL_NS,
    FIELD_RECORDER,
    FIELD_SEVERITY,
    FIELD_SEVERITY_TEXT,
    FIELD_KIND,
    FIELD_THREAD,
    FIELD_THREAD_NAME,
    FIELD_TID,
    FIELD_LOCATION,
    FIELD_FILE,
    FIELD_LINE,
    FIELD_CALLER,
    FIELD_FORMAT,
    FIELD_MESSAGE,
    FIELDS
};

/* "sw2", and its level in syslog and OpenTelemetry, "warning"; or null: the
 * event has no severity. */
const char *event_severity(const struct recorder_event *);
const char *event_severity_text(const struct recorder_event *);
/* Returns the severity of a level's name, in any case; -1: it is none. */
int severity_of_text(const char *text, size_t size);

/* Makes the values, in the form of arguments: READER_LOST is unknown. Valid
 * until the next message is made. */
void fields_of(struct reader *, const struct reader_event *,
               struct reader_argument to[FIELDS]);

#endif
