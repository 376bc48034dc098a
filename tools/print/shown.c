/* shown.c - escapes texts of a source, for people to read. */
/* SPDX-License-Identifier: MIT */
#include "print.h"

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
