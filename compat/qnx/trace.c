/* trace.c - records the trace events of trace.h. Compile it once. */
/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include "../../recorder_dump.h" /* for RECORDER_FILE */

#ifndef RECORDER_TRACE_SIZE
#define RECORDER_TRACE_SIZE 1024 /* slots */
#endif
RECORDER(trace, RECORDER_TRACE_SIZE, "Trace events of QNX")

/* A bit for each opcode, 32 to a tweak. */
RECORDER_TWEAK_DEFINE(trace_mask_0, 0xffffffff, "Opcodes 0 to 31")
RECORDER_TWEAK_DEFINE(trace_mask_1, 0xffffffff, "Opcodes 32 to 63")
RECORDER_TWEAK_DEFINE(trace_mask_2, 0xffffffff, "Opcodes 64 to 95")
RECORDER_TWEAK_DEFINE(trace_mask_3, 0xffffffff, "Opcodes 96 to 127")
RECORDER_TWEAK_DEFINE(trace_mask_4, 0xffffffff, "Opcodes 128 to 159")
RECORDER_TWEAK_DEFINE(trace_mask_5, 0xffffffff, "Opcodes 160 to 191")
RECORDER_TWEAK_DEFINE(trace_mask_6, 0xffffffff, "Opcodes 192 to 223")
RECORDER_TWEAK_DEFINE(trace_mask_7, 0xffffffff, "Opcodes 224 to 255")

static intptr_t *const masks[8] = {
    &RECORDER_TWEAK(trace_mask_0), &RECORDER_TWEAK(trace_mask_1),
    &RECORDER_TWEAK(trace_mask_2), &RECORDER_TWEAK(trace_mask_3),
    &RECORDER_TWEAK(trace_mask_4), &RECORDER_TWEAK(trace_mask_5),
    &RECORDER_TWEAK(trace_mask_6), &RECORDER_TWEAK(trace_mask_7)};

void trace_mask(unsigned first, unsigned last, int on)
{
    for (; first <= last && first < 256; first++) {
        intptr_t bit = (intptr_t)((uintptr_t)1 << first % 32);
        if (on)
            __atomic_fetch_or(masks[first / 32], bit, __ATOMIC_RELAXED);
        else
            __atomic_fetch_and(masks[first / 32], ~bit, __ATOMIC_RELAXED);
    }
}

int recorder_trace_event_(const char *format, int word, ...)
{
    uintptr_t words[12] = {(unsigned)word};
    unsigned opcode = (unsigned)word & 0xff;
    unsigned count = (unsigned)word >> 29, i;
    va_list arguments;
    if (__atomic_load_n(&recorder_for_trace.trace, __ATOMIC_RELAXED) < 0 ||
        !((uintptr_t)__atomic_load_n(masks[opcode / 32], __ATOMIC_RELAXED) >>
              opcode % 32 &
          1))
        return 0;
    va_start(arguments, word);
    for (i = 1; i <= count; i++)
        words[i] = (unsigned)va_arg(arguments, int);
    if ((unsigned)word >> 28 & 1) {
        const char *data = (const char *)va_arg(arguments, const void *);
        unsigned size = (unsigned)va_arg(arguments, int);
        words[i++] = data ? size : 0;
        words[i++] = (uintptr_t)recorder_copy_bytes_(
            &recorder_for_trace, data ? data : "", data ? size : 0);
    }
    va_end(arguments);
    recorder_record_words_(&recorder_for_trace, format,
                           (uintptr_t)__builtin_return_address(0), words,
                           (i + 3) / 4);
    return 0;
}
