/* layout.h - the layout that readers find in memory: a versioned interface. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_LAYOUT_H_
#define RECORDER_LAYOUT_H_

#include "language.h"

RECORDER_C_BEGIN_

#define RECORDER_LAYOUT 2
/* The layout of a program whose orders are of the clock: readers that know the
 * counter alone would take all of its records for too young. */
#define RECORDER_LAYOUT_CLOCKED_ 3

/* The most bytes that RECORDER_COPY keeps of a string. */
#define RECORDER_COPY_MAX 1024

/* The most slots of a ring. */
#define RECORDER_SIZE_MAX_ (__SIZEOF_POINTER__ == 8 ? 1ll << 30 : 1ll << 16)
#define RECORDER_WORD_BITS_ (8 * __SIZEOF_POINTER__)
/* Bits of a commit word for the thread and the busy bit. */
#define RECORDER_THREAD_BITS_ (__SIZEOF_POINTER__ == 8 ? 16 : 8)
/* The number that all threads without a row of the table share. */
#define RECORDER_THREAD_SHARED ((1u << (RECORDER_THREAD_BITS_ - 1)) - 1)
/* Rows of the thread table. */
#ifndef RECORDER_THREADS
#define RECORDER_THREADS                                                       \
    RECORDER_HOSTED_OR_((__SIZEOF_POINTER__ == 8 ? 4096 : 126), 0)
#endif
RECORDER_ASSERT_(RECORDER_THREADS < RECORDER_THREAD_SHARED,
                 "RECORDER_THREADS must be below RECORDER_THREAD_SHARED");

/* ---------------------------------------------------------------- layout --
 *
 * Readers inside and outside the program rely on this layout; a change raises
 * RECORDER_LAYOUT. A member is one word unless its type says otherwise.
 */

/* A record: 8 words. A `format` below RECORDER_TEXT_END_ is no address:
 *     0        a continuation: arguments of the record one order below
 *     1 + n    a text of n bytes: `argument` holds the first of them, and the
 *              text record whose token is `caller` the rest; token 0: the rest
 *              was cut off */
struct recorder_record {
    uintptr_t format;      /* "format\0file:line" */
    uintptr_t order;       /* ascends over all recorders: order.h */
    uintptr_t time;        /* ticks */
    uintptr_t caller;      /* return address of the record call */
    uintptr_t argument[4]; /* a double bit for bit, on 32 bits as a float */
};
/* The word of errno, which `%m` shows: one of these tags, then 12 bits, the
 * number; or, of an error that has more bits, the tag, then 32 bits. A word of 32
 * bits holds that number alone, and 0 (no errno) where it would look as tagged.
 * Linux has one set of numbers on most processors. */
#if defined(RECORDER_LINUX_) && !defined(__mips__) && !defined(__sparc__) &&   \
    !defined(__hppa__) && !defined(__alpha__)
#define RECORDER_ERROR_TAG_ RECORDER_ERROR_OF_LINUX_
#else
#define RECORDER_ERROR_TAG_ RECORDER_ERROR_OF_OTHERS_
#endif
#define RECORDER_ERROR_OF_LINUX_ 0x6d000u
#define RECORDER_ERROR_OF_OTHERS_ 0x6e000u
RECORDER_INLINE_ bool recorder_is_error_(uint64_t tag)
{
    return tag == RECORDER_ERROR_OF_LINUX_ || tag == RECORDER_ERROR_OF_OTHERS_;
}
/* True if the word of %m holds an errno, and which. */
RECORDER_INLINE_ bool recorder_has_error_(uint64_t word, unsigned word_bytes)
{
    return recorder_is_error_(word >> 12) || recorder_is_error_(word >> 32) ||
           (word_bytes <= 4 && word);
}
RECORDER_INLINE_ int recorder_error_of_(uint64_t word)
{
    return (int)(recorder_is_error_(word >> 12) ? word & 0xfff
                                                : (uint32_t)word);
}
#define RECORDER_TEXT_END_ (3 + RECORDER_COPY_MAX)
#define RECORDER_TEXT_BYTES_ (4 * sizeof(uintptr_t))
/* True if a record of this format is the head of an event. */
RECORDER_INLINE_ bool recorder_is_head_(uint64_t format)
{
    return format >= RECORDER_TEXT_END_;
}
/* True if a record of this format holds a piece of a copied text. */
RECORDER_INLINE_ bool recorder_is_text_(uint64_t format)
{
    return format != 0 && format < RECORDER_TEXT_END_;
}

