/* span.h - RECORDER_SPAN: a record at the head of a block, and one at its end. */
/* SPDX-License-Identifier: MIT */
/*
    {
        RECORDER_SPAN(net, "request %d", id);   records "> request 7"
        ...
        RECORDER_SPAN_RESULT(net, status);
    }                                           records "< request 7 result=200"

A span is two records that readers pair by thread, recorder and name. Both are
made of words that are computed once, at the head. A variable of the block holds
them: in C its cleanup function makes the second record, in C++ a destructor,
however the block is left: by its end, by return, break or goto, by an exception
and, in C with -fexceptions, where a thread is cancelled. longjmp() and exit()
leave no block: such a span stays open, and shifts no other.

A recorder that was off at the head records nothing at the end. A program
without RECORDER_SPAN has no code of this file.
*/
#ifndef RECORDER_SPAN_H_
#define RECORDER_SPAN_H_

#include "given.h"

/* ------------------------------------------------------------------ span -- */

#define RECORDER_SPAN_WORDS_ 12 /* of a record; the last is the result */

struct recorder_span_ {
    const struct recorder *recorder; /* null: none is open */
    const char *close, *close_with_result;
    unsigned count; /* of the words that the format shows */
    bool has_result;
    uintptr_t word[RECORDER_SPAN_WORDS_];
};

RECORDER_INLINE_ void recorder_span_record_(const struct recorder_span_ *span,
                                            const char *format, unsigned count)
{
    const uintptr_t *w = span->word;
    if (count <= 4)
        recorder_returned_(recorder_record_few_(span->recorder, format, w[0],
                                                w[1], w[2], w[3]));
    else
        recorder_returned_(recorder_record_more_(
            span->recorder, format, (count + 3) / 4, w[0], w[1], w[2], w[3],
            w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11]));
}

RECORDER_INLINE_ struct recorder_span_ recorder_span_none_(void)
{
    struct recorder_span_ span = {
        NULL, NULL, NULL, 0, false, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    return span;
}

/* Opens a span: records its words. */
RECORDER_INLINE_ struct recorder_span_
recorder_span_open_(const struct recorder *recorder, const char *open,
                    const char *close, const char *close_with_result,
                    unsigned count, struct recorder_given_ a,
                    struct recorder_given_ b, struct recorder_given_ c,
                    struct recorder_given_ d, struct recorder_given_ e,
                    struct recorder_given_ f, struct recorder_given_ g,
                    struct recorder_given_ h, struct recorder_given_ i,
                    struct recorder_given_ j, struct recorder_given_ k)
{
    const bool m = RECORDER_SEES_FORMATS_ && recorder_shows_error_(open);
    struct recorder_span_ span = {
        recorder,
        close,
        close_with_result,
        count,
        false,
        {recorder_word_given_(recorder, open, false, 0, a, recorder_given_of_(0, 0)),
         recorder_word_given_(recorder, open, false, 1, b, a),
         recorder_word_given_(recorder, open, false, 2, c, b),
         recorder_word_given_(recorder, open, false, 3, d, c),
         recorder_word_given_(recorder, open, false, 4, e, d),
         recorder_word_given_(recorder, open, false, 5, f, e),
         recorder_word_given_(recorder, open, false, 6, g, f),
         recorder_word_given_(recorder, open, false, 7, h, g),
         recorder_word_given_(recorder, open, false, 8, i, h),
         recorder_word_given_(recorder, open, false, 9, j, i),
         recorder_word_given_(recorder, open, false, 10, k, j), 0}};
    RECORDER_REFUSE_(m, recorder_no_error_in_span_);
    recorder_span_record_(&span, open, count);
    return span;
}

RECORDER_INLINE_ void recorder_span_close_(struct recorder_span_ *span)
{
    if (!span->recorder ||
        __atomic_load_n(&span->recorder->trace, __ATOMIC_RELAXED) < 0)
        return;
    if (span->has_result)
        recorder_span_record_(span, span->close_with_result, span->count + 1);
    else
        recorder_span_record_(span, span->close, span->count);
}

/* Sets the word after the others. The count is a constant, which the compiler
 * knows after inlining. */
RECORDER_INLINE_ void recorder_span_result_(struct recorder_span_ *span,
                                            uintptr_t word)
{
    span->word[span->count] = word;
    span->has_result = true;
}

/* ---------------------------------------------------------------- macros -- */

/* Takes the words, of up to 3 arguments, else of up to 11; zeros fill up. */
#define RECORDER_SPAN_3_(name, check, count, format, a, b, c, ...)             \
    RECORDER_SPAN_11_(name, check, count, format, a, b, c, 0, 0, 0, 0, 0, 0,   \
                      0, 0, 0)
#define RECORDER_SPAN_11_(name, check, count, format, a, b, c, d, e, f, g, h,  \
                          i, j, k, ...)                                        \
    RECORDER_SPAN_OPEN_(name, check, count, format, RECORDER_GIVEN_(name, a),  \
                        RECORDER_GIVEN_(name, b), RECORDER_GIVEN_(name, c),    \
                        RECORDER_GIVEN_(name, d), RECORDER_GIVEN_(name, e),    \
                        RECORDER_GIVEN_(name, f), RECORDER_GIVEN_(name, g),    \
                        RECORDER_GIVEN_(name, h), RECORDER_GIVEN_(name, i),    \
                        RECORDER_GIVEN_(name, j), RECORDER_GIVEN_(name, k))
