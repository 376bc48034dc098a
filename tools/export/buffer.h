/* buffer.h - gathers bytes before they are written. */
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
