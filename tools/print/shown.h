/* shown.h - what people are shown of a text that comes from a source. */
/* SPDX-License-Identifier: MIT */
#ifndef SHOWN_H
#define SHOWN_H

#include <stddef.h>

/* Escapes a text of the recorded program or of a file as messages are: what is
 * no UTF-8, controls a terminal (C0, DEL, C1) or turns the direction of text
 * becomes \n, \x1b and the like. Whatever the command prints of a source, but
 * for JSON, goes through this or, in lines, through recorder_add_name_() and
 * recorder_format_(), which agree. Valid until the next call. */
const char *text_shown(const char *text, size_t *size);

#endif
