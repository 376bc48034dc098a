/* language.h - C or C++, the compiler, and the object format. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_LANGUAGE_H_
#define RECORDER_LANGUAGE_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef RECORDER_THREAD
#define RECORDER_HOSTED_ /* on an operating system, not a port */
#if defined(__linux__) && !defined(RECORDER_POSIX)
#define RECORDER_LINUX_ /* os_linux.h; else os_posix.h */
#include <sys/syscall.h>
#endif
#endif

#if defined(__cplusplus) && __cplusplus < 201103L
#error "recorder.h: needs C++11 or later"
#elif defined(_Static_assert) /* the C library's, in strict C90 and C99 */
#error "recorder.h: needs C11 or later, or gnu99, not strict C99: -std=gnu11"
#endif

/* Choose by the system, by RECORDER_OFF and by the bytes of a word. */
#ifdef RECORDER_HOSTED_
#define RECORDER_HOSTED_OR_(hosted, port) hosted
#define RECORDER_IF_HOSTED_(...) __VA_ARGS__
#else
#define RECORDER_HOSTED_OR_(hosted, port) port
#define RECORDER_IF_HOSTED_(...)
#endif
#ifdef RECORDER_LINUX_
#define RECORDER_ON_LINUX_ true
#else
#define RECORDER_ON_LINUX_ false
#endif
#ifdef RECORDER_OFF
#define RECORDER_OFF_OR_(off, on) off
#else
#define RECORDER_OFF_OR_(off, on) on
#endif
#if __SIZEOF_POINTER__ == 8
#define RECORDER_WORDS_OR_(of_8, of_4) of_8
#else
#define RECORDER_WORDS_OR_(of_8, of_4) of_4
#endif
#ifdef RECORDER_TIME_HZ
#define RECORDER_HZ_ RECORDER_TIME_HZ
#else
#define RECORDER_HZ_ 0
#endif
#ifdef RECORDER_FILE_PRELOADED
#define RECORDER_PRELOADED_ true
#else
#define RECORDER_PRELOADED_ false
#endif

/* With RECORDER_OFF formats and arguments are checked, and nothing is compiled:
 * off.h has the callable names. compat/recorder, which removes the records
 * only, defines RECORDER_BODIES_. */
#if defined(RECORDER_OFF) && !defined(RECORDER_BODIES_)
#define RECORDER_NOTHING_
#define RECORDER_IF_BODIES_(...)
#else
#define RECORDER_IF_BODIES_(...) __VA_ARGS__
#endif

/* Of each function of the headers: -finstrument-functions has no calls of it
 * (recorder_functions.h). */
#define RECORDER_UNSEEN_ __attribute__((no_instrument_function))
/* RECORDER_SELDOM_: the compiler makes the function small, and puts it into its
 * only caller. RECORDER_APART_: not that, as its caller is the path of a record,
 * or shall not have its stack. Variables that the whole program shares are weak
 * and exported; variables of one module are weak and hidden. Functions are
 * static in C, and hidden inline ones in C++, which the linker merges: no module
 * calls code of another, which dlclose() might unmap. */
#ifdef __cplusplus
#define RECORDER_ENDS_ /* of a macro after which the user may write a semicolon */
#define RECORDER_ASSERT_(condition, text) static_assert(condition, text)
#define RECORDER_FUNCTION_                                                     \
    inline __attribute__((noinline)) RECORDER_UNSEEN_ RECORDER_HIDDEN_
#define RECORDER_SELDOM_                                                       \
    inline __attribute__((cold)) RECORDER_UNSEEN_ RECORDER_HIDDEN_
#define RECORDER_APART_ RECORDER_SELDOM_ __attribute__((noinline))
/* Declares the function in a door: g++ wants `inline` at the definition. */
#define RECORDER_PROTOTYPE_ RECORDER_HIDDEN_
#else
/* In C a semicolon or a declaration must follow; -Wpedantic is silent of both. */
#define RECORDER_ENDS_ __extension__
#define RECORDER_ASSERT_(condition, text)                                      \
    __extension__ _Static_assert(condition, text) /* gnu99 -pedantic asks */
#ifdef __clang__ /* reports a function that is marked unused and used */
#define RECORDER_STATIC_(...)                                                  \
    static inline RECORDER_UNSEEN_ __attribute__((__VA_ARGS__))
#else
#define RECORDER_STATIC_(...)                                                  \
    static RECORDER_UNSEEN_ __attribute__((unused, __VA_ARGS__))
