/* repaired.c - text for other programs that take nothing but UTF-8. */
/* SPDX-License-Identifier: MIT */
#include "text.h"

#include "command.h"

const char *text_repaired(const char *text, size_t *size)
{
    static char *copy;
    static size_t copy_max;
    size_t from, to = 0, length;
    for (from = 0; from < *size; from += length)
        if (!(length = text_character(text + from, *size - from)))
            break;
    if (from == *size)
        return text;
    if (copy_max < *size * 3 + 1)
        copy = need(realloc(copy, copy_max = *size * 3 + 1));
    for (from = 0; from < *size;) {
        length = text_character(text + from, *size - from);
        if (length)
            memcpy(copy + to, text + from, length);
        else
            memcpy(copy + to, TEXT_REPLACEMENT, 3);
        to += length ? length : 3;
        from += length ? length : 1;
    }
    copy[to] = '\0';
    *size = to;
    return copy;
}
