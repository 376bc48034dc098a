/* sandbox.c - programs that forbid themselves system calls. */
/* SPDX-License-Identifier: MIT */
/*
   A seccomp filter may end the program at any call that it did not think of.
   Behind one, the library makes none of its own: no recording begins, new
   threads and processes are passed through, and modules have the names that
   the linker knows. A thread that has its lane records on, which needs none.

   Both functions take any number of arguments, as libc's, which hands on as
   many words as a call may have. They are declared here as what they are on
   the machine: a variable number of words could not be handed on, and
   syscall() can be called on a stack that has no room for a frame.
*/
#include "real.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>

enum { SET_SECCOMP = 22 }; /* PR_SET_SECCOMP, of a header that is not ours */

typedef long call(long, long, long, long, long, long, long);
typedef int control(int, long, long, long, long);
RUN_EXPORT call run_syscall __asm__("syscall");
RUN_EXPORT control run_prctl __asm__("prctl");
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

/* Notes a filter that is about to be set: what runs meanwhile is behind it, too.
 * A child of vfork() sets it for itself, not for whom it has the memory of. */
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

/* Apart, so that the other calls have no frame here. */
static RUN_SELDOM long syscall_seldom(long number, long a, long b, long c,
                                      long d, long e, long f)
{
    run_bind();
    if (number == SYS_seccomp)
        return filters(number, a, b, c);
    return real_syscall(number, a, b, c, d, e, f);
}
long run_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (RUN_UNLIKELY(!real_syscall || number == SYS_seccomp))
        return syscall_seldom(number, a, b, c, d, e, f);
    return real_syscall(number, a, b, c, d, e, f);
}

int run_prctl(int option, long a, long b, long c, long d)
{
    uintptr_t noted = 0;
    int result;
    run_bind();
    if (RUN_UNLIKELY(option == SET_SECCOMP))
        noted = filter_begin(!run_sandboxed);
    result = real_prctl(option, a, b, c, d);
    if (result != 0)
        filter_failed(noted);
    return result;
}
