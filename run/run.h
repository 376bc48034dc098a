/* run.h - declarations that the parts of librecorder-run.so share. */
/* SPDX-License-Identifier: MIT */
/*
   `recorder run` loads this library before a program's other libraries. It
   interposes the functions that make threads and wait for other threads, calls
   the real ones, and records: thread life and waits in rings, lasting facts in
   cells.

   A cell is a recorder of lanes of 1 or 4 slots that are picked by a key. A
   cell of 4 slots holds one record of 12 words, some of which are changed in
   place.

   The program is never changed: errno is kept, nothing is allocated, no lock
   is taken, and a call from within the library, which a thread-local count
   shows, goes to the real function at once.
*/
#pragma once

#undef _TIME_BITS /* it renames functions: time64.c has them under both names */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define RECORDER_FILE_PRELOADED /* RECORDER_FILE is the program's */
#include "recorder.h"

#include "events.h"
#include "recorder/clock.h"
#include "recorder/ring.h"

#define RUN_EXPORT __attribute__((visibility("default"), noinline))
#define RUN_SELDOM __attribute__((noinline, cold))
#define RUN_INLINE static inline __attribute__((always_inline))
#define RUN_LIKELY(x) __builtin_expect(!!(x), 1)
#define RUN_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* The program's call, in an interposed function: its return address, and the
 * stack pointer there. */
#define RUN_SITE ((uintptr_t)__builtin_return_address(0))
#define RUN_CFA ((uintptr_t)__builtin_dwarf_cfa())
struct run_call {
    uintptr_t site, cfa;
};
#define RUN_CALL ((struct run_call){RUN_SITE, RUN_CFA})
/* The format of an event; the words name it: see events.h. */
#define RUN_FORMAT(words, format) RUN_HEADING(words) format "\0" RUN_LOCATION

#pragma GCC visibility push(hidden)

enum {
    RUN_LANES = 1024,   /* threads that are seen at once */
    RUN_OBJECTS = 1024, /* locks and their like that have totals */
    RUN_GIVES = 4,      /* of an object that are known */
    RUN_HELD = 6        /* locks of a thread that are known by name */
};

/* All recorders of the library, which state_slots.c defines. */
#define RUN_RECORDERS(X)                                                       \
    X(thread_life) X(lock_wait) X(lock_order) X(call_stack) X(thread_self)     \
    X(thread_now) X(thread_held) X(thread_calls) X(lock_total) X(slow_call)
#define RUN_DECLARE_(name) RECORDER_DECLARE(name);
RUN_RECORDERS(RUN_DECLARE_)

/* ----------------------------------------------------------------- cells -- */

/* Where the words of a cell of 4 slots are. */
struct run_cell {
    uintptr_t words[3]; /* each fourth one, from the recorder's rings on */
};

/* Enters all recorders of the library, once. */
void run_cells_begin(void);
/* Records `count` times 4 words, unless the recorder is off. */
void run_record(const struct recorder *, const char *format, uintptr_t caller,
                const uintptr_t *words, unsigned count);
/* The same, at a time that is past. */
void run_record_at(const struct recorder *, uintptr_t time, const char *format,
                   uintptr_t caller, const uintptr_t *words, unsigned count);
/* Writes the record of a lane. Returns its cell, also if the recorder is off. */
struct run_cell run_cell_write(const struct recorder *, unsigned lane,
                               const char *format, uintptr_t caller,
                               const uintptr_t *words, unsigned count);
/* Writes 12 words to the same lane of several recorders, at one time. */
struct run_cell_text {
    const struct recorder *recorder;
    const char *format;
    const uintptr_t *words;
};
void run_cells_write(const struct run_cell_text *, unsigned count,
                     unsigned lane, uintptr_t caller, struct run_cell *cells);
/* Changes the format of a cell's record to one with the same arguments. */
void run_cell_format(const struct recorder *, const struct run_cell *,
                     const char *format);
