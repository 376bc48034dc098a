/* filters.h - which events have a text, or arguments, that are wanted. */
/* SPDX-License-Identifier: MIT */
/*
    --grep 'timed? out'                     the message has it
    --where 'net: bytes>1000 peer="alpha"'  all of these, of recorders so named
    --where 'bytes>=1k'                     of any recorder

FIELD OP VALUE: FIELD is the name that a format gives an argument, "bytes=%d",
or its place, 1 to 12. OP is one of > < >= <= = != & (one of these bits is set)
and ~ (the text has it, a regular expression). VALUE is a number, or a text,
which may stand in quotes. An event without such an argument is not wanted.
Of several --where one must be met, and of several --grep each.
*/
#ifndef FILTERS_H
#define FILTERS_H

#include "reader.h"

struct filters;

/* Reads an option and adds it. Returns null, or what is wrong with it, in
 * words, valid until the next call. */
const char *filters_grep(struct filters **, const char *text);
const char *filters_where(struct filters **, const char *text);
/* True if an event is wanted. */
bool filters_match(const struct filters *, struct reader *,
                   const struct reader_event *);
void filters_free(struct filters *);

#endif
