/* recorder.h - a flight recorder: keeps in memory what a program did, always */
/* SPDX-License-Identifier: MIT */
/*
    #include "recorder_dump.h"              // or "recorder.h", to record only

    RECORDER(net, 256, "Network traffic");  // a ring that keeps 256 records

    record(net, "%d bytes from %s", n, peer);
    recorder_dump();                        // all rings, merged, on stderr

PROMISES (each is the name of a test)
    whole       no reader ever accepts a mix of two records
    order       a record that happens before another has the smaller order
    kept        a quiet ring of n slots holds exactly its last n records; a
                flood in one ring evicts nothing from another
    counted     recorded = kept + overwritten + lost
    unharmed    record() takes no lock, no memory and no system call (a thread's
                first record excepted), waits for nobody, and may be called
                anywhere: signal handlers, constructors, after fork()
    alone       the header needs nothing but the compiler and, on a system that
                is not Linux, what recorder_posix.h includes

LIMITS
    * A `%s` argument is kept as an address. Text that will not live until
      somebody reads it is recorded with RECORDER_COPY.
    * At most 12 arguments, of one machine word each: on 32-bit machines a
      double is kept as a float and a 64-bit integer is refused.
    * What RECORDER_COPY returns is for the record that it is an argument of.
      Kept for a lap of its ring it may show another text of its thread.
    * A thread that dies inside record() costs its ring one slot.
    * x86: a sandbox that forbids rdtsc (seccomp's strict mode) ends what records.
    * In C++, a parameter pack is no list of arguments to record().
    * 32-bit machines: orders and positions count modulo 2^32, laps modulo 2^24;
      a thread stopped inside a record for 16 million records of one ring is
      beyond what the proof covers. Times are right, or unknown, unless a
      thread is stopped inside a record for half a wrap of the clock's low word
      (minutes), or half a wrap sees 2^31 records.
    * Shared libraries loaded by dlopen() share the program's recorders through
      the dynamic symbol recorder_registry or, on Linux, where the program does
      not export it, by looking for it in the program's data. Two libraries in a
      program without any recorder of its own, both opened with RTLD_LOCAL, do
      not see each other.
    * macOS, BSD and other systems: see recorder_posix.h.

CONTENTS
    interface   RECORDER, record, RECORDER_COPY, RECORDER_TRACE, thread names
    port        clock, thread, operating system: all that touches the outside
    layout      what readers find in memory: a versioned interface
    ring        the lock-free part, with its proof obligations
    threads     numbers and names
    record      what the macros call
    registry    how recorders are found
    macros      how arguments become words
*/
#ifndef RECORDER_H
#define RECORDER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef RECORDER_THREAD
#define RECORDER_HOSTED_ /* on an operating system; else on a port's macros */
#if defined(__linux__) && !defined(RECORDER_POSIX)
#define RECORDER_LINUX_ /* by its own calls; else recorder_posix.h */
#include <sys/syscall.h>
#endif
#endif

#if defined(__cplusplus) && __cplusplus < 201103L
#error "recorder.h: needs C++11 or later"
#elif defined(_Static_assert) /* the C library's, in strict C90 and C99 */
#error "recorder.h: needs C11 or later, or gnu99, not strict C99: -std=gnu11"
#endif

/* Version of this header, and of the layout that readers find in memory. */
#define RECORDER_VERSION_MAJOR 2
#define RECORDER_VERSION_MINOR 0
#define RECORDER_VERSION_PATCH 0
#define RECORDER_LAYOUT 1

/* ------------------------------------------------------------- interface --
 *
 * RECORDER(name, size)                    at file scope: a recorder that keeps
 * RECORDER(name, size, "description")     at least `size` records (rounded up
 *                                         to a power of two, at most 2^30)
 * RECORDER_LANES(name, size, lanes)       the same with one ring of `size` for
 * RECORDER_LANES(name, size, lanes, "")   each of `lanes` groups of threads (a
 *                                         power of two), for recorders that
 *                                         many threads hammer
 * RECORDER_DECLARE(name)                  for headers
 * RECORDER_AT(name, size, address)        without an operating system: in
 * RECORDER_AT(name, size, address, "")    memory that a reset leaves alone and
 *                                         no startup code clears. What it holds
 *                                         is kept, the next records follow
 *
 * record(name, "format", ...)             records up to 12 arguments; its value
 *                                         is the order of the record, 0 if off.
 *                                         `#undef record` where the name is
 *                                         taken, and use RECORDER_RECORD
 * RECORDER_COPY(name, string)             as an argument for %s: copies up to
 *                                         RECORDER_COPY_MAX bytes into the ring
 * RECORDER_TRACE(name)                    an intptr_t lvalue: 0 record (the
 *                                         default), above 0 record and print at
 *                                         once (if recorder_dump.h is part of
 *                                         the program), -1 off
 * recorder_thread_name("io")              names the calling thread, 15 bytes
 *
 * -DRECORDER_OFF compiles it all away; formats and arguments are still checked.
 * -DRECORDER_LIBRARY only declares what the macros call, for programs of many
 *     files: one defines RECORDER_LIBRARY_BODY before it includes this header.
 */
#define RECORDER(name, ...)                                                    \
    RECORDER_DEFINE_(name, RECORDER_FIRST_(__VA_ARGS__, 0), 1,                 \
                     RECORDER_SECOND_(__VA_ARGS__, "", 0))
#define RECORDER_LANES(name, size, ...)                                        \
    RECORDER_DEFINE_(name, size, RECORDER_FIRST_(__VA_ARGS__, 0),              \
                     RECORDER_SECOND_(__VA_ARGS__, "", 0))
#define RECORDER_AT(name, size, ...)                                           \
    RECORDER_DEFINE_AT_(name, size, RECORDER_FIRST_(__VA_ARGS__, 0),           \
                        RECORDER_SECOND_(__VA_ARGS__, "", 0))
/* Without extern "C": a variable outside of namespaces has its plain name in
 * C++, too, and one in a namespace is another than one of that name outside. */
#define RECORDER_DECLARE(name)                                                 \
    extern struct recorder recorder_for_##name; __extension__
