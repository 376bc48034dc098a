/* heading.h - words in front of a format's text: the kind of its record. */
/* SPDX-License-Identifier: MIT */
/*
    record(disk, RECORDER_SW2 "block %u unreadable", n);
                 "\1" "s2" "\2"

A heading is the byte 1, words divided by blanks, and the byte 2, as in
"\1s2 event\2". Several in a row count as one: RECORDER_SW2 "\1event\2" "text".
It is part of the literal, so that it costs a record nothing. Words are
printable ASCII; a reader skips words that it does not know. Where the 2
is missing, or is not among the first RECORDER_HEADING_MAX_ bytes, there is no
heading: the bytes are text like any other, and shown escaped.
*/
#ifndef RECORDER_HEADING_H_
#define RECORDER_HEADING_H_

#include "language.h"

RECORDER_C_BEGIN_

/* --------------------------------------------------------------- heading -- */

#define RECORDER_HEADING_MAX_ 128 /* with the bytes 1 and 2 */

/* A heading, decoded. */
struct recorder_headed_ {
    const char *words; /* in the format; divided as in is_end_ */
    size_t size;       /* of the words; 0: none */
    int severity;      /* 0 to 3; -1: none */
    bool hardware;     /* else software */
};

/* True where a word ends: at a blank, at "\2\1", at the heading's end. */
RECORDER_INLINE_ bool recorder_heading_is_end_(const struct recorder_headed_ *h,
                                               size_t at)
{
    return at >= h->size || h->words[at] <= ' ';
}

/* Compares a word of a heading. */
RECORDER_INLINE_ bool recorder_heading_is_(const struct recorder_headed_ *h,
                                           size_t at, const char *word)
{
    for (; *word; at++, word++)
        if (at == h->size || h->words[at] != *word)
            return false;
    return recorder_heading_is_end_(h, at);
}

/* Finds a word of the heading. Returns its start, or null. */
RECORDER_SELDOM_ const char *
recorder_heading_word_(const struct recorder_headed_ *h, const char *word)
{
    size_t at = 0;
    while (at < h->size) {
        if (recorder_heading_is_(h, at, word))
            return h->words + at;
        while (!recorder_heading_is_end_(h, at))
            at++;
        at++;
    }
    return NULL;
}

/* Sets the severity by the first word that is one: "h0" to "h3", "s0" to
 * "s3". */
RECORDER_SELDOM_ void recorder_heading_severe_(struct recorder_headed_ *h)
{
    const char *words = h->words;
    size_t at;
    for (at = 0; at + 2 <= h->size; at++)
        if ((words[at] == 'h' || words[at] == 's') && words[at + 1] >= '0' &&
            words[at + 1] <= '3' && (at == 0 || words[at - 1] <= ' ') &&
            recorder_heading_is_end_(h, at + 2)) {
            h->severity = words[at + 1] - '0';
            h->hardware = words[at] == 'h';
            return;
        }
}

/* Does it for a format that begins as one with a heading. */
RECORDER_SELDOM_ const char *
recorder_heading_take_(const char *format, struct recorder_headed_ *heading)
{
    size_t i = 0, end = 0;
    while (i < RECORDER_HEADING_MAX_ && format[i] == '\1') {
        do
            i++;
        while (i < RECORDER_HEADING_MAX_ - 1 && format[i] >= ' ' &&
               format[i] <= '~');
        if (i >= RECORDER_HEADING_MAX_ || format[i] != '\2')
            break;
        end = ++i;
    }
    if (!end)
        return format;
    heading->words = format + 1;
    heading->size = end - 2;
    recorder_heading_severe_(heading);
    return format + end;
}
/* Removes the heading from a format: returns the text after it, or the format
 * itself without one. Reads up to the format's NUL, or the heading's end. */
RECORDER_FUNCTION_ const char *
recorder_heading_(const char *format, struct recorder_headed_ *heading)
{
    heading->words = format;
    heading->size = 0;
    heading->severity = -1;
    heading->hardware = false;
    return *format == '\1' ? recorder_heading_take_(format, heading) : format;
}

/* -------------------------------------------------------------- severity -- */

/* "SW2 " as a line has it, 4 bytes and a NUL; "" without a severity. */
RECORDER_INLINE_ const char *recorder_severity_text_(int severity,
                                                     bool hardware)
{
    static const char texts[9][5] = {"HW0 ", "HW1 ", "HW2 ", "HW3 ", "SW0 ",
                                     "SW1 ", "SW2 ", "SW3 ", ""};
    return texts[severity < 0 ? 8 : severity + (hardware ? 0 : 4)];
}

/* Reads a choice of severities: "hw1,sw3" is hardware from 1 up and software
 * from 3 up, "2" both from 2 up; in any case. Returns them as a set, and as
 * *end the text after them; 0: no severities. */
RECORDER_FUNCTION_ unsigned recorder_severities_(const char *text,
                                                 const char **end)
{
    unsigned set = 0, kinds, least;
    for (;; text++) {
        char c = (char)(text[0] | 0x20);
        kinds = (c == 'h' || c == 's') && (text[1] | 0x20) == 'w'
                    ? c == 'h' ? 1 : 2
                    : 3;
        text += kinds == 3 ? 0 : 2;
        if (*text < '0' || *text > '3')
            return 0;
        least = 0xfu << (*text++ - '0') & 0xf;
        set |= (kinds & 1 ? least : 0) | (kinds & 2 ? least << 4 : 0);
        if (*text != ',')
            break;
    }
    *end = text;
    return set;
}

/* True if a set of severities has this one. A record without is in none. */
RECORDER_INLINE_ bool recorder_severity_chosen_(unsigned set, int severity,
                                                bool hardware)
{
    return severity >= 0 && set >> (severity + (hardware ? 0 : 4)) & 1;
}

RECORDER_C_END_
#endif
