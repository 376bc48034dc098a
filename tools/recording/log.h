/* log.h - a log: a folder of recordings that are chunks of one. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* How much a log may take; 0: no limit. */
struct log_limits {
    uint64_t chunk_bytes, keep_bytes, keep_ns;
};
enum { LOG_CHUNK_MIN = 4 << 20 }; /* for 12 texts of 64 KiB, and records */

/* Writes the records of the call's process into a folder, until either ends.
 * Returns the exit status. */
int log_follow(struct call *, const char *folder, const struct log_limits *);

/* "000001.rec" or "000001.part": its number; 0: no chunk has that name. */
unsigned long log_chunk(const char *name, bool *is_part);
