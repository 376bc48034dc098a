/* names.h - the names that formats give their arguments, of all events. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* "bytes" of "bytes=%d", in the order in which they come; zeros: none. */
struct names {
    char **at, **columns; /* columns: unlike each other and other fields */
    size_t count, max, columns_count;
};
enum { NAMES_MAX = 256 };

/* Adds the names in the events that were taken, and rewinds the reader.
 * Names that differ in case only are one. */
void names_read(struct names *, struct call *);
/* Returns the argument of a name, or null. */
const struct reader_argument *
names_find(const char *name, const struct reader_argument *, unsigned count);
void names_close(struct names *);
