/* text.h - text for other programs: UTF-8, and numbers as text. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "libc.h"

/* Returns the length of the UTF-8 character at `at`; 0: there is none. */
size_t text_character(const char *at, size_t size);
/* Returns a text with U+FFFD for bytes that are no UTF-8; the same text if
 * there are none. Valid until the next call. */
const char *text_repaired(const char *text, size_t *size);
#define TEXT_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Makes the shortest text that reads back as the same number, and as no
 * integer: 1.0; "nan", "inf". */
void text_real(char to[32], double real);