/* The two words of a slot's rare path (ring.h). */
struct recorder_turn {
    uintptr_t gave_up; /* how far tickets that gave up reach, in laps */
    uintptr_t highest; /* the last lap that gave up */
};

/* A ring of n slots is this head, then n records, n commit words and n turns.
 * Zeroed memory is an empty ring. */
#define RECORDER_SLOT_WORDS_ (8 + 1 + 2) /* a record, a commit word, a turn */
#ifndef RECORDER_CACHE_LINE /* of a cache; `write` has one to itself */
#define RECORDER_CACHE_LINE                                                    \
    RECORDER_HOSTED_OR_(64, (4 * __SIZEOF_POINTER__) /* the least */)
#endif
struct recorder_ring {
    uintptr_t write; /* positions handed out */
    /* Of who uses the recorder: switch.h. Readers pass it over. */
    uintptr_t own[RECORDER_CACHE_LINE / sizeof(uintptr_t) - 1];
    uintptr_t given_up; /* positions handed out and left unused */
    uintptr_t lost;     /* records that found no slot */
    uintptr_t several;  /* 1: a record may have taken several slots */
    char line_2[RECORDER_CACHE_LINE - 3 * sizeof(uintptr_t)];
};
/* Records are at multiples of their size: tokens use the low bits. */
#define RECORDER_RING_ALIGN_                                                   \
    (RECORDER_CACHE_LINE > 8 * __SIZEOF_POINTER__ ? RECORDER_CACHE_LINE        \
                                                  : 8 * __SIZEOF_POINTER__)
RECORDER_ASSERT_(sizeof(struct recorder_ring) %
                         sizeof(struct recorder_record) ==
                     0,
                 "RECORDER_CACHE_LINE must be a multiple of 4 words");

/* A recorder: the words that a call site needs, in one cache line. */
struct recorder {
    intptr_t trace;              /* RECORDER_TRACE, and two marks: below */
    struct recorder_ring *rings; /* the first of them */
    uintptr_t mask;              /* slots of a ring - 1 */
    uintptr_t lanes_mask;        /* rings - 1 */
    uintptr_t ring_bytes;        /* from one ring to the next */
    const char *name, *description;
    struct recorder *next; /* in the registry's list */
} __attribute__((aligned(RECORDER_CACHE_LINE)));
/* Initialises a recorder that is on and in no list. */
#define RECORDER_INIT_(name, description, rings, ring_bytes, slots, lanes)     \
    {                                                                          \
        0, rings, (slots)-1, (lanes)-1, ring_bytes, name, description, NULL    \
    }

/* `trace` below 0: off; 0: record; above: print, too. Two bits of it (of its
 * complement if it is below 0) are marks, which no other number below 2^29 has:
 * WATCHED_ of a recorder whose records a trigger looks at, FROZEN_ of one that
 * a trigger turned off; its other bits then keep the earlier value. All
 * functions here work on words of any program, and so on 64 bits. */