#define RECORDER_RECORD(name, ...)                                             \
    RECORDER_PICK_(__VA_ARGS__, RECORDER_MANY_, RECORDER_MANY_,                \
                   RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_,             \
                   RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_,             \
                   RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_,             \
                   RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_,             \
                   RECORDER_MANY_, RECORDER_MANY_, RECORDER_MANY_,             \
                   RECORDER_MANY_, RECORDER_12_, RECORDER_12_,                 \
                   RECORDER_12_, RECORDER_12_, RECORDER_8_, RECORDER_8_,       \
                   RECORDER_8_, RECORDER_8_, RECORDER_4_, RECORDER_4_,         \
                   RECORDER_4_, RECORDER_4_, RECORDER_4_, 0)                   \
    (name, RECORDER_CHECK_((__VA_ARGS__)), __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define record RECORDER_RECORD
#define RECORDER_COPY(name, string) recorder_copy(&recorder_for_##name, string)
#ifdef RECORDER_OFF
#define RECORDER_TRACE(name)                                                   \
    (*((void)sizeof recorder_for_##name, &recorder_trace_off))
#else
#define RECORDER_TRACE(name) (recorder_for_##name.trace)
#endif

/* Tickets a record may draw before it is counted as lost. */
#ifndef RECORDER_TICKETS
#define RECORDER_TICKETS 64
#endif
/* Bytes that RECORDER_COPY keeps of a string. */
#define RECORDER_COPY_MAX 1024

/* What varies with the language. Variables that a whole program shares are weak
 * and exported; a module's own are weak and hidden; functions are local to a C
 * file and merged by the linker in C++, so that dlclose() takes no code away
 * from anybody else. */
#ifdef __cplusplus
#define RECORDER_ASSERT_(condition, text) static_assert(condition, text)
#define RECORDER_FUNCTION_ inline __attribute__((noinline)) RECORDER_HIDDEN_
#else
#define RECORDER_ASSERT_(condition, text) _Static_assert(condition, text)
#define RECORDER_FUNCTION_ static __attribute__((noinline, unused))
#endif
/* What the macros call. With RECORDER_LIBRARY it is only declared here: one
 * file of the program defines RECORDER_LIBRARY_BODY, too, and has it. */
#if defined(RECORDER_LIBRARY_BODY)
#define RECORDER_CALLED_ __attribute__((noinline, visibility("default")))
#elif defined(RECORDER_LIBRARY)
#define RECORDER_CALLED_ extern
#else
#define RECORDER_CALLED_ RECORDER_FUNCTION_
#endif
#define RECORDER_INLINE_ static inline __attribute__((always_inline, unused))
#ifdef _WIN32 /* has weak symbols of another kind, and no visibility */
#define RECORDER_HIDDEN_
#define RECORDER_PROGRAM_ __attribute__((selectany))
#define RECORDER_MODULE_ __attribute__((selectany))
#else
#define RECORDER_HIDDEN_ __attribute__((visibility("hidden")))
#define RECORDER_PROGRAM_ __attribute__((weak, visibility("default")))
#define RECORDER_MODULE_ __attribute__((weak, visibility("hidden")))
#endif
#ifdef __ELF__ /* a thread's own variables, without a call */
#define RECORDER_THREAD_LOCAL_ __attribute__((tls_model("initial-exec")))
#else
#define RECORDER_THREAD_LOCAL_
#endif
#define RECORDER_UNLIKELY_(x) __builtin_expect(!!(x), 0)
/* A function of the C library under a name of our own: no system header, hence
 * no feature macro, can be missing, and nothing enters the user's namespace. */
#define RECORDER_LABEL_(name) RECORDER_LABEL_2_(__USER_LABEL_PREFIX__, name)
#define RECORDER_LABEL_2_(prefix, name) RECORDER_LABEL_3_(prefix, name)
#define RECORDER_LABEL_3_(prefix, name) __asm__(#prefix #name)

/* What a port has no use for costs it nothing. */
#if defined(RECORDER_HOSTED_) || defined(RECORDER_WRITE)
#define RECORDER_TRACES_ true
#else
#define RECORDER_TRACES_ false
#endif
#if defined(RECORDER_HOSTED_) || defined(RECORDER_LINE_BYTES)
#define RECORDER_ONE_LANE_ false
#else
#define RECORDER_ONE_LANE_ true
#endif

/* Fault injection, for tests: called at each step of a record. */
#ifndef RECORDER_STEP_
#define RECORDER_STEP_(where) ((void)0)
#endif

#if defined(RECORDER_HOSTED_) && !defined(RECORDER_LINUX_)
#include "recorder_posix.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ port --
 *
 * RECORDER_TIME()       ticks of the cheapest monotonic clock, as a word
 * RECORDER_TIME_HIGH()  where that has 32 bits, those above; a port without it
 *                       has times modulo 2^32 ticks
 * RECORDER_THREAD()     number of the calling thread, 1 to RECORDER_THREAD_NONE
 * A port may define them before it includes this file. With RECORDER_THREAD()
 * it says that there is no operating system: nothing is called then, nor any
 * header included that a freestanding compiler does not bring, and these count:
 *
 * RECORDER_TIME_HZ      ticks in a second, a constant; else times are unknown,
 *                       or what the program puts into recorder_registry
 * RECORDER_ENTER()      for processors without atomic instructions: keeps all
 *                       others who record out, by masking interrupts, and says
 *                       how it was before, a uintptr_t
 * RECORDER_LEAVE(was)   lets them in again, if they were. For the compiler,
 *                       both are barriers: asm volatile(... : "memory")
 * RECORDER_THREADS      how many threads can have a name; default: none
 * RECORDER_LINE_BYTES   of a cache, where processors share memory; without it
 *                       each recorder has one lane
 *
 * and for recorder_dump.h
 *
 * RECORDER_READABLE(address)  may a byte be loaded from there? A uintptr_t that
 *                       may be anything
 * RECORDER_WRITE(text, size)  puts text where dumps and traces go; a port
 *                       without it has no code for traces
 *
 * What runs before main must call the constructors (.init_array), or main does
 * recorder_enter(&recorder_for_NAME) for each recorder.
 */
#define RECORDER_WORD_BITS_ (8 * __SIZEOF_POINTER__)
/* How many bits of a commit word name the thread, the busy bit included. */
#define RECORDER_THREAD_BITS_ (__SIZEOF_POINTER__ == 8 ? 16 : 8)
/* The number of all threads that found no free row in the table. */
#define RECORDER_THREAD_NONE ((1u << (RECORDER_THREAD_BITS_ - 1)) - 1)
/* Rows of the thread table. */
#if !defined(RECORDER_THREADS) && defined(RECORDER_HOSTED_)
#define RECORDER_THREADS (__SIZEOF_POINTER__ == 8 ? 4096 : 126)
#elif !defined(RECORDER_THREADS)
#define RECORDER_THREADS 0
#endif
RECORDER_ASSERT_(RECORDER_THREADS < RECORDER_THREAD_NONE,
                 "RECORDER_THREADS must be below RECORDER_THREAD_NONE");

#ifdef RECORDER_LINUX_
/* CLOCK_REALTIME and CLOCK_MONOTONIC by their numbers. */
enum { RECORDER_REALTIME_ = 0, RECORDER_MONOTONIC_ = 1 };
struct recorder_timespec {
    long seconds, nanoseconds;
};
extern int recorder_clock_gettime(int clock, struct recorder_timespec *to)
    RECORDER_LABEL_(clock_gettime);
#endif
#ifdef RECORDER_HOSTED_
RECORDER_FUNCTION_ uint64_t recorder_clock_ns(int clock)
{
    struct recorder_timespec now = {0, 0};
    recorder_clock_gettime(clock, &now);
    return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.nanoseconds;
}
#elif !defined(RECORDER_ENTER) && __GCC_ATOMIC_POINTER_LOCK_FREE < 2
#error "recorder.h: this processor has no atomic instructions: define " \
    "RECORDER_ENTER() and RECORDER_LEAVE(was)"
#endif

/* All 64 bits of a clock that counts alike on all cores, whatever their speed,
 * and takes no call if there is one. How fast it runs is measured, never known.
 * Where a word holds half of it, a tick is to last near a microsecond, so that
 * a half lasts an hour: what counts too fast is shifted. */
#if defined(RECORDER_TIME) && defined(RECORDER_TIME_HIGH)
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    uintptr_t low, high;
    do {
        high = RECORDER_TIME_HIGH();
        low = RECORDER_TIME();
    } while (high != RECORDER_TIME_HIGH());
    return (uint64_t)high << 32 | low;
}
#elif defined(RECORDER_TIME)
RECORDER_INLINE_ uint64_t recorder_ticks(void) { return RECORDER_TIME(); }
#elif defined(__x86_64__) && __SIZEOF_POINTER__ == 8
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__x86_64__) || defined(__i386__)
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    return __builtin_ia32_rdtsc() >> 12;
}
#elif defined(__aarch64__) && __SIZEOF_POINTER__ == 8
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#elif defined(__riscv) && __SIZEOF_POINTER__ == 8
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks));
    return ticks;
}
#elif defined(__s390x__) && __ARCH__ >= 7
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("stckf %0" : "=Q"(ticks) : : "cc");
    return ticks;
}
#elif defined(__powerpc64__)
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mfspr %0, 268" : "=r"(ticks)); /* the time base */
    return ticks;
}
#elif defined(__powerpc__)
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    uint32_t low, high, again;
    do /* the time base, in halves */
        __asm__ volatile("mfspr %0, 269\n\tmfspr %1, 268\n\tmfspr %2, 269"
                         : "=r"(high), "=r"(low), "=r"(again));
    while (high != again);
    return ((uint64_t)high << 32 | low) >> 6;
}
#elif !defined(RECORDER_HOSTED_)
#error "recorder.h: define RECORDER_TIME()"
#elif __SIZEOF_POINTER__ == 8
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    return recorder_clock_ns(RECORDER_MONOTONIC_);
}
#else
RECORDER_INLINE_ uint64_t recorder_ticks(void)
{
    struct recorder_timespec now = {0, 0};
    recorder_clock_gettime(RECORDER_MONOTONIC_, &now);
    return (uint64_t)(unsigned long)now.seconds * 1000000u +
           (unsigned long)now.nanoseconds / 1000;
}
#endif
#if __SIZEOF_POINTER__ == 4 &&                                                 \
    (!defined(RECORDER_TIME) || defined(RECORDER_TIME_HIGH))
#define RECORDER_WRAPS_ /* noted, so that readers know all 64 bits */
#endif
#ifndef RECORDER_TIME
#define RECORDER_TIME() ((uintptr_t)recorder_ticks())
#endif

#ifdef RECORDER_HOSTED_
#define RECORDER_THREAD() recorder_thread_number()
#endif

/* ---------------------------------------------------------------- layout --
 *
 * Readers inside and outside of the program rely on what stands here; a change
 * raises RECORDER_LAYOUT. Every member is one word unless its type says other.
 */

/* A record: 8 words. `format` below RECORDER_TEXT_END is no address:
 *     0        goes on with the arguments of the record one order below
 *     1 + n    text: n bytes of it stand in `argument` and, as far as they do
 *              not fit, in the text record that `caller` is the token of; a
 *              token of 0 says that the rest was cut off */
struct recorder_record {
    uintptr_t format;      /* "format\0file:line" */
    uintptr_t order;       /* 1, 2, 3 ... over all recorders */
    uintptr_t time;        /* ticks */
    uintptr_t caller;      /* return address of the record call */
    uintptr_t argument[4]; /* a double bit for bit, on 32 bits as a float */
};
#define RECORDER_TEXT_END (3 + RECORDER_COPY_MAX)
#define RECORDER_TEXT_BYTES (4 * sizeof(uintptr_t))

/* The two words of a slot's rare path: see the ring. */
struct recorder_turn {
    uintptr_t gave_up; /* how far tickets that gave up reach, in laps */
    uintptr_t highest; /* the last lap that gave up */
};

/* A ring of n slots is this head, then n records, n commit words and n turns.
 * Zeroed memory is an empty ring. */
#if !defined(RECORDER_LINE_BYTES) && defined(RECORDER_HOSTED_)
#define RECORDER_LINE_BYTES 64 /* of a cache; `write` has one to itself */
#elif !defined(RECORDER_LINE_BYTES)
#define RECORDER_LINE_BYTES (4 * __SIZEOF_POINTER__) /* the least */
#endif
struct recorder_ring {
    uintptr_t write; /* positions handed out */
    char line_1[RECORDER_LINE_BYTES - sizeof(uintptr_t)];
    uintptr_t given_up; /* positions handed out and left unused */
    uintptr_t lost;     /* records that found no slot */
    char line_2[RECORDER_LINE_BYTES - 2 * sizeof(uintptr_t)];
};
/* Tokens have bits to spare if records stand at multiples of their size. */
#define RECORDER_RING_ALIGN_                                                   \
    (RECORDER_LINE_BYTES > 8 * __SIZEOF_POINTER__ ? RECORDER_LINE_BYTES        \
                                                  : 8 * __SIZEOF_POINTER__)
RECORDER_ASSERT_(sizeof(struct recorder_ring) %
                         sizeof(struct recorder_record) == 0,
                 "RECORDER_LINE_BYTES must be a multiple of 4 words");

/* A recorder, one line: its rings and what a call site needs. */
struct recorder {
    intptr_t trace;              /* RECORDER_TRACE */
    struct recorder_ring *rings; /* the first of them */
    uintptr_t mask;              /* slots of a ring - 1 */
    uintptr_t lanes_mask;        /* rings - 1 */
    uintptr_t ring_bytes;        /* from one ring to the next */
    const char *name, *description;
    struct recorder *next; /* in the registry's list */
} __attribute__((aligned(RECORDER_LINE_BYTES)));

/* One moment on three clocks. Aligned alike on all processors. */
struct recorder_moment {
    uint64_t ticks __attribute__((aligned(8)));
    uint64_t monotonic_ns, realtime_ns;
};

/* Where a word holds only the low 32 bits of the ticks: no record of a lower
 * order was made when ticks >> 31 was `high`. Two of them to a wrap: who read
 * the clock before one began and drew an order behind it is known by the top
 * bit of its time. */
struct recorder_wrap {
    uintptr_t order, high;
};
#define RECORDER_WRAPS 16

/* A row of the thread table; thread number t has row t - 1. */
enum { RECORDER_ROW_FREE, RECORDER_ROW_TAKEN, RECORDER_ROW_ALIVE,
       RECORDER_ROW_DEAD };
struct recorder_thread {
    uintptr_t first; /* records of a lower order are an earlier thread's */
    int32_t id;      /* of the kernel */
    uint16_t state;
    uint16_t named; /* by recorder_thread_name(), not by the system */
    char name[16];
};

/* A named number that can be set while the program runs (recorder_set.h). */
struct recorder_tweak {
    intptr_t trace; /* its value */
    const char *name, *description;
    struct recorder_tweak *next;
};

/* Makes text of a word for a conversion of the program's own (recorder_set.h);
 * to, size and what is returned are as of snprintf. */
typedef size_t recorder_type(intptr_t trace, const char *format, char *to,
                             size_t size, uintptr_t word);

