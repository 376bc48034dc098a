/* csv.h - events as comma-separated values, RFC 4180. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* Print one line with its CRLF: the names of the columns, with one source also
 * the names that formats give arguments; an event. The head reads
 * all events, from the first. `calls`: of these sources it is one
 * (sources.h). */
void csv_head(FILE *, struct call *calls);
void csv_event(FILE *, const struct call *calls, struct call *,
               const struct reader_event *);
