/* coded.h - takes trace events apart: a word of fields, then arguments. */
/* SPDX-License-Identifier: MIT */
/*
The first argument of a record with the heading `event`, as trace.c makes it,
has, from its top: 3 bits, the number of arguments that follow; 1 bit, whether
the size and the token of a buffer follow them; 20 bits of data; 8 bits of an
opcode. Of the opcode 0xff the first argument is a code, 24 bits
major and 8 bits minor, and the data a severity: 0 to 3 of hardware, 4 to 7 of
software.
*/
#ifndef RECORDER_QNX_CODED_H
#define RECORDER_QNX_CODED_H

/* recorder_dump.h, or decode.h and text.h of recorder/, is included before. */

RECORDER_C_BEGIN_

/* ----------------------------------------------------------------- coded -- */

#define RECORDER_CODED_EXCEPTION_ 0xffu

/* A trace event, as the first word of its record encodes it. */
struct recorder_coded_ {
    uint32_t word, code; /* code: of an exception, else 0 */
    bool exception;
    bool buffer;    /* the last two arguments are its size and its token */
    unsigned count; /* of arguments */
};

/* Adds the conversions of a buffer after `count` arguments. */
RECORDER_SELDOM_ void recorder_coded_buffer_(struct recorder_string_ *to,
                                             unsigned count)
{
    recorder_add_string_(to, " [%");
    recorder_add_number_(to, count + 1, 10, 1);
    recorder_add_string_(to, "$u bytes] %");
    recorder_add_number_(to, count + 2, 10, 1);
    recorder_add_string_(to, "$#s");
}

/* Takes the words of a record apart. False: its first word was lost. */
RECORDER_SELDOM_ bool recorder_coded_of_(const struct recorder_event *event,
                                         struct recorder_coded_ *to,
                                         struct recorder_decoded_ *decoded)
{
    struct recorder_string_ format =
        recorder_string_at_(decoded->format, sizeof decoded->format - 1);
    uint32_t word = (uint32_t)event->argument[0], data = word >> 8 & 0xfffff;
    unsigned given = word >> 29, first, i;
    if (event->missing_arguments & 1)
        return false;
    if ((word & 0xff) == RECORDER_CODED_EXCEPTION_ && data <= 7) {
        decoded->severity = (int)(data & 3);
        decoded->hardware = data < 4;
    }
    to->word = word;
    to->exception = (word & 0xff) == RECORDER_CODED_EXCEPTION_ && given > 0 &&
                    !(event->missing_arguments >> 1 & 1);
    to->code = to->exception ? (uint32_t)event->argument[1] : 0;
    to->buffer = word >> 28 & 1;
    first = 1 + to->exception;
    to->count = given - to->exception + 2 * to->buffer;
    decoded->missing = event->missing_arguments >> first | ~0u << to->count;
    for (i = 0; i < 12; i++)
        decoded->argument[i] = i < to->count ? event->argument[first + i] : 0;
    if (to->exception) {
        recorder_add_number_(&format, to->code >> 8, 16, 6);
        recorder_add_string_(&format, ":");
        recorder_add_number_(&format, to->code & 0xff, 16, 2);
    } else {
        recorder_add_string_(&format, "opcode 0x");
        recorder_add_number_(&format, word & 0xff, 16, 2);
        recorder_add_string_(&format, " data 0x");
        recorder_add_number_(&format, data, 16, 1);
    }
    for (i = first; i <= given; i++)
        recorder_add_string_(&format, " %d");
    if (to->buffer)
        recorder_coded_buffer_(&format, given - to->exception);
    /* 13 bytes, 7 of " %d", 24 of a buffer: they fit. */
    decoded->format[format.size] = '\0';
    return true;
}

RECORDER_C_END_
#endif