#define RECORDER_WATCHED_ ((int64_t)1 << 30)
#define RECORDER_FROZEN_ ((int64_t)1 << 29)
RECORDER_INLINE_ int64_t recorder_trace_bits_(int64_t trace)
{
    int64_t bits = trace < 0 ? ~trace : trace;
    return bits >> 31 ? 0 : bits; /* a large number: no marks */
}
RECORDER_INLINE_ bool recorder_trace_is_watched_(int64_t trace)
{
    return recorder_trace_bits_(trace) & RECORDER_WATCHED_;
}
RECORDER_INLINE_ bool recorder_trace_is_frozen_(int64_t trace)
{
    return trace < 0 && (recorder_trace_bits_(trace) & RECORDER_FROZEN_);
}
/* Returns `trace` without its marks; -1 of a frozen recorder. */
RECORDER_INLINE_ int64_t recorder_trace_value_(int64_t trace)
{
    if (recorder_trace_is_frozen_(trace))
        return -1;
    if (!recorder_trace_is_watched_(trace))
        return trace;
    return trace < 0 ? trace | RECORDER_WATCHED_ : trace & ~RECORDER_WATCHED_;
}
/* Sets or takes off the mark of a watched recorder. */
RECORDER_INLINE_ int64_t recorder_trace_watched_(int64_t trace, bool watched)
{
    if (recorder_trace_is_watched_(trace) == watched)
        return trace;
    return trace ^ RECORDER_WATCHED_;
}
/* `value`, with the mark of a watched recorder where `trace` has it. */
RECORDER_INLINE_ int64_t recorder_trace_set_(int64_t trace, int64_t value)
{
    return recorder_trace_watched_(value, recorder_trace_is_watched_(trace));
}
/* Off, until thawed; a recorder that is off stays as it is. */
RECORDER_INLINE_ int64_t recorder_trace_frozen_(int64_t trace)
{
    return trace < 0 ? trace
                     : ~(recorder_trace_bits_(trace) | RECORDER_FROZEN_);
}
/* As before it was frozen; others as they are. */
RECORDER_INLINE_ int64_t recorder_trace_thawed_(int64_t trace)
{
    return recorder_trace_is_frozen_(trace) ? ~trace & ~RECORDER_FROZEN_
                                            : trace;
}

/* One point in time on three clocks; aligned alike on all processors. */
struct recorder_moment {
    uint64_t ticks __attribute__((aligned(8)));
    uint64_t monotonic_ns, realtime_ns;
};

/* A half-wrap, where a word holds only the low 32 bits of the ticks: no record
 * of a lower order was made when ticks >> 31 was `high`. There are two entries
 * per wrap: the top bit of a record's time tells which half it belongs to, even
 * if its writer read the clock before the boundary and drew its order after. */
struct recorder_wrap {
    uintptr_t order, high;
};
#define RECORDER_WRAPS_MAX_ 16

/* A row of the thread table; thread number t has row t - 1. */
enum {
    RECORDER_ROW_FREE_,
    RECORDER_ROW_TAKEN_,
    RECORDER_ROW_ALIVE_,
    RECORDER_ROW_DEAD_,
    RECORDER_ROW_TASK_ /* of a task, not of a thread: its `id` is 0 */
};
struct recorder_thread_row {
    uintptr_t first; /* records of a lower order are an earlier thread's */
    int32_t id;      /* of the kernel */
    uint16_t state;
    uint16_t named; /* by recorder_thread_name(), not by the system */
    char name[16];
};

/* The owner of a lane of all recorders. `id` is the kernel id of a thread; 0:
 * no owner yet; UINTPTR_MAX: a thread checks whether the owner has ended.
 * `last` is the newest clock unit that this lane used (order.h). */
struct recorder_owner {
    uintptr_t id, last;
    char line[RECORDER_CACHE_LINE - 2 * sizeof(uintptr_t)];
};
/* The most lanes. Lane 0 has no owner: all other threads share it. */
#define RECORDER_OWNERS_MAX_ (__SIZEOF_POINTER__ == 8 ? 1024u : 128u)

/* A named number that can be set while the program runs (recorder_set.h). */
struct recorder_tweak {
    intptr_t value;
    const char *name, *description;
    struct recorder_tweak *next;
};
/* Initialises a tweak that is in no list. */
#define RECORDER_TWEAK_INIT_(name, description, value)                         \
    {                                                                          \
        value, name, description, RECORDER_NULL_                               \
    }

/* Makes text of a word for a conversion of the program's own (recorder_set.h).
 * `to`, `size` and the result are as for snprintf(). */
typedef size_t recorder_type(intptr_t trace, const char *format, char *to,
                             size_t size, uintptr_t word);

/* Takes a line of a dump, not NUL-terminated (recorder_dump.h). */
typedef void recorder_sink(void *context, const char *text, size_t size);

struct recorder_tasks;
struct recorder_decoder_;

/* A library that was opened, with the orders between which its addresses were
 * its own: a record of another order shows a format or a text of another
 * library there. Libraries that include no header have none. */
