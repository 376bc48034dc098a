/* coded.h - records of the heading `event`: a word of fields, then
 * arguments. */
/* SPDX-License-Identifier: MIT */
/*
Such a record, as compat/qnx makes it, tells by its first argument what the
others are. That word, from its top: 3 bits, how many arguments follow; 1 bit,
whether the size and the token of a buffer come behind them; 20 bits of data; 8
bits of an opcode. Of the opcode 0xff the first argument is a code, 24 bits
major and 8 bits minor, and the data a severity: 0 to 3 of hardware, 4 to 7 of
software.
*/
#ifndef RECORDER_CODED_H_
#define RECORDER_CODED_H_

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------- coded -- */

#define RECORDER_CODED_EXCEPTION_ 0xffu
#define RECORDER_CODED_FORMAT_MAX_ 96

/* The decoded record: a format and its arguments. */
struct recorder_coded_ {
    uint32_t word, code; /* code: of an exception, else 0 */
    bool exception;
    bool buffer;      /* the last two arguments are its size and its token */
    unsigned count;   /* of arguments */
    uint32_t missing; /* bit i: argument i was lost, or never was */
    uint64_t argument[12];
    char format[RECORDER_CODED_FORMAT_MAX_]; /* where no file has a better */
};

/* Sets the severity of a record by its word, if its heading says `event`. */
RECORDER_INLINE_ void recorder_coded_severity_(struct recorder_headed_ *h,
                                               uint64_t word)
{
    uint32_t data = (uint32_t)word >> 8 & 0xfffff;
    if (!h->event || ((uint32_t)word & 0xff) != RECORDER_CODED_EXCEPTION_ ||
        data > 7)
        return;
    h->severity = (int)(data & 3);
    h->hardware = data < 4;
}

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
                                         struct recorder_coded_ *to)
{
    struct recorder_string_ format =
        recorder_string_at_(to->format, sizeof to->format - 1);
    uint32_t word = (uint32_t)event->argument[0];
    unsigned given = word >> 29, first, i;
    if (event->missing_arguments & 1)
        return false;
    to->word = word;
    to->exception = (word & 0xff) == RECORDER_CODED_EXCEPTION_ && given > 0 &&
                    !(event->missing_arguments >> 1 & 1);
    to->code = to->exception ? (uint32_t)event->argument[1] : 0;
    to->buffer = word >> 28 & 1;
    first = 1 + to->exception;
    to->count = given - to->exception + 2 * to->buffer;
    to->missing = event->missing_arguments >> first | ~0u << to->count;
    for (i = 0; i < 12; i++)
        to->argument[i] = i < to->count ? event->argument[first + i] : 0;
    if (to->exception) {
        recorder_add_number_(&format, to->code >> 8, 16, 6);
        recorder_add_string_(&format, ":");
        recorder_add_number_(&format, to->code & 0xff, 16, 2);
    } else {
        recorder_add_string_(&format, "opcode 0x");
        recorder_add_number_(&format, word & 0xff, 16, 2);
        recorder_add_string_(&format, " data 0x");
        recorder_add_number_(&format, word >> 8 & 0xfffff, 16, 1);
    }
    for (i = first; i <= given; i++)
        recorder_add_string_(&format, " %d");
    if (to->buffer)
        recorder_coded_buffer_(&format, given - to->exception);
    to->format[format.size] = '\0'; /* 13 bytes, 7 of " %d", 24 of a buffer */
    return true;
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
