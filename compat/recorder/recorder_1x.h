/* recorder_1x.h - the interface of recorder 1.x, over our own headers. */
/* SPDX-License-Identifier: MIT */
/*
    cc -I.../compat -I.../compat/recorder program.c       // nothing to link

    Programs written for recorder 1.x compile unchanged; ../README.md lists the
    differences. With many files, compile the functions once, in recorder.c:

    cc -DRECORDER_COMPILE_ONCE -I... file.c ... compat/recorder/recorder.c

CONTENTS
    names       ours that 1.x gives another meaning
    define      recorders and tweaks
    record      the record macros
    timing      RECORD_TIMING_BEGIN, RECORD_TIMING_END
    functions   dump, format, trace, signals
    predefined  recorders and tweaks that every program has
    arguments   from a value to the word that a record keeps
*/
#ifndef RECORDER_1X_H
#define RECORDER_1X_H

/* 1.x includes <string>, which brings errno; C++ programs count on both. */
#ifdef __cplusplus
#include <cerrno>
#include <string>
#endif

#if defined(RECORDER_COMPILE_ONCE) && !defined(RECORDER_COMPILE_HERE)
#define RECORDER_BODIES_ /* RECORDER_OFF takes out records only */
#include "../../recorder.h"
#define RECORDER_1X_ extern
#else
#define RECORDER_MARKS_ false /* lines look as in 1.x */
#include "../../recorder_set.h"
#if defined(RECORDER_COMPILE_HERE)
#define RECORDER_1X_ __attribute__((visibility("default")))
#elif defined(__cplusplus)
#define RECORDER_1X_ inline __attribute__((visibility("hidden")))
#else
#define RECORDER_1X_ static __attribute__((unused))
#endif
#endif

#if defined(RECORDER_HOSTED_) && !defined(RECORDER_LINUX_)
#error "compat/recorder: for Linux only"
#endif

#include "recorder_ring.h"

/* ----------------------------------------------------------------- names --
 *
 * From here on these names have the meanings of 1.x: our functions of the same
 * name have other results or arguments.
 */
#define recorder_dump recorder_1x_dump
#define recorder_dump_for recorder_1x_dump_for
#define recorder_dump_on_signal recorder_1x_dump_on_signal
#define recorder_dump_on_common_signals recorder_1x_dump_on_common_signals
#define recorder_trace_set recorder_1x_trace_set
#define recorder_configure_type recorder_1x_configure_type

#undef RECORDER_VERSION_MAJOR
#undef RECORDER_VERSION_MINOR
#undef RECORDER_VERSION_PATCH
#undef RECORDER_VERSION
#define RECORDER_VERSION(major, minor, patch)                                  \
    (((major) << 16) | ((minor) << 8) | (patch))
#define RECORDER_VERSION_MAJOR(version) (((version) >> 16) & 0xff)
#define RECORDER_VERSION_MINOR(version) (((version) >> 8) & 0xff)
#define RECORDER_VERSION_PATCH(version) ((version)&0xff)
#define RECORDER_CURRENT_VERSION RECORDER_VERSION(1, 2, 3)

#if __SIZEOF_POINTER__ == 8
#define RECORDER_64BIT 1
#else
#define RECORDER_64BIT 0
#endif
#define RECORDER_CONSTRUCTOR __attribute__((constructor))
#define RECORDER_STRING(x) RECORDER_QUOTE_(x)
#define RECORDER_SOURCE_FUNCTION __func__
#define RECORDER_SOURCE_LOCATION __FILE__ ":" RECORDER_QUOTE_(__LINE__)

typedef struct recorder recorder_info; /* trace, name, description, next */
typedef struct recorder_tweak recorder_tweak;
typedef struct recorder_entry {
    const char *format;
    uintptr_t order, timestamp;
    const char *where;
    uintptr_t args[4];
} recorder_entry;

/* ---------------------------------------------------------------- define -- */