struct recorder_life {
    uintptr_t start, bytes; /* bytes 0: free */
    uintptr_t from, until;  /* orders; until 0: it is open */
};
enum {
    RECORDER_LIVES_ = 128,
    RECORDER_LIFE_EVER_ = 0 /* `from` of a library that the process began with */
};
/* True if the bytes at a library's address are the same as for a record: its
 * number is `since` above `from`, and `after` above `until`. `kept`: bytes of
 * closed libraries stay, as in a recording. */
RECORDER_INLINE_ bool recorder_life_fits_(int64_t since, int64_t after,
                                          bool is_open, bool kept)
{
    return since >= 0 && (is_open || (kept ? after <= 0 : after > 0));
}

/* The registry: readers find it by its magic, and everything else by it. */
struct recorder_registry {
    unsigned char magic[16];
    struct recorder_registry *self; /* its own address, unlike a copy's */
    uint32_t layout, bytes;         /* RECORDER_LAYOUT, sizeof this struct */
    uint32_t head_bytes;            /* of a ring, in front of its records */
    uint32_t later_sequence;        /* seqlock of `later`; 0: never set */
    struct recorder *first;
    uintptr_t *order;  /* the next order to be given */
    uintptr_t cleared; /* records of a lower order were cleared; 0: none */
    uintptr_t readers; /* how many are in a read-side section */
    struct recorder_moment start, later; /* they give the tick rate */
    struct recorder_thread_row *threads;
    uintptr_t threads_max, threads_count; /* rows; rows handed out */
    intptr_t pid;                         /* 0: not started */
    const char *line;                     /* of recorder_line(), or null */
    unsigned (*thread)(void); /* number and lane of the calling thread */
    /* Prints a traced record: `count` records, from the head on. */
    void (*hook)(const struct recorder *recorder, unsigned thread,
                 const struct recorder_record *records, unsigned count);
    struct recorder_tweak *tweaks;
    recorder_type **types; /* by conversion character; null: none is set */
    /* Of signal.h: the thread that dumps because of a signal, kept if the
     * process will end; the signals for which a handler of ours is set. */
    int32_t dumping;
    unsigned char taken[65];
    unsigned char file_asked; /* RECORDER_FILE_NOBODY_ */
    /* With words of 4 bytes: the last RECORDER_WRAPS_MAX_ half-wraps. Number i
     * is at i mod RECORDER_WRAPS_MAX_; the oldest may be changing. Count 0:
     * the clock has no more bits than a word. */
    uintptr_t wraps_count;
    struct recorder_wrap wraps[RECORDER_WRAPS_MAX_];
    uintptr_t high; /* of the last of them; ~0: there is none */
    /* Of file.h: the registry's copy in a recording, or null, and the function
     * that gets its events (RECORDER_FILE_). */
    struct recorder_registry *image;
    void (*file)(int what, const void *of);
    const char *program; /* its name, without folders; null: unknown */
    struct recorder_tasks *tasks; /* of tasks_layout.h: the first of a list */
    struct recorder_kernel_rings *kernel; /* of recorder_kernel.h, or null */
#ifdef RECORDER_HOSTED_
    /* The owners of lanes, RECORDER_OWNERS_MAX_ of them, or null; the largest
     * number of lanes of a recorder; the lane at which the next thread begins
     * its search. */
    struct recorder_owner *owners;
    uintptr_t lanes_most, owners_next;
    unsigned (*lane)(unsigned kept); /* takes one; null: there are none */
    /* Lower orders are of the clock, others of the counter. UINTPTR_MAX: all
     * are of the clock, and `order` is not used. 0: no file chose the clock; or
     * why it was chosen in vain (RECORDER_CLOCKED_NOT_TRUSTED_). */
    uintptr_t clocked;
    /* RECORDER_LIVES_ of them, or null; how often they changed. 0: this is a
     * recording, which keeps the bytes of closed libraries. */
    struct recorder_life *lives;
    uintptr_t lives_changes;
    /* Of file_exit.h, in a recording: RECORDER_ENDED_NOT_. */
    uintptr_t ended;
#endif
    struct recorder_decoder_ *decoder; /* of decode.h, or null */
};
/* The end of the program of a recording. */
enum {
    RECORDER_ENDED_NOT_ = 1,  /* a later exit will be noted; 0: it will not */
    RECORDER_ENDED_EXIT_ = 2, /* by exit(), with a status that is unknown */
    RECORDER_ENDED_STATUS_ = 256 /* more than that: by exit() of the rest */
};
/* The reader of RECORDER_FILE in the environment. */
enum {
    RECORDER_FILE_NOBODY_ = 1, /* no module includes recorder_dump.h */
    RECORDER_FILE_LOOKED_ = 2, /* file.h has */
    RECORDER_FILE_FULL_ = 3    /* and a library found no room in the file */
};
enum {
    RECORDER_CLOCKED_NOT_TRUSTED_ = 1, /* this machine's clock is not the one */
    RECORDER_CLOCKED_NOT_ALL_ = 2      /* a file was compiled without it */
};
/* True if there are orders of the clock: orders have gaps. */
RECORDER_INLINE_ bool recorder_clocked_is_(uint64_t clocked)
{
    return clocked > RECORDER_CLOCKED_NOT_ALL_;
}
enum {
    RECORDER_FILE_MODULE_,  /* a module began to record; of: its data */
    RECORDER_FILE_ENTERED_, /* a recorder is in the list; of: it */
    RECORDER_FILE_FORKS_,   /* the caller is about to call fork() */
    RECORDER_FILE_FORKED_,  /* the caller is a child of fork() */
    RECORDER_FILE_SYNC_,    /* words of the registry have changed */
    RECORDER_FILE_CRASHED_  /* of: a struct recorder_crash_note_ */
};
/* A crash, for the file of a module, which another module may notice. */
struct recorder_crash_note_ {
    int sig; /* 0: there was no crash, as the program's handler mended it */
    int32_t thread;
    const void *info, *context; /* as a handler of the signal has them */
    size_t most;                /* bytes of memory; 0: none of the crash */
};

