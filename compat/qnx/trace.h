/* trace.h - the trace events of QNX/Neutrino: recorded, and read as records. */
/* SPDX-License-Identifier: MIT */
/*
    #include "trace.h"                      // and link compat/qnx/trace.c

    Trace2(0x123401, _TRACE_HW_SEVERITY2, block, status);
    Trace1b(0x123402, _TRACE_SW_SEVERITY0, retries, sizeof packet, packet);

    $ recorder dump 4711 --formats /usr/share/recorder/formats
    1 [0.000010 disk.c:12 T1] trace: HW2 disk: parity error at block 4711

PROMISES (each names the test that keeps it)
    words       what is recorded is the word, arguments and buffer as given, for
                each number of arguments, with and without a buffer
                -> tests/outside/qnx.c
    masked      an event of an opcode that is masked records nothing
                -> tests/outside/qnx.c

LIMITS
    * A buffer is kept up to 1024 bytes (RECORDER_COPY_MAX); a reader says how
      long it was.
    * Differences from QNX: compat/qnx/README.md.
*/
#ifndef RECORDER_QNX_TRACE_H
#define RECORDER_QNX_TRACE_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
    _TRACE_HW_SEVERITY0, /* information, a test */
    _TRACE_HW_SEVERITY1, /* an expected error */
    _TRACE_HW_SEVERITY2, /* unexpected, recoverable */
    _TRACE_HW_SEVERITY3, /* unexpected, not recoverable */
    _TRACE_SW_SEVERITY0,
    _TRACE_SW_SEVERITY1,
    _TRACE_SW_SEVERITY2,
    _TRACE_SW_SEVERITY3
};
#define _TRACE_EXC 0xff /* the opcode of Trace0() to Trace6b() */

/* The word of TraceEvent(): how many ints follow it (0 to 7), whether a pointer
 * and a size come behind them, 20 bits of data, an opcode of 8 bits. */
#define _TRACE_WORD(arguments, pointer, data, opcode)                          \
    ((int)((unsigned)(arguments) << 29 | (unsigned)!!(pointer) << 28 |         \
           ((unsigned)(data)&0xfffff) << 8 | ((unsigned)(opcode)&0xff)))

/* Records a word, the ints that it tells of, and a buffer; its value is 0. */
#define TraceEvent(...) recorder_trace_event_(RECORDER_TRACE_AT_, __VA_ARGS__)

/* A trace exception: a code, 24 bits major and 8 bits minor; a severity; up to 6
 * ints; in those with a `b`, the size of a buffer and where it is. */
#define Trace0(code, severity)                                                 \
    TraceEvent(_TRACE_WORD(1, 0, severity, _TRACE_EXC), (int)(code))
#define Trace1(code, severity, a)                                              \
    TraceEvent(_TRACE_WORD(2, 0, severity, _TRACE_EXC), (int)(code), (int)(a))
#define Trace2(code, severity, a, b)                                           \
    TraceEvent(_TRACE_WORD(3, 0, severity, _TRACE_EXC), (int)(code), (int)(a), \
               (int)(b))
#define Trace3(code, severity, a, b, c)                                        \
    TraceEvent(_TRACE_WORD(4, 0, severity, _TRACE_EXC), (int)(code), (int)(a), \
               (int)(b), (int)(c))
#define Trace4(code, severity, a, b, c, d)                                     \
    TraceEvent(_TRACE_WORD(5, 0, severity, _TRACE_EXC), (int)(code), (int)(a), \
               (int)(b), (int)(c), (int)(d))
#define Trace5(code, severity, a, b, c, d, e)                                  \
    TraceEvent(_TRACE_WORD(6, 0, severity, _TRACE_EXC), (int)(code), (int)(a), \
               (int)(b), (int)(c), (int)(d), (int)(e))
#define Trace6(code, severity, a, b, c, d, e, f)                               \
    TraceEvent(_TRACE_WORD(7, 0, severity, _TRACE_EXC), (int)(code), (int)(a), \
               (int)(b), (int)(c), (int)(d), (int)(e), (int)(f))
#define RECORDER_TRACE_BUFFER_(size, data)                                     \
    (const void *)(data), (int)(size)
#define Trace0b(code, severity, size, data)                                    \
    TraceEvent(_TRACE_WORD(1, 1, severity, _TRACE_EXC), (int)(code),           \
               RECORDER_TRACE_BUFFER_(size, data))
#define Trace1b(code, severity, a, size, data)                                 \
    TraceEvent(_TRACE_WORD(2, 1, severity, _TRACE_EXC), (int)(code), (int)(a), \
               RECORDER_TRACE_BUFFER_(size, data))
#define Trace2b(code, severity, a, b, size, data)                              \
    TraceEvent(_TRACE_WORD(3, 1, severity, _TRACE_EXC), (int)(code), (int)(a), \
               (int)(b), RECORDER_TRACE_BUFFER_(size, data))
#define Trace3b(code, severity, a, b, c, size, data)                           \
    TraceEvent(_TRACE_WORD(4, 1, severity, _TRACE_EXC), (int)(code), (int)(a), \
               (int)(b), (int)(c), RECORDER_TRACE_BUFFER_(size, data))
#define Trace4b(code, severity, a, b, c, d, size, data)                        \
    TraceEvent(_TRACE_WORD(5, 1, severity, _TRACE_EXC), (int)(code), (int)(a), \
               (int)(b), (int)(c), (int)(d),                                   \
               RECORDER_TRACE_BUFFER_(size, data))
#define Trace5b(code, severity, a, b, c, d, e, size, data)                     \
    TraceEvent(_TRACE_WORD(6, 1, severity, _TRACE_EXC), (int)(code), (int)(a), \
               (int)(b), (int)(c), (int)(d), (int)(e),                         \
               RECORDER_TRACE_BUFFER_(size, data))
#define Trace6b(code, severity, a, b, c, d, e, f, size, data)                  \
    TraceEvent(_TRACE_WORD(7, 1, severity, _TRACE_EXC), (int)(code), (int)(a), \
               (int)(b), (int)(c), (int)(d), (int)(e), (int)(f),               \
               RECORDER_TRACE_BUFFER_(size, data))

/* Lets the opcodes from `first` to `last` record, or not; at the start all do.
 * From outside: recorder set PID trace_mask_1=0xffff0000, 32 opcodes a tweak. */
void trace_mask(unsigned first, unsigned last, int on);

/* The heading `event` and the place, as the format of the record. */
#define RECORDER_TRACE_AT_                                                     \
    "\1event\2\0" __FILE__ ":" RECORDER_TRACE_QUOTE_(__LINE__)
#define RECORDER_TRACE_QUOTE_(x) RECORDER_TRACE_QUOTE_2_(x)
#define RECORDER_TRACE_QUOTE_2_(x) #x

int recorder_trace_event_(const char *format, int word, ...);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
