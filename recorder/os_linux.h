/* os_linux.h - Linux: by the kernel's own calls. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OS_LINUX_H_
#define RECORDER_OS_LINUX_H_

#include "language.h"
#include <sys/syscall.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CLOCK_REALTIME and CLOCK_MONOTONIC by their numbers. */
enum { RECORDER_REALTIME_ = 0, RECORDER_MONOTONIC_ = 1 };
struct recorder_timespec {
    long seconds, nanoseconds;
};
extern int recorder_clock_gettime(int clock, struct recorder_timespec *to)
    RECORDER_LABEL_(clock_gettime);

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

#define RECORDER_PIPE_BYTES_ ((size_t)4096) /* an empty pipe takes: PIPE_BUF */
extern long recorder_os_read(int fd, void *to, size_t size)
    RECORDER_LABEL_(read);
extern long recorder_os_write(int fd, const void *from, size_t size)
    RECORDER_LABEL_(write);
extern int recorder_os_pipe(int fds[2]) RECORDER_LABEL_(pipe);
extern int recorder_os_close(int fd) RECORDER_LABEL_(close);
extern int recorder_os_fcntl(int fd, int command, ...) RECORDER_LABEL_(fcntl);
/* A copy of a descriptor, above those of stdin, stdout and stderr. */
RECORDER_INLINE_ int recorder_os_above(int fd)
{
    return recorder_os_fcntl(fd, 0 /* F_DUPFD */, 3);
}
/* Writes what may not be there. Not by write(), which a sanitizer would look
 * at. */
RECORDER_INLINE_ long recorder_os_probe(int fd, uintptr_t from, size_t size)
{
    return recorder_syscall(SYS_write, (long)fd, from, size);
}
/* Copies what may not be there: EFAULT. Other errors: it cannot tell. */
RECORDER_INLINE_ long recorder_os_peek(uintptr_t from, void *to, size_t size)
{
    struct {
        void *base;
        size_t size;
    } here, there; /* struct iovec */
    here.base = to;
    there.base = (void *)from;
    here.size = there.size = size;
    return recorder_syscall(SYS_process_vm_readv, (long)recorder_os_process(),
                            &here, 1L, &there, 1L, 0L);
}

struct recorder_pollfd {
    int fd;
    short events, revents;
};
enum { RECORDER_POLLOUT_ = 4, RECORDER_POLL_FAILED_ = 0 };
extern int recorder_os_poll(struct recorder_pollfd *fds, unsigned long count,
                            int milliseconds) RECORDER_LABEL_(poll);

/* Keeps SIGPIPE and SIGXFSZ, that a write of ours may raise, from the program:
 * both are blocked meanwhile, and what was not pending before is taken off. Its
 * errno stays as it is. */
struct recorder_signal_set {
    unsigned long bits[1024 / (8 * sizeof(long))];
};
extern int recorder_os_mask(int how, const struct recorder_signal_set *set,
                            struct recorder_signal_set *old)
    RECORDER_LABEL_(pthread_sigmask);
extern int recorder_os_pending(struct recorder_signal_set *set)
    RECORDER_LABEL_(sigpending);
extern int recorder_os_take(const struct recorder_signal_set *set, void *info,
                            const struct recorder_timespec *timeout)
    RECORDER_LABEL_(sigtimedwait);
#if defined(__mips__)
enum { RECORDER_SIG_BLOCK_ = 1, RECORDER_SIG_SETMASK_ = 3,
       RECORDER_SIGPIPE_ = 13, RECORDER_SIGXFSZ_ = 31 };
#else
enum { RECORDER_SIG_BLOCK_ = 0, RECORDER_SIG_SETMASK_ = 2,
       RECORDER_SIGPIPE_ = 13, RECORDER_SIGXFSZ_ = 25 };
#endif
#define RECORDER_OUTPUT_SIGNALS                                                \
    (1ul << (RECORDER_SIGPIPE_ - 1) | 1ul << (RECORDER_SIGXFSZ_ - 1))

