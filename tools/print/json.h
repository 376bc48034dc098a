/* json.h - strings, arguments and events as JSON. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

static inline const char *json_bool(bool value)
{
    return value ? "true" : "false";
}
/* A JSON string, quoted; bytes that are no UTF-8 become U+FFFD; characters that
 * control a terminal or turn the direction of text are escaped, and so are `<`,
 * `>` and `&` if `in_html`. */
void json_string(FILE *, const char *text, size_t size, bool in_html);
/* A text up to its end as a JSON string, not for HTML; null as null. */
void json_text(FILE *, const char *text);
/* The same as a member: `,"name":"text"`. */
void json_member(FILE *, const char *name, const char *text);
/* Prints JSON by a format of printf(), in which ' is a quotation mark, %s a
 * text as json_text() writes it, and %hhd true or false. */
#define json_put(file, ...) json_put_to(file, false, __VA_ARGS__)
__attribute__((format(printf, 3, 4))) void json_put_to(FILE *, bool in_html,
                                                       const char *format, ...);
/* Prints a member of stdout: `,"name":12`; null if the number is unknown. */
void json_count(const char *name, uint64_t number, bool known);
/* Prints an argument: a number, a string or null. */
void json_argument(FILE *, const struct reader_argument *);
/* Prints name, labels, process and clock of a source as members, each with a
 * comma; nothing if it is the only source and has no labels. */
void json_source(FILE *, const struct call *);
/* Prints an event as an object, as `dump --json` does, without a newline. */
void json_event(FILE *, struct call *, const struct reader_event *);
