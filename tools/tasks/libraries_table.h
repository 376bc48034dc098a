/* libraries_table.h - the symbols by which libraries with tasks are known. */
/* SPDX-License-Identifier: MIT */
#ifndef LIBRARIES_TABLE_H
#define LIBRARIES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Symbol i of libraries_table.c's tables; null: there are no more. */
const char *library_name(size_t i);

struct tasks;
/* Finds the first existing member of several, with | between them, in debug
 * information; false: none exists. */
bool library_member(struct tasks *, const char *type, const char *members,
                    uint64_t *offset, unsigned *bytes);

#endif
