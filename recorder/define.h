/* define.h - how a recorder is defined. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_DEFINE_H_
#define RECORDER_DEFINE_H_

#include "layout.h"

RECORDER_C_BEGIN_

/* Rounds up to a power of two, at least 4; a constant expression. With fewer
 * slots threads lose much, and a record of 12 arguments would never be
 * whole. */
#define RECORDER_SLOTS_(size)                                                  \
    ((size) <= 4                                                               \
         ? sizeof(char[4]) /* a size_t without a cast */                       \
         : sizeof(char) << (64 - __builtin_clzll(((size) + 0ull - 1) | 1)))
#define RECORDER_FIRST_(first, ...) first
#define RECORDER_SECOND_(first, second, ...) second

/* A library's recorders leave when it is closed; a program's never do, so that
 * records made at exit can be dumped. */
#define RECORDER_LEAVES_(name)                                                 \
    RECORDER_AT_CLOSE_(101) recorder_leave_##name(void)                        \
    {                                                                          \
        if (recorder_entered_##name)                                           \
            recorder_leave(&recorder_for_##name);                              \
    }

/* With RECORDER_OFF, recorders that a nameless namespace declares are defined
 * nowhere, nor used by all: clang warns of that. */
#if defined(RECORDER_OFF) && defined(__clang__)
#define RECORDER_UNDEFINED_                                                    \
    _Pragma("GCC diagnostic ignored \"-Wundefined-internal\"")                 \
        _Pragma("GCC diagnostic ignored \"-Wunused-variable\"")
#else
#define RECORDER_UNDEFINED_
#endif
/* Repeats a declaration that RECORDER_DECLARE may have made in a header. A
 * recorder belongs to its module: without the pragma, two libraries with a
 * recorder of one name would share one ring. A pragma, unlike an attribute,
 * leaves the visibility that RECORDER_DECLARE_SHARED gave. */
#define RECORDER_AGAIN_(declaration)                                           \
    RECORDER_HIDES_                                                            \
    _Pragma("GCC diagnostic push")                                             \
        _Pragma("GCC diagnostic ignored \"-Wredundant-decls\"")                \
            RECORDER_UNDEFINED_ declaration;                                   \
    _Pragma("GCC diagnostic pop") RECORDER_SHOWS_

/* Begins with an uncalled function, so that a user may write `static`
 * in front of RECORDER. */
#define RECORDER_DEFINE_(name, size, lanes, description)                       \
    __attribute__((unused)) inline void recorder_nothing_##name##_(void) {}    \
    RECORDER_CHECK_SIZE_(name, size, lanes, description)                       \
    RECORDER_DEFINE_SLOTS_(name, RECORDER_SLOTS_(size), lanes, description)
#ifdef RECORDER_OFF
#define RECORDER_DEFINE_SLOTS_(name, slots, lanes, description)                \
    RECORDER_AGAIN_(extern struct recorder recorder_for_##name)                \
    RECORDER_ENDS_
#define RECORDER_DEFINE_AT_(name, size, address, description)                  \
    RECORDER_CHECK_SIZE_(name, size, 1, description)                           \
    RECORDER_ASSERT_((size) >= 4, "RECORDER_AT(" #name ", " #size              \
                                  "): the size must be at least 4");           \
    RECORDER_DECLARE(name)
#else
/* With exactly this number of slots, a power of two: below 4, for a single
 * writer. RECORDER_ENDS_ lets a user write a semicolon after the macro, or none
 * if more follows in the file. */
#define RECORDER_DEFINE_SLOTS_(name, slots, lanes, description)                \
    static struct {                                                            \
        struct recorder_ring ring;                                             \
        struct recorder_record records[slots];                                 \
        uintptr_t commit[slots];                                               \
        struct recorder_turn turns[slots];                                     \
    } __attribute__((aligned(RECORDER_RING_ALIGN_)))                           \
    recorder_rings_for_##name[lanes];                                          \
    RECORDER_AGAIN_(extern struct recorder recorder_for_##name)                \
    struct recorder recorder_for_##name = RECORDER_INIT_(                      \
        #name, "" description, &recorder_rings_for_##name[0].ring,             \
        sizeof recorder_rings_for_##name[0], slots, lanes);                    \
    static bool recorder_entered_##name;                                       \
    RECORDER_UNSEEN_ __attribute__((                                           \
        constructor(101))) static void recorder_enter_##name(void)             \
    {                                                                          \
        recorder_entered_##name =                                              \
            (lanes) == 1 ? recorder_enter(&recorder_for_##name)                \
                         : recorder_enter_lanes_(&recorder_for_##name);        \
    }                                                                          \
    RECORDER_LEAVES_(name)                                                     \
    RECORDER_ENDS_
/* The stamp is at the address, a multiple of RECORDER_RING_ALIGN_; the ring
 * follows it. */
#define RECORDER_DEFINE_AT_(name, size, address, description)                  \
    RECORDER_CHECK_SIZE_(name, size, 1, description)                           \
    RECORDER_ASSERT_((size) >= 4, "RECORDER_AT(" #name ", " #size              \
                                  "): the size must be at least 4");           \
    RECORDER_AGAIN_(extern struct recorder recorder_for_##name)                \
    struct recorder recorder_for_##name = RECORDER_INIT_(                      \
        #name, "" description,                                                 \
        (struct recorder_ring *)(void *)((char *)(address) +                   \
                                         RECORDER_STAMP_WORDS_ *               \
                                             sizeof(uintptr_t)),               \
        sizeof(struct recorder_ring) +                                         \
            RECORDER_SLOTS_(size) *                                            \
                (sizeof(struct recorder_record) + sizeof(uintptr_t) +          \
                 sizeof(struct recorder_turn)),                                \
        RECORDER_SLOTS_(size), 1);                                             \
    RECORDER_UNSEEN_ __attribute__((                                           \
        constructor(101))) static void recorder_enter_##name(void)             \
    {                                                                          \
        recorder_resume(&recorder_for_##name);                                 \
        recorder_enter(&recorder_for_##name);                                  \
    }                                                                          \
    RECORDER_ENDS_
#endif
#define RECORDER_TWEAK_ENTERS_(function, tweak)                                \
    RECORDER_IF_BODIES_(RECORDER_UNSEEN_ __attribute__((constructor(           \
        101))) static void function(void) { recorder_tweak_enter_(&tweak); })
#define RECORDER_TWEAK_LEAVES_(function, tweak)                                \
    RECORDER_IF_BODIES_(RECORDER_AT_CLOSE_(101)                                \
                            function(void) { recorder_tweak_leave_(&tweak); })

/* Results of recorder_trace_set(). */
enum {
    RECORDER_TRACE_OK,
    RECORDER_TRACE_INVALID_NAME, /* it is no regular expression */
    RECORDER_TRACE_INVALID_VALUE
};
#define RECORDER_TWEAK_ENDS_ RECORDER_ENDS_

#define RECORDER_CHECK_SIZE_(name, size, lanes, description)                   \
    RECORDER_ASSERT_((size) >= 1, "RECORDER(" #name ", " #size                 \
                                  "): the size must be at least 1");           \
    RECORDER_ASSERT_((size) <= RECORDER_SIZE_MAX_,                             \
                     "RECORDER(" #name ", " #size                              \
                     "): the size must be at most 2^30 (32-bit: 2^16)");       \
    RECORDER_ASSERT_((lanes) >= 1 && ((lanes) & ((lanes)-1)) == 0,             \
                     "RECORDER_LANES(" #name ", " #size ", " #lanes            \
                     "): the lanes must be a power of two");                   \
    RECORDER_ASSERT_((lanes) == 1 || !RECORDER_ONE_LANE_,                      \
                     "RECORDER_LANES(" #name ", " #size ", " #lanes            \
                     "): lanes need a port with RECORDER_CACHE_LINE");

RECORDER_C_END_
#endif
