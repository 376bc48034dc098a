/* buffer.h - bytes that are put together before they are written; ids. */
/* SPDX-License-Identifier: MIT */
#ifndef BUFFER_H
#define BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
    unsigned char *at;
    size_t size, max;
};
/* Makes room for so many bytes more, and returns where they go. */
unsigned char *buffer_room(struct buffer *, size_t more);
void buffer_add(struct buffer *, const void *from, size_t size);
__attribute__((format(printf, 2, 3))) void
buffer_print(struct buffer *, const char *format, ...);
/* 7 bits a byte, the lowest first; bit 7: more follow. */
void buffer_varint(struct buffer *, uint64_t);
/* The lowest byte first. */
void buffer_little(struct buffer *, uint64_t, unsigned bytes);
void buffer_real(struct buffer *, double); /* its bits, so */

/* Numbers from 0 up for things that a file names once and then refers to. */
struct ids {
    struct id {
        uint64_t key[3];
        size_t number; /* from 1; 0: free */
    } * at;            /* open addressing; a power of two */
    size_t count, max;
};
/* The number of a key; *is_new: it was not asked for before. */
size_t ids_of(struct ids *, uint64_t a, uint64_t b, uint64_t c, bool *is_new);
void ids_free(struct ids *);

#endif
