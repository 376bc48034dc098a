/* compat/qnx/coded.h: words of trace events, taken apart as they were put
 * together. */
/* SPDX-License-Identifier: MIT */
#include "harness/capture.h"
#include "harness/random.h"

#include "compat/qnx/coded.h"
#include "compat/qnx/trace.h"

TestSuite(coded, .timeout = 240);

/* Goal: each field of a word comes back, and so do arguments, lost ones as
 * lost. Method: random fields, words of the macro that programs use; all that a
 * format made of them may say fits it. */
Test(coded, words_there_and_back)
{
    uint64_t seed = seed_of("coded"), state = seed;
    for (unsigned i = 0, end = rounds(2000000); i < end; i++) {
        unsigned count = (unsigned)(random_of(&state) % 8);
        bool buffer = random_of(&state) & 1;
        unsigned data = (unsigned)(random_of(&state) >> (i % 40));
        unsigned opcode = i % 3 ? (unsigned)random_of(&state) & 0xff : 0xff;
        struct recorder_event event;
        struct recorder_coded_ is;
        struct recorder_decoded_ shown;
        unsigned first;
        memset(&event, 0, sizeof event);
        shown.severity = -1;
        shown.hardware = false;
        event.argument[0] = (uint32_t)_TRACE_WORD(count, buffer, data, opcode);
        event.missing_arguments = i % 5 ? 0 : (uint32_t)random_of(&state) & 0xffe;
        for (unsigned n = 1; n < 12; n++)
            event.argument[n] = (uint32_t)random_of(&state);
        cr_assert(recorder_coded_of_(&event, &is, &shown));
        cr_assert_eq(is.word & 0xff, opcode);
        cr_assert_eq(is.word >> 8 & 0xfffff, data & 0xfffff);
        cr_assert_eq(is.buffer, buffer);
        cr_assert_eq(is.exception,
                     opcode == 0xff && count && !(event.missing_arguments & 2));
        first = is.exception ? 2 : 1;
        cr_assert_eq(is.count, count + 1 - first + 2 * buffer);
        for (unsigned n = 0; n < 12; n++)
            if (n < is.count)
                cr_assert(shown.argument[n] == event.argument[first + n] &&
                          (shown.missing >> n & 1) ==
                              (event.missing_arguments >> (first + n) & 1));
            else
                cr_assert(shown.missing >> n & 1);
        cr_assert_eq(recorder_format_count_(shown.format), is.count, "%s",
                     shown.format);
        cr_assert_lt(strlen(shown.format), sizeof shown.format);
        data &= 0xfffff;
        cr_assert_eq(shown.severity,
                     opcode == 0xff && data < 8 ? (int)(data & 3) : -1);
        cr_assert_eq(shown.hardware, opcode == 0xff && data < 4);
    }
}

/* Goal: a lost word is no word. */
Test(coded, lost_word)
{
    struct recorder_event event = {0};
    struct recorder_coded_ is;
    struct recorder_decoded_ shown;
    event.missing_arguments = 1;
    cr_assert(!recorder_coded_of_(&event, &is, &shown));
}
