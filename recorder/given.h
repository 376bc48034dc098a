/* given.h - copies the texts of a record that may change. */
/* SPDX-License-Identifier: MIT */
/*
A pointer to characters that `%s` shows is recorded as a copy of its text, if
the text may change before a reader comes. It cannot if it is a string literal,
an array whose source the compiler sees, or if it is in memory that the module
who records cannot write: on Linux, from the module's ELF header up to its first
segment that can be written. A port says by RECORDER_CONSTANT(address) where its flash
is. Nothing else is known to stay: not the text of another library, which may be
closed.

Most formats have `%s` alone for a text, and the compiler sees that. If there is
a `%p`, a width or a precision, or if nothing is optimized, the format is read
when the record is made.
*/
#ifndef RECORDER_GIVEN_H_
#define RECORDER_GIVEN_H_

#include "arguments.h"
#ifdef RECORDER_NOTHING_
#include "off.h"
#elif !defined(RECORDER_DECLARED_)
#include "record.h"
#endif

RECORDER_C_BEGIN_

/* The read-only bytes of this module. */
#if defined(RECORDER_LINUX_) && !defined(RECORDER_NOTHING_)
extern const char recorder_module_start_[] RECORDER_LABEL_(__ehdr_start)
    __attribute__((weak, visibility("hidden")));
RECORDER_MODULE_ struct recorder_readonly_ recorder_readonly_ = {
    recorder_module_start_, 0};
#define RECORDER_THIS_MODULE_ (&recorder_readonly_)
#define RECORDER_STAYS_(text)                                                  \
    ((text) - (uintptr_t)recorder_readonly_.start <                            \
     __atomic_load_n(&recorder_readonly_.bytes, __ATOMIC_RELAXED))
#else
#define RECORDER_THIS_MODULE_ NULL
#ifdef RECORDER_CONSTANT
#define RECORDER_STAYS_(text) RECORDER_CONSTANT(text)
#else
#define RECORDER_STAYS_(text) false
#endif
#endif

#define RECORDER_LACKS_(text) (__builtin_strstr(format, text) == NULL)
/* True if the compiler sees that a format has for texts nothing but `%s`. */
RECORDER_INLINE_ bool recorder_is_plain_(const char *format)
{
    const bool plain = RECORDER_SEES_FORMATS_ && RECORDER_LACKS_("%p") && RECORDER_LACKS_("%.") &&
                       RECORDER_LACKS_("%*") && RECORDER_LACKS_("%-") &&
                       RECORDER_LACKS_("%1") && RECORDER_LACKS_("%2") &&
                       RECORDER_LACKS_("%3") && RECORDER_LACKS_("%4") &&
                       RECORDER_LACKS_("%5") && RECORDER_LACKS_("%6") &&
                       RECORDER_LACKS_("%7") && RECORDER_LACKS_("%8") &&
                       RECORDER_LACKS_("%9");
    return __builtin_constant_p(plain) && plain;
}

#ifdef __OPTIMIZE__ /* else it is much code for each argument */
#define RECORDER_GIVEN_INLINE_ RECORDER_INLINE_
#else
#define RECORDER_GIVEN_INLINE_ RECORDER_FUNCTION_
#endif
/* True if a format shows errno, with a width or without. */
RECORDER_FUNCTION_ bool recorder_finds_error_(const char *format)
{
    while (*format) {
        if (*format++ != '%')
            continue;
        while (*format >= ' ' && *format <= '9' && *format != '%')
            format++;
        if (*format == 'm')
            return true;
        if (*format)
            format++;
    }
    return false;
}
/* The same; the compiler sees `%m`, and that there is no `m` after a width. */
RECORDER_INLINE_ bool recorder_shows_error_(const char *format)
{
    if (!RECORDER_SEES_FORMATS_)
        return recorder_finds_error_(format);
    if (!RECORDER_LACKS_("%m"))
        return true;
    return !(RECORDER_LACKS_("0m") && RECORDER_LACKS_("1m") &&
             RECORDER_LACKS_("2m") && RECORDER_LACKS_("3m") &&
             RECORDER_LACKS_("4m") && RECORDER_LACKS_("5m") &&
             RECORDER_LACKS_("6m") && RECORDER_LACKS_("7m") &&
             RECORDER_LACKS_("8m") && RECORDER_LACKS_("9m") &&
             RECORDER_LACKS_("*m") && RECORDER_LACKS_(".m") &&
             RECORDER_LACKS_("%-m") && RECORDER_LACKS_("% m") &&
             RECORDER_LACKS_("%#m") && RECORDER_LACKS_("%+m")) &&
           recorder_finds_error_(format);
}
/* Where there is no word for errno. */
#if RECORDER_SEES_FORMATS_ && (!defined(__clang__) || __clang_major__ >= 14)
extern void recorder_too_many_with_error_(void)
    __attribute__((error("record(): at most 11 arguments with %m")));