/* A ring of context switches that the kernel writes (recorder_kernel.h). All
 * members are numbers of 64 bits, at the same offsets on all machines. */
struct recorder_kernel_ring {
    uint64_t fd;      /* descriptor of its event; ~0: there is none */
    uint64_t cpu;     /* whose switches it has */
    uint64_t address; /* of its mapping: a page, then the switches */
    uint64_t done;    /* everything above it was poured, or overwritten */
};
struct recorder_kernel_rings {
    uint64_t count;       /* of rings */
    uint64_t rings;       /* address of the first of them */
    uint64_t ring_bytes;  /* from one to the next */
    uint64_t bytes;       /* of each mapping */
    uint64_t page_bytes;  /* of the page in front */
    uint64_t sequence;    /* seqlock of `done` and of poured records */
    uint64_t poured;      /* switches that were recorded */
    uint64_t overwritten; /* switches that were gone before they were poured */
    uint64_t recorder;    /* address of the recorder that they go to */
    uint64_t formats[3];  /* addresses: in, out blocked, out preempted */
    /* One moment: ticks, and CLOCK_MONOTONIC_RAW, which the switches have. */
    uint64_t opened_ticks, opened_ns;
    /* pour() records new switches of the rings. claim() returns the row that
     * pour() made for a thread; 0: none. Only the program itself calls them. */
    void (*pour)(void);
    unsigned (*claim)(int32_t id);
    /* RECORDER_KERNEL_CHECK_: the registry's word may have been overwritten,
     * and these functions are called in crashes. */
    uintptr_t check;
};
#define RECORDER_KERNEL_CHECK_(kernel)                                         \
    (~(uintptr_t)(kernel) ^ (uintptr_t)(kernel)->pour)
/* Offsets of the members in bytes, for readers of another word size than the
 * program's: AT(name, structure, member, with words of 4 bytes, of 8). Members
 * of 64 bits are at multiples of 8 everywhere. The assertions below compare
 * this table with the compiler's own offsets. */
