/* csv.h - events as comma-separated values, RFC 4180. */
/* SPDX-License-Identifier: MIT */
#ifndef CSV_H
#define CSV_H

#include "command.h"

/* Print one line with its CRLF: the names of the columns; an event. `calls`:
 * of these sources it is one (sources.h). */
void csv_head(FILE *, const struct call *calls);
void csv_event(FILE *, const struct call *calls, struct call *,
               const struct reader_event *);

#endif
