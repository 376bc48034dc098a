/* text.c - text for people, escaped, and for other programs: UTF-8, numbers. */
/* SPDX-License-Identifier: MIT */
#include "print.h"

#include <math.h>

#include "recorder/text.h"

const char *text_shown(const char *text, size_t *size)
{
    static char *copy;
    static size_t copy_max;
    struct recorder_formatter_ f = {0};
    if (copy_max < *size * 4 + 1) {
        copy = need(realloc(copy, *size * 4 + 1));
        copy_max = *size * 4 + 1;
    }
    f.text = recorder_string_at_(copy, copy_max - 1);
    recorder_format_escape_(&f, text, *size, true);
    copy[f.text.size] = '\0';
    *size = f.text.size;
    return copy;
}

/* ----------------------------------------------------------------- UTF-8 -- */

size_t text_character(const char *at, size_t size)
{
    const unsigned char *byte = (const unsigned char *)at;
    uint32_t character, least;
    size_t length, i;
    if (size == 0)
        return 0;
    if (byte[0] < 0x80)
        return 1;
    length = byte[0] >= 0xf0 ? 4 : byte[0] >= 0xe0 ? 3 : 2;
    if (byte[0] < 0xc2 || byte[0] > 0xf4 || length > size)
        return 0;
    character = byte[0] & (0x7fu >> length);
    for (i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (byte[i] & 0x3f);
    }
    least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
    if (character < least || character > 0x10ffff ||
        (character >= 0xd800 && character <= 0xdfff))
        return 0;
    return length;
}

size_t text_cut(const char *text, size_t size, size_t most)
{
    if (size <= most)
        return size;
    while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

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

/* -------------------------------------------------------------- elements -- */

void text_real(char to[32], double real)
{
    int digits = 15;
    if (isnan(real)) { /* without the sign that printf gives some of them */
        strcpy(to, "nan");
        return;
    }
    do
        snprintf(to, 32, "%.*g", digits, real);
    while (strtod(to, NULL) != real && digits++ < 17);
    if (to[strspn(to, "-0123456789")] == '\0')
        strcat(to, ".0");
}