#define RECORDER_DEFINE(name, size, info) RECORDER(name, size, info)
#define RECORDER_ENABLED(name) (RECORDER_TRACE(name) >= 0)
#ifdef RECORDER_OFF /* nothing defines the recorder: show one that exists */
#define RECORDER_INFO(name)                                                    \
    ((void)sizeof recorder_for_##name, &recorder_for_recorder)
#else
#define RECORDER_INFO(name) (&recorder_for_##name)
/* As in 1.x, of a recorder or of a tweak: the first member of both. */
#undef RECORDER_TRACE
#define RECORDER_TRACE(name) (*(intptr_t *)(void *)&recorder_for_##name)
#endif

/* As in 1.x, a declaration needs its semicolon and may be inside a function. */
#undef RECORDER_DECLARE
#undef RECORDER_TWEAK_DECLARE
#define RECORDER_DECLARE(name) extern struct recorder recorder_for_##name
#define RECORDER_TWEAK_DECLARE(name)                                           \
    extern struct recorder_tweak recorder_for_##name
/* As in 1.x, RECORDER_TWEAK_DEFINE ends in a brace: it needs no semicolon, not
 * even at the end of a file. */
#undef RECORDER_TWEAK_ENDS_
#define RECORDER_TWEAK_ENDS_

/* ---------------------------------------------------------------- record --
 *
 * record() returns the order of the record, or (ringidx_t)-1 if the recorder is
 * off; the arguments are not evaluated then. The compiler does not check the
 * format: it may hold conversions of the program's own.
 */
#define record_fast RECORD
#define RECORD_FAST RECORD
#define RECORD_ALWAYS RECORD
#define RECORD_FAST_ALWAYS RECORD
#define RECORD(name, ...)                                                      \
    RECORD_X(__VA_ARGS__, RECORD_TOO_MANY_ARGS, RECORD_TOO_MANY_ARGS,          \
             RECORD_TOO_MANY_ARGS, RECORD_TOO_MANY_ARGS, RECORD_12_,           \
             RECORD_12_, RECORD_12_, RECORD_12_, RECORD_8_, RECORD_8_,         \
             RECORD_8_, RECORD_8_, RECORD_4_, RECORD_4_, RECORD_4_, RECORD_4_, \
             RECORD_4_, 0)                                                     \
    (name, __VA_ARGS__, 0, 0, 0, 0)
#define RECORD_X(format, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, x,    \
                 ...)                                                          \
    x
#define RECORD_TOO_MANY_ARGS(name, ...) RECORDER_MANY_(name, , 0)

#ifdef RECORDER_OFF
#define RECORD_CALL_(name, call)                                               \
    recorder_word_of_word_(1 ? (ringidx_t)-1 : recorder_returned_(call))
