/* settings.h - turns NAME=VALUE into words to write into a running program. */
/* SPDX-License-Identifier: MIT */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "reader.h"

struct settings {
    struct setting {
        uint64_t address;
        int64_t value;
    } * all;
    size_t count, max;
    bool clears; /* hides the records made so far */
    bool misuse; /* what is wrong is how it was said */
    char why[512];
};

/* Adds what items, separated by blanks or commas, ask for: NAME is a regular
 * expression for recorders, or else for tweaks; VALUE on, off, trace,
 * freeze, thaw or a number. `clear` hides the records made so far. Null, or what is wrong; then nothing is to be
 * written. */
const char *settings_add(struct settings *, const struct reader *,
                         const char *items);
/* Writes and frees them. False: they cannot be written. */
bool settings_write(struct settings *, struct reader *);

#endif
