/* filters.h - which events have a text, or arguments, that are wanted. */
/* SPDX-License-Identifier: MIT */
/*
    --grep 'timed? out'                     the message has it
    --where 'net: bytes>1000 peer="alpha"'  all of these, of recorders so named
    --where 'bytes>=1k'                     of any recorder

recorder/condition.h says what a condition is. Of several --where one must be met, and of several --grep each.
*/
#ifndef FILTERS_H
#define FILTERS_H

#include "reader.h"

#include "recorder/condition.h"

struct filters;
struct where; /* a condition */

/* Reads a condition of --where or, `when`, of watch --when. Returns null and
 * sets *wrong, valid until the next call, if there is no such condition. */
struct where *where_read(const char *text, bool when, const char **wrong);
const struct recorder_condition_ *where_condition(const struct where *);
/* True if an event meets the condition, COUNTxTIME and after= apart. */
bool where_matches(struct where *, struct reader *,
                   const struct reader_event *);
void where_free(struct where *);

/* Reads an option and adds it. Returns null, or what is wrong with it, in
 * words, valid until the next call. */
const char *filters_grep(struct filters **, const char *text);
const char *filters_where(struct filters **, const char *text);
/* True if an event is wanted. */
bool filters_match(struct filters *, struct reader *,
                   const struct reader_event *);
/* Returns why no event that was read could be wanted, a recorder or an argument
 * that does not exist, or null. Valid until the next call. */
const char *filters_wrong(const struct filters *, const struct reader *);
void filters_free(struct filters *);

#endif