/* The one thing to find; the rest follows from it. */
struct recorder_registry {
    unsigned char magic[16];
    struct recorder_registry *self; /* tells the registry from its image */
    uint32_t layout, bytes;         /* RECORDER_LAYOUT, sizeof this struct */
    uint32_t head_bytes;            /* of a ring, in front of its records */
    uint32_t later_set;             /* 0: `later` is none; odd: it changes */
    struct recorder *first;
    uintptr_t *order;  /* the next order to be given */
    uintptr_t cleared; /* records of a lower order were cleared; 0: none */
    uintptr_t readers; /* who walk the list and the rings just now */
    struct recorder_moment start, later; /* how fast ticks run */
    struct recorder_thread *threads;
    uintptr_t threads_max, threads_count; /* rows; rows handed out */
    intptr_t pid;                         /* 0: not started */
    const char *line;                     /* of recorder_line(), or null */
    unsigned (*thread)(void);             /* number of the calling thread */
    /* Prints a traced record: `count` records, from the head on. */
    void (*hook)(const struct recorder *recorder, unsigned thread,
                 const struct recorder_record *records, unsigned count);
    struct recorder_tweak *tweaks;
    recorder_type **types; /* by conversion character; null: none is set */
    /* Of recorder_signal.h: the thread that dumps because of a signal, kept if
     * the process will end; and for which signals a handler of ours is set. */
    int32_t dumping;
    unsigned char taken[65];
    /* Words of 4 bytes: the last RECORDER_WRAPS that were noted; wrap i is at i
     * mod RECORDER_WRAPS, and the oldest may be changing. 0: the clock has no
     * more bits than a word. */
    uintptr_t wraps_count;
    struct recorder_wrap wraps[RECORDER_WRAPS];
    uintptr_t high; /* of the last of them; ~0: there is none */
    /* Of recorder_file.h: the registry's copy in a recording, or null, and who
     * is told what happens: RECORDER_FILE_. */
    struct recorder_registry *image;
    void (*file)(int what, const void *of);
};
enum {
    RECORDER_FILE_MODULE,  /* a module is here that records; of: its data */
    RECORDER_FILE_ENTERED, /* a recorder is in the list; of: it */
    RECORDER_FILE_FORKED,  /* the caller is a child of fork() */
    RECORDER_FILE_SYNC     /* words of the registry have changed */
};
#define RECORDER_MAGIC                                                         \
    {'r', 'e', 'c', 'o', 'r', 'd', 'e', 'r', 0x1a, 0xf1, 0x16, 0x47, 'b', 'o', \
     'x', '\n'}

RECORDER_PROGRAM_ uintptr_t recorder_order
    __attribute__((aligned(RECORDER_LINE_BYTES))) = 1;
/* A port's clock counts from the start, and its threads have their numbers. */
#if defined(RECORDER_TIME_HZ) && !defined(RECORDER_HOSTED_)
#define RECORDER_LATER_SET_ 2
#define RECORDER_LATER_ {RECORDER_TIME_HZ, 1000000000u, 0}
#else
#define RECORDER_LATER_SET_ 0
#define RECORDER_LATER_ {0, 0, 0}
#endif
#if !defined(RECORDER_HOSTED_) && RECORDER_THREADS > 0
RECORDER_PROGRAM_ struct recorder_thread recorder_rows[RECORDER_THREADS] = {
    {0, 0, 0, 0, {0}}};
#define RECORDER_ROWS_ recorder_rows, RECORDER_THREADS, RECORDER_THREADS
#else
#define RECORDER_ROWS_ 0, 0, 0
#endif
RECORDER_PROGRAM_ struct recorder_registry recorder_registry
    __attribute__((aligned(RECORDER_LINE_BYTES))) = {
        RECORDER_MAGIC,
        &recorder_registry,
        RECORDER_LAYOUT,
        sizeof(struct recorder_registry),
        sizeof(struct recorder_ring),
        RECORDER_LATER_SET_, 0, &recorder_order, 0, 0, {0, 0, 0},
        RECORDER_LATER_, RECORDER_ROWS_, 0, 0, 0, 0, 0, 0, 0, {0}, 0,
        {{0, 0}}, UINTPTR_MAX, 0, 0};

/* This module's way to both, after a look for the program's own (registry). */
struct recorder_home {
    uintptr_t *order;
    struct recorder_registry *registry;
    bool started;
};
#ifdef RECORDER_HOSTED_
RECORDER_MODULE_ struct recorder_home recorder_home = {
    &recorder_order, &recorder_registry, false};
#else /* there is one, and no code for the way */
__attribute__((unused)) static const struct recorder_home recorder_home = {
    &recorder_order, &recorder_registry, true};
#endif
RECORDER_MODULE_ intptr_t recorder_trace_off = -1; /* for RECORDER_OFF */