/* Empties a lane. */
void run_cell_clear(const struct recorder *, unsigned lane);
/* Returns the address of word j, which moves with the rings. */
RUN_INLINE uintptr_t *run_cell_word(const struct recorder *r,
                                    const struct run_cell *cell, unsigned j)
{
    return (uintptr_t *)(void *)((char *)r->rings + cell->words[j >> 2]) +
           (j & 3);
}
#define RUN_WORDS(...) ((const uintptr_t[12]){__VA_ARGS__})

/* --------------------------------------------------------------- threads -- */

struct run_once;
/* The state of a thread. */
struct run_thread {
    unsigned lane;   /* its lane + 1; 0: it has none, and is passed through */
    unsigned number; /* as in the registry's table */
    unsigned depth;  /* how many locks it holds */
    unsigned inside; /* above 0: the library calls, not the program */
    bool ended;      /* it has given its lane back */
    bool waits;      /* in a wait that is recorded */
    bool has_callers; /* a lock that it held had a stack */
    struct run_cell self, calls;
    uintptr_t held[RUN_HELD]; /* places in the cells of thread_held */
    uintptr_t stack_high, stack_bytes; /* 0: unknown */
    uint64_t chain[RUN_HELD + 1]; /* hash of the held locks, for each depth */
    /* For each depth: the last lock that was taken there after the same locks,
     * if its chain is recorded and no lock has ended since; or 0. */
    uintptr_t last[RUN_HELD + 1];
    uintptr_t changes; /* run_changes, as it was for these */
    uintptr_t parts; /* of its life, between the threads it makes and joins */
    uint64_t part;   /* hash of the thread and its part */
    struct run_once *once; /* the innermost that it runs */
    uintptr_t kept[2][12]; /* its cells, while it calls fork() */
};
extern __thread struct run_thread run_self
    __attribute__((tls_model("initial-exec")));

/* The library calls, not the program, to the end of a block; errno is kept. */
struct run_inside {
    struct run_thread *thread;
    int error;
};
RUN_INLINE void run_inside_end(const struct run_inside *inside)
{
    inside->thread->inside--;
    errno = inside->error;
}
#define RUN_INSIDE(t)                                                          \
    const struct run_inside run_inside_                                        \
        __attribute__((cleanup(run_inside_end))) = {t, errno};                 \
    (t)->inside++

/* Gives a thread that the library did not see made its lane. Returns null if
 * the thread is passed through. */
struct run_thread *run_thread_enter(void);
RUN_INLINE bool run_is_outside(const struct run_thread *t)
{
    return RUN_LIKELY(t->lane && !t->inside);
}
/* Returns the calling thread, or null: the call goes to the real function. */
RUN_INLINE struct run_thread *run_thread(void)
{
    struct run_thread *t = &run_self;
    return run_is_outside(t) ? t : run_thread_enter();
}
/* Counts a lock that the thread takes, or tries to take by a wait. */
RUN_INLINE void run_count(const struct run_thread *t)
{
    uintptr_t *word = run_cell_word(&recorder_for_thread_calls, &t->calls, 0);
    recorder_put_(word, recorder_get_(word) + 1);
}
/* Lanes below this number may be in use. */
extern uintptr_t run_lanes_high;
/* Prepares for the first thread; runs once. Returns false in a thread that is
 * in it. */
bool run_begin(void);
/* Reads the options in the environment. */
void run_process_begin(void);
/* Records calls of libc that take longer than some microseconds, unless 0. */
void run_calls_begin(uintptr_t us);
/* Records the calls of the functions that the environment describes (span.c).
 * Returns true if this process has one. */
bool run_spans_begin(const char *text);
/* Moves the rings into the file that was asked for, if there is none yet. */
void run_file(void);
/* The same in a child of fork(), not of vfork(), at its first wait or slow call, with
 * --always: a child that executes a program at once needs no file. */
void run_file_due(void);
/* Where the kernel keeps the number of the CPU that a thread runs on, counted
 * from its thread pointer; 0: nowhere, as glibc is older than 2.35. */
