/* line.h - lines of events on stdout, with colours on a terminal. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* True if lines shall be in colour: "always", "never", "auto" or null. */
bool line_color(const struct call *, const char *when);
/* Writes an event's line; with `functions`, the function that recorded it. */
void line_write(FILE *, struct call *, const struct reader_event *,
                bool in_color, bool functions);