extern void recorder_no_error_in_span_(void)
    __attribute__((error("RECORDER_SPAN: no %m; record() has it")));
#define RECORDER_REFUSE_(condition, refuse)                                    \
    if (__builtin_constant_p(condition) && (condition))                        \
    refuse()
#else
#define RECORDER_REFUSE_(condition, refuse) (void)(condition)
#endif

/* Returns the word of argument `index`. The one `before` it may be its
 * precision; errno, if the format `shows_error`, follows the last. */
RECORDER_GIVEN_INLINE_ uintptr_t recorder_word_given_(
    const struct recorder *recorder, const char *format, bool shows_error,
    unsigned index, struct recorder_given_ given, struct recorder_given_ before)
{
    if (given.text == RECORDER_NONE_)
        return before.text != RECORDER_NONE_ && shows_error
                   ? recorder_word_of_error_()
                   : 0;
    if (!given.text || __builtin_constant_p((const char *)given.word) ||
        RECORDER_STAYS_(given.word))
        return given.word;
    if (!recorder_is_plain_(format))
        given.text =
            recorder_size_of_text_(format, index, before.word, given.text);
    return recorder_word_of_text_(recorder, given.word, given.text,
                                  RECORDER_THIS_MODULE_);
}

/* Records `count` times 4 arguments, 2 or 3. */
RECORDER_INLINE_ uintptr_t recorder_record_12_(
    const struct recorder *recorder, const char *format, unsigned count,
    struct recorder_given_ a, struct recorder_given_ b,
    struct recorder_given_ c, struct recorder_given_ d,
    struct recorder_given_ e, struct recorder_given_ f,
    struct recorder_given_ g, struct recorder_given_ h,
    struct recorder_given_ i, struct recorder_given_ j,
    struct recorder_given_ k, struct recorder_given_ l)
{
    const bool m = recorder_shows_error_(format);
    RECORDER_REFUSE_(m && l.text != RECORDER_NONE_,
                     recorder_too_many_with_error_);
    if (count == 2 && h.text != RECORDER_NONE_ && m)
        count = 3;
    return recorder_record_more_(
        recorder, format, count,
        recorder_word_given_(recorder, format, m, 0, a, recorder_given_of_(0, 0)),
        recorder_word_given_(recorder, format, m, 1, b, a),
        recorder_word_given_(recorder, format, m, 2, c, b),
        recorder_word_given_(recorder, format, m, 3, d, c),
        recorder_word_given_(recorder, format, m, 4, e, d),
        recorder_word_given_(recorder, format, m, 5, f, e),
        recorder_word_given_(recorder, format, m, 6, g, f),
        recorder_word_given_(recorder, format, m, 7, h, g),
        recorder_word_given_(recorder, format, m, 8, i, h),
        recorder_word_given_(recorder, format, m, 9, j, i),
        recorder_word_given_(recorder, format, m, 10, k, j),
        recorder_word_given_(recorder, format, m, 11, l, k));
}
/* Records up to 4 arguments. */
RECORDER_INLINE_ uintptr_t recorder_record_4_(const struct recorder *recorder,
                                              const char *format,
                                              struct recorder_given_ a,
                                              struct recorder_given_ b,
                                              struct recorder_given_ c,
                                              struct recorder_given_ d)
{
    const bool m = recorder_shows_error_(format);
    const uintptr_t first = recorder_word_given_(recorder, format, m, 0, a,
                                                 recorder_given_of_(0, 0)),
                    second = recorder_word_given_(recorder, format, m, 1, b, a),
                    third = recorder_word_given_(recorder, format, m, 2, c, b),
                    fourth = recorder_word_given_(recorder, format, m, 3, d, c);
    if (d.text != RECORDER_NONE_ && m)
        return recorder_record_more_(recorder, format, 2, first, second, third,
                                     fourth, recorder_word_of_error_(), 0, 0, 0,
                                     0, 0, 0, 0);
    return recorder_record_few_(recorder, format, first, second, third, fourth);
}

RECORDER_C_END_
#endif
