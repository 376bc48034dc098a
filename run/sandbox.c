/* sandbox.c - programs that forbid themselves system calls. */
/* SPDX-License-Identifier: MIT */
/*
   A seccomp filter may end the program at any call that its author forgot.
   Under a filter, the library makes no system call: no recording begins, new
   threads and processes are passed through, and modules have the names that the
   linker knows. A thread that has its lane records on, which needs none.

   Both functions take any number of arguments, as libc's, which pass on the
   maximal number of words of a call. They are declared here with their types on
   the machine: a variable number of words could not be passed on, and
   syscall() can be called on a stack that has no room for a frame.
*/
#include "real_functions.h"

#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#ifdef SYS_futex_time64
#define FUTEX_TIME64 SYS_futex_time64
#else
#define FUTEX_TIME64 SYS_futex
#endif
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13 /* Linux 5.14 */
#endif
enum { FUTEX_STACK = 16384 }; /* bytes that recording a wait may need */
/* PR_SET_SECCOMP and others, of a header that is not ours. */
enum { SET_SECCOMP = 22, SET_TSC = 26, TSC_SIGSEGV = 2 };

typedef long call(long, long, long, long, long, long, long);
typedef int control(int, long, long, long, long);
RUN_EXPORT call run_syscall __asm__("syscall");
RUN_EXPORT control run_prctl __asm__("prctl");
#ifdef RUN_TIME64
RUN_EXPORT control run_prctl64 __asm__("__prctl_time64")
    __attribute__((alias("prctl")));
#endif
static call *real_syscall;
static control *real_prctl;
static long process; /* its id */
uintptr_t run_sandboxed;

void run_sandbox_bind(run_find *find)
{
    RUN_FIND(real_syscall, find, "syscall");
    RUN_FIND(real_prctl, find, "prctl");
}

void run_sandbox_begin(void)
{
    if (real_syscall && !run_sandboxed)
        process = real_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* Notes a filter that is about to be set: threads that run in the meantime
 * count as filtered, too. A child of vfork() sets the filter for itself, not
 * for the owner of its memory. */
static uintptr_t filter_begin(bool sets)
{
    if (!sets || real_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) != process)
        return 0;
    recorder_add_(&run_sandboxed, 1);
    return 1;
}
static void filter_failed(uintptr_t noted)
{
    recorder_add_(&run_sandboxed, (uintptr_t)0 - noted);
}

static RUN_SELDOM long filters(long number, long operation, long flags, long of)
{
    const uintptr_t noted =
        filter_begin(!run_sandboxed && (operation == SECCOMP_SET_MODE_STRICT ||
                                        operation == SECCOMP_SET_MODE_FILTER));
    const long result = real_syscall(number, operation, flags, of, 0, 0, 0);
    if (result < 0)
        filter_failed(noted);
    return result;
}

/* Does a call wait for a futex? The C++ library makes it for latches, barriers,
 * futures and atomic::wait(). */
RUN_INLINE bool is_futex_wait(long number, long operation)
{
    const uint64_t waits = 1u << FUTEX_WAIT | 1u << FUTEX_WAIT_BITSET |
                           1u << FUTEX_LOCK_PI | 1u << FUTEX_LOCK_PI2 |
                           1u << FUTEX_WAIT_REQUEUE_PI;
    return (number == SYS_futex || number == FUTEX_TIME64) &&
           waits >> (operation & 63) & 1; /* with or without FUTEX_PRIVATE_FLAG
                                             and FUTEX_CLOCK_REALTIME */
}

/* Records a wait for a futex that is no part of another wait, in a known thread
 * on its own stack: a child of clone() may have this thread's variables. */
RUN_INLINE void futex_begin(struct run_wait *wait, long futex, bool timed,
                            struct run_call from)
{
    struct run_thread *t = &run_self;
    const uintptr_t above = t->stack_high - from.cfa;
    if (t->lane && !t->inside && !t->waits && above < t->stack_bytes &&
        t->stack_bytes - above > FUTEX_STACK)
        run_wait_begin(wait, t, timed ? &run_futex_until : &run_futex,
                       (const void *)futex, 0, from);
}

/* Apart, so that the other calls have no frame here. Entered by a jump: the
 * return address is the program's. */
static RUN_SELDOM long syscall_seldom(long number, long a, long b, long c,
                                      long d, long e, long f)
{
    long result;
    run_bind();
    if (number == SYS_seccomp)
        return filters(number, a, b, c);
    RUN_WAIT(wait);
    if (is_futex_wait(number, b))
        futex_begin(&wait, a, d != 0, RUN_CALL);
    result = real_syscall(number, a, b, c, d, e, f);
    wait.result = (uintptr_t)(unsigned)(result < 0 ? errno : 0);
    return result;
}
long run_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (RUN_UNLIKELY(!real_syscall || number == SYS_seccomp ||
                     is_futex_wait(number, b)))
        return syscall_seldom(number, a, b, c, d, e, f);
    return real_syscall(number, a, b, c, d, e, f);
}

int run_prctl(int option, long a, long b, long c, long d)
{
    uintptr_t noted = 0;
    int result;
    run_bind();
    if (RUN_UNLIKELY(option == SET_SECCOMP ||
                     (option == SET_TSC && a == TSC_SIGSEGV)))
        noted = filter_begin(!run_sandboxed);
    result = real_prctl(option, a, b, c, d);
    if (result != 0)
        filter_failed(noted);
    return result;
}