#endif
#define RECORDER_FUNCTION_ RECORDER_STATIC_(noinline)
#define RECORDER_SELDOM_ RECORDER_STATIC_(cold)
#define RECORDER_APART_ RECORDER_STATIC_(noinline, cold)
#ifdef __clang__
#define RECORDER_PROTOTYPE_ static inline
#else
#define RECORDER_PROTOTYPE_ static __attribute__((unused))
#endif
#endif
/* Doors include their parts between QUIET and LOUD. C++ programs may ask for
 * warnings of C constructs: our parts, whose every line is C, too, are exempt;
 * macros that expand in the program have none. */
#ifdef __cplusplus
#ifdef __clang__
#define RECORDER_QUIET_CASTS_
#else
#define RECORDER_QUIET_CASTS_                                                  \
    _Pragma("GCC diagnostic ignored \"-Wuseless-cast\"")
#endif
#define RECORDER_QUIET_                                                        \
    _Pragma("GCC diagnostic push")                                             \
        _Pragma("GCC diagnostic ignored \"-Wold-style-cast\"") _Pragma(        \
            "GCC diagnostic ignored \"-Wzero-as-null-pointer-constant\"")      \
            RECORDER_QUIET_CASTS_
#define RECORDER_LOUD_ _Pragma("GCC diagnostic pop")
#else
#define RECORDER_QUIET_
#define RECORDER_LOUD_
#endif
/* A function of which a system or RECORDER_OFF needs only the result; between
 * RECORDER_STUBS_ and its end no compiler asks for the use of arguments. */
#define RECORDER_STUB_(type, name, parameters, ...)                            \
    RECORDER_INLINE_ type name parameters                                      \
    {                                                                          \
        __VA_ARGS__                                                            \
    }
#define RECORDER_STUBS_                                                        \
    _Pragma("GCC diagnostic push")                                             \
        _Pragma("GCC diagnostic ignored \"-Wunused-parameter\"")
#define RECORDER_STUBS_END_ _Pragma("GCC diagnostic pop")
/* RECORDER_CALLED_: a function that the macros call, or one of a door.
 * RECORDER_ANY_: one that any file calls, and that recorder_dump.h contains; if
 * several files include it, the linker takes the function of one. With
 * RECORDER_COMPILE_ONCE all are declared only: the file that defines
 * RECORDER_COMPILE_HERE, too, contains them. RECORDER_DECLARED_ is defined in
 * all files but that one. */
#if defined(RECORDER_COMPILE_HERE)
#define RECORDER_CALLED_                                                       \
    RECORDER_UNSEEN_ __attribute__((noinline, visibility("default")))
#define RECORDER_CALLED_SELDOM_ RECORDER_CALLED_ __attribute__((cold))
#define RECORDER_CALLED_PROTOTYPE_ extern
#define RECORDER_ANY_ RECORDER_CALLED_SELDOM_
#define RECORDER_ANY_PROTOTYPE_ extern
#elif defined(RECORDER_COMPILE_ONCE)
#define RECORDER_DECLARED_
#define RECORDER_CALLED_PROTOTYPE_ extern
#define RECORDER_ANY_PROTOTYPE_ extern
#else
#define RECORDER_CALLED_ RECORDER_FUNCTION_
#define RECORDER_CALLED_SELDOM_ RECORDER_APART_
#define RECORDER_CALLED_PROTOTYPE_ RECORDER_PROTOTYPE_
#ifdef _WIN32 /* finds no weak definition for another file */
#define RECORDER_ANY_ RECORDER_APART_
#define RECORDER_ANY_PROTOTYPE_ RECORDER_PROTOTYPE_
#else
#define RECORDER_ANY_                                                          \
    RECORDER_UNSEEN_ __attribute__((noinline, cold, weak)) RECORDER_HIDDEN_
#define RECORDER_ANY_PROTOTYPE_ extern RECORDER_HIDDEN_
#endif
#endif
#define RECORDER_LOCAL_ static inline RECORDER_UNSEEN_
#define RECORDER_INLINE_ RECORDER_LOCAL_ __attribute__((always_inline))
/* A function that calls the C library, in a part that all programs include. gcc
 * -O0 omits only unused inline functions; g++ -O0 makes an exception table if
 * it inlines one of these. */