#define RECORDER_OFFSETS_(AT)                                                  \
    RECORDER_IF_HOSTED_(                                                       \
        AT(registry, recorder_registry, clocked, 384, 608)                     \
        AT(registry, recorder_registry, lives, 388, 616)                       \
        AT(registry, recorder_registry, lives_changes, 392, 624)               \
        AT(registry, recorder_registry, ended, 396, 632))                      \
    AT(registry, recorder_registry, self, 16, 16)                              \
    AT(registry, recorder_registry, layout, 20, 24)                            \
    AT(registry, recorder_registry, bytes, 24, 28)                             \
    AT(registry, recorder_registry, head_bytes, 28, 32)                        \
    AT(registry, recorder_registry, later_sequence, 32, 36)                    \
    AT(registry, recorder_registry, first, 36, 40)                             \
    AT(registry, recorder_registry, order, 40, 48)                             \
    AT(registry, recorder_registry, cleared, 44, 56)                           \
    AT(registry, recorder_registry, start, 56, 72)                             \
    AT(registry, recorder_registry, later, 80, 96)                             \
    AT(registry, recorder_registry, threads, 104, 120)                         \
    AT(registry, recorder_registry, threads_max, 108, 128)                     \
    AT(registry, recorder_registry, threads_count, 112, 136)                   \
    AT(registry, recorder_registry, pid, 116, 144)                             \
    AT(registry, recorder_registry, line, 120, 152)                            \
    AT(registry, recorder_registry, tweaks, 132, 176)                          \
    AT(registry, recorder_registry, file_asked, 209, 261)                      \
    AT(registry, recorder_registry, wraps_count, 212, 264)                     \
    AT(registry, recorder_registry, wraps, 216, 272)                           \
    AT(registry, recorder_registry, image, 348, 536)                           \
    AT(registry, recorder_registry, program, 356, 552)                         \
    AT(registry, recorder_registry, tasks, 360, 560)                           \
    AT(registry, recorder_registry, kernel, 364, 568)                          \
    AT(kernel, recorder_kernel_rings, count, 0, 0)                             \
    AT(kernel, recorder_kernel_rings, rings, 8, 8)                             \
    AT(kernel, recorder_kernel_rings, ring_bytes, 16, 16)                      \
    AT(kernel, recorder_kernel_rings, bytes, 24, 24)                           \
    AT(kernel, recorder_kernel_rings, page_bytes, 32, 32)                      \
    AT(kernel, recorder_kernel_rings, sequence, 40, 40)                        \
    AT(kernel, recorder_kernel_rings, poured, 48, 48)                          \
    AT(kernel, recorder_kernel_rings, overwritten, 56, 56)                     \
    AT(kernel, recorder_kernel_rings, recorder, 64, 64)                        \
    AT(kernel, recorder_kernel_rings, formats, 72, 72)                         \
    AT(kernel, recorder_kernel_rings, opened_ticks, 96, 96)                    \
    AT(kernel, recorder_kernel_rings, opened_ns, 104, 104)                     \
    AT(kernel, recorder_kernel_rings, pour, 112, 112)                          \
    AT(kernel_ring, recorder_kernel_ring, fd, 0, 0)                            \
    AT(kernel_ring, recorder_kernel_ring, cpu, 8, 8)                           \
    AT(kernel_ring, recorder_kernel_ring, address, 16, 16)                     \
    AT(kernel_ring, recorder_kernel_ring, done, 24, 24)                        \
    AT(moment, recorder_moment, ticks, 0, 0)                                   \
    AT(moment, recorder_moment, monotonic_ns, 8, 8)                            \
    AT(moment, recorder_moment, realtime_ns, 16, 16)                           \
    AT(life, recorder_life, start, 0, 0)                                       \
    AT(life, recorder_life, bytes, 4, 8)                                       \
    AT(life, recorder_life, from, 8, 16)                                       \
    AT(life, recorder_life, until, 12, 24)                                     \
    AT(wrap, recorder_wrap, order, 0, 0)                                       \
    AT(wrap, recorder_wrap, high, 4, 8)                                        \
    AT(recorder, recorder, trace, 0, 0)                                        \
    AT(recorder, recorder, rings, 4, 8)                                        \
    AT(recorder, recorder, mask, 8, 16)                                        \
    AT(recorder, recorder, lanes_mask, 12, 24)                                 \
    AT(recorder, recorder, ring_bytes, 16, 32)                                 \
    AT(recorder, recorder, name, 20, 40)                                       \
    AT(recorder, recorder, description, 24, 48)                                \
    AT(recorder, recorder, next, 28, 56)                                       \
    AT(row, recorder_thread_row, first, 0, 0)                                  \
    AT(row, recorder_thread_row, id, 4, 8)                                     \
    AT(row, recorder_thread_row, state, 8, 12)                                 \
    AT(row, recorder_thread_row, named, 10, 14)                                \
    AT(row, recorder_thread_row, name, 12, 16)                                 \
    AT(tweak, recorder_tweak, value, 0, 0)                                     \
    AT(tweak, recorder_tweak, name, 4, 8)                                      \
    AT(tweak, recorder_tweak, description, 8, 16)                              \
    AT(tweak, recorder_tweak, next, 12, 24)                                    \
    AT(record, recorder_record, format, 0, 0)                                  \
    AT(record, recorder_record, order, 4, 8)                                   \
    AT(record, recorder_record, time, 8, 16)                                   \
    AT(record, recorder_record, caller, 12, 24)                                \
    AT(record, recorder_record, argument, 16, 32)
