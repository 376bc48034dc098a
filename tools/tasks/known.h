/* known.h - the symbols by which libraries with tasks are known. */
/* SPDX-License-Identifier: MIT */
#ifndef KNOWN_H
#define KNOWN_H

#include <stdbool.h>
#include <stdint.h>

/* All symbols of known.c's tables; ends with null. */
extern const char *const known_names[];

struct tasks;
/* Finds the first existing member of several, with | between them, in debug
 * information; false: none exists. */
bool known_member(struct tasks *, const char *type, const char *members,
                  uint64_t *offset, unsigned *bytes);

#endif
