/* shown.h - escapes texts of a source, for people to read. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "libc.h"

/* Escapes a text of a source as in messages: bytes that are no UTF-8, control a
 * terminal (C0, DEL, C1), end a line or turn the direction of text become \n,
 * \x1b and so on. The command prints each text of a source by this function or,
 * in lines, by recorder_add_name_() and recorder_format_(), which agree; JSON
 * writes the same characters as \u2028. Valid until the next call. */
const char *text_shown(const char *text, size_t *size);