extern intptr_t run_cpu_at;
/* Returns that number; below 0: it is not known. */
static inline int run_cpu(void)
{
    int32_t cpu = -1;
    if (!run_cpu_at)
        return cpu;
#if defined(__x86_64__)
    __asm__ volatile("movl %%fs:(%1), %0" : "=r"(cpu) : "r"(run_cpu_at));
#elif defined(__aarch64__) || defined(__arm__) || defined(__riscv)
    cpu = *(const volatile int32_t *)((const char *)__builtin_thread_pointer() +
                                      run_cpu_at);
#endif
    return cpu;
}
/* Returns the word at an address, 0 if none can be read there. */
uintptr_t run_word_at(const void *address);
/* Returns the number of a living thread, or 0. */
uintptr_t run_thread_number(pthread_t);
void run_threads_fork(void);                 /* in front of fork() */
void run_threads_forked(bool rings_are_new); /* in its child */

/* Above 0: the program has forbidden itself system calls (sandbox.c). */
extern uintptr_t run_sandboxed;
/* This process goes by run_sandboxed, and none that borrows its memory. */
void run_sandbox_begin(void);

/* ---------------------------------------------------------------- stacks -- */

/* Returns the id of the stack at a call, which it records if it is new; 0: it
 * is not known. */
uintptr_t run_stack(struct run_call from, bool creates);
/* Returns the id of the calls that led to a wrapper of locks, or 0. */
uintptr_t run_stack_callers(const struct run_thread *, struct run_call from);
/* Returns true for an address in a module; `else_is` if that is not known. */
bool run_in_module(uintptr_t word, bool else_is);
/* Records the module of a function, if it is new. */
void run_stack_module(uintptr_t function);
void run_stacks_begin(void);
void run_stacks_forked(void);

/* --------------------------------------------------------------- objects -- */

/* Something to wait for, from the first wait on until it is destroyed. */
struct run_object {
    uintptr_t address; /* 0: free, or below RUN_OBJECT_LEAST */
    struct run_cell total;
    uintptr_t waiters;
    uintptr_t gives, taken; /* how often it was given; to waits for signals */
    struct run_give {       /* number i is at i mod RUN_GIVES: the thread that */
        uintptr_t by, time; /* unlocked, signalled or posted; when */
    } last[RUN_GIVES];
};
extern uintptr_t run_waiting; /* threads that wait for locks, + run_each */

struct run_object *run_object(uintptr_t address);
/* The same, made if it is new; null: there is no room. */
struct run_object *run_object_make(uintptr_t address, const char *format,
                                   uintptr_t site);
/* The address belongs to another object, which begins now or later. */
void run_object_forget(const void *address, bool begins);
RUN_INLINE uintptr_t *run_object_word(const struct run_object *o, unsigned j)
{
    return run_cell_word(&recorder_for_lock_total, &o->total, j);
}
void run_objects_forked(bool rings_are_new);
/* Notes the calling thread if a thread waits for the object. */
void run_object_gives(const struct run_thread *, uintptr_t address);
void run_gives(const void *object); /* the same, if the thread has a lane */

/* ----------------------------------------------------------------- locks -- */

/* How a lock was taken. */
enum { RUN_WRITE = 0, RUN_READ = 1, RUN_TRIED = 2 };

RUN_INLINE uint64_t run_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 29;
}
/* Returns the address of a held lock, and of the place where it was taken. */
RUN_INLINE uintptr_t *run_held(const struct run_thread *t, unsigned i)
{
    char *rings = (char *)recorder_for_thread_held.rings;
    return (uintptr_t *)(void *)(rings + t->held[i]);
}

/* The stacks where held locks were taken: 16 bits each, from word 9 of the cell
 * `self` on; 0: only the call is known. Reading a frame pointer costs 1 ns, and
 * unwinding costs much more. So only functions with a small frame are taken for
 * wrappers of locks, as the headers of C++ have them without optimisation. */
