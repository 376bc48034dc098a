/* filters.h - which events have a text, or arguments, that are wanted. */
/* SPDX-License-Identifier: MIT */
/*
    --grep 'timed? out'                     the message contains it
    --where 'net: bytes>1000 peer="alpha"'  all of these, in this recorder
    --where 'bytes>=1k'                     in any recorder

    recorder/condition.h describes conditions. An event must meet one of several
    --where, and each of several --grep.
*/
#pragma once

#include "reader.h"

#include <regex.h>

#include "recorder/condition.h"

struct filters;
struct where; /* a condition */

/* Reads a condition of --where or, `when`, of watch --when. On an error,
 * returns null and sets *wrong, valid until the next call. */
struct where *where_read(const char *text, bool when, const char **wrong);
const struct recorder_condition_ *where_condition(const struct where *);
/* True if an event meets the condition, COUNTxTIME and after= apart. */
bool where_matches(struct where *, struct reader *,
                   const struct reader_event *);
/* Returns why no event that was compared could meet it, or null, valid until the
 * next call. */
const char *where_wrong(const struct where *, const struct reader *);
void where_free(struct where *);

/* Compiles an extended expression: letters match either case, unless one is a
 * capital, as in the page. Returns null, or what is wrong, valid until the next
 * call. */
const char *filters_regex(regex_t *to, const char *text);

/* Reads an option and adds it. Returns null, or what is wrong with it, in
 * words, valid until the next call. */
const char *filters_grep(struct filters **, const char *text);
const char *filters_where(struct filters **, const char *text);
/* True if an event is wanted. */
bool filters_match(struct filters *, struct reader *,
                   const struct reader_event *);
/* False: no condition lets events of this recorder pass. */
bool filters_may(const struct filters *, const struct reader_recorder *);
/* Returns why no event that was read could be wanted, a recorder or an argument
 * that does not exist, or null. Valid until the next call. */
const char *filters_wrong(const struct filters *, const struct reader *);
void filters_free(struct filters *);
