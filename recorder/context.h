/* context.h - RECORDER_CONTEXT: the request that a thread works for. */
/* SPDX-License-Identifier: MIT */
/*
    RECORDER(context, 4096)                         in one file of the program

    RECORDER_CONTEXT("trace", traceparent);         "trace=4bf92f35... from=00f0..."
    RECORDER_CONTEXT_SENT("trace", header);         "trace=4bf92f35... to=b7ad..."
    RECORDER_CONTEXT("trace", 0);                   "trace="

A change of a thread's context is an ordinary record of the recorder `context`,
and belongs to all records of the thread until its next change of that name: no
other record has a word of it. The trace and the span of a W3C traceparent are
words of the record. Another text is copied.
*/
#ifndef RECORDER_CONTEXT_H_
#define RECORDER_CONTEXT_H_

#include "arguments.h"
#include "record.h"

/* Reads words of lower-case hexadecimal digits. False: there is another
 * character, after which nothing is read. */
RECORDER_SELDOM_ bool recorder_context_hex_(const char *text, uintptr_t *to,
                                              size_t words)
{
    for (size_t i = 0; i < words * 2 * sizeof *to; i++) {
        char c = text[i];
        bool is_digit = c >= '0' && c <= '9';
        uintptr_t *word = &to[i / (2 * sizeof *to)];
        if (!is_digit && (c < 'a' || c > 'f'))
            return false;
        *word = *word << 4 | (uintptr_t)(is_digit ? c - '0' : c - 'a' + 10);
    }
    return true;
}

/* Reads a W3C traceparent, "00-TRACE-SPAN-01", or a trace alone, whose span is 0.
 * No byte after `size` or a NUL is read. */
RECORDER_SELDOM_ bool recorder_context_parse_(const char *text, size_t size,
                                                uintptr_t *word)
{
    const size_t trace = 16 / sizeof *word, span = 8 / sizeof *word;
    const bool whole = size >= 55 && text[0] == '0' && text[1] == '0' &&
                       text[2] == '-';
    if (size < 32 || !recorder_context_hex_(text + (whole ? 3 : 0), word, trace))
        return false;
    if (!whole)
        return size == 32 || !text[32];
    return text[35] == '-' &&
           recorder_context_hex_(text + 36, word + trace, span) &&
           text[52] == '-';
}

/* Records a change, in the format that suits the id; 0 and "" clear it. */
RECORDER_CALLED_SELDOM_ uintptr_t recorder_context_(
    const struct recorder *recorder, const char *trace, const char *text,
    const char *number, struct recorder_given_ id)
{
    uintptr_t w[6] = {(uintptr_t) "", 0, 0, 0, 0, 0};
    const char *at = (const char *)id.word, *format = text;
    if (!id.text && id.word) {
        format = number;
        w[0] = id.word;
    } else if (id.text && at && *at) {
        format = trace;
        if (!recorder_context_parse_(at, id.text, w)) {
            format = text;
            w[0] = (uintptr_t)recorder_copy_bytes_(
                recorder, at, recorder_copy_size_(at, id.text));
        } else if (sizeof *w == 4) {
            return recorder_returned_(recorder_record_more_(
                recorder, format, 2, w[0], w[1], w[2], w[3], w[4], w[5], 0, 0,
                0, 0, 0, 0));
        }
    }
    return recorder_returned_(
        recorder_record_few_(recorder, format, w[0], w[1], w[2], 0));
}

#endif
