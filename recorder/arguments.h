/* arguments.h - how the arguments of record() become words. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_ARGUMENTS_H_
#define RECORDER_ARGUMENTS_H_

#include "layout.h"

RECORDER_C_BEGIN_

/* Prevents a tail call: record_few_() and record_more_() take the caller from
 * their return address. */
RECORDER_INLINE_ uintptr_t recorder_returned_(uintptr_t order)
{
    __asm__ volatile("" : "+r"(order));
    return order;
}

/* RECORDER_PICK_ chooses, by the number of arguments, the macro that takes
 * them; zeros fill up the words after them. */
#define RECORDER_PICK_(format, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, \
                       q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, ...)       \
    E
#define RECORDER_4_(name, check, format, a, b, c, d, ...)                      \
    RECORDER_CALL_(name, check, format,                                        \
                   recorder_record_4_(                                         \
                       &recorder_for_##name, RECORDER_FORMAT_(format),         \
                       RECORDER_GIVEN_(name, a), RECORDER_GIVEN_(name, b),     \
                       RECORDER_GIVEN_(name, c), RECORDER_GIVEN_(name, d)))
#define RECORDER_8_(name, check, format, a, b, c, d, e, f, g, h, ...)          \
    RECORDER_MORE_(name, check, format, 2, a, b, c, d, e, f, g, h,             \
                   RECORDER_NO_ARGUMENT_, RECORDER_NO_ARGUMENT_,               \
                   RECORDER_NO_ARGUMENT_, RECORDER_NO_ARGUMENT_)
#define RECORDER_12_(name, check, format, a, b, c, d, e, f, g, h, i, j, k, l,  \
                     ...)                                                      \
    RECORDER_MORE_(name, check, format, 3, a, b, c, d, e, f, g, h, i, j, k, l)
#define RECORDER_MORE_(name, check, format, count, a, b, c, d, e, f, g, h, i,  \
                       j, k, l)                                                \
    RECORDER_CALL_(name, check, format,                                        \
                   recorder_record_12_(                                        \
                       &recorder_for_##name, RECORDER_FORMAT_(format), count,  \
                       RECORDER_GIVEN_(name, a), RECORDER_GIVEN_(name, b),     \
                       RECORDER_GIVEN_(name, c), RECORDER_GIVEN_(name, d),     \
                       RECORDER_GIVEN_(name, e), RECORDER_GIVEN_(name, f),     \
                       RECORDER_GIVEN_(name, g), RECORDER_GIVEN_(name, h),     \
                       RECORDER_GIVEN_(name, i), RECORDER_GIVEN_(name, j),     \
                       RECORDER_GIVEN_(name, k), RECORDER_GIVEN_(name, l)))

/* RECORDER_NAMED_: g++ refuses record(app::net, ...), because it makes the name
 * recorder_for_app; this adds advice before the error. */
