/* shown.h - escapes texts of a source, for people to read. */
/* SPDX-License-Identifier: MIT */
#ifndef SHOWN_H
#define SHOWN_H

#include <stddef.h>

/* Escapes a text of a source as messages are: bytes that are no UTF-8, control
 * a terminal (C0, DEL, C1) or turn the direction of text become \n, \x1b and
 * the like. All texts of a source that the command prints, but for JSON, go
 * through this or, in lines, through recorder_add_name_() and
 * recorder_format_(), which agree. Valid until the next call. */
const char *text_shown(const char *text, size_t *size);

#endif