struct recorder_held {
    struct recorder_signal_set mask, pending;
    int error;
};

RECORDER_INLINE_ void recorder_signals_hold(struct recorder_held *held)
{
    struct recorder_signal_set block = {{0}};
    held->error = *recorder_errno();
    block.bits[0] = RECORDER_OUTPUT_SIGNALS;
    held->mask.bits[0] = held->pending.bits[0] = 0;
    recorder_os_mask(RECORDER_SIG_BLOCK_, &block, &held->mask);
    recorder_os_pending(&held->pending);
}
RECORDER_INLINE_ void recorder_signals_release(struct recorder_held *held)
{
    struct recorder_signal_set raised = {{0}};
    struct recorder_timespec now = {0, 0};
    raised.bits[0] = RECORDER_OUTPUT_SIGNALS & ~held->pending.bits[0];
    if (raised.bits[0])
        while (recorder_os_take(&raised, NULL, &now) > 0)
            ;
    recorder_os_mask(RECORDER_SIG_SETMASK_, &held->mask, NULL);
    *recorder_errno() = held->error;
}

extern char *recorder_os_environment(const char *name) RECORDER_LABEL_(getenv);

/* What runs with the rights of another user must not let its caller write
 * files: null then. */
extern char *recorder_os_environment_safe(const char *name)
    RECORDER_LABEL_(secure_getenv);

RECORDER_INLINE_ int recorder_os_create(const char *path, bool append)
{
#if defined(__mips__)
    const long flags = 1 | 0x100 | (append ? 8 : 0x200);
#else
    const long flags = 1 | 0100 | (append ? 02000 : 01000);
#endif
    return (int)recorder_syscall(SYS_openat, -100L /* AT_FDCWD */, path,
                                 flags | 02000000 /* O_CLOEXEC */, 0666L);
}
/* Opens a file to write behind what it holds, and makes it if there is none.
 * Follows no link, and waits for no reader of a pipe. Returns -1 if it cannot.
 */
RECORDER_INLINE_ int recorder_os_append(const char *path)
{
#if defined(__mips__)
    const long flags = 1 | 8 | 0x80 | 0x100 | 0x20000;
#elif defined(__arm__) || defined(__aarch64__) || defined(__powerpc__)
    const long flags = 1 | 0100 | 02000 | 04000 | 0100000;
#else
    const long flags = 1 | 0100 | 02000 | 04000 | 0400000;
#endif
    return (int)recorder_syscall(SYS_openat, -100L /* AT_FDCWD */, path,
                                 flags | 02000000 /* O_CLOEXEC */, 0600L);
}
RECORDER_INLINE_ void recorder_os_replace(int fd, int by)
{
    recorder_syscall(SYS_dup3, (long)by, (long)fd, 02000000L);
}

/* ---------------------------------------------------------------- system --
 *
 * As glibc and musl lay them out; not from <signal.h>, which hides them from a
 * program compiled as strict C11. tests/signals.c compares. On other systems
 * os_posix.h has them.
 */

struct recorder_action {
#if defined(__mips__)
    unsigned flags;
    void (*handler)(int sig, void *info, void *context);
    struct recorder_signal_set mask;
#elif defined(__s390x__) && defined(__GLIBC__)
    void (*handler)(int sig, void *info, void *context);
    int reserved;
    unsigned flags;
    void (*restorer)(void);
    struct recorder_signal_set mask;
#else
    void (*handler)(int sig, void *info, void *context);
    struct recorder_signal_set mask;
    unsigned flags;
#endif
    void *rest[2];
};
struct recorder_stack_of_signals { /* stack_t */
#if defined(__mips__)
    void *base;
    size_t bytes;
    int flags;
#else
    void *base;
    int flags;
    size_t bytes;
#endif
};
#if defined(__mips__)
enum { RECORDER_SA_SIGINFO_ = 8, RECORDER_SA_NOCLDWAIT_ = 0x10000,
       RECORDER_SIGBUS_ = 10, RECORDER_SIGSYS_ = 12,
       RECORDER_SIGUSR1_ = 16, RECORDER_SIGUSR2_ = 17, RECORDER_SIGCHLD_ = 18,
       RECORDER_SIGXCPU_ = 30, RECORDER_SIGSTOP_ = 23, RECORDER_SIGTSTP_ = 24,
       RECORDER_SIGCONT_ = 25, RECORDER_SIGTTIN_ = 26, RECORDER_SIGTTOU_ = 27,
       RECORDER_SIGURG_ = 21, RECORDER_SIGWINCH_ = 20 };
