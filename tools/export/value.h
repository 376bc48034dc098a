/* value.h - --value RECORDER:N=NAME or RECORDER:FIELD: an argument that is drawn as a plot. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

struct value_option {
    char *names;       /* extended regular expression for whole names */
    unsigned argument; /* from 0 */
    char *field;       /* the name in the format, in place of it; or null */
    char *name;        /* NAME, or "argument 2", or the field */
};

/* Parses the option; RECORDER may hold colons. If it cannot be parsed, that is
 * misuse. */
void value_open(const struct call *, const char *option, struct value_option *);
void value_close(struct value_option *);
/* Finds the argument of a value in an event's arguments; `count` if it has
 * none. */
unsigned value_place(const char *field, unsigned argument,
                     const struct reader_argument *, unsigned count);
#define VALUE_UNKNOWN "--value %s: no recorder has that name"
/* Reports a value that no record of the recorder has, and ends the command,
 * unless another source may have the value. */
void value_lacks(const struct call *, bool another, const char *recorder,
                 const char *field, unsigned argument, const char *name);

/* True if an argument can be drawn; *value is its value. */
bool value_is_number(const struct reader_argument *);
double value_number(const struct reader_argument *);
