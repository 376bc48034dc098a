/* trace.h - the trace events of Neutrino 1.0 and of QNX 6 to 8, as records. */
/* SPDX-License-Identifier: MIT */
/*
    #include "trace.h"                      // and link compat/qnx/trace.c

    Trace2(0x123401, _TRACE_HW_SEVERITY2, block, status);
    Trace1b(0x123402, _TRACE_SW_SEVERITY0, retries, sizeof packet, packet);
    trace_logf(_NTO_TRACE_USERFIRST + 1, "retry %d", retries);

    $ recorder dump 4711 --formats /usr/share/recorder/formats
    1 [0.000010131 disk.c:12 T1] trace: HW2 disk: parity error at block 4711

PROMISES (each names the test that keeps it)
    words       the word, arguments and buffer are recorded as given, for each
                number of arguments, with and without a buffer
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

#include <stdarg.h>
#include <stddef.h>

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

/* The word of TraceEvent(): the number of ints that follow it (0 to 7), a flag
 * for a pointer and a size after them, 20 bits of data, an opcode of 8 bits. */
#define _TRACE_WORD(arguments, pointer, data, opcode)                          \
    ((int)((unsigned)(arguments) << 29 | (unsigned)!!(pointer) << 28 |         \
           ((unsigned)(data)&0xfffff) << 8 | ((unsigned)(opcode)&0xff)))

/* Records a word, its ints, and its buffer; its value is 0. Or does a command
 * of QNX 6 and later, which is no word: it is beyond 32 bits. */
#define TraceEvent(...) recorder_trace_event_(RECORDER_TRACE_AT_, __VA_ARGS__)

/* A trace exception: a code, 24 bits major and 8 bits minor; a severity; up to
 * 6 ints; the macros with a `b` also take the size of a buffer and its
 * address. */
#define RECORDER_TRACE_(n, severity, ...)                                      \
    TraceEvent(_TRACE_WORD(n, 0, severity, _TRACE_EXC), __VA_ARGS__)
#define RECORDER_TRACE_B_(n, severity, size, data, ...)                        \
    TraceEvent(_TRACE_WORD(n, 1, severity, _TRACE_EXC), __VA_ARGS__,           \
               (const void *)(data), (int)(size))
#define Trace0(code, severity) RECORDER_TRACE_(1, severity, (int)(code))
#define Trace1(code, severity, a)                                              \
    RECORDER_TRACE_(2, severity, (int)(code), (int)(a))
#define Trace2(code, severity, a, b)                                           \
    RECORDER_TRACE_(3, severity, (int)(code), (int)(a), (int)(b))
#define Trace3(code, severity, a, b, c)                                        \
    RECORDER_TRACE_(4, severity, (int)(code), (int)(a), (int)(b), (int)(c))
#define Trace4(code, severity, a, b, c, d)                                     \
    RECORDER_TRACE_(5, severity, (int)(code), (int)(a), (int)(b),              \
                    (int)(c), (int)(d))
#define Trace5(code, severity, a, b, c, d, e)                                  \
    RECORDER_TRACE_(6, severity, (int)(code), (int)(a), (int)(b),              \
                    (int)(c), (int)(d), (int)(e))
#define Trace6(code, severity, a, b, c, d, e, f)                               \
    RECORDER_TRACE_(7, severity, (int)(code), (int)(a), (int)(b),              \
                    (int)(c), (int)(d), (int)(e), (int)(f))
#define Trace0b(code, severity, size, data)                                    \
    RECORDER_TRACE_B_(1, severity, size, data, (int)(code))
#define Trace1b(code, severity, a, size, data)                                 \
    RECORDER_TRACE_B_(2, severity, size, data, (int)(code), (int)(a))
#define Trace2b(code, severity, a, b, size, data)                              \
    RECORDER_TRACE_B_(3, severity, size, data, (int)(code), (int)(a), (int)(b))
#define Trace3b(code, severity, a, b, c, size, data)                           \
    RECORDER_TRACE_B_(4, severity, size, data, (int)(code), (int)(a),          \
                    (int)(b), (int)(c))
#define Trace4b(code, severity, a, b, c, d, size, data)                        \
    RECORDER_TRACE_B_(5, severity, size, data, (int)(code), (int)(a),          \
                    (int)(b), (int)(c), (int)(d))
#define Trace5b(code, severity, a, b, c, d, e, size, data)                     \
    RECORDER_TRACE_B_(6, severity, size, data, (int)(code), (int)(a),          \
                    (int)(b), (int)(c), (int)(d), (int)(e))
#define Trace6b(code, severity, a, b, c, d, e, f, size, data)                  \
    RECORDER_TRACE_B_(7, severity, size, data, (int)(code), (int)(a),          \
                    (int)(b), (int)(c), (int)(d), (int)(e), (int)(f))

