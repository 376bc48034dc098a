/* csv.h - events as comma-separated values, RFC 4180. */
/* SPDX-License-Identifier: MIT */
#ifndef CSV_H
#define CSV_H

#include "command.h"

/* Print one line with its CRLF: the names of the columns; an event. */
void csv_head(FILE *);
void csv_event(FILE *, struct call *, const struct reader_event *);

#endif
