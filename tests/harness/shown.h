/* shown.h - may a terminal be shown this text? Not written as the tools are. */
/* SPDX-License-Identifier: MIT */
#ifndef SHOWN_TEST_H
#define SHOWN_TEST_H

#include <stddef.h>
#include <stdint.h>

/* The first byte in a text that is not plain: a control character (C0 but for
 * newlines, DEL, C1), one that ends a line or turns the direction of text, or no UTF-8. Null:
 * all are plain. */
static inline const char *shown_wrong(const char *text, size_t size)
{
    static const uint32_t bad[][2] = {
        {0, 9},           {11, 31},         {0x7f, 0x9f},     {0x61c, 0x61c},
        {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}, {0xd800, 0xdfff}};
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    for (size_t at = 0; at < size;) {
        unsigned char c = (unsigned char)text[at];
        size_t length = c < 0x80             ? 1
                        : (c & 0xe0) == 0xc0 ? 2
                        : (c & 0xf0) == 0xe0 ? 3
                        : (c & 0xf8) == 0xf0 ? 4
                                             : 0;
        uint32_t character = length == 1 ? c : c & (0x7fu >> length);
        if (!length || length > size - at)
            return text + at;
        for (size_t i = 1; i < length; i++) {
            if (((unsigned char)text[at + i] & 0xc0) != 0x80)
                return text + at;
            character = character << 6 | ((unsigned char)text[at + i] & 0x3f);
        }
        if (character < least[length] || character > 0x10ffff)
            return text + at;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            if (character >= bad[i][0] && character <= bad[i][1])
                return text + at;
        at += length;
    }
    return NULL;
}

#endif
