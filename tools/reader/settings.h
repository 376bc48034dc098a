/* settings.h - turns NAME=VALUE into words to write into a running program. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "reader.h"

struct settings {
    struct setting {
        uint64_t address;
        int64_t value;
    } * all;
    size_t count, max;
    bool clears; /* hides the present records */
    bool misuse; /* the error is in the wording */
    char why[512];
};

/* Adds settings, separated by blanks or commas: NAME is a regular expression
 * for recorders, or else for tweaks; VALUE on, off, trace, freeze, thaw or a
 * number. `clear` hides the present records. Returns null, or the error; then
 * nothing may be written. */
const char *settings_add(struct settings *, const struct reader *,
                         const char *items);
/* Writes and frees them. False: they cannot be written. */
bool settings_write(struct settings *, struct reader *);
