/* trace.c - records the trace events of trace.h. Compile it once. */
/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include "../../recorder_dump.h" /* for RECORDER_FILE */
#include "coded.h"

#include <errno.h>
#include <stdio.h>

#ifndef RECORDER_TRACE_SIZE
#define RECORDER_TRACE_SIZE 1024 /* slots */
#endif
RECORDER(trace, RECORDER_TRACE_SIZE, "Trace events of QNX")

/* A bit for each opcode, 32 to a tweak. */
#define EACH_(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define DEFINE_(n)                                                             \
    RECORDER_TWEAK_DEFINE(trace_mask_##n, 0xffffffff, "Opcodes from 32 * " #n)
#define MASK_(n) &RECORDER_TWEAK(trace_mask_##n),
EACH_(DEFINE_)
static intptr_t *const masks[8] = {EACH_(MASK_)};

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

#define CALLER_ ((uintptr_t)__builtin_return_address(0))
static bool is_on(void)
{
    return __atomic_load_n(&recorder_for_trace.trace, __ATOMIC_RELAXED) >= 0;
}

/* Records a user event with two words, or with bytes. Returns 0, or -1 if the
 * code is out of range. */
static int user_words(uintptr_t caller, const char *format, int code,
                      uintptr_t a, uintptr_t b)
{
    uintptr_t words[4] = {(unsigned)code, a, b};
    if (code < _NTO_TRACE_USERFIRST || code > _NTO_TRACE_USERLAST) {
        errno = EINVAL;
        return -1;
    }
    if (is_on())
        recorder_record_words_(&recorder_for_trace, format, caller, words, 1);
    return 0;
}
static int user_bytes(uintptr_t caller, const char *format, int code,
                      const void *data, size_t size)
{
    uintptr_t token = 0;
    if (is_on() && code >= _NTO_TRACE_USERFIRST && code <= _NTO_TRACE_USERLAST)
        token = (uintptr_t)recorder_copy_bytes_(&recorder_for_trace,
                                                data ? (const char *)data : "",
                                                data ? size : 0);
    return user_words(caller, format, code, token, 0);
}
#define USER_WORDS_ RECORDER_FORMAT_("user %u: %#x %#x")
#define USER_BYTES_ RECORDER_FORMAT_("user %u: %#s")
#define USER_TEXT_ RECORDER_FORMAT_("user %u: %s")

int trace_logi(int code, unsigned d1, unsigned d2)
{
    return user_words(CALLER_, USER_WORDS_, code, d1, d2);
}

int trace_logb(int code, const void *buffer, size_t bytes)
{
    return user_bytes(CALLER_, USER_BYTES_, code, buffer, bytes);
}

__attribute__((format(printf, 4, 0))) static int user_print(uintptr_t caller,
                                                            int code, int max,
                                                            const char *format,
                                                            va_list arguments)
{
    char text[RECORDER_COPY_MAX];
    size_t size = sizeof text;
    int length;
    if (max > 0 && (size_t)max < size)
        size = (size_t)max;
    length = vsnprintf(text, size, format, arguments);
    if (length < 0)
        return -1;
    if ((size_t)length >= size)
        length = (int)size - 1;
    return user_bytes(caller, USER_TEXT_, code, text, (size_t)length) < 0
               ? -1
               : length + 1;
}
int trace_vnlogf(int code, int max, const char *format, va_list arguments)
{
    return user_print(CALLER_, code, max, format, arguments);
}
int trace_nlogf(int code, int max, const char *format, ...)
{
    va_list arguments;
    int size;
    va_start(arguments, format);
    size = user_print(CALLER_, code, max, format, arguments);
    va_end(arguments);
    return size;
}
/* Does a command of QNX 6 and later. */
static int command(uintptr_t caller, long long word, va_list arguments)
{
    uintptr_t words[4] = {0};
    const void *data;
    switch (word) {
    case _NTO_TRACE_INSERTSUSEREVENT:
        for (int i = 0; i < 3; i++)
            words[i] = va_arg(arguments, unsigned);
        return user_words(caller, USER_WORDS_, (int)words[0], words[1],
                          words[2]);
    case _NTO_TRACE_INSERTUSRSTREVENT:
        words[0] = va_arg(arguments, unsigned);
        data = va_arg(arguments, const char *);
        return user_bytes(caller, USER_TEXT_, (int)words[0], data,
                          data ? __builtin_strlen((const char *)data) : 0);
    case _NTO_TRACE_INSERTCUSEREVENT:
        words[0] = va_arg(arguments, unsigned);
        data = va_arg(arguments, const void *);
        return user_bytes(caller, USER_BYTES_, (int)words[0], data,
                          4 * (size_t)va_arg(arguments, unsigned));
    case _NTO_TRACE_INSERTEVENT:
        for (int i = 0; i < 4; i++)
            words[i] = va_arg(arguments, unsigned);
        if (is_on())
            recorder_record_words_(&recorder_for_trace,
                                   RECORDER_FORMAT_("event %#x at %u: %#x %#x"),
                                   caller, words, 1);
        return 0;
    case _NTO_TRACE_START:
    case _NTO_TRACE_STARTNOSTATE: RECORDER_TRACE(trace) = 0; return 0;
    case _NTO_TRACE_STOP: RECORDER_TRACE(trace) = -1; return 0;
    default:
        if (word > _NTO_TRACE_STOP && word <= _NTO_TRACE_SETRINGMODE)
            return 0; /* buffers and filters, which are none here */
        errno = EINVAL;
        return -1;
    }
}

static bool event_decode(const struct recorder_event *event,
                         struct recorder_decoded_ *to)
{
    struct recorder_coded_ coded;
    return recorder_coded_of_(event, &coded, to);
}
static struct recorder_decoder_ decoder = {"event", event_decode, 0};

/* Another library's trace.c may have set its own, which is gone with it. */
static void decoder_set(void)
{
    struct recorder_decoder_ **at = &recorder_home_.registry->decoder;
    if (__atomic_load_n(at, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&decoder.check, ~(uintptr_t)&decoder, __ATOMIC_RELAXED);
    __atomic_store_n(at, &decoder, __ATOMIC_RELEASE);
}
__attribute__((destructor)) static void decoder_clear(void)
{
    struct recorder_decoder_ *ours = &decoder;
    __atomic_compare_exchange_n(&recorder_home_.registry->decoder, &ours, NULL,
                                false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

int recorder_trace_event_(const char *format, long long word, ...)
{
    uintptr_t words[12] = {(unsigned)word};
    unsigned opcode = (unsigned)word & 0xff;
    unsigned count = (unsigned)word >> 29, i;
    va_list arguments;
    if (word >> 32 == 1) {
        int value;
        va_start(arguments, word);
        value = command(CALLER_, word, arguments);
        va_end(arguments);
        return value;
    }
    if (!is_on() ||
        !((uintptr_t)__atomic_load_n(masks[opcode / 32], __ATOMIC_RELAXED) >>
              opcode % 32 &
          1))
        return 0;
    decoder_set();
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
    recorder_record_words_(&recorder_for_trace, format, CALLER_, words,
                           (i + 3) / 4);
    return 0;
}