/* --------------------------------------------------------- QNX 6 to 8 --
 *
 * TraceEvent() with an INSERT command records the event: (code, data0, data1);
 * (code, ints, their number); (code, text). STOP turns `trace` off,
 * START turns it on. Other commands do nothing and return 0. No command, and no
 * code from USERFIRST to USERLAST, is EINVAL.
 */
#define _NTO_TRACE_USERFIRST 0
#define _NTO_TRACE_USERLAST 1023
#define _NTO_TRACE_COMMAND_(n) (0x100000000LL + (n))
#define _NTO_TRACE_INSERTSUSEREVENT _NTO_TRACE_COMMAND_(1)
#define _NTO_TRACE_INSERTCUSEREVENT _NTO_TRACE_COMMAND_(2)
#define _NTO_TRACE_INSERTUSRSTREVENT _NTO_TRACE_COMMAND_(3)
#define _NTO_TRACE_INSERTEVENT _NTO_TRACE_COMMAND_(4) /* head, stamp, 2 words */
#define _NTO_TRACE_START _NTO_TRACE_COMMAND_(7)
#define _NTO_TRACE_STARTNOSTATE _NTO_TRACE_COMMAND_(8)
#define _NTO_TRACE_STOP _NTO_TRACE_COMMAND_(9)
#define _NTO_TRACE_ADDALLCLASSES _NTO_TRACE_COMMAND_(10)
#define _NTO_TRACE_ADDCLASS _NTO_TRACE_COMMAND_(11)
#define _NTO_TRACE_ADDEVENT _NTO_TRACE_COMMAND_(12)
#define _NTO_TRACE_ALLOCBUFFER _NTO_TRACE_COMMAND_(14)
#define _NTO_TRACE_DEALLOCBUFFER _NTO_TRACE_COMMAND_(19)
#define _NTO_TRACE_DELALLCLASSES _NTO_TRACE_COMMAND_(20)
#define _NTO_TRACE_DELCLASS _NTO_TRACE_COMMAND_(21)
#define _NTO_TRACE_DELEVENT _NTO_TRACE_COMMAND_(22)
#define _NTO_TRACE_FLUSHBUFFER _NTO_TRACE_COMMAND_(23)
#define _NTO_TRACE_QUERYEVENTS _NTO_TRACE_COMMAND_(24)
#define _NTO_TRACE_SETALLCLASSESFAST _NTO_TRACE_COMMAND_(25)
#define _NTO_TRACE_SETALLCLASSESWIDE _NTO_TRACE_COMMAND_(26)
#define _NTO_TRACE_SETCLASSFAST _NTO_TRACE_COMMAND_(27)
#define _NTO_TRACE_SETCLASSPID _NTO_TRACE_COMMAND_(28)
#define _NTO_TRACE_SETCLASSWIDE _NTO_TRACE_COMMAND_(30)
#define _NTO_TRACE_SETLINEARMODE _NTO_TRACE_COMMAND_(35)
#define _NTO_TRACE_SETRINGMODE _NTO_TRACE_COMMAND_(36)
enum { /* classes, for commands */
    _NTO_TRACE_EMPTY, _NTO_TRACE_CONTROL, _NTO_TRACE_KERCALL,
    _NTO_TRACE_KERCALLENTER, _NTO_TRACE_KERCALLEXIT, _NTO_TRACE_KERCALLINT,
    _NTO_TRACE_INT, _NTO_TRACE_INTENTER, _NTO_TRACE_INTEXIT,
    _NTO_TRACE_INT_HANDLER_ENTER, _NTO_TRACE_INT_HANDLER_EXIT,
    _NTO_TRACE_PROCESS, _NTO_TRACE_THREAD, _NTO_TRACE_VTHREAD, _NTO_TRACE_USER,
    _NTO_TRACE_SYSTEM, _NTO_TRACE_COMM
};

/* Record an event of the class USER: two words, bytes, or a text, whose size
 * with its NUL is the value, cut to `max` bytes unless that is 0. */
int trace_logi(int code, unsigned d1, unsigned d2);
int trace_logb(int code, const void *buffer, size_t bytes);
#define trace_logf(code, ...) trace_nlogf(code, 0, __VA_ARGS__)
int trace_nlogf(int code, int max, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int trace_vnlogf(int code, int max, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* Lets the opcodes from `first` to `last` record, or not; at the start all do.
 * From outside: recorder set PID trace_mask_1=0xffff0000, 32 opcodes a tweak. */
void trace_mask(unsigned first, unsigned last, int on);

/* The heading `event` and the place, as the format of the record. */
#define RECORDER_TRACE_AT_                                                     \
    "\1event\2\0" __FILE__ ":" RECORDER_TRACE_QUOTE_(__LINE__)
#define RECORDER_TRACE_QUOTE_(x) RECORDER_TRACE_QUOTE_2_(x)
#define RECORDER_TRACE_QUOTE_2_(x) #x

int recorder_trace_event_(const char *format, long long word, ...);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