#else
#define RECORD_CALL_(name, call)                                               \
    (__atomic_load_n(&recorder_for_##name.trace, __ATOMIC_RELAXED) < 0         \
         ? (ringidx_t)-1                                                       \
         : recorder_returned_(call))
#endif
#define RECORD_4_(name, format, a, b, c, d, ...)                               \
    RECORD_CALL_(name, recorder_record_few_(                                   \
                           &recorder_for_##name, RECORDER_FORMAT_(format),     \
                           RECORDER_ARG(a), RECORDER_ARG(b), RECORDER_ARG(c),  \
                           RECORDER_ARG(d)))
#define RECORD_8_(name, format, a, b, c, d, e, f, g, h, ...)                   \
    RECORD_CALL_(name, recorder_record_more_(                                  \
                           &recorder_for_##name, RECORDER_FORMAT_(format), 2,  \
                           RECORDER_ARG(a), RECORDER_ARG(b), RECORDER_ARG(c),  \
                           RECORDER_ARG(d), RECORDER_ARG(e), RECORDER_ARG(f),  \
                           RECORDER_ARG(g), RECORDER_ARG(h), 0, 0, 0, 0))
#define RECORD_12_(name, format, a, b, c, d, e, f, g, h, i, j, k, l, ...)      \
    RECORD_CALL_(name, recorder_record_more_(                                  \
                           &recorder_for_##name, RECORDER_FORMAT_(format), 3,  \
                           RECORDER_ARG(a), RECORDER_ARG(b), RECORDER_ARG(c),  \
                           RECORDER_ARG(d), RECORDER_ARG(e), RECORDER_ARG(f),  \
                           RECORDER_ARG(g), RECORDER_ARG(h), RECORDER_ARG(i),  \
                           RECORDER_ARG(j), RECORDER_ARG(k), RECORDER_ARG(l)))

/* ---------------------------------------------------------------- timing --
 *
 * RECORD_TIMING_BEGIN(rec);
 *     ...
 * RECORD_TIMING_END(rec, "Rendered", "frames", 1);
 *
 * The two macros open and close a block. At most every RECORDER_TRACE(rec)
 * milliseconds the second records
 *     Rendered 60.00 frames/s, total 9, 60.00 loops/s, avg duration 350.00 us,
 * Rates and average count from the previous record of a block, the total from
 * the start.
 */
struct recorder_timing {
    uintptr_t since, value, total, loops, ticks; /* since 0: not begun */
};
struct recorder_timed {
    double values_per_s, loops_per_s, average_us;
    uintptr_t total;
};
#define RECORD_TIMING_BEGIN(name)                                              \
    {                                                                          \
        static struct recorder_timing recorder_timing_of_##name =              \
            {0, 0, 0, 0, 0};                                                   \
        uintptr_t recorder_began_##name = (uintptr_t)recorder_tick()
#define RECORD_TIMING_END(name, operation, unit, amount)                       \
    struct recorder_timed recorder_timed_##name;                               \
    if (recorder_timing_add(&recorder_timing_of_##name, recorder_began_##name, \
                            (uintptr_t)recorder_tick(), RECORDER_HZ,           \
                            RECORDER_TRACE(name), (uintptr_t)(amount),         \
                            &recorder_timed_##name))                           \
        RECORD(name,                                                           \
               operation " %.2f " unit "/s, total %lu, %.2f loops/s, "         \
                         "avg duration %.2f us, ",                             \
               recorder_timed_##name.values_per_s,                             \
               recorder_timed_##name.total, recorder_timed_##name.loops_per_s, \
               recorder_timed_##name.average_us);                              \
    }
#ifndef RECORDER_HZ
#if RECORDER_64BIT
#define RECORDER_HZ 1000000
#else
#define RECORDER_HZ 1000
#endif
#endif

/* ------------------------------------------------------------- functions -- */

RECORDER_C_BEGIN_

typedef unsigned (*recorder_show_fn)(const char *text, size_t size,
                                     void *output);
typedef void (*recorder_format_fn)(recorder_show_fn show, void *output,
                                   const char *label, const char *location,
                                   uintptr_t order, uintptr_t timestamp,
                                   const char *message);
typedef size_t (*recorder_type_fn)(intptr_t trace, const char *format,
                                   char *buffer, size_t size, uintptr_t data);

/* Time since the program's start: microseconds on 64-bit machines, milliseconds
 * on 32-bit ones. */
#ifndef recorder_tick
RECORDER_1X_ uintptr_t recorder_tick(void);
#endif
RECORDER_1X_ bool
recorder_timing_add(struct recorder_timing *timing, uintptr_t began,
                    uintptr_t ended, uintptr_t hz, intptr_t trace,
                    uintptr_t amount, struct recorder_timed *to);

/* Each of the three returns the number of records shown and removes none. */
RECORDER_1X_ unsigned recorder_dump(void);
RECORDER_1X_ unsigned recorder_dump_for(const char *regex);
RECORDER_1X_ unsigned recorder_sort(const char *regex,
                                    recorder_format_fn format,
                                    recorder_show_fn show, void *output);
RECORDER_1X_ void *recorder_configure_output(void *output);
RECORDER_1X_ recorder_show_fn recorder_configure_show(recorder_show_fn show);
RECORDER_1X_ recorder_format_fn
recorder_configure_format(recorder_format_fn format);
RECORDER_1X_ recorder_type_fn recorder_configure_type(uint8_t id,
                                                      recorder_type_fn type);
RECORDER_1X_ unsigned recorder_indent(void);

RECORDER_1X_ void recorder_background_dump(const char *regex);
RECORDER_1X_ void recorder_background_dump_stop(void);
#define recorder_background_stop recorder_background_dump_stop
RECORDER_1X_ void recorder_dump_on_signal(int sig);
RECORDER_1X_ void recorder_dump_on_common_signals(unsigned add,
                                                  unsigned remove);
RECORDER_1X_ int recorder_trace_set(const char *specification);

RECORDER_1X_ recorder_info *recorder_list(void);
RECORDER_1X_ void recorder_activate(recorder_info *recorder);
RECORDER_1X_ void recorder_tweak_activate(recorder_tweak *tweak);

RECORDER_C_END_

/* ------------------------------------------------------------ predefined --
 *
 * Recorders and tweaks that 1.x has in every program, as lists of
 * X(name, size or value, description).
 */
#define RECORDER_1X_RECORDERS_(X)                                              \
    X(recorder, 32, "Operations of the recorder itself")                       \
    X(recorder_warning, 8, "Warnings of the recorder")                         \
    X(recorder_error, 8, "Errors of the recorder")                             \
    X(recorder_signals, 32, "Signals")                                         \
    X(recorder_traces, 64, "Settings by recorder_trace_set")
#define RECORDER_1X_TWEAKS_(X)                                                 \
    X(recorder_location, 0, "Show the place in the source; above 1: columns")  \
    X(recorder_function, 0, "Show the caller; above 1: columns")               \
    X(recorder_order, 1, "Show each record's sequence number")                 \
    X(recorder_abstime, 0, "Show the time of day, UTC")                        \
    X(recorder_reltime, 1, "Show seconds since the start")                     \
    X(recorder_time_precision, 6, "Digits after the second")                   \
    X(recorder_indent, 20, "Show that many levels as blanks")                  \
    X(recorder_dump_sleep, 100, "Milliseconds between background dumps")       \
    X(recorder_configuration_sleep, 100, "No longer used")                     \
    X(recorder_export_size, 2048, "No longer used")                            \
    X(recorder_alt_stack_size, 8192, "No longer used")                         \
    X(recorder_signals_mask, 0, "Signals to dump at; 0: crashes")              \
    X(recorder_signals_repeating, 0, "No longer used")                         \
    X(recorder_signals_exiting, 0, "No longer used")

#define RECORDER_1X_DECLARE_(name, size, info) RECORDER_DECLARE(name);
#define RECORDER_1X_TWEAK_(name, value, info) RECORDER_TWEAK_DECLARE(name);
RECORDER_1X_RECORDERS_(RECORDER_1X_DECLARE_)
RECORDER_1X_TWEAKS_(RECORDER_1X_TWEAK_)

/* ------------------------------------------------------------- arguments -- */

#ifndef __cplusplus
struct recorder_cast_it_to_double;
#endif
#ifdef __cplusplus
/* The name is unqualified so that argument-dependent lookup finds a program's
 * own overloads. */
#define RECORDER_ARG(x) _recorder_arg(x)
template <typename T> struct recorder_1x_is_class {
    enum { value = __is_class(T) || __is_union(T) };
};
template <bool condition> struct recorder_1x_if {
};
template <> struct recorder_1x_if<true> {
    typedef uintptr_t type;
};
template <typename T>
RECORDER_INLINE_ typename recorder_1x_if<!recorder_1x_is_class<T>::value>::type
_recorder_arg(T value)
{
    static_assert(!recorder_is_long_double_<T>::value,
                  RECORDER_NO_LONG_DOUBLE_);
    return (uintptr_t)value;
}
RECORDER_INLINE_ uintptr_t _recorder_arg(double value)
{
    return recorder_word_of_double_(value);
}
RECORDER_INLINE_ uintptr_t _recorder_arg(float value)
{
    return recorder_word_of_double_((double)value);
}
/* A class with c_str(), as std::string: the record keeps the text's address. */
template <typename T>
RECORDER_INLINE_ auto recorder_1x_word(const T &value, int)
    -> decltype((uintptr_t)(const char *)value.c_str())
{
    return (uintptr_t)(const char *)value.c_str();
}
/* A class that converts to a pointer or a number. */
template <typename T>
RECORDER_INLINE_ uintptr_t recorder_1x_word(const T &value, long)
{
    return (uintptr_t)value;
}
template <typename T>
RECORDER_INLINE_ typename recorder_1x_if<recorder_1x_is_class<T>::value>::type
_recorder_arg(const T &value)
{
    return recorder_1x_word(value, 0);
}
#else
/* As RECORDER_WORD_, but on 32-bit machines a 64-bit integer loses its upper
 * half, and for a structure the compiler reports the failed cast in its own
 * words. */
#define RECORDER_ARG(x)                                                        \
    _Generic((x), float                                                        \
             : recorder_word_of_double_, double                                \
             : recorder_word_of_double_, long double                           \
             : recorder_1x_long_double_does_not_fit, default                   \
             : recorder_word_of_word_)(_Generic((x), float                     \
                                                : (x), double                  \
                                                : (x), long double             \
                                                : (x), default                 \
                                                : (uintptr_t)(x)))
uintptr_t
recorder_1x_long_double_does_not_fit(struct recorder_cast_it_to_double *);
#endif

#if !defined(RECORDER_COMPILE_ONCE) || defined(RECORDER_COMPILE_HERE)
#include "body.h"
#endif

/* Defined last, because our structures have members of this name. */
#undef record
#define record RECORD
#endif
