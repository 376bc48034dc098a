/* ended.h - how the program of a recording ended. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* Returns how the program of a recording ended, in words, or null if the
 * recording does not tell; *kind: "crash", "exit", "running", "killed",
 * "unknown"; *status: of exit(), else -1. The caller frees. */
char *ended_text(struct call *, const char **kind, int *status);

/* Returns words if the last run ended otherwise than each other; null: it did
 * not, or an end is not known. */
char *ended_compare(struct call *, size_t count);
