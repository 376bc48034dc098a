/* recording.h - additions to a recording, and logs: folders of recordings that
 * are chunks of one. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core.h"

/* ----------------------------------------------------------- functions.c -- */

/* Makes source.functions of the events of the last take, and rewinds the
 * reader: a reader without the program's files shows these names. */
void functions_keep(struct call *);

/* ----------------------------------------------------------- libraries.c -- */

/* Reads the dynamic linker's list for debuggers, and all pointers to it,
 * through a memory that keeps the read bytes. Without the list a debugger knows
 * no library in a recording, and no frame after one. */
void libraries_keep(int pid, struct memory *keeper);

/* ---------------------------------------------------- pending_switches.c -- */

/* Adds the switches that the last take read from the kernel's rings, as a
 * second recorder, linked after the program's `switches`. `put` changes bytes
 * of the program in the recording, whose pieces are sorted by address. */
void pending_switches_add(struct call *,
                          void (*put)(struct memory *, uint64_t address,
                                      const unsigned char *from, size_t size),
                          struct memory *kept, struct pieces *);

/* ----------------------------------------------------------------- log.c -- */

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

/* -------------------------------------------------------------- folder.c -- */

/* Opens the chunks of a log as call->source. Null, or what is wrong; chunks
 * that are missing or cannot be read are a warning each. */
const char *folder_source(struct call *, const char *name,
                          const struct source_how *);
