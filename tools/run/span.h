/* span.h - functions whose calls `recorder run` records. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* Returns the text for run/span.c, to be freed, on the functions that options of a
 * key name, in a program and its libraries. Ends the command if there is none,
 * or if it cannot be marked. */
char *run_spans(const struct call *, int key, const char *program,
                const char *loader);
