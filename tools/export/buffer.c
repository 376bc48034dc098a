/* buffer.c - gathers bytes before they are written. */
/* SPDX-License-Identifier: MIT */
#include "buffer.h"

#include "array.h"
#include "command.h"

unsigned char *buffer_room(struct buffer *buffer, size_t more)
{
    ARRAY_NEED(buffer->at, buffer->size + more, buffer->max);
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
