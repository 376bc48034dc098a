/* os_posix.h - the functions of os.h for systems of POSIX other than Linux. */
/* SPDX-License-Identifier: MIT */
/*
For recorder.h, which includes it on macOS, the BSDs and other systems of POSIX;
and on Linux with -DRECORDER_POSIX, where its tests run (tests/ports/run.sh).

PROMISES
    * Nothing is called but POSIX and a system's functions for `threads` and
      `environment`. Layouts and numbers come from the system's own headers, but
      for five numbers that some hide, alike on all of them.
      -> tests/ports/posix.c

LIMITS
    * The program's feature macros choose names of the system's headers. With
      _POSIX_C_SOURCE alone some hide sigaltstack(), and recorder_alt_stack()
      returns false: use _XOPEN_SOURCE=700, or no feature macro.
    * A thread's row in the table is used again only where the system can tell
      that a thread has ended: the BSDs. Elsewhere threads that come after the
      first 4096 (32-bit: 126) share one number, and the alternate signal stacks
      of threads that have ended stay theirs.
    * The system's name of a thread is read at its first record.
    * macOS, OpenBSD: a thread's first record asks the system for memory, which
      a signal handler should not be the first to do.
    * macOS sends SIGPIPE to the process, so that a dump keeps it only from a
      program in which no other thread takes it.
    * macOS: a program's recorders leave at exit, as a library's do, and
      constructors are ordered in each file only: a dump before main() may not
      find the records of other files.
    * Libraries opened by dlopen() share the program's recorders if the program
      exports recorder_registry (macOS does, elsewhere -rdynamic).
    * NetBSD: a library that records and is closed must not be the one by which
      the program learned of fork(): record in the program, too.
    * FreeBSD: no dumps for real-time signals.
    * There are no recordings (file.h).

CONTENTS
    clock       CLOCK_REALTIME and CLOCK_MONOTONIC
    errors      errno
    threads     their ids, names and ends; fork()
    memory      mappings
    files       reading and writing, also of bad addresses
    signals     handlers and stacks, and the signals of a write
    environment of programs that trust their caller
*/
#ifndef RECORDER_OS_POSIX_H_
#define RECORDER_OS_POSIX_H_

#include "language.h"

#if !defined(__unix__) && !defined(__APPLE__)
#error "recorder.h: no port to this system yet: define RECORDER_THREAD()"
#endif

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if !defined(SA_SIGINFO) || !defined(SA_RESTART)
#error "recorder.h: <signal.h> hides SA_RESTART: define _XOPEN_SOURCE as 700"
#endif

