/* logs.h - lines of text with wall times, among the events of a program. */
/* SPDX-License-Identifier: MIT */
/*
    wrong = reader_log_add(&reader, "/var/log/syslog", from_ns, to_ns, &found);
    while (reader_next(&reader, &event))
        ...   // event.outside: it is a line of a log

A line begins with its time: RFC 3339 and what is like it (2026-11-22T09:50:00Z,
2026-11-22 09:50:00,123456+01:00: journalctl -o short-iso and short-iso-precise,
dmesg --time-format iso), or a month (Nov 22 09:50:00), whose year is that of
the records. Without a zone it is local time. What begins otherwise belongs to
the line before. Or the file is of journalctl -o export.

A line is an event of a recorder named after the file, without order, thread and
caller; `order` is that of the record before it. A byte 0 is shown as 0x1a,
which stands for what cannot be shown. Memory: 40 bytes a line; texts stay in
the file.
*/
#ifndef LOGS_H
#define LOGS_H

#include "reader.h"

/* What is to be said of a log. */
struct reader_log_found {
    uint64_t lines, before, behind; /* shown; left out: earlier, later */
    uint64_t untimed;               /* before the first that has a time */
    bool no_zone, no_year;          /* some time has none */
};

/* Adds the lines of a file from one time to another, since the program's start.
 * After reader_take(), which must not be called again. Null, or what is
 * wrong. */
const char *reader_log_add(struct reader *, const char *path, int64_t from_ns,
                           int64_t to_ns, struct reader_log_found *);

#endif