#define RECORDER_SPAN_MANY_(name, check, ...)                                  \
    RECORDER_ASSERT_(sizeof #name == 0,                                        \
                     "RECORDER_SPAN: at most 11 arguments, as the result is "  \
                     "one more")
#define RECORDER_SPAN_OPEN_(name, check, count, format, ...)                   \
    RECORDER_SPAN_VARIABLE_(                                                   \
        recorder_span_of_##name,                                               \
        RECORDER_FORMATTED_(format) RECORDER_IS_OFF_(name)                     \
            ? recorder_span_none_()                                            \
            : (check, recorder_span_open_(                                     \
                          &recorder_for_##name, RECORDER_FORMAT_("> " format), \
                          RECORDER_FORMAT_("< " format),                       \
                          RECORDER_FORMAT_("< " format " result=%zd"), count,  \
                          __VA_ARGS__)))
/* A block within the block has a span of the same recorder: its variable hides
 * the outer one, as it should. */
#define RECORDER_SPAN_VARIABLE_(variable, value)                               \
    _Pragma("GCC diagnostic push")                                             \
        _Pragma("GCC diagnostic ignored \"-Wshadow\"") _Pragma(                \
            "GCC diagnostic ignored \"-Wunused-variable\"")                    \
            RECORDER_SPAN_GUARD_(variable, value);                             \
    _Pragma("GCC diagnostic pop")                                              \
        RECORDER_ASSERT_(1, "") /* takes the semicolon */

#define RECORDER_SPAN_NO_REAL_                                                 \
    "RECORDER_SPAN_RESULT: a result is an integer, an enum or a pointer"

#ifdef __cplusplus
#define RECORDER_SPAN_GUARD_(variable, value)                                  \
    recorder_span_guard_ variable(value)
#define RECORDER_SPAN_SET_(variable, value)                                    \
    recorder_span_result_(&(variable).span, recorder_span_word_(value))
template <typename T> struct recorder_span_is_real_ {
    enum { value = 0 };
};
template <> struct recorder_span_is_real_<float> {
    enum { value = 1 };
};
template <> struct recorder_span_is_real_<double> {
    enum { value = 1 };
};
template <typename T> RECORDER_INLINE_ uintptr_t recorder_span_word_(T value)
{
    static_assert(!recorder_span_is_real_<T>::value, RECORDER_SPAN_NO_REAL_);
    return recorder_give_<2>(NULL, 0L, value).word;
}
class recorder_span_guard_
{
  public:
    struct recorder_span_ span;
    RECORDER_UNSEEN_
        __attribute__((always_inline)) explicit recorder_span_guard_(
            const struct recorder_span_ &from)
        : span(from)
    {
    }
    RECORDER_UNSEEN_ __attribute__((always_inline)) ~recorder_span_guard_()
    {
        recorder_span_close_(&span);
    }
    recorder_span_guard_(const recorder_span_guard_ &) = delete;
    recorder_span_guard_ &operator=(const recorder_span_guard_ &) = delete;
};
#else
#define RECORDER_SPAN_GUARD_(variable, value)                                  \
    struct recorder_span_ variable                                             \
        __attribute__((cleanup(recorder_span_close_))) = value
#define RECORDER_SPAN_SET_(variable, value)                                    \
    recorder_span_result_(&(variable),                                         \
                          sizeof(RECORDER_STRUCT_ {                            \
                              RECORDER_ASSERT_MEMBER_(                         \
                                  __builtin_classify_type(value) != 8 &&       \
                                      __builtin_classify_type(value) != 9 &&   \
                                      __builtin_classify_type(value) != 12 &&  \
                                      __builtin_classify_type(value) != 13,    \
                                  RECORDER_SPAN_NO_REAL_);                     \
                              RECORDER_ASSERT_MEMBER_(RECORDER_FITS_(value),   \
                                                      RECORDER_NO_64_BITS_);   \
                              char none;                                       \
                          } RECORDER_STRUCT_END_) *                            \
                                  (uintptr_t)0 +                               \
                              (uintptr_t)(value))
#endif
#endif