/* Sizes of structures: SIZE(name, structure, with words of 4 bytes, of 8). */
#define RECORDER_SIZES_(SIZE)                                                  \
    SIZE(life, recorder_life, 16, 32)                                          \
    SIZE(wrap, recorder_wrap, 8, 16)                                           \
    SIZE(row, recorder_thread_row, 28, 32)                                     \
    SIZE(tweak, recorder_tweak, 16, 32)                                        \
    SIZE(record, recorder_record, 32, 64)                                      \
    SIZE(turn, recorder_turn, 8, 16)
#define RECORDER_OFFSET_IS_(name, structure, member, of_4, of_8)               \
    RECORDER_ASSERT_(offsetof(struct structure, member) ==                     \
                         (__SIZEOF_POINTER__ == 8 ? of_8 : of_4),              \
                     "layout.h moved " #structure "." #member);
#define RECORDER_SIZE_IS_(name, structure, of_4, of_8)                         \
    RECORDER_ASSERT_(sizeof(struct structure) ==                               \
                         (__SIZEOF_POINTER__ == 8 ? of_8 : of_4),              \
                     "layout.h changed the size of " #structure);
RECORDER_OFFSETS_(RECORDER_OFFSET_IS_)
RECORDER_SIZES_(RECORDER_SIZE_IS_)
RECORDER_ASSERT_(offsetof(struct recorder_ring, write) == 0 &&
                     2 * offsetof(struct recorder_ring, given_up) ==
                         sizeof(struct recorder_ring) &&
                     offsetof(struct recorder_ring, lost) ==
                         offsetof(struct recorder_ring, given_up) +
                             sizeof(uintptr_t),
                 "layout.h changed the head of a ring");
RECORDER_ASSERT_(sizeof(struct recorder_record) + sizeof(uintptr_t) +
                         sizeof(struct recorder_turn) ==
                     RECORDER_SLOT_WORDS_ * sizeof(uintptr_t),
                 "layout.h changed the size of a slot");

#define RECORDER_MAGIC                                                         \
    {'r', 'e', 'c', 'o', 'r', 'd', 'e', 'r', 0x1a, 0xf1, 0x16, 0x47, 'b', 'o', \
     'x', '\n'}

/* The read-only bytes of this module, from its ELF header on; 0: the
 * first recorded text counts them (given.h). */
struct recorder_readonly_ {
    const char *start;
    uintptr_t bytes;
};

#ifdef RECORDER_OFF /* the value of each RECORDER_TRACE */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-variable"
static intptr_t recorder_trace_off_ = -1;
#pragma GCC diagnostic pop
#endif

#ifndef RECORDER_NOTHING_
RECORDER_PROGRAM_ uintptr_t recorder_order
    __attribute__((aligned(RECORDER_CACHE_LINE))) = 1;
/* A port's clock counts from the start; the port numbers its threads. */
#define RECORDER_LATER_HZ_ RECORDER_HOSTED_OR_(0, RECORDER_HZ_)
#if !defined(RECORDER_HOSTED_) && RECORDER_THREADS > 0
RECORDER_PROGRAM_ struct recorder_thread_row recorder_rows_[RECORDER_THREADS] =
    {{0, 0, 0, 0, {0}}};
#define RECORDER_ROWS_ recorder_rows_, RECORDER_THREADS, RECORDER_THREADS
#else
#define RECORDER_ROWS_ 0, 0, 0
#endif
RECORDER_IF_HOSTED_(RECORDER_PROGRAM_ struct recorder_life
                        recorder_libraries_[RECORDER_LIVES_] = {{0, 0, 0, 0}};)
RECORDER_PROGRAM_ struct recorder_registry recorder_registry __attribute__((
    aligned(RECORDER_CACHE_LINE))) = {RECORDER_MAGIC,
                                      &recorder_registry,
                                      RECORDER_LAYOUT,
                                      sizeof(struct recorder_registry),
                                      sizeof(struct recorder_ring),
                                      (RECORDER_LATER_HZ_) ? 2 : 0,
                                      0,
                                      &recorder_order,
                                      0,
                                      0,
                                      {0, 0, 0},
                                      {RECORDER_LATER_HZ_, 1000000000u, 0},
                                      RECORDER_ROWS_,
                                      0,
                                      0,
                                      0,
                                      0,
                                      0,
                                      0,
                                      0,
                                      {0},
                                      RECORDER_FILE_NOBODY_,
                                      0,
                                      {{0, 0}},
                                      UINTPTR_MAX,
                                      0,
                                      0,
                                      0,
                                      0,
                                      0,
                                      RECORDER_IF_HOSTED_(
                                          0, 1, 0, 0, 0, recorder_libraries_,
                                          1, 0, ) 0};

/* The order counter and registry that this module uses: the program's own, once
 * registry.h has found them. */
struct recorder_home_ {
    uintptr_t *order;
    struct recorder_registry *registry;
    bool started;
    bool numbers; /* the registry's `thread` is this module's */
};
/* A port has one module, so the compiler folds this. */
RECORDER_HOSTED_OR_(RECORDER_MODULE_, __attribute__((unused)) static const)
struct recorder_home_ recorder_home_ = {&recorder_order, &recorder_registry,
                                        RECORDER_HOSTED_OR_(false, true),
                                        false};

/* Returns the thread table, which one of the first threads maps while others
 * look. */
RECORDER_INLINE_ struct recorder_thread_row *recorder_thread_rows_(void)
{
    return __atomic_load_n(&recorder_home_.registry->threads, __ATOMIC_RELAXED);
}

/* Tells file.h of an event, if a recording is open. */
RECORDER_INLINE_ void recorder_file_tell_(int what, const void *of)
{
    if (RECORDER_HOSTED_OR_(recorder_home_.registry->file != NULL, false))
        recorder_home_.registry->file(what, of);
}

/* Returns the kernel's rings, or null. */
RECORDER_INLINE_ const struct recorder_kernel_rings *
recorder_kernel_of_program_(void)
{
    const struct recorder_kernel_rings *kernel = NULL;
    const struct recorder_registry *registry = recorder_home_.registry;
    if (RECORDER_ON_LINUX_)
        kernel = __atomic_load_n(&registry->kernel, __ATOMIC_SEQ_CST);
    if (kernel && kernel->check != RECORDER_KERNEL_CHECK_(kernel))
        kernel = NULL;
    return kernel;
}
/* Records the switches in the kernel's rings, if there are any. This is a
 * read-side section: a library may have the code, and be closed. */
RECORDER_APART_ void recorder_kernel_ask_(void)
{
    const struct recorder_kernel_rings *kernel;
    uintptr_t *readers = &recorder_home_.registry->readers;
    if (!RECORDER_ON_LINUX_ || !recorder_kernel_of_program_())
        return;
    __atomic_fetch_add(readers, 1, __ATOMIC_SEQ_CST);
    kernel = recorder_kernel_of_program_();
    if (kernel)
        kernel->pour();
    __atomic_fetch_sub(readers, 1, __ATOMIC_SEQ_CST);
}
#endif

RECORDER_C_END_
#endif