enum { RUN_WRAPPER = 48 };
RUN_INLINE uint16_t *run_held_stack(const struct run_thread *t, unsigned j)
{
    return (uint16_t *)(void *)run_cell_word(&recorder_for_thread_self,
                                             &t->self, 9) +
           j;
}
RUN_INLINE bool run_is_in_wrapper(uintptr_t cfa)
{
#ifdef __x86_64__ /* the library's function has pushed the frame pointer */
    return ((const uintptr_t *)cfa)[-2] - cfa < RUN_WRAPPER;
#else
    return cfa == 0;
#endif
}

/* What --all and --count ask for at each lock that is taken. */
extern bool run_each;
void run_each_begin(bool all, bool count);
void run_each_took(uintptr_t object, const char *total, uintptr_t site);
void run_each_gave(uintptr_t object, uintptr_t site);
/* The thread has made or joined another: its later locks come after the call,
 * and may be taken at the same time as locks of other threads. */
void run_order_part(struct run_thread *);
/* The lock of the address has ended, or another begins there by a function. */
void run_order_forget(uintptr_t address, bool begins);
enum { RUN_BITS = 64, RUN_PAGE = 4096 };
/* Sets a bit by the low bits of a number. */
static inline void run_bit_set(uint64_t bits[RUN_BITS], uintptr_t number)
{
    __atomic_fetch_or(&bits[number / 64 % RUN_BITS],
                      (uint64_t)1 << (number % 64), __ATOMIC_RELAXED);
}
RUN_INLINE bool run_bit(const uint64_t bits[RUN_BITS], uintptr_t number)
{
    return __atomic_load_n(&bits[number / 64 % RUN_BITS], __ATOMIC_RELAXED) >>
               (number % 64) & 1;
}
/* Bits by the pages where blocks of memory with locks of orders may begin. */
extern uint64_t run_blocks[RUN_BITS];
/* A block of memory that may have locks of orders has ended. */
void run_order_freed(uintptr_t start, uintptr_t bytes);
void run_order_forked(void);
/* Other threads have unlocked locks of this lane's thread. */
extern unsigned char run_handed[RUN_LANES];
/* Takes a lock out of the list of held locks. False: the list lacks it. */
bool run_held_forget(struct run_thread *, uintptr_t object);
/* Counts locks that ended, and locks of a thread that another unlocked. */
extern uintptr_t run_changes;
/* Runs after the real call that took the lock: a thread never holds a lock in a
 * record earlier than in the program. */
void run_took(struct run_thread *, const volatile void *lock, unsigned how,
              const char *total, struct run_call from);
/* Does the same if the thread took the same locks before. */
RUN_INLINE bool run_took_again(struct run_thread *t, uintptr_t object,
                               struct run_call from)
{
    const unsigned depth = t->depth;
    uintptr_t *held;
    if (depth >= RUN_HELD || t->last[depth] != object ||
        t->changes != recorder_get_(&run_changes) ||
        run_is_in_wrapper(from.cfa))
        return false;
    held = run_held(t, depth);
    recorder_put_(held + 1, from.site);
    recorder_put_(held, object);
    t->depth = depth + 1;
    return true;
}
/* Takes the lock that was taken last out of the list of held locks. */
RUN_INLINE bool run_held_last(struct run_thread *t, uintptr_t object)
{
    const unsigned i = t->depth - 1;
    if (i >= RUN_HELD || (recorder_get_(run_held(t, i)) ^ object) > RUN_READ)
        return false;
    recorder_put_(run_held(t, i), 0);
    t->depth = i;
    return true;
}
/* Runs in front of the real call that gives the lock. Returns false if the
 * thread was not seen to take it. */
bool run_gave(struct run_thread *, const volatile void *lock, uintptr_t site);

/* The program has tried to take a lock: notes a lock that it took. `t` may be
 * null. */
RUN_INLINE void run_tried(struct run_thread *t, bool took,
                          const volatile void *lock, unsigned how,
                          const char *total, struct run_call from)
{
    if (t && took)
        run_took(t, lock, how | RUN_TRIED, total, from);
}
/* Runs in front of the real call that unlocks. */
void run_unlocks(const volatile void *lock, uintptr_t site);