/* 1 if a sanitizer checks the bytes that write() is given. */
#ifdef __has_feature
#define RECORDER_SANITIZED_                                                    \
    (__has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||    \
     __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RECORDER_SANITIZED_ 1
#else
#define RECORDER_SANITIZED_ 0
#endif
#if RECORDER_SANITIZED_ && defined(__linux__)
#include <sys/syscall.h>
#endif

RECORDER_C_BEGIN_
RECORDER_STUBS_

#if defined(__APPLE__) || defined(__FreeBSD__) || defined(__OpenBSD__) ||      \
    defined(__NetBSD__) || defined(__DragonFly__)
#define RECORDER_BSD_
#endif

/* ----------------------------------------------------------------- clock -- */

enum { RECORDER_REALTIME_ = CLOCK_REALTIME,
       RECORDER_MONOTONIC_ = CLOCK_MONOTONIC };
#ifdef CLOCK_THREAD_CPUTIME_ID
enum { RECORDER_PROCESSOR_ = CLOCK_THREAD_CPUTIME_ID };
#else
enum { RECORDER_PROCESSOR_ = CLOCK_MONOTONIC };
#endif
struct recorder_timespec_ {
    int64_t seconds;
    long nanoseconds;
};
RECORDER_INLINE_ int recorder_os_clock_(int clock,
                                        struct recorder_timespec_ *to)
{
    struct timespec now = {0, 0};
    int result = clock_gettime((clockid_t)clock, &now);
    to->seconds = now.tv_sec;
    to->nanoseconds = now.tv_nsec;
    return result;
}

/* ---------------------------------------------------------------- errors -- */

enum { RECORDER_ESRCH_ = ESRCH, RECORDER_EINTR_ = EINTR,
       RECORDER_EAGAIN_ = EAGAIN, RECORDER_EFAULT_ = EFAULT };
RECORDER_INLINE_ int *recorder_os_errno_(void)
{
    return &errno;
}
RECORDER_STUB_(const char *, recorder_os_error_text_, (int error), return NULL;)

/* --------------------------------------------------------------- threads --
 *
 * Each function here is a plain system call in each C library. It is declared
 * here, since the systems' headers hide it from a program that asks for POSIX.
 */
#if defined(__APPLE__)
extern int recorder_os_self_(void *thread, uint64_t *id)
    RECORDER_LABEL_(pthread_threadid_np);
RECORDER_INLINE_ int32_t recorder_os_thread_(void)
{
    uint64_t id = 0; /* counts all threads since the system started */
    recorder_os_self_(NULL, &id);
    return (int32_t)(id & INT32_MAX);
}
#elif defined(__FreeBSD__)
extern int recorder_os_self_(long *id) RECORDER_LABEL_(thr_self);
extern int recorder_os_kill_(long id, int sig) RECORDER_LABEL_(thr_kill);
#define RECORDER_KILL_NOTHING_(id) recorder_os_kill_(id, 0)
RECORDER_INLINE_ int32_t recorder_os_thread_(void)
{
    long id = 0;
    recorder_os_self_(&id);
    return (int32_t)id;
}
#elif defined(__OpenBSD__)
extern int32_t recorder_os_thread_(void) RECORDER_LABEL_(getthrid);
extern int recorder_os_kill_(int32_t id, int sig, void *any)
    RECORDER_LABEL_(thrkill);
#define RECORDER_KILL_NOTHING_(id) recorder_os_kill_(id, 0, NULL)
#elif defined(__NetBSD__)
extern int32_t recorder_os_thread_(void) RECORDER_LABEL_(_lwp_self);
extern int recorder_os_kill_(int32_t id, int sig) RECORDER_LABEL_(_lwp_kill);
#define RECORDER_KILL_NOTHING_(id) recorder_os_kill_(id, 0)
#else /* threads have no ids: we count them */
RECORDER_PROGRAM_ int32_t recorder_threads_begun_ = 0;
extern RECORDER_PROGRAM_ __thread int32_t recorder_thread_own_
    RECORDER_THREAD_LOCAL_;
__thread int32_t recorder_thread_own_ RECORDER_THREAD_LOCAL_ = 0;
RECORDER_INLINE_ int32_t recorder_os_thread_(void)
{
    if (recorder_thread_own_ == 0)
        recorder_thread_own_ =
            __atomic_add_fetch(&recorder_threads_begun_, 1, __ATOMIC_RELAXED);
    return recorder_thread_own_;
}
#endif
RECORDER_INLINE_ bool recorder_os_thread_ended_(intptr_t process, int32_t id)
{
#ifdef RECORDER_KILL_NOTHING_
    return RECORDER_KILL_NOTHING_(id) != 0 && errno == ESRCH;
#else
    return false;
#endif
}

/* A thread's name, on systems that tell it to a signal handler. */
#if defined(__APPLE__)
extern int recorder_os_name_(pthread_t thread, char *name, size_t size)
    RECORDER_LABEL_(pthread_getname_np);
RECORDER_INLINE_ void recorder_os_get_thread_name_(char name[16])
{
    recorder_os_name_(pthread_self(), name, 16);
}
#elif defined(__FreeBSD__) || defined(__OpenBSD__)
extern void recorder_os_name_(pthread_t thread, char *name, size_t size)
    RECORDER_LABEL_(pthread_get_name_np) __attribute__((weak));
RECORDER_INLINE_ void recorder_os_get_thread_name_(char name[16])
{
    if (recorder_os_name_) /* old systems and some programs lack it */
        recorder_os_name_(pthread_self(), name, 16);
}
#else
RECORDER_INLINE_ void recorder_os_get_thread_name_(char name[16])
{
    name[0] = '\0';
}
#endif

enum { RECORDER_OS_NAMES_ = 0 };
RECORDER_STUB_(bool, recorder_os_get_name_of_, (int32_t id, char name[16]),
               return false;)
RECORDER_INLINE_ intptr_t recorder_os_process_(void)
{
    return getpid();
}
/* POSIX does not tell the program's name; each system's C library does. */
#if defined(RECORDER_BSD_)
extern const char *recorder_os_program_(void) RECORDER_LABEL_(getprogname);
#elif defined(__linux__)
extern char *recorder_os_invoked_ RECORDER_LABEL_(program_invocation_short_name)
    __attribute__((weak));
RECORDER_INLINE_ const char *recorder_os_program_(void)
{
    return &recorder_os_invoked_ ? recorder_os_invoked_ : NULL;
}
#elif defined(__sun)
extern const char *recorder_os_executable_(void) RECORDER_LABEL_(getexecname);
RECORDER_INLINE_ const char *recorder_os_program_(void)
{
    const char *name = recorder_os_executable_(), *at;
    for (at = name; at && *at; at++)
        if (*at == '/' && at[1])
            name = at + 1;
    return name;
}
#else
RECORDER_STUB_(const char *, recorder_os_program_, (void), return NULL;)
#endif
RECORDER_INLINE_ void recorder_os_yield_(void)
{
    sched_yield();
}
RECORDER_INLINE_ void recorder_os_at_fork_(void (*prepare)(void),
                                           void (*parent)(void),
                                           void (*child)(void))
{
    pthread_atfork(prepare, parent, child);
}

/* ---------------------------------------------------------------- memory -- */

#if defined(MAP_ANONYMOUS)
#define RECORDER_MAP_ANONYMOUS_ MAP_ANONYMOUS
#elif defined(MAP_ANON)
#define RECORDER_MAP_ANONYMOUS_ MAP_ANON
#elif defined(__linux__) && !defined(__mips__)
#define RECORDER_MAP_ANONYMOUS_ 0x20
#elif defined(RECORDER_BSD_) /* a program that asks for POSIX is not shown it */
#define RECORDER_MAP_ANONYMOUS_ 0x1000
#else
#error "recorder.h: <sys/mman.h> hides MAP_ANONYMOUS"
#endif
RECORDER_INLINE_ void *recorder_os_memory_(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | RECORDER_MAP_ANONYMOUS_, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}
RECORDER_INLINE_ int recorder_os_unmap_(void *at, size_t bytes)
{
    return munmap(at, bytes);
}
RECORDER_INLINE_ int recorder_os_protect_(void *at, size_t bytes,
                                          int protection)
{
    return mprotect(at, bytes, protection);
}

enum { RECORDER_OS_UNLOADS_ = 1, RECORDER_OS_SEES_SELF_ = 0 };
/* The program's registry is found by the dynamic linker or not at all. */
struct recorder_os_segment_ {
    uintptr_t at, file_bytes, bytes;
    bool writable;
};
struct recorder_os_headers_ {
    int none;
};
RECORDER_STUB_(struct recorder_os_headers_, recorder_os_headers_open_, (void),
               struct recorder_os_headers_ none = {0}; return none;)
RECORDER_STUB_(bool, recorder_os_next_segment_,
               (struct recorder_os_headers_ *headers,
                struct recorder_os_segment_ *segment), return false;)
enum { RECORDER_OS_MAPS_ = 0 };
RECORDER_STUB_(long, recorder_os_maps_, (int *fd, char *to, size_t size),
               return -1;)

/* ----------------------------------------------------------------- files -- */

/* The least that PIPE_BUF may be: an empty pipe takes as much, and a pipe that
 * poll() calls ready. */
#define RECORDER_PIPE_BYTES_ ((size_t)512)
RECORDER_INLINE_ long recorder_os_read_(int fd, void *to, size_t size)
{
    return read(fd, to, size);
}
RECORDER_INLINE_ long recorder_os_write_(int fd, const void *from, size_t size)
{
    return write(fd, from, size);
}
/* Sanitizers check the arguments of write(), but not of syscall(); each system
 * with sanitizers has syscall(). */
#if RECORDER_SANITIZED_
#ifdef SYS_write
enum { RECORDER_SYS_WRITE_ = SYS_write };
#else
enum { RECORDER_SYS_WRITE_ = 4 }; /* since the first Unix */
#endif
extern long recorder_os_syscall_(long number, ...) RECORDER_LABEL_(syscall);
RECORDER_INLINE_ long recorder_os_write_unchecked_(int fd, uintptr_t from,
                                                   size_t size)
{
    return (int)recorder_os_syscall_(RECORDER_SYS_WRITE_, (long)fd, from, size);
}
#else
RECORDER_INLINE_ long recorder_os_write_unchecked_(int fd, uintptr_t from,
                                                   size_t size)
{
    return write(fd, (const void *)from, size);
}
#endif
/* POSIX has no call that copies bytes which may not be there. */
RECORDER_INLINE_ long recorder_os_read_self_(uintptr_t from, void *to,
                                             size_t size)
{
    errno = ENOSYS;
    return -1;
}
RECORDER_INLINE_ int recorder_os_pipe_(int fds[2])
{
    return pipe(fds);
}
RECORDER_INLINE_ int recorder_os_close_(int fd)
{
    return close(fd);
}
RECORDER_INLINE_ int recorder_os_dup_above_(int fd)
{
    return fcntl(fd, F_DUPFD, 3);
}

RECORDER_INLINE_ int recorder_os_create_(const char *path, bool append)
{
    return open(path,
                O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC),
                0666);
}
#ifdef O_NOFOLLOW
#define RECORDER_O_NOFOLLOW_ O_NOFOLLOW
#elif defined(__APPLE__) /* not shown to who asks for POSIX */
#define RECORDER_O_NOFOLLOW_ 0x100
#else
#error "recorder.h: <fcntl.h> hides O_NOFOLLOW: define _XOPEN_SOURCE as 700"
#endif
RECORDER_INLINE_ int recorder_os_append_(const char *path)
{
    struct stat stat;
    int fd = open(path,
                  O_WRONLY | O_CREAT | O_APPEND | RECORDER_O_NOFOLLOW_ |
                      O_NONBLOCK | O_CLOEXEC,
                  0600);
    if (fd < 0 || (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) &&
                   stat.st_nlink == 1 && stat.st_uid == geteuid()))
        return fd;
    close(fd);
    return -1;
}
/* In two steps: a program that another thread starts in between inherits the
 * descriptor. */
