/* fields.h - an event as one row of named values. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "reader.h"

/* The fields, in their order; the arguments of an event come besides. */
#define FIELD_LIST(FIELD)                                                      \
    FIELD(ORDER, "order")                                                      \
    FIELD(NS, "ns")                                                            \
    FIELD(WALL_NS, "wall_ns")                                                  \
    FIELD(RECORDER, "recorder")                                                \
    FIELD(SEVERITY, "severity")                                                \
    FIELD(SEVERITY_TEXT, "severity_text")                                      \
    FIELD(KIND, "kind")                                                        \
    FIELD(THREAD, "thread")                                                    \
    FIELD(THREAD_NAME, "thread_name")                                          \
    FIELD(TID, "tid")                                                          \
    FIELD(LOCATION, "location")                                                \
    FIELD(FILE, "file")                                                        \
    FIELD(LINE, "line")                                                        \
    FIELD(CALLER, "caller")                                                    \
    FIELD(FORMAT, "format")                                                    \
    FIELD(MESSAGE, "message")
#define FIELD_NUMBER(id, name) FIELD_##id,
enum { FIELD_LIST(FIELD_NUMBER) FIELDS };
/* Their names, for an array. */
#define FIELD_NAME(id, name) name,
#define FIELD_NAMES FIELD_LIST(FIELD_NAME)

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
