/* csv.h - events as comma-separated values, RFC 4180. */
/* SPDX-License-Identifier: MIT */
#ifndef CSV_H
#define CSV_H

#include "command.h"

/* Print one line with its CRLF: the names of the columns, the last of which are
 * those that formats name; an event. The head reads all events, from the
 * first. */
void csv_head(FILE *, struct call *);
void csv_event(FILE *, struct call *, const struct reader_event *);

#endif
