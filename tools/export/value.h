/* value.h - --value RECORDER:N=NAME: an argument that is drawn as a plot. */
/* SPDX-License-Identifier: MIT */
#ifndef VALUE_H
#define VALUE_H

#include "command.h"

struct value_option {
    char *names;       /* extended regular expression for whole names */
    unsigned argument; /* from 0 */
    char *name;        /* NAME, or "argument 2" */
};

/* Parses the option; RECORDER may hold colons. If it cannot be parsed, that is
 * misuse. */
void value_open(const struct call *, const char *option, struct value_option *);
void value_close(struct value_option *);

/* True if an argument can be drawn; *value is its value. */
bool value_is_number(const struct reader_argument *);
double value_number(const struct reader_argument *);

#endif