#ifdef __cplusplus
#define RECORDER_IF_CALLED_ RECORDER_APART_
#else
#define RECORDER_IF_CALLED_ RECORDER_INLINE_
#endif
#ifdef _WIN32 /* its weak symbols are of another kind; it has no visibility */
#define RECORDER_HIDDEN_
#define RECORDER_SHARED_
#define RECORDER_PROGRAM_ __attribute__((selectany))
#define RECORDER_MODULE_ __attribute__((selectany))
#else
#define RECORDER_HIDDEN_ __attribute__((visibility("hidden")))
#define RECORDER_SHARED_ __attribute__((visibility("default")))
#define RECORDER_PROGRAM_ __attribute__((weak, visibility("default")))
#define RECORDER_MODULE_ __attribute__((weak, visibility("hidden")))
#endif
#ifdef __ELF__ /* thread-local variables are accessed without a call */
#define RECORDER_THREAD_LOCAL_ __attribute__((tls_model("initial-exec")))
#define RECORDER_HIDES_ _Pragma("GCC visibility push(hidden)")
#define RECORDER_SHOWS_ _Pragma("GCC visibility pop")
#else
#define RECORDER_HIDES_
#define RECORDER_SHOWS_
#define RECORDER_THREAD_LOCAL_
#endif
#ifdef __cplusplus
#define RECORDER_C_BEGIN_ extern "C" {
#define RECORDER_C_END_ }
#define RECORDER_NULL_ nullptr /* in a macro that programs expand */
#else
#define RECORDER_C_BEGIN_
#define RECORDER_C_END_
#define RECORDER_NULL_ NULL
#endif
#define RECORDER_UNLIKELY_(x) __builtin_expect(!!(x), 0)
/* Declares a function of the C library under a name of ours. So no system
 * header is needed, no feature macro can be missing, and nothing enters the
 * user's namespace. */
#define RECORDER_LABEL_(name) RECORDER_LABEL_2_(__USER_LABEL_PREFIX__, name)
#define RECORDER_LABEL_2_(prefix, name) RECORDER_LABEL_3_(prefix, name)
#define RECORDER_LABEL_3_(prefix, name) __asm__(#prefix #name)

/* Code for traces and for several lanes is left out of ports that lack them. */
#if defined(RECORDER_HOSTED_) || defined(RECORDER_WRITE) ||                    \
    defined(RECORDER_HOOKS)
#define RECORDER_TRACES_ true
#else
#define RECORDER_TRACES_ false
#endif
#if defined(RECORDER_HOSTED_) || defined(RECORDER_CACHE_LINE)
#define RECORDER_ONE_LANE_ false
#else
#define RECORDER_ONE_LANE_ true
#endif

/* Labels a step, for readers of the proof, for the mutants of tests/model, and
 * for tests, which stop a thread after it. */
#ifndef RECORDER_STEP_
#define RECORDER_STEP_(label) ((void)0)
#endif

/* RECORDER_ONE_PROCESSOR (recorder.h): an interrupt sees all that was executed
 * before it, so there a fence holds the compiler back, not the processor. By
 * empty assembly: clang for MIPS makes an instruction of a signal fence. */
#if defined(RECORDER_ONE_PROCESSOR) && defined(RECORDER_HOSTED_)
#error "recorder.h: RECORDER_ONE_PROCESSOR is for ports, with RECORDER_THREAD()"
#elif defined(RECORDER_ONE_PROCESSOR) && defined(RECORDER_CACHE_LINE)
#error "recorder.h: RECORDER_CACHE_LINE says that there are several processors"
#elif defined(RECORDER_ONE_PROCESSOR) && !defined(RECORDER_FENCE_)
#define RECORDER_FENCE_(order) __asm__ volatile("" : : : "memory")
#elif !defined(RECORDER_FENCE_) /* else the model's */
#define RECORDER_FENCE_(order) __atomic_thread_fence(order)
#endif
RECORDER_QUIET_
/* Fences. gcc warns that ThreadSanitizer does not see them; it need not: every
 * word that they order is atomic, and the model checker sees them. */
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
RECORDER_INLINE_ void recorder_fence_acquire_(void)
{
    RECORDER_FENCE_(__ATOMIC_ACQUIRE);
}
RECORDER_INLINE_ void recorder_fence_release_(void)
{
    RECORDER_FENCE_(__ATOMIC_RELEASE);
}
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* Copies bytes. A port may lack memcpy(): the empty assembly keeps the compiler
 * from making a call of the loop. */