RECORDER_INLINE_ void recorder_os_replace_(int fd, int by)
{
    if (dup2(by, fd) == fd)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* macOS' poll() does not know terminals: it returns POLLNVAL for them. */
#define recorder_pollfd_ pollfd
enum { RECORDER_POLLOUT_ = POLLOUT, RECORDER_POLL_FAILED_ = POLLNVAL };
RECORDER_INLINE_ int recorder_os_poll_(struct recorder_pollfd_ *fds,
                                       unsigned long count, int milliseconds)
{
    return poll(fds, (nfds_t)count, milliseconds);
}

/* --------------------------------------------------------------- signals -- */

enum { RECORDER_SIGQUIT_ = SIGQUIT, RECORDER_SIGILL_ = SIGILL,
       RECORDER_SIGTRAP_ = SIGTRAP, RECORDER_SIGABRT_ = SIGABRT,
       RECORDER_SIGBUS_ = SIGBUS, RECORDER_SIGFPE_ = SIGFPE,
       RECORDER_SIGKILL_ = SIGKILL, RECORDER_SIGSEGV_ = SIGSEGV,
       RECORDER_SIGSYS_ = SIGSYS, RECORDER_SIGUSR1_ = SIGUSR1,
       RECORDER_SIGUSR2_ = SIGUSR2, RECORDER_SIGPIPE_ = SIGPIPE,
       RECORDER_SIGCHLD_ = SIGCHLD, RECORDER_SIGCONT_ = SIGCONT,
       RECORDER_SIGSTOP_ = SIGSTOP, RECORDER_SIGTSTP_ = SIGTSTP,
       RECORDER_SIGTTIN_ = SIGTTIN, RECORDER_SIGTTOU_ = SIGTTOU,
       RECORDER_SIGURG_ = SIGURG, RECORDER_SIGXCPU_ = SIGXCPU,
       RECORDER_SIGXFSZ_ = SIGXFSZ, RECORDER_SIG_BLOCK_ = SIG_BLOCK,
       RECORDER_SIG_SETMASK_ = SIG_SETMASK };
#ifdef RECORDER_BSD_ /* hidden likewise; the numbers are alike on all BSDs */
enum { RECORDER_SIGIO_ = 23, RECORDER_SIGWINCH_ = 28, RECORDER_SIGINFO_ = 29 };
#elif defined(SIGWINCH)
enum { RECORDER_SIGWINCH_ = SIGWINCH };
#else
enum { RECORDER_SIGWINCH_ = 0 };
#endif
#define RECORDER_SA_SIGINFO_ ((unsigned)SA_SIGINFO)
#define RECORDER_SA_RESTART_ ((unsigned)SA_RESTART)
#define RECORDER_SA_NODEFER_ ((unsigned)SA_NODEFER)
#define RECORDER_SA_RESETHAND_ ((unsigned)SA_RESETHAND)
#define RECORDER_SA_NOCLDSTOP_ ((unsigned)SA_NOCLDSTOP)
#define RECORDER_SA_NOCLDWAIT_ ((unsigned)SA_NOCLDWAIT)

RECORDER_INLINE_ bool recorder_os_ignores_(int sig)
{
#ifdef RECORDER_BSD_
    if (sig == RECORDER_SIGIO_ || sig == RECORDER_SIGINFO_)
        return true;
#endif
    return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG ||
           sig == RECORDER_SIGWINCH_;
}
/* POSIX cannot send a signal again with its data. */
RECORDER_INLINE_ void recorder_os_requeue_signal_(int sig, void *info)
{
    raise(sig);
}

RECORDER_STUB_(bool, recorder_os_fault_again_,
               (int sig, const void *info, void *context), return false;)

RECORDER_INLINE_ void recorder_os_exit_(int status)
{
    _exit(status);
}

struct recorder_signal_set_ {
    sigset_t set;
};
RECORDER_INLINE_ int recorder_os_mask_(int how,
                                       const struct recorder_signal_set_ *set,
                                       struct recorder_signal_set_ *old)
{
    return pthread_sigmask(how, set ? &set->set : NULL, old ? &old->set : NULL);
}
RECORDER_INLINE_ void recorder_os_block_(struct recorder_signal_set_ *before)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigemptyset(&before->set);
    pthread_sigmask(SIG_SETMASK, &all, &before->set);
}

