/* buffer.c - bytes that are put together before they are written; ids. */
/* SPDX-License-Identifier: MIT */
#include "buffer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

unsigned char *buffer_room(struct buffer *buffer, size_t more)
{
    if (buffer->max - buffer->size < more) {
        buffer->max = (buffer->size + more) * 2;
        buffer->at = need(realloc(buffer->at, buffer->max));
    }
    return buffer->at + buffer->size;
}

void buffer_add(struct buffer *buffer, const void *from, size_t size)
{
    if (size)
        memcpy(buffer_room(buffer, size), from, size);
    buffer->size += size;
}

void buffer_print(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    int size;
    va_start(arguments, format);
    size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    vsnprintf((char *)buffer_room(buffer, (size_t)size + 1), (size_t)size + 1,
              format, arguments);
    va_end(arguments);
    buffer->size += (size_t)size;
}

void buffer_varint(struct buffer *buffer, uint64_t value)
{
    unsigned char *to = buffer_room(buffer, 10), *at = to;
    for (; value > 0x7f; value >>= 7)
        *at++ = (unsigned char)(value | 0x80);
    *at++ = (unsigned char)value;
    buffer->size += (size_t)(at - to);
}

void buffer_little(struct buffer *buffer, uint64_t value, unsigned bytes)
{
    unsigned char *to = buffer_room(buffer, bytes);
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
    buffer->size += bytes;
}

void buffer_real(struct buffer *buffer, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    buffer_little(buffer, bits, sizeof bits);
}

/* ------------------------------------------------------------------- ids -- */

/* Where a key stands, or would. */
static struct id *ids_find(const struct ids *ids, const uint64_t key[3])
{
    uint64_t hash = key[0];
    size_t at;
    for (int i = 1; i < 3; i++)
        hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15) + key[i];
    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    for (at = (size_t)(hash >> 20);; at++) {
        struct id *id = &ids->at[at & (ids->max - 1)];
        if (!id->number || memcmp(id->key, key, sizeof id->key) == 0)
            return id;
    }
}

size_t ids_of(struct ids *ids, uint64_t a, uint64_t b, uint64_t c, bool *is_new)
{
    uint64_t key[3] = {a, b, c};
    struct id *id;
    if (ids->count * 2 >= ids->max) {
        struct ids more = {.count = ids->count,
                           .max = ids->max ? ids->max * 2 : 256};
        more.at = need(calloc(more.max, sizeof *more.at));
        for (size_t i = 0; i < ids->max; i++)
            if (ids->at[i].number)
                *ids_find(&more, ids->at[i].key) = ids->at[i];
        free(ids->at);
        *ids = more;
    }
    id = ids_find(ids, key);
    *is_new = !id->number;
    if (*is_new) {
        memcpy(id->key, key, sizeof id->key);
        id->number = ++ids->count;
    }
    return id->number - 1;
}

void ids_free(struct ids *ids)
{
    free(ids->at);
    *ids = (struct ids){0};
}
