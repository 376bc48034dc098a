/* buffer.h - gathers bytes before they are written; ids. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "texts.h"

struct buffer {
    unsigned char *at;
    size_t size, max;
};
/* Makes room for more bytes. Returns their place. */
unsigned char *buffer_room(struct buffer *, size_t more);
void buffer_add(struct buffer *, const void *from, size_t size);
__attribute__((format(printf, 2, 3))) void
buffer_print(struct buffer *, const char *format, ...);
/* Adds a varint: 7 bits a byte, the lowest first; bit 7: more follow. */
void buffer_varint(struct buffer *, uint64_t);
/* Adds a number, the lowest byte first. */
void buffer_little(struct buffer *, uint64_t, unsigned bytes);
void buffer_real(struct buffer *, double); /* its bits, so */

/* ids_add() and texts_add(), but they end the command if there is no memory. */
size_t ids_of(struct ids *, uint64_t a, uint64_t b, uint64_t c, bool *is_new);
uint32_t texts_of(struct texts *, const char *text, size_t size);