#else
enum { RECORDER_SA_SIGINFO_ = 4, RECORDER_SA_NOCLDWAIT_ = 2,
       RECORDER_SIGBUS_ = 7, RECORDER_SIGSYS_ = 31,
       RECORDER_SIGUSR1_ = 10, RECORDER_SIGUSR2_ = 12, RECORDER_SIGCHLD_ = 17,
       RECORDER_SIGXCPU_ = 24, RECORDER_SIGSTOP_ = 19, RECORDER_SIGTSTP_ = 20,
       RECORDER_SIGCONT_ = 18, RECORDER_SIGTTIN_ = 21, RECORDER_SIGTTOU_ = 22,
       RECORDER_SIGURG_ = 23, RECORDER_SIGWINCH_ = 28 };
#endif
enum { RECORDER_SIGQUIT_ = 3, RECORDER_SIGILL_ = 4, RECORDER_SIGTRAP_ = 5,
       RECORDER_SIGABRT_ = 6, RECORDER_SIGFPE_ = 8, RECORDER_SIGKILL_ = 9,
       RECORDER_SIGSEGV_ = 11 };
#define RECORDER_SA_NOCLDSTOP_ 1u
#define RECORDER_SA_ONSTACK_ 0x08000000u
#define RECORDER_SA_RESTART_ 0x10000000u
#define RECORDER_SA_NODEFER_ 0x40000000u
#define RECORDER_SA_RESETHAND_ 0x80000000u
enum { RECORDER_SS_DISABLE_ = 2 };

extern int recorder_os_action(int sig, const struct recorder_action *action,
                              struct recorder_action *old)
    RECORDER_LABEL_(sigaction);
extern int recorder_os_stack(const struct recorder_stack_of_signals *stack,
                             struct recorder_stack_of_signals *old)
    RECORDER_LABEL_(sigaltstack);
extern int recorder_os_protect(void *at, size_t bytes, int protection)
    RECORDER_LABEL_(mprotect);

/* Blocks all signals; *before is what was blocked. */
RECORDER_INLINE_ void recorder_os_block(struct recorder_signal_set *before)
{
    struct recorder_signal_set all;
    __builtin_memset(&all, 0xff, sizeof all);
    __builtin_memset(before, 0, sizeof *before);
    recorder_os_mask(RECORDER_SIG_SETMASK_, &all, before);
}
/* Does the system ignore a signal for which nothing is set? */
RECORDER_INLINE_ bool recorder_os_ignores(int sig)
{
    return sig == RECORDER_SIGCHLD_ || sig == RECORDER_SIGCONT_ ||
           sig == RECORDER_SIGURG_ || sig == RECORDER_SIGWINCH_;
}
/* Sends a signal to this thread, with all that came with it. */
RECORDER_INLINE_ void recorder_os_again(int sig, void *info)
{
    long process = (long)recorder_os_process(), thread = recorder_os_thread();
    if (recorder_syscall(SYS_rt_tgsigqueueinfo, process, thread, (long)sig,
                         info) != 0)
        recorder_syscall(SYS_tgkill, process, thread, (long)sig);
}

extern void recorder_os_exit(int status) RECORDER_LABEL_(_exit);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