/* ----------------------------------------------------------------- waits -- */

/* A kind of wait and its formats. A wait is ended by the last thread that gave the
 * object, by the first one since the wait began, or each thread ends one wait. */
struct run_kind {
    const char *begin, *now, *end, *end_cpu, *given, *given_cpu, *total;
    bool lock; /* a thread holds it */
    enum { RUN_LAST, RUN_FIRST, RUN_EACH } ended_by;
};
extern const struct run_kind run_mutex, run_mutex_until, run_cond,
    run_cond_until, run_read, run_read_until, run_write, run_write_until,
    run_spin, run_sem, run_sem_until, run_barrier, run_once_kind, run_stream,
    run_futex, run_futex_until, run_join, run_join_until;

/* A wait; it ends where the variable goes out of scope, also if the thread is
 * cancelled. */
struct run_wait {
    struct run_thread *thread; /* null: it did not begin */
    const struct run_kind *kind;
    struct run_object *object;
    struct run_call from;
    uintptr_t address, result, by;
    uintptr_t gives; /* of the object, as the wait began */
    uint64_t ticks;
    pthread_mutex_t *mutex; /* is taken again at the end; or null */
};
#define RUN_WAIT(name)                                                         \
    struct run_wait name __attribute__((cleanup(run_wait_end))) = {0}
void run_wait_begin(struct run_wait *, struct run_thread *,
                    const struct run_kind *, const volatile void *object,
                    uintptr_t other, struct run_call from);
void run_wait_end(struct run_wait *);

/* How long a call may wait. */
struct run_limit {
    enum { RUN_FOREVER, RUN_TIMED, RUN_CLOCK } how;
    clockid_t clock;
    const struct timespec *until;
    bool wide; /* it is a struct run_timespec64 */
};
static const struct run_limit run_always = {.how = RUN_FOREVER};
#define RUN_ALWAYS (&run_always)
#define RUN_AT(time)                                                           \
    (&(const struct run_limit){.how = RUN_TIMED, .until = time})
#define RUN_BY(clock_, time)                                                   \
    (&(const struct run_limit){                                                \
        .how = RUN_CLOCK, .clock = clock_, .until = time})
/* Machines whose time_t had 32 bits have functions for one of 64, too, under
 * other names: see time64.c. */
#if defined(__TIMESIZE) && __TIMESIZE == 32 && __GLIBC_PREREQ(2, 34)
#define RUN_TIME64
#endif
struct run_timespec64 {
    int64_t tv_sec;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    int32_t pad, tv_nsec;
#else
    int32_t tv_nsec, pad;
#endif
};
RUN_INLINE long run_limit_ns(const struct run_limit *l)
{
    return l->wide ? ((const struct run_timespec64 *)(const void *)l->until)
                         ->tv_nsec
                   : l->until->tv_nsec;
}
/* Would the real function wait by this limit? Where it would not, it says what
 * is wrong with it, also of a lock that is free. */
RUN_INLINE bool run_limit_is_valid(const struct run_limit *l)
{
    return l->how == RUN_FOREVER ||
           (run_limit_ns(l) >= 0 && run_limit_ns(l) < 1000000000 &&
            (l->how == RUN_TIMED || l->clock == CLOCK_REALTIME ||
             l->clock == CLOCK_MONOTONIC));
}

/* Where C11 names meet POSIX ones. */
int run_mutex_lock(pthread_mutex_t *, const struct run_limit *,
                   struct run_call from);
int run_mutex_trylock(pthread_mutex_t *, struct run_call from);
int run_mutex_unlock(pthread_mutex_t *, uintptr_t site);
/* And functions for times of other sizes. */
int run_rwlock_lock(pthread_rwlock_t *, bool writes, const struct run_limit *,
                    struct run_call from);
int run_semaphore_wait(sem_t *, const struct run_limit *, struct run_call from);
int run_thread_join(pthread_t, void **, const struct run_limit *,
                    struct run_call from);
int run_c11_of(int result);
#pragma GCC visibility pop
