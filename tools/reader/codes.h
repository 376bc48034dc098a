/* codes.h - texts for third parties' codes, from files that end in .fmt. */
/* SPDX-License-Identifier: MIT */
/*
    # a comment
    major 0x001234 "disk"
    minor 0x01 "parity error at block %u, status 0x%x"
    minor 0x02 "%d retries"

    0x00123401 is the code of the first; it shows as "disk: parity error at...".
    In a text \" is a quote and \\ a backslash. Conversions are the same as in
    printf; after the arguments of a record come the size of its buffer and its
    bytes, for %u and %s, or %#s in hexadecimal.
*/
#pragma once

#include "libc.h"

struct codes;

/* Says that something is wrong in a file; the rest of it counts. */
typedef void codes_tell(void *context, const char *text);

/* Adds the files of a folder, by name; of two texts for one code, the first
 * counts. False: the folder cannot be read. Makes *codes where that is null. */
bool codes_add(struct codes **codes, const char *folder, codes_tell *tell,
               void *context);
/* The format of a code, or null. */
const char *codes_format(const struct codes *, uint32_t code);
void codes_free(struct codes *);