RECORDER_INLINE_ void recorder_bytes_(void *to, const void *from, size_t size)
{
#ifdef RECORDER_HOSTED_
    __builtin_memcpy(to, from, size);
#else
    char *t = (char *)to;
    const char *f = (const char *)from;
    for (; size; size--) {
        *t++ = *f++;
        __asm__("" : "+r"(t));
    }
#endif
}

/* Copies bytes that are few, most often: up to 16 by two moves that overlap, as
 * a call of memcpy() would take longer. */
RECORDER_INLINE_ void recorder_bytes_short_(char *to, const char *from,
                                            size_t size)
{
#ifdef RECORDER_HOSTED_
    if (size > 16)
        __builtin_memcpy(to, from, size);
    else if (size >= 8) {
        __builtin_memcpy(to, from, 8);
        __builtin_memcpy(to + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
        __builtin_memcpy(to, from, 4);
        __builtin_memcpy(to + size - 4, from + size - 4, 4);
    } else if (size >= 2) {
        __builtin_memcpy(to, from, 2);
        to[size - 1] = from[size - 1];
    } else if (size)
        *to = *from;
#else
    recorder_bytes_(to, from, size);
#endif
}

/* Sets bytes to zero; the same of memset(). */
RECORDER_INLINE_ void recorder_zero_(void *to, size_t size)
{
#ifdef RECORDER_HOSTED_
    __builtin_memset(to, 0, size);
#else
    char *t = (char *)to;
    for (; size; size--) {
        *t++ = 0;
        __asm__("" : "+r"(t));
    }
#endif
}

/* Returns the text after the word with which it begins; null: it begins with
 * another. */
RECORDER_INLINE_ const char *recorder_past_(const char *text, const char *word)
{
    for (; *word; word++, text++)
        if (*text != *word)
            return NULL;
    return text;
}

RECORDER_LOUD_

/* Head of a function without arguments. It runs when a library is opened, or
 * closed, and never in the program itself. */
#if defined(__PIC__) && !defined(__PIE__) && defined(RECORDER_HOSTED_)
#define RECORDER_IN_LIBRARY_
#define RECORDER_LIBRARY_ true
#define RECORDER_AT_OPEN_(priority)                                            \
    RECORDER_UNSEEN_ __attribute__((constructor(priority), used)) static void
#else
#define RECORDER_LIBRARY_ false
#define RECORDER_AT_OPEN_(priority) __attribute__((unused)) RECORDER_LOCAL_ void
#endif
/* A preloaded library is closed at exit only, and other libraries' destructors,
 * which may end threads, run later. */
#if defined(RECORDER_IN_LIBRARY_) && !defined(RECORDER_FILE_PRELOADED)
#define RECORDER_AT_CLOSE_(priority)                                           \
    RECORDER_UNSEEN_ __attribute__((destructor(priority), used)) static void
#else
#define RECORDER_AT_CLOSE_(priority)                                           \
    __attribute__((unused)) RECORDER_LOCAL_ void
#endif
/* gcc on mingw takes `printf` for the one of msvcrt, without %zu, %td, %jd. */
#if defined(__MINGW32__) && !defined(__clang__)
#define RECORDER_PRINTF_ gnu_printf
#else
#define RECORDER_PRINTF_ printf
#endif
/* clang warns of __func__ in a structure of assertions, and knows it. */
#ifdef __clang__
#define RECORDER_STRUCT_                                                       \
    _Pragma("clang diagnostic push") _Pragma(                                  \
    "clang diagnostic ignored \"-Wpredefined-identifier-outside-function\"")   \
    _Pragma("clang diagnostic ignored \"-Wc11-extensions\"")                   \
    struct
#define RECORDER_ASSERT_MEMBER_ _Static_assert
#define RECORDER_STRUCT_END_ _Pragma("clang diagnostic pop")
#else
#define RECORDER_STRUCT_ struct
#define RECORDER_ASSERT_MEMBER_ __extension__ _Static_assert
#define RECORDER_STRUCT_END_
#endif
/* True if the compiler sees the characters of a literal. Without optimizing it
 * does not; clang without a C library would call strstr(). */
#if defined(__OPTIMIZE__) && (!defined(__clang__) || __STDC_HOSTED__)
#define RECORDER_SEES_FORMATS_ true
#else
#define RECORDER_SEES_FORMATS_ false
#endif

#endif
