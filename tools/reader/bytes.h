/* bytes.h - numbers as a program has them: of its word size and byte order. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "offsets.h"
#include "reader.h"

/* Numbers of this machine's byte order and 64 bits, which are most, in one
 * instruction. */
#define BYTES_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint64_t bytes_number(const struct memory *m, const void *from,
                                    unsigned size)
{
    const unsigned char *byte = from;
    uint64_t number = 0;
    if (size == sizeof number && m->big_endian == BYTES_BIG_ENDIAN)
        return memcpy(&number, from, sizeof number), number;
    for (unsigned i = 0; i < size; i++)
        number = number << 8 | byte[m->big_endian ? i : size - 1 - i];
    return number;
}
static inline uint64_t bytes_word(const struct memory *m, const void *from)
{
    return bytes_number(m, from, m->word_bytes);
}
/* Where the program's structures keep their members. */
static inline const struct offsets *offsets_of(const struct memory *m)
{
    return &offsets[m->word_bytes == 8];
}
/* All bits of a word of the program. */
static inline uint64_t word_max(const struct memory *m)
{
    return m->word_bytes == 8 ? UINT64_MAX : UINT32_MAX;
}
static inline int64_t word_signed(const struct memory *m, uint64_t word)
{
    return m->word_bytes == 8 ? (int64_t)word : (int32_t)(uint32_t)word;
}

/* Writes a number of `size` bytes. */
static inline void bytes_put(const struct memory *m, void *to, uint64_t number,
                             unsigned size)
{
    unsigned char *byte = to;
    if (size == sizeof number && m->big_endian == BYTES_BIG_ENDIAN) {
        memcpy(to, &number, sizeof number);
        return;
    }
    for (unsigned i = 0; i < size; i++)
        byte[m->big_endian ? size - 1 - i : i] =
            (unsigned char)(number >> 8 * i);
}
static inline void bytes_put_word(const struct memory *m, void *to,
                                  uint64_t word)
{
    bytes_put(m, to, word, m->word_bytes);
}

/* Notes that an answer depends on bytes: see struct memory. */
static inline void bytes_need(struct memory *m, uint64_t address, size_t size)
{
    if (m->needs)
        m->needs(m, address, size, false);
}
/* Reads exactly `size` bytes. False: they are not all there. */
static inline bool bytes_read(struct memory *m, uint64_t address, void *to,
                              size_t size)
{
    if (m->read(m, address, to, size) != size)
        return false;
    bytes_need(m, address, size);
    return true;
}
/* Reads a number of 1 to 8 bytes, or a word. False: it cannot be read. */
static inline bool bytes_read_number(struct memory *m, uint64_t address,
                                     unsigned size, uint64_t *number)
{
    unsigned char bytes[8];
    if (!size || size > sizeof bytes || !bytes_read(m, address, bytes, size))
        return false;
    *number = bytes_number(m, bytes, size);
    return true;
}
static inline bool bytes_read_word(struct memory *m, uint64_t address,
                                   uint64_t *word)
{
    return bytes_read_number(m, address, m->word_bytes, word);
}