RECORDER_INLINE_ void recorder_os_unblock_faults_(void)
{
    static const int sigs[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    sigset_t faults;
    unsigned i;
    (void)sigemptyset(&faults);
    for (i = 0; i < sizeof sigs / sizeof *sigs; i++)
        (void)sigaddset(&faults, sigs[i]);
    pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
}
enum { RECORDER_OS_JUMPS_ = 1, RECORDER_MARK_BYTES_ = 1024 };
extern int recorder_os_mark_(void *at) RECORDER_LABEL_(_setjmp)
    __attribute__((returns_twice));
extern void recorder_os_jump_(void *at, int value) RECORDER_LABEL_(_longjmp)
    __attribute__((noreturn));

struct recorder_action_ {
    void (*handler)(int sig, void *info, void *context);
    struct recorder_signal_set_ mask;
    unsigned flags;
};
RECORDER_FUNCTION_ int
recorder_os_action_(int sig, const struct recorder_action_ *action,
                    struct recorder_action_ *old)
{
    struct sigaction now, before;
    int result;
    __builtin_memset(&now, 0, sizeof now);
    if (action) {
        now.sa_mask = action->mask.set;
        now.sa_flags = (int)action->flags;
        if (action->flags & RECORDER_SA_SIGINFO_)
            now.sa_sigaction =
                (void (*)(int, siginfo_t *, void *))action->handler;
        else
            now.sa_handler = (void (*)(int))(uintptr_t)action->handler;
    }
    result = sigaction(sig, action ? &now : NULL, old ? &before : NULL);
    if (result == 0 && old) {
        old->mask.set = before.sa_mask;
        old->flags = (unsigned)before.sa_flags;
        old->handler = (void (*)(int, void *, void *))(
            old->flags & RECORDER_SA_SIGINFO_ ? (uintptr_t)before.sa_sigaction
                                              : (uintptr_t)before.sa_handler);
    }
    return result;
}

struct recorder_stack_of_signals_ {
    void *base;
    int flags;
    size_t bytes;
};
#if defined(SA_ONSTACK) && defined(SS_DISABLE)
#define RECORDER_SA_ONSTACK_ ((unsigned)SA_ONSTACK)
enum { RECORDER_SS_DISABLE_ = SS_DISABLE };
RECORDER_FUNCTION_ int
recorder_os_stack_(const struct recorder_stack_of_signals_ *stack,
                   struct recorder_stack_of_signals_ *old)
{
    stack_t now, before;
    int result;
    __builtin_memset(&now, 0, sizeof now);
    if (stack) {
        now.ss_sp = (char *)stack->base; /* a char * on older systems */
        now.ss_flags = stack->flags;
        now.ss_size = stack->bytes;
    }
    result = sigaltstack(stack ? &now : NULL, old ? &before : NULL);
    if (result == 0 && old) {
        old->base = before.ss_sp;
        old->flags = before.ss_flags;
        old->bytes = before.ss_size;
    }
    return result;
}
#else /* sigaltstack() is of X/Open, and hidden */
enum { RECORDER_SA_ONSTACK_ = 0, RECORDER_SS_DISABLE_ = 0 };
RECORDER_INLINE_ int
recorder_os_stack_(const struct recorder_stack_of_signals_ *stack,
                   struct recorder_stack_of_signals_ *old)
{
    errno = ENOSYS;
    return -1;
}
#endif

struct recorder_held_ {
    sigset_t mask, pending;
    int error;
};
RECORDER_FUNCTION_ void recorder_os_hold_signals_(struct recorder_held_ *held)
{
    sigset_t block;
    held->error = errno;
    (void)sigemptyset(&held->mask);
    (void)sigemptyset(&held->pending);
    (void)sigemptyset(&block);
    (void)sigaddset(&block, SIGPIPE);
    (void)sigaddset(&block, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &block, &held->mask);
    sigpending(&held->pending);
}

/* Consumes a signal if it is pending. It may be pending for the whole process,
 * and sigwait() would wait for ever if another thread consumed it first; so a
 * spin lock serialises the look and the sigwait(), with all signals blocked. In
 * a child of fork() the lock may stay taken: after a second it is ignored. */
RECORDER_PROGRAM_ uint32_t recorder_os_consuming_ = 0;
RECORDER_FUNCTION_ void recorder_os_consume_signal_(int sig)
{
    struct recorder_signal_set_ before;
    sigset_t pending, only;
    unsigned tries = 1000;
    recorder_os_block_(&before);
    while (tries-- > 0 &&
           __atomic_exchange_n(&recorder_os_consuming_, 1, __ATOMIC_ACQUIRE))
        poll(NULL, 0, 1);
    (void)sigemptyset(&only);
    (void)sigaddset(&only, sig);
    if (sigpending(&pending) == 0 && sigismember(&pending, sig) == 1) {
        RECORDER_STEP_(taking);
        sigwait(&only, &sig);
    }
    __atomic_store_n(&recorder_os_consuming_, 0, __ATOMIC_RELEASE);
    recorder_os_mask_(SIG_SETMASK, &before, NULL);
}
RECORDER_FUNCTION_ void
recorder_os_release_signals_(struct recorder_held_ *held)
{
    static const int sigs[] = {SIGPIPE, SIGXFSZ};
    sigset_t now;
    unsigned i;
    for (i = 0; i < 2 && sigpending(&now) == 0; i++)
        if (sigismember(&now, sigs[i]) == 1 &&
            sigismember(&held->pending, sigs[i]) == 0)
            recorder_os_consume_signal_(sigs[i]);
    pthread_sigmask(SIG_SETMASK, &held->mask, NULL);
    errno = held->error;
}

/* ----------------------------------------------------------- environment -- */

#ifdef RECORDER_BSD_
extern int recorder_os_issetugid_(void) RECORDER_LABEL_(issetugid);
RECORDER_INLINE_ bool recorder_os_trusted_(void)
{
    return !recorder_os_issetugid_();
}
#else
RECORDER_INLINE_ bool recorder_os_trusted_(void)
{
    return getuid() == geteuid() && getgid() == getegid();
}
#endif
RECORDER_INLINE_ char *recorder_os_environment_(const char *name)
{
    return recorder_os_trusted_() ? getenv(name) : NULL;
}

RECORDER_STUBS_END_
RECORDER_C_END_
#endif
