/* text.h - events as text for other programs: UTF-8, JSON, CSV. */
/* SPDX-License-Identifier: MIT */
#ifndef TEXT_H
#define TEXT_H

#include "command.h"

/* json_string() and json_event() are declared in command.h. */

/* An argument: a number, a string or null. */
void json_argument(FILE *, const struct reader_argument *);

/* One line of RFC 4180, with its CRLF: the names of the columns; an event. */
void csv_head(FILE *);
void csv_event(FILE *, struct call *, const struct reader_event *);

/* The length of the UTF-8 character that stands at `at`; 0: none does. */
size_t text_character(const char *at, size_t size);
/* A text whose bytes that are no UTF-8 became U+FFFD; it is the same text where
 * there are none. Valid until the next call. */
const char *text_repaired(const char *text, size_t *size);
#define TEXT_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* The shortest text that reads back as the same number, and as no integer: 1.0;
 * "nan", "inf". */
void text_real(char to[32], double real);

#endif
