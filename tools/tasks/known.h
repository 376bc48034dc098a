/* known.h - the symbols by which libraries with tasks are known. */
/* SPDX-License-Identifier: MIT */
#ifndef KNOWN_H
#define KNOWN_H

#include <stdbool.h>
#include <stdint.h>

/* All names that known.c asks for; ends with null. */
extern const char *const known_names[];

struct tasks;
/* Where debug information has the first of the members, with | between them,
 * that is there; false: it has none of them. */
bool known_member(struct tasks *, const char *type, const char *members,
                  uint64_t *offset, unsigned *bytes);

#endif