/* Relaxed is quiet: these order nothing. */
RECORDER_INLINE_ uintptr_t recorder_get(const uintptr_t *from)
{
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}
RECORDER_INLINE_ void recorder_put(uintptr_t *to, uintptr_t value)
{
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
}
#ifndef RECORDER_ENTER
RECORDER_INLINE_ uintptr_t recorder_add(uintptr_t *to, uintptr_t value)
{
    return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
#else /* this, recorder_orders() and recorder_give_up() read, then write */
RECORDER_INLINE_ uintptr_t recorder_add(uintptr_t *to, uintptr_t value)
{
    uintptr_t masked = RECORDER_ENTER(), was = recorder_get(to);
    recorder_put(to, was + value);
    RECORDER_LEAVE(masked);
    return was;
}
#endif

/* Copies bytes. A port need not have memcpy(), and the compiler must not make
 * a call of it. */
RECORDER_INLINE_ void recorder_bytes(void *to, const void *from, size_t size)
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

/* Tells recorder_file.h, where there are files. */
RECORDER_INLINE_ void recorder_file_tell(int what, const void *of)
{
#ifdef RECORDER_HOSTED_
    if (recorder_home.registry->file)
        recorder_home.registry->file(what, of);
#else
    (void)what, (void)of;
#endif
}

/* Keeps a call from becoming a jump: its return address is the caller
 * that the record names. */
RECORDER_INLINE_ uintptr_t recorder_returned(uintptr_t order)
{
    __asm__ volatile("" : "+r"(order));
    return order;
}

#if defined(__PIC__) && !defined(__PIE__) && defined(RECORDER_HOSTED_)
#define RECORDER_IN_LIBRARY_
#endif

#ifdef RECORDER_OFF
RECORDER_INLINE_ void recorder_thread_name(const char *name)
{
    (void)name;
}
#endif

#if defined(RECORDER_LIBRARY)
RECORDER_CALLED_ uintptr_t recorder_record_few(const struct recorder *recorder,
                                               const char *format, uintptr_t a,
                                               uintptr_t b, uintptr_t c,
                                               uintptr_t d);
RECORDER_CALLED_ uintptr_t
recorder_record_more(const struct recorder *recorder, const char *format,
                     unsigned count, ...);
RECORDER_CALLED_ const char *recorder_copy(const struct recorder *recorder,
                                           const char *string);
#ifndef RECORDER_OFF
RECORDER_CALLED_ void recorder_thread_name(const char *name);
#endif
RECORDER_CALLED_ bool recorder_enter(struct recorder *recorder);
RECORDER_CALLED_ void recorder_leave(struct recorder *recorder);
RECORDER_CALLED_ void recorder_tweak_enter(struct recorder_tweak *tweak);
RECORDER_CALLED_ void recorder_tweak_leave(struct recorder_tweak *tweak);
#endif

#if !defined(RECORDER_LIBRARY) || defined(RECORDER_LIBRARY_BODY)
/* ------------------------------------------------------------------ ring --
 *
 * `write` hands out positions, each once: p belongs to slot k = p mod size, in
 * lap L = p - k. The first is `size`. commit[k] says what slot k holds:
 *
 *     lap << 16 | thread << 1 | busy      (32-bit machines: lap << 8)
 *
 *      never written      being written         whole              and so on
 *     +-------------+    +---------------+    +---------------+    +------
 *     |      0      | -> | L, t, busy    | -> | L, t          | -> | L', t' ...
 *     +-------------+ W4 +---------------+ W7 +---------------+ W4 +------
 *
 * A ticket owns its slot because it is its turn: nobody else may act on the
 * commit word that it expects. So a record takes two read-modify-writes, W1 and
 * W2, and no compare-and-swap, and waits for nobody.
 *
 *   writer                                      reader of slot k
 *   W1 order = recorder_order++     acq_rel     R1 c = commit[k]     acquire
 *   W2 p = write++ + size           relaxed        0 or busy: nothing there
 *   W3 c = commit[k]                acquire     R2 copy 8 words      relaxed
 *      lap of c is L - size, not busy: mine     R3 fence             acquire
 *      else the rare path, below                R4 commit[k] == c ?  relaxed
 *   W4 commit[k] = L|thread|busy    relaxed        then they are whole
 *   W5 fence                        release
 *   W6 store the 8 words            relaxed
 *   W7 commit[k] = L|thread         release
 *
 *   The rare path: another writer was stopped in this slot, laps ago.
 *   P1 gave_up == L - size - lap of c ?  acquire
 *   P2 highest == L - size ?             relaxed   then all laps between have
 *   P3 gave_up -= that distance          relaxed   given up: mine, go on at W4
 *   G1 raise highest to L                relaxed   else give this slot up, for
 *   G2 gave_up += size                   release   good, and draw a new ticket
 *
 * What orders what, and what breaks without it:
 *   W7 -> R1  the words are there when the commit word says so: else a reader
 *             takes the words of the lap before for those of this one
 *   W5, R3    a reader that saw one of the new words sees at R4 that the slot
 *             is busy or newer: else it accepts a mix of two records
 *   W7 -> W3  the earlier writer's words are in the slot before mine: else its
 *             late stores mix with mine
 *   G2 -> P1  who sees the count sees how high the marks reach: else a ticket
 *             takes the slot while one between them may still write in it
 *   W1        acq_rel, so that orders follow every chain of causes that a
 *             program can build, relaxed flags included
 * gave_up and highest are exact (no packing, no modulus): a packed count leaks
 * slots. tests/model takes each label away in turn; the checker must then fail.
 */
enum { RECORDER_BUSY_ = 1 };

RECORDER_INLINE_ struct recorder_record *
recorder_records(const struct recorder_ring *ring)
{
    return (struct recorder_record *)(uintptr_t)(ring + 1);
}
RECORDER_INLINE_ uintptr_t *recorder_commits(const struct recorder_ring *ring,
                                             uintptr_t mask)
{
    return (uintptr_t *)(void *)(recorder_records(ring) + mask + 1);
}
RECORDER_INLINE_ struct recorder_turn *
recorder_turns(const struct recorder_ring *ring, uintptr_t mask)
{
    return (struct recorder_turn *)(void *)(recorder_commits(ring, mask) +
                                            mask + 1);
}
RECORDER_INLINE_ unsigned recorder_commit_thread(uintptr_t commit)
{
    return (unsigned)commit >> 1 & RECORDER_THREAD_NONE;
}
/* The commit word of a position's lap, thread and busy bit left out. */
RECORDER_INLINE_ uintptr_t recorder_commit_lap(uintptr_t position,
                                               uintptr_t mask)
{
    return (position & ~mask) << RECORDER_THREAD_BITS_;
}

/* Is it the turn of the lap after `last`, a position: is that lap complete? */
RECORDER_INLINE_ bool recorder_is_next(uintptr_t seen, uintptr_t last,
                                       uintptr_t mask)
{
    return ((seen ^ recorder_commit_lap(last, mask)) &
            ~((uintptr_t)RECORDER_THREAD_NONE << 1)) == 0;
}

/* Did every lap behind `seen`, up to the one before mine, give its turn up?
 * Then they are taken off the count. */
RECORDER_INLINE_ bool recorder_passed_on(struct recorder_turn *turn,
                                         uintptr_t seen, uintptr_t before)
{
    uintptr_t distance;
    if (seen & RECORDER_BUSY_)
        return false;
    distance = ((before << RECORDER_THREAD_BITS_) -
                (seen & ~((uintptr_t)RECORDER_THREAD_NONE << 1))) >>
               RECORDER_THREAD_BITS_;
    if (distance == 0) /* there is none */
        return true;
    if (__atomic_load_n(&turn->gave_up, __ATOMIC_ACQUIRE) != distance) /* P1 */
        return false;
    RECORDER_STEP_("P1");
    if (recorder_get(&turn->highest) != before) /* P2 */
        return false;
    RECORDER_STEP_("P2");
    recorder_add(&turn->gave_up, -distance); /* P3 */
    RECORDER_STEP_("P3");
    return true;
}

#ifdef RECORDER_ENTER
RECORDER_INLINE_ void recorder_give_up(struct recorder_turn *turn,
                                       uintptr_t lap, uintptr_t size)
{
    uintptr_t masked = RECORDER_ENTER();
    if (turn->highest - lap > UINTPTR_MAX >> RECORDER_THREAD_BITS_)
        recorder_put(&turn->highest, lap);
    recorder_put(&turn->gave_up, turn->gave_up + size);
    RECORDER_LEAVE(masked);
}
#else
RECORDER_INLINE_ void recorder_give_up(struct recorder_turn *turn,
                                       uintptr_t lap, uintptr_t size)
{
    uintptr_t highest = recorder_get(&turn->highest);
    /* "Above lap" modulo the word, so that it stays right when laps wrap; no
     * mark lies further ahead than the laps of a commit word reach. */
    while (highest - lap > UINTPTR_MAX >> RECORDER_THREAD_BITS_ &&
           !__atomic_compare_exchange_n(&turn->highest, &highest, lap, false,
                                        __ATOMIC_RELAXED, /* G1 */
                                        __ATOMIC_RELAXED))
        ;
    RECORDER_STEP_("G1");
    __atomic_fetch_add(&turn->gave_up, size, __ATOMIC_RELEASE); /* G2 */
    RECORDER_STEP_("G2");
}
#endif

#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
/* gcc warns that ThreadSanitizer ignores fences; nothing here needs it to see
 * them, every word being atomic, and the model checker does. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
/* Writes a record into a slot whose turn it is. */
RECORDER_INLINE_ struct recorder_record *
recorder_fill(struct recorder_ring *ring, uintptr_t mask, uintptr_t slot,
              uintptr_t lap, unsigned thread, uintptr_t format,
              uintptr_t order, uintptr_t time, uintptr_t caller, uintptr_t a,
              uintptr_t b, uintptr_t c, uintptr_t d)
{
    uintptr_t *commit = recorder_commits(ring, mask) + slot;
    struct recorder_record *to = recorder_records(ring) + slot;
    uintptr_t done = (lap << RECORDER_THREAD_BITS_) + (uintptr_t)thread * 2;
    recorder_put(commit, done | RECORDER_BUSY_); /* W4 */
    RECORDER_STEP_("W4");
    __atomic_thread_fence(__ATOMIC_RELEASE); /* W5 */
    RECORDER_STEP_("W5");
    recorder_put(&to->format, format); /* W6, to the end */
    recorder_put(&to->order, order);
    recorder_put(&to->time, time);
    recorder_put(&to->caller, caller);
    RECORDER_STEP_("W6");
    recorder_put(&to->argument[0], a);
    recorder_put(&to->argument[1], b);
    recorder_put(&to->argument[2], c);
    recorder_put(&to->argument[3], d);
    RECORDER_STEP_("W6 end");
    __atomic_store_n(commit, done, __ATOMIC_RELEASE); /* W7 */
    RECORDER_STEP_("W7");
    return to;
}

/* The rare path, from a ticket whose slot was `seen`; `last` is its position, a
 * lap ago. Returns the record, or null where it was lost. */
__attribute__((cold)) RECORDER_FUNCTION_ struct recorder_record *
recorder_write_late(struct recorder_ring *ring, uintptr_t mask,
                    uintptr_t last, uintptr_t seen, unsigned thread,
                    const struct recorder_record *r)
{
    unsigned tickets = 1;
    for (;; tickets++) {
        uintptr_t slot = last & mask, lap = (last | mask) + 1;
        struct recorder_turn *turn = recorder_turns(ring, mask) + slot;
        if (recorder_passed_on(turn, seen, last - slot))
            return recorder_fill(ring, mask, slot, lap, thread, r->format,
                                 r->order, r->time, r->caller, r->argument[0],
                                 r->argument[1], r->argument[2],
                                 r->argument[3]);
        recorder_give_up(turn, lap, mask + 1);
        recorder_add(&ring->given_up, 1);
        if (tickets == RECORDER_TICKETS)
            break;
        last = recorder_add(&ring->write, 1); /* W2 */
        RECORDER_STEP_("W2");
        seen = __atomic_load_n(&recorder_commits(ring, mask)[last & mask],
                               __ATOMIC_ACQUIRE); /* W3 */
        RECORDER_STEP_("W3");
    }
    recorder_add(&ring->lost, 1);
    return NULL;
}

/* Writes one record into the ring. Returns it, or null where it was lost. */
RECORDER_INLINE_ struct recorder_record *
recorder_write(struct recorder_ring *ring, uintptr_t mask, unsigned thread,
               uintptr_t format, uintptr_t order, uintptr_t time,
               uintptr_t caller, uintptr_t a, uintptr_t b, uintptr_t c,
               uintptr_t d)
{
    /* The position is one lap after that: what is before it in the slot. */
    uintptr_t last = recorder_add(&ring->write, 1); /* W2 */
    uintptr_t slot = last & mask, seen;
    uintptr_t *commit = recorder_commits(ring, mask) + slot;
    RECORDER_STEP_("W2");
    seen = __atomic_load_n(commit, __ATOMIC_ACQUIRE); /* W3 */
    RECORDER_STEP_("W3");
    if (RECORDER_UNLIKELY_(!recorder_is_next(seen, last, mask))) {
        struct recorder_record r = {format, order, time, caller, {a, b, c, d}};
        return recorder_write_late(ring, mask, last, seen, thread, &r);
    }
    return recorder_fill(ring, mask, slot, (last | mask) + 1, thread, format,
                         order, time, caller, a, b, c, d);
}

/* Copies the record of a slot. Returns its commit word, or 0 where the slot has
 * none that is whole. */
RECORDER_INLINE_ uintptr_t recorder_look(const struct recorder_ring *ring,
                                         uintptr_t mask, uintptr_t slot,
                                         struct recorder_record *to)
{
    const uintptr_t *commit = recorder_commits(ring, mask) + slot;
    const uintptr_t *word = &recorder_records(ring)[slot].format;
    uintptr_t *copy = &to->format;
    uintptr_t seen = __atomic_load_n(commit, __ATOMIC_ACQUIRE); /* R1 */
    unsigned i;
    if (seen == 0 || (seen & RECORDER_BUSY_))
        return 0;
    for (i = 0; i < sizeof *to / sizeof *copy; i++)
        copy[i] = recorder_get(word + i); /* R2 */
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* R3 */
    return recorder_get(commit) == seen ? seen : 0; /* R4 */
}
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* --------------------------------------------------------------- threads --
 *
 * A thread gets a number and a row of the table at its first record; the row of
 * a dead thread is given away only when the table is full. All of it is safe in
 * a signal handler: at worst a handler that interrupts it takes a row more.
 */
#ifdef RECORDER_HOSTED_
extern RECORDER_PROGRAM_ __thread unsigned recorder_thread
    RECORDER_THREAD_LOCAL_;
__thread unsigned recorder_thread RECORDER_THREAD_LOCAL_ =
    0; /* said twice, or gcc forgets it; 0: has not recorded yet */
#endif

#ifdef RECORDER_LINUX_
/* The kernel's names for what the table needs, by direct system calls; errno is
 * the caller's, and left as it was. */
enum { RECORDER_ESRCH_ = 3, RECORDER_EINTR_ = 4, RECORDER_EAGAIN_ = 11,
       RECORDER_EFAULT_ = 14 };
extern long recorder_syscall(long number, ...) RECORDER_LABEL_(syscall);
extern int *recorder_errno(void) RECORDER_LABEL_(__errno_location);

RECORDER_INLINE_ int32_t recorder_os_thread(void)
{
    return (int32_t)recorder_syscall(SYS_gettid);
}
RECORDER_INLINE_ intptr_t recorder_os_process(void)
{
    return (intptr_t)recorder_syscall(SYS_getpid);
}
RECORDER_INLINE_ void recorder_os_yield(void)
{
    recorder_syscall(SYS_sched_yield);
}
RECORDER_INLINE_ void recorder_os_thread_name(char name[16])
{
    recorder_syscall(SYS_prctl, 16L /* PR_GET_NAME */, name, 0L, 0L, 0L);
}
/* Is there surely no such thread in this process any more? */
RECORDER_INLINE_ bool recorder_os_thread_ended(int32_t id)
{
    return recorder_syscall(SYS_tgkill, (long)recorder_os_process(), (long)id,
                            0L) != 0 &&
           *recorder_errno() == RECORDER_ESRCH_;
}
extern void *recorder_mmap(void *at, size_t bytes, int protection, int flags,
                           int fd, long offset) RECORDER_LABEL_(mmap);
extern int recorder_munmap(void *at, size_t bytes) RECORDER_LABEL_(munmap);
/* Zeroed memory from the system, or null. */
RECORDER_INLINE_ void *recorder_os_memory(size_t bytes)
{
#if defined(__mips__)
    const int private_anonymous = 0x802;
#else
    const int private_anonymous = 0x22;
#endif
    void *memory = recorder_mmap(NULL, bytes, 3 /* read, write */,
                                 private_anonymous, -1, 0);
    return memory == (void *)-1 ? NULL : memory;
}

#ifdef __GLIBC__
#define RECORDER_ATFORK_ __register_atfork
extern void *recorder_module RECORDER_LABEL_(__dso_handle)
    __attribute__((visibility("hidden")));
#else
#define RECORDER_ATFORK_ pthread_atfork
#define recorder_module NULL /* one argument more than it looks at */
#endif
extern int recorder_atfork(void (*prepare)(void), void (*parent)(void),
                           void (*child)(void), void *module)
    RECORDER_LABEL_(RECORDER_ATFORK_) __attribute__((weak));
RECORDER_INLINE_ void recorder_os_at_fork(void (*child)(void))
{
    if (recorder_atfork)
        recorder_atfork(NULL, NULL, child, recorder_module);
}
#elif !defined(RECORDER_HOSTED_)
RECORDER_INLINE_ intptr_t recorder_os_process(void)
{
    return 0;
}
RECORDER_INLINE_ void *recorder_os_memory(size_t bytes)
{
    (void)bytes;
    return NULL;
}
RECORDER_INLINE_ void recorder_munmap(void *at, size_t bytes)
{
    (void)at, (void)bytes;
}
#endif

RECORDER_FUNCTION_ void recorder_thread_set_name(struct recorder_thread *row,
                                                 const char *name)
{
    unsigned i;
    for (i = 0; i < sizeof row->name - 1 && name[i]; i++)
        __atomic_store_n(&row->name[i], name[i], __ATOMIC_RELAXED);
    for (; i < sizeof row->name; i++)
        __atomic_store_n(&row->name[i], '\0', __ATOMIC_RELAXED);
}

#ifdef RECORDER_HOSTED_
/* From a state to RECORDER_ROW_TAKEN, at one stroke. With the 2 bytes beside
 * it, since riscv64 has no compare-and-swap of fewer than 4. */
RECORDER_INLINE_ bool recorder_row_take(struct recorder_thread *row,
                                        uint16_t state)
{
    typedef uint32_t __attribute__((may_alias)) both;
    struct {
        uint16_t state, named;
    } from, to;
    uint32_t seen, taken;
    from.state = state;
    from.named = to.named = __atomic_load_n(&row->named, __ATOMIC_RELAXED);
    to.state = RECORDER_ROW_TAKEN;
    __builtin_memcpy(&seen, &from, sizeof seen);
    __builtin_memcpy(&taken, &to, sizeof taken);
    return __atomic_compare_exchange_n((both *)(void *)&row->state, &seen,
                                       taken, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}
/* Gives a row that is dead, or whose thread has ended, to the caller; its
 * number, or RECORDER_THREAD_NONE. */
RECORDER_FUNCTION_ unsigned recorder_thread_reuse(
    const struct recorder_registry *registry)
{
    unsigned i;
    for (i = 0; i < registry->threads_max; i++) {
        struct recorder_thread *row = &registry->threads[i];
        uint16_t state = __atomic_load_n(&row->state, __ATOMIC_ACQUIRE);
        if (state != RECORDER_ROW_DEAD &&
            !(state == RECORDER_ROW_ALIVE &&
              recorder_os_thread_ended(
                  __atomic_load_n(&row->id, __ATOMIC_RELAXED))))
            continue;
        if (!recorder_row_take(row, state))
            continue;
        /* Between the look and the grasp a living thread may have taken it. */
        if (state == RECORDER_ROW_DEAD || recorder_os_thread_ended(row->id))
            return i + 1;
        __atomic_store_n(&row->state, RECORDER_ROW_ALIVE, __ATOMIC_RELEASE);
    }
    return RECORDER_THREAD_NONE;
}

/* The table, mapped at the first call; null where there is no memory. */
RECORDER_FUNCTION_ struct recorder_thread *
recorder_thread_table(struct recorder_registry *registry)
{
    struct recorder_thread *table =
        __atomic_load_n(&registry->threads, __ATOMIC_ACQUIRE);
    size_t bytes = RECORDER_THREADS * sizeof *table;
    struct recorder_thread *mine;
    if (table)
        return table;
    mine = (struct recorder_thread *)recorder_os_memory(bytes);
    if (!mine)
        return NULL;
    recorder_put(&registry->threads_max, RECORDER_THREADS);
    if (__atomic_compare_exchange_n(&registry->threads, &table, mine, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return mine;
    recorder_munmap(mine, bytes);
    return table;
}

/* Takes a row for the calling thread and returns its number. */
RECORDER_FUNCTION_ unsigned recorder_thread_row(void)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_thread *table = recorder_thread_table(registry), *row;
    unsigned number = RECORDER_THREAD_NONE;
    char name[16] = "";
    if (!table)
        return number;
    if (recorder_get(&registry->threads_count) < registry->threads_max)
        number = (unsigned)recorder_add(&registry->threads_count, 1) + 1;
    if (number > registry->threads_max)
        number = recorder_thread_reuse(registry);
    if (number == RECORDER_THREAD_NONE)
        return number;
    row = &table[number - 1];
    __atomic_store_n(&row->id, recorder_os_thread(), __ATOMIC_RELAXED);
    recorder_put(&row->first, recorder_get(registry->order));
    recorder_os_thread_name(name);
    __atomic_store_n(&row->named, 0, __ATOMIC_RELAXED);
    recorder_thread_set_name(row, name);
    __atomic_store_n(&row->state, RECORDER_ROW_ALIVE, __ATOMIC_RELEASE);
    if (registry->image)
        recorder_put(&registry->image->threads_count,
                     recorder_get(&registry->threads_count));
    return number;
}

RECORDER_FUNCTION_ unsigned recorder_thread_enter(void)
{
    struct recorder_registry *registry = recorder_home.registry;
    int *error = recorder_errno(), kept = *error;
    /* In a library that found the program's registry, the program counts. */
    unsigned number = registry != &recorder_registry && registry->thread
                          ? registry->thread()
                          : recorder_thread_row();
    if (recorder_thread == 0)
        recorder_thread = number;
    else if (number != recorder_thread && number != RECORDER_THREAD_NONE)
        registry->threads[number - 1].state = RECORDER_ROW_DEAD; /* see above */
    *error = kept;
    return recorder_thread;
}

RECORDER_INLINE_ unsigned recorder_thread_number(void)
{
    unsigned number = recorder_thread;
    return RECORDER_UNLIKELY_(number == 0) ? recorder_thread_enter() : number;
}
RECORDER_FUNCTION_ unsigned recorder_thread_here(void)
{
    return recorder_thread_number();
}
#endif

/* Names the calling thread in what is read from now on: 15 bytes of it. */
#ifndef RECORDER_OFF
RECORDER_CALLED_ void recorder_thread_name(const char *name)
{
    unsigned number = RECORDER_THREAD();
    struct recorder_registry *registry = recorder_home.registry;
    if (number == 0 || number > registry->threads_max)
        return;
    __atomic_store_n(&registry->threads[number - 1].named, 1, __ATOMIC_RELAXED);
    recorder_thread_set_name(&registry->threads[number - 1], name);
}
#endif

/* ---------------------------------------------------------------- record -- */

RECORDER_INLINE_ struct recorder_ring *
recorder_lane(const struct recorder *recorder, unsigned thread)
{
    char *rings = (char *)__atomic_load_n(&recorder->rings, __ATOMIC_RELAXED);
    if (RECORDER_ONE_LANE_)
        thread = 0;
    return (struct recorder_ring *)(void *)(rings +
                                            (thread & recorder->lanes_mask) *
                                                recorder->ring_bytes);
}

/* The clock, before the record's order is drawn. */
#if defined(RECORDER_WRAPS_) && defined(RECORDER_ENTER)
RECORDER_FUNCTION_ void recorder_wrap_note(uintptr_t high)
{
    struct recorder_registry *r = recorder_home.registry;
    uintptr_t masked = RECORDER_ENTER(), count = r->wraps_count;
    if (count == 0 ||
        (intptr_t)(high - r->wraps[(count - 1) % RECORDER_WRAPS].high) > 0) {
        r->wraps[count % RECORDER_WRAPS].order = *recorder_home.order;
        r->wraps[count % RECORDER_WRAPS].high = high;
        r->wraps_count = ++count;
    }
    recorder_put(&r->high, r->wraps[(count - 1) % RECORDER_WRAPS].high);
    RECORDER_LEAVE(masked);
}
#elif defined(RECORDER_WRAPS_)
/* Notes that a half of a wrap has begun. Threads and handlers may be in here at
 * once, from two halves: who comes first puts its half into the next place; who
 * finds one there helps to note it, and looks again. Nobody draws an order of a
 * half that is not noted: an order read behind the half in its place, while the
 * count stood still, is above none of that half, whoever writes it. A half that
 * was put there is above `last`, what was left there is not (below 2^62 ticks):
 * so none is replaced that may be noted by now. */
RECORDER_FUNCTION_ void recorder_wrap_note(uintptr_t high)
{
    struct recorder_registry *r = recorder_home.registry;
    for (;;) {
        uintptr_t count = __atomic_load_n(&r->wraps_count, __ATOMIC_ACQUIRE);
        struct recorder_wrap *wrap = &r->wraps[count % RECORDER_WRAPS];
        uintptr_t last =
            recorder_get(&r->wraps[(count - 1) % RECORDER_WRAPS].high);
        uintptr_t high_was = __atomic_load_n(&wrap->high, __ATOMIC_ACQUIRE);
        uintptr_t order_was = recorder_get(&wrap->order);
        uintptr_t order =
            __atomic_load_n(recorder_home.order, __ATOMIC_ACQUIRE);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (recorder_get(&r->wraps_count) != count)
            continue;
        if (count && (intptr_t)(high - last) <= 0) {
            __atomic_store_n(&r->high, last, __ATOMIC_RELEASE);
            recorder_file_tell(RECORDER_FILE_SYNC, NULL);
            return;
        }
        if (high_was != high && (intptr_t)(high_was - last) <= 0) {
            __atomic_compare_exchange_n(&wrap->high, &high_was, high, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED);
            continue;
        }
        __atomic_compare_exchange_n(&wrap->order, &order_was, order, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        __atomic_compare_exchange_n(&r->wraps_count, &count, count + 1, false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
}
#endif
#ifdef RECORDER_WRAPS_
RECORDER_INLINE_ uintptr_t recorder_time(void)
{
    uint64_t ticks = recorder_ticks();
    uintptr_t high = (uintptr_t)(ticks >> 31);
    if (RECORDER_UNLIKELY_(recorder_get(&recorder_home.registry->high) != high))
        recorder_wrap_note(high);
    return (uintptr_t)ticks;
}
#else
RECORDER_INLINE_ uintptr_t recorder_time(void) { return RECORDER_TIME(); }
#endif

#ifdef RECORDER_ENTER
RECORDER_INLINE_ uintptr_t recorder_orders(uintptr_t count)
{
    return recorder_add(recorder_home.order, count);
}
#else
RECORDER_INLINE_ uintptr_t recorder_orders(uintptr_t count)
{
    uintptr_t *at = recorder_home.order;
    uintptr_t order = __atomic_fetch_add(at, count, __ATOMIC_ACQ_REL); /* W1 */
    RECORDER_STEP_("W1");
    return order;
}
#endif

/* The same out of line, where a call more does not matter. */
RECORDER_FUNCTION_ struct recorder_record *
recorder_write_words(struct recorder_ring *ring, uintptr_t mask,
                     unsigned thread, const struct recorder_record *r)
{
    return recorder_write(ring, mask, thread, r->format, r->order, r->time,
                          r->caller, r->argument[0], r->argument[1],
                          r->argument[2], r->argument[3]);
}

/* Records 4 * count words as that many records of orders that follow at once,
 * and prints them where the recorder is traced. Returns the first order. */
RECORDER_FUNCTION_ uintptr_t recorder_record_words(
    const struct recorder *recorder, const char *format, uintptr_t caller,
    const uintptr_t *words, unsigned count)
{
    unsigned thread = RECORDER_THREAD(), i, j;
    struct recorder_ring *ring = recorder_lane(recorder, thread);
    struct recorder_record records[3];
    uintptr_t time = recorder_time(), order = recorder_orders(count);
    for (i = 0; i < count; i++) {
        struct recorder_record *r = &records[i];
        r->format = i == 0 ? (uintptr_t)format : 0;
        r->order = order + i;
        r->time = time;
        r->caller = caller;
        for (j = 0; j < 4; j++)
            r->argument[j] = words[4 * i + j];
        recorder_write_words(ring, recorder->mask, thread, r);
    }
    if (__atomic_load_n(&recorder->trace, __ATOMIC_RELAXED) > 0 &&
        recorder_home.registry->hook)
        recorder_home.registry->hook(recorder, thread, records, count);
    return order;
}

/* Up to 4 arguments travel in registers. */
RECORDER_CALLED_ uintptr_t recorder_record_few(const struct recorder *recorder,
                                               const char *format, uintptr_t a,
                                               uintptr_t b, uintptr_t c,
                                               uintptr_t d)
{
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    uintptr_t mask, time, order;
    struct recorder_ring *ring;
    unsigned thread;
    if (RECORDER_TRACES_ &&
        RECORDER_UNLIKELY_(
            __atomic_load_n(&recorder->trace, __ATOMIC_RELAXED) > 0)) {
        uintptr_t words[4];
        words[0] = a, words[1] = b, words[2] = c, words[3] = d;
        return recorder_record_words(recorder, format, caller, words, 1);
    }
    /* What the locked additions need not wait for, and the clock, come first:
     * meanwhile the stores of the record before drain (bench/record.c). */
    thread = RECORDER_THREAD();
    mask = recorder->mask;
    ring = recorder_lane(recorder, thread);
    time = recorder_time();
    order = recorder_orders(1);
    recorder_write(ring, mask, thread, (uintptr_t)format, order, time, caller,
                   a, b, c, d);
    return order;
}

/* More than 4: `count` records of 4 words, each a uintptr_t behind `count`. */
RECORDER_CALLED_ uintptr_t
recorder_record_more(const struct recorder *recorder, const char *format,
                     unsigned count, ...)
{
    uintptr_t words[12];
    unsigned i;
    va_list arguments;
    va_start(arguments, count);
    for (i = 0; i < 4 * count; i++)
        words[i] = va_arg(arguments, uintptr_t);
    va_end(arguments);
    return recorder_record_words(recorder, format,
                                 (uintptr_t)__builtin_return_address(0), words,
                                 count);
}

/* The token of a text record: the address of its slot, with as many low bits of
 * its order as fit below a record's size. No string of the program's own stands
 * inside of a ring, so a token is never taken for one, nor one for a token. */
RECORDER_INLINE_ uintptr_t recorder_token(const struct recorder_record *slot,
                                          uintptr_t order)
{
    return (uintptr_t)slot + (order & (sizeof *slot - 1));
}

/* Copies a string into text records; returns what %s takes: a token, or null
 * for null. A token that points at a ring's head stands for a lost text. */
RECORDER_CALLED_ const char *recorder_copy(const struct recorder *recorder,
                                           const char *string)
{
    unsigned thread = RECORDER_THREAD();
    struct recorder_ring *ring = recorder_lane(recorder, thread);
    /* At most half of the ring: the head and its text must fit together. */
    size_t room = (recorder->mask + 2) / 2 * RECORDER_TEXT_BYTES;
    size_t size = 0, count, i;
    uintptr_t order, token = 0;
    if (!string)
        return NULL;
    if (room > RECORDER_COPY_MAX)
        room = RECORDER_COPY_MAX;
    while (size <= RECORDER_COPY_MAX && string[size])
        size++; /* one more than is kept, where it is too long */
    count = ((size < room ? size : room) + RECORDER_TEXT_BYTES - 1) /
            RECORDER_TEXT_BYTES;
    count += count == 0;
    order = recorder_orders(count);
    for (i = count; i-- > 0;) { /* the last first: each names the next */
        size_t at = i * RECORDER_TEXT_BYTES;
        struct recorder_record text = {1 + size - at, order + i, 0, token,
                                       {0, 0, 0, 0}};
        struct recorder_record *slot;
        if (size - at >= RECORDER_TEXT_BYTES)
            recorder_bytes(text.argument, string + at, RECORDER_TEXT_BYTES);
        else
            recorder_bytes(text.argument, string + at, size - at);
        slot = recorder_write_words(ring, recorder->mask, thread, &text);
        token = slot ? recorder_token(slot, order + i) : (uintptr_t)ring;
    }
    return (const char *)token;
}

/* -------------------------------------------------------------- registry --
 *
 * A recorder enters the registry in a constructor, before any of the program's
 * own, and leaves it in a destructor when its library is closed. The loader
 * runs both one at a time, so that only readers are concurrent here.
 */
#ifdef RECORDER_HOSTED_
/* All three clocks at once. Ticks and real time are each read between two looks
 * at the monotonic clock; the closest of three is taken. */
RECORDER_FUNCTION_ struct recorder_moment recorder_now(void)
{
    struct recorder_moment best = {0, 0, 0};
    uint64_t width = UINT64_MAX;
    unsigned i;
    for (i = 0; i < 3; i++) {
        uint64_t before = recorder_clock_ns(RECORDER_MONOTONIC_);
        uint64_t ticks = recorder_ticks();
        uint64_t after = recorder_clock_ns(RECORDER_MONOTONIC_);
        uint64_t real = recorder_clock_ns(RECORDER_REALTIME_);
        uint64_t end = recorder_clock_ns(RECORDER_MONOTONIC_);
        if (end - before >= width)
            continue;
        width = end - before;
        best.ticks = ticks;
        best.monotonic_ns = before + (after - before) / 2;
        /* `real` is of half way from `after` to `end`. */
        best.realtime_ns = real - (end - before) / 2;
    }
    return best;
}

/* In the child of fork(): its one thread gets a row of its own at its next
 * record; those of the parent's threads stay, for the records they made. */
RECORDER_FUNCTION_ void recorder_forked(void)
{
    struct recorder_registry *registry = recorder_home.registry;
    uintptr_t i;
    recorder_thread = 0;
    if (registry->pid == recorder_os_process())
        return; /* another module's handler was here */
    if (registry->file) /* before this touches the parent's */
        registry->file(RECORDER_FILE_FORKED, NULL);
    for (i = 0; i < registry->threads_max; i++) {
        struct recorder_thread *row = &registry->threads[i];
        if (row->state != RECORDER_ROW_FREE)
            row->state = RECORDER_ROW_DEAD;
    }
    registry->readers = 0;
    registry->dumping = 0; /* who did is not here */
    registry->pid = recorder_os_process();
}

#if defined(RECORDER_IN_LIBRARY_) && defined(RECORDER_LINUX_)
extern unsigned long recorder_auxiliary(unsigned long type)
    RECORDER_LABEL_(getauxval) __attribute__((weak));

/* The registry of the main program, found by its magic in the data of the
 * program's segments; null when it has none, `own` where that lies in the
 * program. A program that does not export its symbols hides it from the
 * libraries that it opens; orders are global only if they find it. The words of
 * an ELF program header used here stand at the same index on 32 and 64 bits:
 * 2 address, 4 bytes in the file, 5 bytes in memory. */
__attribute__((no_sanitize("address"))) RECORDER_FUNCTION_
    struct recorder_registry *
    recorder_of_program(struct recorder_registry *own)
{
    enum { HEADER = __SIZEOF_POINTER__ == 8 ? 7 : 8 };
    const uintptr_t *headers, *h;
    uintptr_t count, bias = 0, at, i;
    if (!recorder_auxiliary)
        return NULL;
    headers = (const uintptr_t *)recorder_auxiliary(3); /* AT_PHDR */
    count = recorder_auxiliary(5);                      /* AT_PHNUM */
    for (h = headers, i = 0; headers && i < count; i++, h += HEADER)
        if (*(const uint32_t *)h == 6) /* PT_PHDR */
            bias = (uintptr_t)headers - h[2];
    for (h = headers, i = 0; headers && i < count; i++, h += HEADER) {
        uint32_t flags = __SIZEOF_POINTER__ == 8 ? ((const uint32_t *)h)[1]
                                                 : (uint32_t)h[6];
        if (*(const uint32_t *)h != 1 || !(flags & 2)) /* PT_LOAD, writable */
            continue;
        if ((uintptr_t)own - (bias + h[2]) < h[5])
            return own;
        at = (bias + h[2] + RECORDER_LINE_BYTES - 1) &
             ~(uintptr_t)(RECORDER_LINE_BYTES - 1);
        for (; at + sizeof *own <= bias + h[2] + h[4];
             at += RECORDER_LINE_BYTES) {
            struct recorder_registry *r = (struct recorder_registry *)at;
            if (r->self == r && r->layout == RECORDER_LAYOUT &&
                __builtin_memcmp(r->magic, own->magic, sizeof r->magic) == 0)
                return r;
        }
    }
    return NULL;
}
#elif defined(RECORDER_IN_LIBRARY_) /* the linker has found it, or nobody */
RECORDER_INLINE_ struct recorder_registry *
recorder_of_program(struct recorder_registry *own)
{
    return own;
}
#endif

/* Once in each module. */
RECORDER_FUNCTION_ void recorder_start(void)
{
    struct recorder_registry *registry;
    if (recorder_home.started)
        return;
    recorder_home.started = true;
#ifdef RECORDER_IN_LIBRARY_
    registry = recorder_of_program(&recorder_registry);
    if (registry) {
        recorder_home.order = registry->order;
        recorder_home.registry = registry;
    }
#endif
    registry = recorder_home.registry;
    if (!registry->start.monotonic_ns)
        registry->start = recorder_now();
    recorder_time(); /* notes the first wrap */
    registry->pid = recorder_os_process();
    if (!registry->thread)
        registry->thread = recorder_thread_here;
    recorder_os_at_fork(recorder_forked);
    if (registry->file)
        registry->file(RECORDER_FILE_MODULE, &recorder_home);
}
#else
RECORDER_INLINE_ void recorder_start(void)
{
}
#endif

#ifndef RECORDER_HOSTED_
/* In front of a ring that survives a reset: whose it is. The words that the
 * memory must hold by chance to be taken for such a ring are eight. */
#define RECORDER_STAMP_WORDS 8
RECORDER_INLINE_ uintptr_t recorder_stamp(const struct recorder *recorder,
                                          uintptr_t i)
{
    return ((uintptr_t)recorder + 3 * (uintptr_t)recorder->name +
            5 * recorder->mask + 7 * recorder->ring_bytes + i +
            RECORDER_LAYOUT) *
           2654435761u;
}

/* Makes an empty ring, and then the stamp. */
RECORDER_FUNCTION_ void recorder_stamp_new(const struct recorder *recorder)
{
    volatile uintptr_t *to = (volatile uintptr_t *)recorder->rings;
    uintptr_t i;
    for (i = 0; i < recorder->ring_bytes / sizeof *to; i++)
        to[i] = 0;
    to -= RECORDER_STAMP_WORDS;
    for (i = 0; i < RECORDER_STAMP_WORDS; i++)
        to[i] = recorder_stamp(recorder, i);
}

/* Makes a slot ready for the next lap, from what the reset left in it: nobody
 * is in it now, and all laps that are missing gave up. */
RECORDER_FUNCTION_ void recorder_resume_slot(struct recorder_ring *ring,
                                             uintptr_t mask, uintptr_t slot)
{
    uintptr_t *commit = recorder_commits(ring, mask) + slot;
    struct recorder_turn *turn = recorder_turns(ring, mask) + slot;
    /* The lap that was handed out last; laps count modulo `wrap` + 1. */
    uintptr_t lap = (ring->write + mask - slot) & ~mask;
    uintptr_t wrap = UINTPTR_MAX >> RECORDER_THREAD_BITS_;
    turn->highest = lap;
    turn->gave_up = (lap - (*commit >> RECORDER_THREAD_BITS_)) & wrap;
    if (!(*commit & RECORDER_BUSY_) && (turn->gave_up & mask) == 0)
        return;
    *commit = 0; /* half a record, or damaged */
    turn->gave_up = lap & wrap;
    ring->given_up++;
    ring->lost++;
}

/* Goes on with what a ring of RECORDER_AT holds, or makes it empty. Orders go
 * on behind its last; a damaged one is not followed far. */
RECORDER_FUNCTION_ void recorder_resume(const struct recorder *recorder)
{
    struct recorder_ring *ring = recorder->rings;
    const uintptr_t *stamp = (const uintptr_t *)ring - RECORDER_STAMP_WORDS;
    uintptr_t mask = recorder->mask, last = 0, i;
    struct recorder_record r;
    for (i = 0; i < RECORDER_STAMP_WORDS; i++)
        if (stamp[i] != recorder_stamp(recorder, i)) {
            recorder_stamp_new(recorder);
            return;
        }
    for (i = 0; i <= mask; i++)
        recorder_resume_slot(ring, mask, i);
    for (i = 1; i <= mask + 1; i++) /* the youngest first */
        if (recorder_look(ring, mask, (ring->write - i) & mask, &r) &&
            (last == 0 || r.order - last < 65536))
            last = r.order;
    if (last - *recorder_home.order < UINTPTR_MAX / 2)
        *recorder_home.order = last + 1;
}
#endif

/* Returns whether it was not in the list before. */
__attribute__((cold)) RECORDER_CALLED_ bool
recorder_enter(struct recorder *recorder)
{
    struct recorder **link;
    recorder_start();
    for (link = &recorder_home.registry->first; *link; link = &(*link)->next)
        if (*link == recorder) /* one recorder, two libraries that define it */
            return false;
    recorder->next = NULL;
    __atomic_store_n(link, recorder, __ATOMIC_RELEASE);
    recorder_file_tell(RECORDER_FILE_ENTERED, recorder);
    return true;
}

#if defined(RECORDER_IN_LIBRARY_) ||                                           \
    (defined(RECORDER_LIBRARY) && defined(RECORDER_HOSTED_))
/* Takes a recorder out before its memory goes away. Readers hold the list only
 * while they copy, never while they write, so that this waits for microseconds;
 * a reader that died on the way is not waited for longer than a second. */
RECORDER_CALLED_ void recorder_leave(struct recorder *recorder)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder **link = &registry->first;
    uint64_t start;
    while (*link && *link != recorder)
        link = &(*link)->next;
    if (!*link)
        return;
    __atomic_store_n(link, recorder->next, __ATOMIC_SEQ_CST);
    start = recorder_clock_ns(RECORDER_MONOTONIC_);
    while (__atomic_load_n(&registry->readers, __ATOMIC_SEQ_CST) != 0 &&
           recorder_clock_ns(RECORDER_MONOTONIC_) - start < 1000000000u)
        recorder_os_yield();
}
#endif

RECORDER_CALLED_ void recorder_tweak_enter(struct recorder_tweak *tweak)
{
    struct recorder_tweak **link;
    recorder_start();
    for (link = &recorder_home.registry->tweaks; *link; link = &(*link)->next)
        if (*link == tweak)
            return;
    tweak->next = NULL;
    __atomic_store_n(link, tweak, __ATOMIC_RELEASE);
}

#if defined(RECORDER_IN_LIBRARY_) ||                                           \
    (defined(RECORDER_LIBRARY) && defined(RECORDER_HOSTED_))
/* As recorder_leave(): readers of the list are counted. */
RECORDER_CALLED_ void recorder_tweak_leave(struct recorder_tweak *tweak)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_tweak **link = &registry->tweaks;
    uint64_t start;
    while (*link && *link != tweak)
        link = &(*link)->next;
    if (!*link)
        return;
    __atomic_store_n(link, tweak->next, __ATOMIC_SEQ_CST);
    start = recorder_clock_ns(RECORDER_MONOTONIC_);
    while (__atomic_load_n(&registry->readers, __ATOMIC_SEQ_CST) != 0 &&
           recorder_clock_ns(RECORDER_MONOTONIC_) - start < 1000000000u)
        recorder_os_yield();
}
#endif

#ifdef RECORDER_IN_LIBRARY_
/* A library that only borrows others' recorders has to look for the program's
 * registry too. */
__attribute__((constructor(101), used)) static void recorder_start_library(void)
{
    recorder_start();
}
#endif
#endif /* the bodies */

/* ---------------------------------------------------------------- macros -- */

/* Rounds up to a power of two; a constant expression. */
#define RECORDER_SLOTS_(size)                                                  \
    ((size) <= 1 ? (size_t)1                                                   \
                 : (size_t)1 << (64 - __builtin_clzll(                         \
                                         ((unsigned long long)(size)-1) | 1)))
#define RECORDER_FIRST_(first, ...) first
#define RECORDER_SECOND_(first, second, ...) second

/* A library's recorders leave when it is closed; a program's never do, so that
 * what runs at exit is recorded and can be dumped. */
#ifdef RECORDER_IN_LIBRARY_
#define RECORDER_LEAVES_(name)                                                 \
    __attribute__((destructor(101))) static void recorder_leave_##name(void)   \
    {                                                                          \
        if (recorder_entered_##name)                                           \
            recorder_leave(&recorder_for_##name);                              \
    }
#else
#define RECORDER_LEAVES_(name)
#endif

/* With RECORDER_OFF, what a nameless namespace declares is defined nowhere. */
#if defined(RECORDER_OFF) && defined(__clang__)
#define RECORDER_UNDEFINED_                                                    \
    _Pragma("GCC diagnostic ignored \"-Wundefined-internal\"")
#else
#define RECORDER_UNDEFINED_
#endif
/* Says what RECORDER_DECLARE in a header may have said before. */
#define RECORDER_AGAIN_(declaration)                                           \
    _Pragma("GCC diagnostic push")                                             \
    _Pragma("GCC diagnostic ignored \"-Wredundant-decls\"")                    \
    RECORDER_UNDEFINED_                                                        \
    declaration;                                                               \
    _Pragma("GCC diagnostic pop")

#ifdef RECORDER_OFF
#define RECORDER_DEFINE_(name, size, lanes, description)                       \
    RECORDER_CHECK_SIZE_(name, size, lanes, description)                       \
    RECORDER_AGAIN_(extern __attribute__((unused)) struct recorder             \
                        recorder_for_##name)                                   \
    __extension__
#else
/* The final __extension__ lets a user write a semicolon behind the macro or,
 * where something follows in the file, none; no compiler says a word. */
#define RECORDER_DEFINE_(name, size, lanes, description)                       \
    RECORDER_CHECK_SIZE_(name, size, lanes, description)                       \
    static struct {                                                            \
        struct recorder_ring ring;                                             \
        struct recorder_record records[RECORDER_SLOTS_(size)];                 \
        uintptr_t commit[RECORDER_SLOTS_(size)];                               \
        struct recorder_turn turns[RECORDER_SLOTS_(size)];                     \
    } __attribute__((aligned(RECORDER_RING_ALIGN_)))                           \
        recorder_rings_for_##name[lanes];                                      \
    RECORDER_AGAIN_(extern struct recorder recorder_for_##name)                \
    struct recorder recorder_for_##name = {                                    \
        0,                                                                     \
        &recorder_rings_for_##name[0].ring,                                    \
        RECORDER_SLOTS_(size) - 1,                                             \
        (lanes)-1,                                                             \
        sizeof recorder_rings_for_##name[0],                                   \
        #name,                                                                 \
        "" description,                                                        \
        0};                                                                    \
    __attribute__((unused)) static bool recorder_entered_##name;               \
    __attribute__((constructor(101))) static void recorder_enter_##name(void)  \
    {                                                                          \
        recorder_entered_##name = recorder_enter(&recorder_for_##name);        \
    }                                                                          \
    RECORDER_LEAVES_(name)                                                     \
    __extension__
#endif
#if !defined(RECORDER_HOSTED_) && !defined(RECORDER_OFF)
/* The address is that of the stamp: a multiple of RECORDER_RING_ALIGN_. */
#define RECORDER_DEFINE_AT_(name, size, address, description)                  \
    RECORDER_CHECK_SIZE_(name, size, 1, description)                           \
    RECORDER_AGAIN_(extern struct recorder recorder_for_##name)                \
    struct recorder recorder_for_##name = {                                    \
        0,                                                                     \
        (struct recorder_ring *)(void *)((char *)(address) +                   \
                                         RECORDER_STAMP_WORDS *                \
                                             sizeof(uintptr_t)),               \
        RECORDER_SLOTS_(size) - 1,                                             \
        0,                                                                     \
        sizeof(struct recorder_ring) +                                         \
            RECORDER_SLOTS_(size) * (sizeof(struct recorder_record) +          \
                                     sizeof(uintptr_t) +                       \
                                     sizeof(struct recorder_turn)),            \
        #name,                                                                 \
        "" description,                                                        \
        0};                                                                    \
    __attribute__((constructor(101))) static void recorder_enter_##name(void)  \
    {                                                                          \
        recorder_resume(&recorder_for_##name);                                 \
        recorder_enter(&recorder_for_##name);                                  \
    }                                                                          \
    __extension__
#elif !defined(RECORDER_HOSTED_)
#define RECORDER_DEFINE_AT_(name, size, address, description)                  \
    RECORDER_CHECK_SIZE_(name, size, 1, description)                           \
    RECORDER_DECLARE(name)
#endif
/* Tweaks, and what recorder_trace_set() returns: see recorder_set.h. */
enum {
    RECORDER_TRACE_OK,
    RECORDER_TRACE_INVALID_NAME, /* no regular expression */
    RECORDER_TRACE_INVALID_VALUE
};
/* Begins with an assertion, as what stands before may end in __extension__ and
 * no pragma may follow that. */
#define RECORDER_TWEAK_DEFINE(name, value, description)                        \
    RECORDER_ASSERT_(sizeof #name > 1, "RECORDER_TWEAK_DEFINE: no name");      \
    RECORDER_AGAIN_(extern struct recorder_tweak recorder_for_##name)          \
    struct recorder_tweak recorder_for_##name = {value, #name, "" description, \
                                                 0};                           \
    __attribute__((constructor(101))) static void recorder_enter_##name(void)  \
    {                                                                          \
        recorder_tweak_enter(&recorder_for_##name);                            \
    }                                                                          \
    RECORDER_TWEAK_LEAVES_(recorder_leave_##name, recorder_for_##name)         \
    RECORDER_TWEAK_ENDS_
#define RECORDER_TWEAK_ENDS_ __extension__ /* as in RECORDER_DEFINE_ */
#define RECORDER_TWEAK_DECLARE(name)                                           \
    extern struct recorder_tweak recorder_for_##name; __extension__
#define RECORDER_TWEAK(name) (recorder_for_##name.trace)
#ifdef RECORDER_IN_LIBRARY_
#define RECORDER_TWEAK_LEAVES_(function, tweak)                                \
    __attribute__((destructor(101))) static void function(void)                \
    {                                                                          \
        recorder_tweak_leave(&tweak);                                          \
    }
#else
#define RECORDER_TWEAK_LEAVES_(function, tweak)
#endif

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
                     "): lanes need a port with RECORDER_LINE_BYTES");
#define RECORDER_SIZE_MAX_ (__SIZEOF_POINTER__ == 8 ? 1ll << 30 : 1ll << 16)

/* RECORDER_PICK_ finds by their number which macro takes the arguments; what is
 * behind them is filled up with zeros. */
#define RECORDER_PICK_(format, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, \
                       q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, ...)       \
    E
#define RECORDER_4_(name, check, format, a, b, c, d, ...)                      \
    RECORDER_CALL_(name, check,                                                \
                   recorder_record_few(&recorder_for_##name,                   \
                                   RECORDER_FORMAT_(format),                   \
                                   RECORDER_WORD_(a), RECORDER_WORD_(b),       \
                                   RECORDER_WORD_(c), RECORDER_WORD_(d)))
#define RECORDER_8_(name, check, format, a, b, c, d, e, f, g, h, ...)          \
    RECORDER_CALL_(                                                            \
        name, check,                                                           \
        recorder_record_more(                                                  \
            &recorder_for_##name, RECORDER_FORMAT_(format), 2,                 \
            RECORDER_WORD_(a), RECORDER_WORD_(b), RECORDER_WORD_(c),           \
            RECORDER_WORD_(d), RECORDER_WORD_(e), RECORDER_WORD_(f),           \
            RECORDER_WORD_(g), RECORDER_WORD_(h)))
#define RECORDER_12_(name, check, format, a, b, c, d, e, f, g, h, i, j, k, l,  \
                     ...)                                                      \
    RECORDER_CALL_(                                                            \
        name, check,                                                           \
        recorder_record_more(                                                  \
            &recorder_for_##name, RECORDER_FORMAT_(format), 3,                 \
            RECORDER_WORD_(a), RECORDER_WORD_(b), RECORDER_WORD_(c),           \
            RECORDER_WORD_(d), RECORDER_WORD_(e), RECORDER_WORD_(f),           \
            RECORDER_WORD_(g), RECORDER_WORD_(h), RECORDER_WORD_(i),           \
            RECORDER_WORD_(j), RECORDER_WORD_(k), RECORDER_WORD_(l)))

/* Off is one load and one branch; the arguments are not evaluated then. */
#ifdef RECORDER_OFF
#define RECORDER_CALL_(name, check, call)                                      \
    recorder_word_of_word(1 ? (uintptr_t)0 : (check, recorder_returned(call)))
#else
#define RECORDER_CALL_(name, check, call)                                      \
    (__atomic_load_n(&recorder_for_##name.trace, __ATOMIC_RELAXED) < 0         \
         ? (uintptr_t)0                                                        \
         : (check, recorder_returned(call)))
#endif

#define RECORDER_FORMAT_(format)                                               \
    "" format "\0" __FILE__ ":" RECORDER_QUOTE_(__LINE__)
#define RECORDER_QUOTE_(x) RECORDER_QUOTE_2_(x)
#define RECORDER_QUOTE_2_(x) #x

/* Lets the compiler check the format against the arguments: a call in a branch
 * that is never taken. Pointers of any type may be shown with %p. */
__attribute__((format(printf, 1, 2), unused)) static inline int
recorder_check(const char *format, ...)
{
    (void)format;
    return 0;
}
#ifdef __clang__
#define RECORDER_CHECK_(arguments)                                             \
    _Pragma("clang diagnostic push")                                           \
    _Pragma("clang diagnostic ignored \"-Wformat-pedantic\"")                  \
    (void)(1 ? 0 : recorder_check arguments)                                   \
    _Pragma("clang diagnostic pop")
#else
#define RECORDER_CHECK_(arguments)                                             \
    (void)(1 ? 0 : __extension__ recorder_check arguments)
#endif

RECORDER_INLINE_ uintptr_t recorder_word_of_double(double value)
{
#if __SIZEOF_POINTER__ == 8
    uintptr_t word;
    __builtin_memcpy(&word, &value, sizeof word);
#else
    float single = (float)value;
    uintptr_t word;
    __builtin_memcpy(&word, &single, sizeof word);
#endif
    return word;
}
RECORDER_INLINE_ uintptr_t recorder_word_of_word(uintptr_t value)
{
    return value;
}

#define RECORDER_TOO_MANY_                                                     \
    "record(): at most 12 arguments; use two records"
#define RECORDER_NO_LONG_DOUBLE_                                               \
    "record(): a long double does not fit a word; cast it to double"
#define RECORDER_NO_STRUCT_                                                    \
    "record(): a struct is no argument; record its members"
#define RECORDER_NO_64_BITS_                                                   \
    "record(): an integer wider than a machine word; cast it, or record "      \
    "its halves"

#ifdef __cplusplus
} /* extern "C" */
#define RECORDER_WORD_(x) recorder_word(x)
#define RECORDER_MANY_(name, check, ...)                                       \
    ([] { static_assert(sizeof(#name) == 0, RECORDER_TOO_MANY_); }(),          \
     (uintptr_t)0)
template <typename T> struct recorder_is_long_double {
    enum { value = 0 };
};
template <> struct recorder_is_long_double<long double> {
    enum { value = 1 };
};
template <typename T> RECORDER_INLINE_ uintptr_t recorder_word(T value)
{
    static_assert(!recorder_is_long_double<T>::value, RECORDER_NO_LONG_DOUBLE_);
    static_assert(!__is_class(T) && !__is_union(T), RECORDER_NO_STRUCT_);
    static_assert(sizeof(T) <= sizeof(uintptr_t), RECORDER_NO_64_BITS_);
    return (uintptr_t)value;
}
RECORDER_INLINE_ uintptr_t recorder_word(double value)
{
    return recorder_word_of_double(value);
}
RECORDER_INLINE_ uintptr_t recorder_word(float value)
{
    return recorder_word_of_double((double)value);
}
#else
/* Which assertions hold is told by types alone; x is evaluated once, as the
 * operand of the second _Generic. 12 is what __builtin_classify_type says of a
 * struct, 13 of a union. */
#define RECORDER_MANY_(name, check, ...)                                       \
    (sizeof(struct {                                                           \
         _Static_assert(sizeof(#name) == 0, RECORDER_TOO_MANY_);               \
         char none;                                                            \
     }) *                                                                      \
     (uintptr_t)0)
#if __SIZEOF_POINTER__ == 8
#define RECORDER_FITS_(x)                                                      \
    (__builtin_classify_type(x) != 1 || sizeof(1 ? (x) : (x)) <= 8)
#else
#define RECORDER_FITS_(x)                                                      \
    _Generic((x), long long : 0, unsigned long long : 0, default : 1)
#endif
#ifdef __clang__ /* knows __func__ in that struct, and says that it does not */
#define RECORDER_STRUCT_                                                       \
    _Pragma("clang diagnostic push") _Pragma(                                  \
    "clang diagnostic ignored \"-Wpredefined-identifier-outside-function\"")   \
    struct
#define RECORDER_STRUCT_END_ _Pragma("clang diagnostic pop")
#else
#define RECORDER_STRUCT_ struct
#define RECORDER_STRUCT_END_
#endif
#define RECORDER_WORD_(x)                                                      \
    (sizeof(RECORDER_STRUCT_ {                                                 \
         _Static_assert(__builtin_classify_type(x) != 12 &&                    \
                            __builtin_classify_type(x) != 13,                  \
                        RECORDER_NO_STRUCT_);                                  \
         _Static_assert(_Generic((x), float : 1, double : 1, default : 0) ||   \
                            (__builtin_classify_type(x) != 8 &&                \
                             __builtin_classify_type(x) != 9),                 \
                        RECORDER_NO_LONG_DOUBLE_);                             \
         _Static_assert(RECORDER_FITS_(x), RECORDER_NO_64_BITS_);              \
         char none;                                                            \
     } RECORDER_STRUCT_END_) *                                                 \
         (uintptr_t)0 +                                                        \
     _Generic((x), float                                                       \
              : recorder_word_of_double, double                                \
              : recorder_word_of_double, default                               \
              : recorder_word_of_word)(                                        \
         _Generic((x), float                                                   \
                  : (x), double                                                \
                  : (x), default                                               \
                  : (uintptr_t)(x))))
#endif

#endif
