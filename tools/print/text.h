/* text.h - text as other programs take it: UTF-8, and numbers as text. */
/* SPDX-License-Identifier: MIT */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

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