#ifdef __cplusplus
#define RECORDER_NO_ORDER_ uintptr_t()
#define RECORDER_NAMED_(name)                                                  \
    sizeof(recorder_named_<recorder_is_qualified_(#name)>) == 0 ||
#else
#define RECORDER_NO_ORDER_ ((uintptr_t)0)
#define RECORDER_NAMED_(name)
#endif

/* Says that a format is no literal before the compiler fails on it. */
#define RECORDER_NO_FORMAT_ "record(): the format must be a string literal"
#define RECORDER_IS_FORMAT_(text)                                              \
    (!__builtin_strncmp(text, "\"", 1) || !__builtin_strncmp(text, "R\"", 2) || \
     !__builtin_strncmp(text, "u8", 2))
#ifdef __cplusplus
#define RECORDER_FORMATTED_(format)                                            \
    sizeof(recorder_formatted_<__extension__ RECORDER_IS_FORMAT_(#format)>) == \
            0 ||
#else
#define RECORDER_FORMATTED_(format)                                            \
    sizeof(RECORDER_STRUCT_ {                                                  \
        RECORDER_ASSERT_MEMBER_(RECORDER_IS_FORMAT_(#format),                  \
                                RECORDER_NO_FORMAT_);                          \
        char none;                                                             \
    } RECORDER_STRUCT_END_) == 0 ||
#endif

/* A recorder that is off costs one load and one branch; its arguments are not
 * evaluated. */
#define RECORDER_CALL_(name, check, format, call)                              \
    RECORDER_OFF_OR_(recorder_word_of_word_, )                                 \
    (RECORDER_NAMED_(name) RECORDER_FORMATTED_(format)                         \
             RECORDER_DROPPED_(format) RECORDER_IS_OFF_(name)                  \
         ? RECORDER_NO_ORDER_                                                  \
         : (check, recorder_returned_(call)))
#define RECORDER_IS_OFF_(name)                                                 \
    RECORDER_OFF_OR_(1, __atomic_load_n(&recorder_for_##name.trace,            \
                                        __ATOMIC_RELAXED) < 0)

/* True if a record is below RECORDER_SEVERITY_LEAST, which the compiler can
 * tell from the literal. The severity must be its first word. */
#ifdef RECORDER_SEVERITY_LEAST
RECORDER_ASSERT_((RECORDER_SEVERITY_LEAST) >= 0 && (RECORDER_SEVERITY_LEAST) < 5,
                 "RECORDER_SEVERITY_LEAST: 0 to 3, or 4 to drop them all");
#define RECORDER_DROPPED_(format)                                              \
    (RECORDER_FORMAT_(format)[0] == '\1' &&                                    \
     (RECORDER_FORMAT_(format)[1] == 'h' ||                                    \
      RECORDER_FORMAT_(format)[1] == 's') &&                                   \
     RECORDER_FORMAT_(format)[2] >= '0' &&                                     \
     RECORDER_FORMAT_(format)[2] < '0' + (RECORDER_SEVERITY_LEAST) &&          \
     RECORDER_FORMAT_(format)[3] <= ' ') ||
#else
#define RECORDER_DROPPED_(format)
#endif
#define RECORDER_FORMAT_(format)                                               \
    "" format "\0" __FILE__ ":" RECORDER_QUOTE_(__LINE__)
#define RECORDER_QUOTE_(x) RECORDER_QUOTE_2_(x)
#define RECORDER_QUOTE_2_(x) #x

/* Lets the compiler check the format against the arguments: a call in a branch
 * that is never taken. Pointers of any type may be shown with %p. */
__attribute__((format(RECORDER_PRINTF_, 1, 2))) RECORDER_LOCAL_ int
recorder_check_(const char *format, ...)
{
    (void)format;
    return 0;
}
#ifdef __cplusplus
/* For the check, a string class becomes a pointer to its characters. */
#define RECORDER_CHECKED_(...)                                                 \
    (RECORDER_PICK_CHECKED_(                                                   \
        __VA_ARGS__, RECORDER_ON_0_, RECORDER_ON_0_, RECORDER_ON_0_,           \
        RECORDER_ON_0_, RECORDER_ON_0_, RECORDER_ON_0_, RECORDER_ON_0_,        \
        RECORDER_ON_0_, RECORDER_ON_0_, RECORDER_ON_0_, RECORDER_ON_0_,        \
        RECORDER_ON_0_, RECORDER_ON_0_, RECORDER_ON_0_, RECORDER_ON_0_,        \
        RECORDER_ON_0_, RECORDER_ON_0_, RECORDER_ON_0_, RECORDER_ON_12_,       \
        RECORDER_ON_11_, RECORDER_ON_10_, RECORDER_ON_9_, RECORDER_ON_8_,      \
        RECORDER_ON_7_, RECORDER_ON_6_, RECORDER_ON_5_, RECORDER_ON_4_,        \
        RECORDER_ON_3_, RECORDER_ON_2_, RECORDER_ON_1_, RECORDER_ON_0_,        \
        0)(__VA_ARGS__))
#define RECORDER_PICK_CHECKED_(format, a, b, c, d, e, f, g, h, i, j, k, l, m,  \
                               n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, \
                               D, E, ...)                                      \
    E
#define RECORDER_ON_0_(...) __VA_ARGS__
#define RECORDER_ON_1_(f, a) f, recorder_checked_(0, a)
#define RECORDER_ON_2_(f, a, ...)                                              \
    f, RECORDER_ON_1_(recorder_checked_(0, a), __VA_ARGS__)
#define RECORDER_ON_3_(f, a, ...)                                              \
    f, RECORDER_ON_2_(recorder_checked_(0, a), __VA_ARGS__)
#define RECORDER_ON_4_(f, a, ...)                                              \
    f, RECORDER_ON_3_(recorder_checked_(0, a), __VA_ARGS__)
#define RECORDER_ON_5_(f, a, ...)                                              \
    f, RECORDER_ON_4_(recorder_checked_(0, a), __VA_ARGS__)
#define RECORDER_ON_6_(f, a, ...)                                              \
    f, RECORDER_ON_5_(recorder_checked_(0, a), __VA_ARGS__)
#define RECORDER_ON_7_(f, a, ...)                                              \
    f, RECORDER_ON_6_(recorder_checked_(0, a), __VA_ARGS__)
#define RECORDER_ON_8_(f, a, ...)                                              \
    f, RECORDER_ON_7_(recorder_checked_(0, a), __VA_ARGS__)
#define RECORDER_ON_9_(f, a, ...)                                              \
    f, RECORDER_ON_8_(recorder_checked_(0, a), __VA_ARGS__)
#define RECORDER_ON_10_(f, a, ...)                                             \
    f, RECORDER_ON_9_(recorder_checked_(0, a), __VA_ARGS__)
#define RECORDER_ON_11_(f, a, ...)                                             \
    f, RECORDER_ON_10_(recorder_checked_(0, a), __VA_ARGS__)
#define RECORDER_ON_12_(f, a, ...)                                             \
    f, RECORDER_ON_11_(recorder_checked_(0, a), __VA_ARGS__)
#else
#define RECORDER_CHECKED_(...) (__VA_ARGS__)
#endif
#ifdef __clang__
#define RECORDER_CHECK_(arguments)                                             \
    _Pragma("clang diagnostic push")                                           \
    _Pragma("clang diagnostic ignored \"-Wformat-pedantic\"")                  \
    (void)(1 ? 0 : recorder_check_ RECORDER_CHECKED_ arguments)                \
    _Pragma("clang diagnostic pop")
#else
#define RECORDER_CHECK_(arguments)                                             \
    (void)(1 ? 0 : __extension__ recorder_check_ RECORDER_CHECKED_ arguments)
#endif

/* RECORDER_CONTEXT_SPAN_ shows the 16 hexadecimal digits of a span. */
#define RECORDER_CONTEXT_SPAN_ RECORDER_WORDS_OR_("%016zx", "%08zx%08zx")
RECORDER_INLINE_ uintptr_t recorder_word_of_double_(double value)
{
    const RECORDER_WORDS_OR_(double, float) kept =
        (RECORDER_WORDS_OR_(double, float))value;
    uintptr_t word;
    __builtin_memcpy(&word, &kept, sizeof word);
    return word;
}
RECORDER_INLINE_ uintptr_t recorder_word_of_word_(uintptr_t value)
{
    return value;
}

/* An argument: its word and, if it is a text that may change, the most bytes
 * that may be read there, SIZE_MAX where a pointer tells no size. */
struct recorder_given_ {
    uintptr_t word;
    size_t text;
};
/* The value of an argument that a record lacks. */
#ifdef __cplusplus
#define RECORDER_NO_ARGUMENT_ static_cast<recorder_no_argument_ *>(nullptr)
#else
#define RECORDER_NO_ARGUMENT_ ((struct recorder_no_argument_ *)0)
#endif
#define RECORDER_NONE_ (SIZE_MAX - 1)
struct recorder_no_argument_;
RECORDER_INLINE_ struct recorder_given_ recorder_given_of_(uintptr_t word,
                                                        size_t text)
{
    struct recorder_given_ given = {word, text};
    return given;
}

/* True if an array with the source `text` is a string literal, or a name like
 * __func__; in C++ a literal also ends with its first character. */
#define RECORDER_IS_LITERAL_(text)                                             \
    (__extension__(!__builtin_strncmp(text, "\"", 1) ||                        \
                   !__builtin_strcmp(text, "__func__") ||                      \
                   !__builtin_strcmp(text, "__FUNCTION__") ||                  \
                   !__builtin_strcmp(text, "__PRETTY_FUNCTION__")))
/* True if `text` begins as RECORDER_ADDRESS() and copies do, which need no copy,
 * and no other source does. __extension__ here: ISO C limits the length of a
 * string. */
#define RECORDER_IS_KEPT_(text)                                                \
    (__extension__ !__builtin_strncmp(text, "__extension__ __ext", 19))

#ifdef RECORDER_NOTHING_
RECORDER_INLINE_ const char *
recorder_copy_bytes_(const struct recorder *recorder, const char *string,
                     size_t size)
{
    (void)recorder, (void)size;
    return string;
}
#elif defined(__cplusplus) /* templates need these; C has a door */
RECORDER_CALLED_PROTOTYPE_ const char *
recorder_copy_bytes_(const struct recorder *recorder, const char *string,
                     size_t size);
#endif

#define RECORDER_TOO_MANY_ "record(): at most 12 arguments; use two records"
#define RECORDER_NO_LONG_DOUBLE_                                               \
    "record(): a long double does not fit a word; cast it to double"
#define RECORDER_NO_STRUCT_                                                    \
    "record(): a struct is no argument; record its members, or define "        \
    "recorder_argument() of its type"
#define RECORDER_NO_PACK_                                                      \
    "record(): a parameter pack is no list of arguments; record its elements " \
    "one by one"
#define RECORDER_NO_64_BITS_                                                   \
    "record(): an integer wider than a machine word; cast it, or record "      \
    "its halves"

/* A change of a context: formats for a trace, a text and a number. */
#define RECORDER_CONTEXT_CALL_(name, id, span, sent)                           \
    RECORDER_CALL_(                                                            \
        context, (void)0, name,                                                \
        recorder_context_(                                                     \
            &recorder_for_context,                                             \
            RECORDER_FORMAT_(                                                  \
                name "=" RECORDER_CONTEXT_SPAN_ RECORDER_CONTEXT_SPAN_ span    \
                     "=" RECORDER_CONTEXT_SPAN_),                              \
            RECORDER_FORMAT_(name "=%s" sent),                                 \
            RECORDER_FORMAT_(name "=%zu" sent), RECORDER_CONTEXT_ID_(id)))

RECORDER_C_END_
#ifdef __cplusplus
#define RECORDER_GIVEN_(name, x)                                               \
    recorder_give_<RECORDER_IS_KEPT_(#x)                                       \
                       ? 2                                                     \
                       : RECORDER_IS_LITERAL_(#x) &&                           \
                             #x[sizeof(#x) - 2] == #x[0]>(                     \
        &recorder_for_##name, 0, x)
#define RECORDER_MANY_(name, check, ...)                                       \
    ([] { static_assert(sizeof(#name) == 0, RECORDER_TOO_MANY_); }(),          \
     RECORDER_NO_ORDER_)
template <typename T> struct recorder_is_long_double_ {
    enum { value = 0 };
};
template <> struct recorder_is_long_double_<long double> {
    enum { value = 1 };
};
/* Callers pass 0, an int: overloads with int win over overloads with long. */
RECORDER_INLINE_ const char *recorder_characters_(const char *data, size_t)
{
    return data ? data : "";
}
template <typename T>
RECORDER_INLINE_ auto recorder_checked_(int, const T &text)
    -> decltype(recorder_characters_(text.data(), text.size()))
{
    return recorder_characters_(text.data(), text.size());
}
/* The type that the check sees and a record keeps: of an enum class its
 * integer, of a type with recorder_argument() its result; the function is found
 * in the type's namespace. */
struct recorder_converts_ {
    static char is(long long);
    static char (&is(...))[2];
};
template <typename T, bool is_scoped> struct recorder_plain_ {
    typedef T type;
};
template <typename T> struct recorder_plain_<T, true> {
    typedef __underlying_type(T) type;
};
template <typename T, bool is_enum = __is_enum(T)> struct recorder_scoped_ {
    enum { value = false };
};
template <typename T> struct recorder_scoped_<T, true> {
    enum { value = sizeof(recorder_converts_::is(T())) == 2 };
};
template <typename T>
RECORDER_INLINE_ typename recorder_plain_<T, recorder_scoped_<T>::value>::type
recorder_checked_(long, T value)
{
    return static_cast<
        typename recorder_plain_<T, recorder_scoped_<T>::value>::type>(value);
}
template <typename T>
RECORDER_INLINE_ auto recorder_checked_(int, const T &value)
    -> decltype(recorder_checked_(0, recorder_argument(value)))
{
    return recorder_checked_(0, recorder_argument(value));
}
template <bool qualified> struct recorder_named_ {
    static_assert(!qualified,
                  "record(app::net, ...): write record(net, ...) in namespace "
                  "app, or after: using app::recorder_for_net;");
};
template <bool literal> struct recorder_formatted_ {
    static_assert(literal, RECORDER_NO_FORMAT_);
};
RECORDER_UNSEEN_ constexpr bool recorder_is_qualified_(const char *name)
{
    return *name && (*name == ':' || recorder_is_qualified_(name + 1));
}
template <typename T, typename U, typename... More>
RECORDER_INLINE_ int recorder_checked_(int, T, U, More...)
{
    static_assert(sizeof(T) == 0, RECORDER_NO_PACK_);
    return 0;
}
/* 1 for a pointer to characters. */
template <typename T> struct recorder_is_character_ {
    enum { value = 0 };
};
template <typename T> struct recorder_is_character_<const T> : recorder_is_character_<T> {
};
template <typename T>
struct recorder_is_character_<volatile T> : recorder_is_character_<T> {
};
template <typename T>
struct recorder_is_character_<const volatile T> : recorder_is_character_<T> {
};
template <> struct recorder_is_character_<char> {
    enum { value = 1 };
};
template <> struct recorder_is_character_<signed char> {
    enum { value = 1 };
};
template <> struct recorder_is_character_<unsigned char> {
    enum { value = 1 };
};
template <typename T> struct recorder_points_at_text_ {
    enum { value = 0 };
};
template <typename T>
struct recorder_points_at_text_<T *> : recorder_is_character_<T> {
};
/* `source`: 2 if the argument's source is kept, 1 if it is like a literal's. */
template <int source, typename T>
RECORDER_INLINE_ struct recorder_given_ recorder_give_(const struct recorder *,
                                                      long, T value)
{
    static_assert(!recorder_is_long_double_<T>::value,
                  RECORDER_NO_LONG_DOUBLE_);
    static_assert(!__is_class(T) && !__is_union(T), RECORDER_NO_STRUCT_);
    static_assert(sizeof(T) <= sizeof(uintptr_t), RECORDER_NO_64_BITS_);
    return recorder_given_of_(
        (uintptr_t)value,
        source < 2 && recorder_points_at_text_<T>::value ? SIZE_MAX : 0);
}
template <int source>
RECORDER_INLINE_ struct recorder_given_
recorder_give_(const struct recorder *, long, struct recorder_no_argument_ *)
{
    return recorder_given_of_(0, RECORDER_NONE_);
}
template <int source>
RECORDER_INLINE_ struct recorder_given_ recorder_give_(const struct recorder *,
                                                      long, double value)
{
    return recorder_given_of_(recorder_word_of_double_(value), 0);
}
template <int source>
RECORDER_INLINE_ struct recorder_given_ recorder_give_(const struct recorder *,
                                                      long, float value)
{
    return recorder_given_of_(recorder_word_of_double_((double)value), 0);
}
template <int source, size_t size>
RECORDER_INLINE_ struct recorder_given_
recorder_give_(const struct recorder *, int, const char (&array)[size])
{
    return recorder_given_of_((uintptr_t)array, source ? 0 : size);
}
template <int source, typename T>
RECORDER_INLINE_ auto recorder_give_(const struct recorder *recorder, int,
                                     const T &value)
    -> decltype(recorder_argument(value), recorder_given_of_(0, 0))
{
    return recorder_give_<0>(recorder, 0, recorder_argument(value));
}
template <int source, typename T, typename U, typename... More>
RECORDER_INLINE_ struct recorder_given_
recorder_give_(const struct recorder *, int, T, U, More...)
{
    return recorder_given_of_(0, 0); /* a pack: recorder_checked_() refuses it */
}
/* std::string, std::string_view and their like. */
template <int source, typename T>
RECORDER_INLINE_ auto recorder_give_(const struct recorder *recorder, int,
                                     const T &text)
    -> decltype(recorder_given_of_(
        (uintptr_t)recorder_characters_(text.data(), text.size()), 0))
{
    return recorder_given_of_(
        (uintptr_t)recorder_copy_bytes_(
            recorder, recorder_characters_(text.data(), text.size()),
            text.size()),
        0);
}
/* An id of RECORDER_CONTEXT: its word and, of a text, the most bytes of it. */
template <typename T>
RECORDER_INLINE_ struct recorder_given_ recorder_context_id_(long, T id)
{
    static_assert(sizeof(T) <= sizeof(uintptr_t), RECORDER_NO_64_BITS_);
    return recorder_given_of_(
        (uintptr_t)id, recorder_points_at_text_<T>::value ? SIZE_MAX : 0);
}
template <typename T>
RECORDER_INLINE_ auto recorder_context_id_(int, const T &id)
    -> decltype(recorder_given_of_((uintptr_t)id.data(), id.size()))
{
    return recorder_given_of_((uintptr_t)id.data(), id.size());
}
#define RECORDER_CONTEXT_ID_(id) recorder_context_id_(0, id)
#else
/* The assertions look at types only; x is evaluated once, as the operand of the
 * second _Generic. __builtin_classify_type() is 1 for an integer, 8 and 9 for
 * real and complex numbers, 12 for a struct, 13 for a union. */
#define RECORDER_MANY_(name, check, ...)                                       \
    (sizeof(struct {                                                           \
         RECORDER_ASSERT_MEMBER_(sizeof(#name) == 0, RECORDER_TOO_MANY_);      \
         char none;                                                            \
     }) *                                                                      \
     (uintptr_t)0)
#define RECORDER_FITS_(x)                                                      \
    (__builtin_classify_type(x) != 1 ||                                        \
     sizeof(1 ? (x) : (x)) <= sizeof(uintptr_t))
/* The type of x if x is text, an array undecayed; else char *, so that no
 * __typeof__ meets a bit-field. */
#define RECORDER_TEXT_TYPE_(x)                                                 \
    __typeof__(_Generic((x), char * : (x), const char * : (x), default         \
                        : (char *)0))
#define RECORDER_IS_(x, type)                                                  \
    (__extension__ __builtin_types_compatible_p(RECORDER_TEXT_TYPE_(x), type))
/* True if the compiler knows no size of x: x is a pointer, a flexible array
 * member or an array of variable length. The latter two are compatible with an
 * array of 0. */
#define RECORDER_NO_SIZE_(x)                                                   \
    (RECORDER_IS_(x, char *) || RECORDER_IS_(x, const char *) ||               \
     RECORDER_IS_(x, char[0]))
#define RECORDER_ARRAY_SIZE_(x)                                                \
    sizeof(*__builtin_choose_expr(RECORDER_NO_SIZE_(x), (char(*)[1])0,         \
                                  (RECORDER_TEXT_TYPE_(x) *)0))
#define RECORDER_POINTER_SIZE_(x)                                              \
    (RECORDER_NO_SIZE_(x)        ? SIZE_MAX                                    \
     : RECORDER_IS_LITERAL_(#x) ? 0                                            \
                                : RECORDER_ARRAY_SIZE_(x))
#define RECORDER_TEXT_SIZE_(x)                                                 \
    (RECORDER_IS_KEPT_(#x)                                                     \
         ? 0                                                                   \
         : _Generic((x), char *                                                \
                    : RECORDER_POINTER_SIZE_(x), const char *                  \
                    : RECORDER_POINTER_SIZE_(x), volatile char *               \
                    : SIZE_MAX, const volatile char *                          \
                    : SIZE_MAX, signed char *                                  \
                    : SIZE_MAX, const signed char *                            \
                    : SIZE_MAX, unsigned char *                                \
                    : SIZE_MAX, const unsigned char *                          \
                    : SIZE_MAX, struct recorder_no_argument_ *                 \
                    : RECORDER_NONE_, default                                  \
                    : (size_t)0))
#define RECORDER_GIVEN_(name, x)                                               \
    recorder_given_of_(RECORDER_WORD_(x), RECORDER_TEXT_SIZE_(x))
#define RECORDER_WORD_(x)                                                      \
    (sizeof(RECORDER_STRUCT_ {                                                 \
         RECORDER_ASSERT_MEMBER_(__builtin_classify_type(x) != 12 &&           \
                                     __builtin_classify_type(x) != 13,         \
                                 RECORDER_NO_STRUCT_);                         \
         RECORDER_ASSERT_MEMBER_(                                              \
             _Generic((x), float : 1, double : 1, default : 0) ||              \
                 (__builtin_classify_type(x) != 8 &&                           \
                  __builtin_classify_type(x) != 9),                            \
             RECORDER_NO_LONG_DOUBLE_);                                        \
         RECORDER_ASSERT_MEMBER_(RECORDER_FITS_(x), RECORDER_NO_64_BITS_);     \
         char none;                                                            \
     } RECORDER_STRUCT_END_) *                                                 \
         (uintptr_t)0 +                                                        \
     _Generic((x), float                                                       \
              : recorder_word_of_double_, double                               \
              : recorder_word_of_double_, default                              \
              : recorder_word_of_word_)(_Generic((x), float                    \
                                                 : (x), double                 \
                                                 : (x), default                \
                                                 : (uintptr_t)(x))))
#define RECORDER_CONTEXT_ID_(id)                                               \
    recorder_given_of_(RECORDER_WORD_(id),                                     \
                       _Generic((id), char *                                   \
                                : SIZE_MAX, const char *                       \
                                : SIZE_MAX, default                            \
                                : (size_t)0))
#endif

#endif
