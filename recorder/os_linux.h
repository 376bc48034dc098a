/* os_linux.h - the functions of os.h for Linux, by direct system calls. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OS_LINUX_H_
#define RECORDER_OS_LINUX_H_

#include "language.h"
#include <sys/syscall.h>

#define RECORDER_OS_FILES_ /* os_linux_file.h */

RECORDER_C_BEGIN_

/* ----------------------------------------------------------------- calls -- */

/* System headers are included for the calls' numbers only. Other headers hide
 * declarations from a program compiled as strict C11; so functions of the C
 * library are declared under names of ours, and structures and numbers are
 * copies of glibc's and musl's. tests/inside/signals.c compares them with the
 * system's. */

enum { RECORDER_REALTIME_ = 0, RECORDER_MONOTONIC_ = 1,
       RECORDER_PROCESSOR_ = 3 };
struct recorder_timespec_ {
    long seconds, nanoseconds;
};
extern int recorder_os_clock_(int clock, struct recorder_timespec_ *to)
    RECORDER_LABEL_(clock_gettime);

enum { RECORDER_ESRCH_ = 3, RECORDER_EINTR_ = 4, RECORDER_EAGAIN_ = 11,
       RECORDER_EFAULT_ = 14 };
extern long recorder_syscall_(long number, ...) RECORDER_LABEL_(syscall);
extern int *recorder_os_errno_(void) RECORDER_LABEL_(__errno_location);
/* glibc has it; it is async-signal-safe. */
extern const char *recorder_error_text_(int error)
    RECORDER_LABEL_(strerrordesc_np) __attribute__((weak));
RECORDER_INLINE_ const char *recorder_os_error_text_(int error)
{
    return &recorder_error_text_ ? recorder_error_text_(error) : NULL;
}

extern long recorder_os_read_(int fd, void *to, size_t size)
    RECORDER_LABEL_(read);
extern int recorder_os_close_(int fd) RECORDER_LABEL_(close);

enum { RECORDER_AT_CWD_ = -100, RECORDER_O_CLOEXEC_ = 02000000 };

extern unsigned long recorder_os_auxiliary_(unsigned long type)
    RECORDER_LABEL_(getauxval);

/* --------------------------------------------------------------- threads -- */

RECORDER_INLINE_ int32_t recorder_os_thread_(void)
{
    return (int32_t)recorder_syscall_(SYS_gettid);
}
RECORDER_INLINE_ intptr_t recorder_os_process_(void)
{
    return (intptr_t)recorder_syscall_(SYS_getpid);
}
RECORDER_INLINE_ void recorder_os_yield_(void)
{
    recorder_syscall_(SYS_sched_yield);
}
RECORDER_INLINE_ void recorder_os_get_thread_name_(char name[16])
{
    recorder_syscall_(SYS_prctl, 16L /* PR_GET_NAME */, name, 0L, 0L, 0L);
}
enum { RECORDER_OS_NAMES_ = 1 };
RECORDER_IF_CALLED_ bool recorder_os_get_name_of_(int32_t id, char name[16])
{
    char path[40] = "/proc/self/task/";
    unsigned at = 16, digits = 1;
    int32_t rest;
    long fd, size;
    for (rest = id; rest >= 10; rest /= 10)
        digits++;
    at += digits;
    __builtin_memcpy(path + at, "/comm", 6);
    for (; digits > 0; digits--, id /= 10)
        path[--at] = (char)('0' + id % 10);
    fd = recorder_syscall_(SYS_openat, (long)RECORDER_AT_CWD_, path,
                           (long)RECORDER_O_CLOEXEC_);
    if (fd < 0)
        return false;
    size = recorder_os_read_((int)fd, name, 16);
    recorder_os_close_((int)fd);
    if (size > 0)
        name[size - 1] = '\0'; /* instead of the newline */
    return size > 0;
}
RECORDER_INLINE_ const char *recorder_os_program_(void)
{
    const char *name = (const char *)recorder_os_auxiliary_(31 /* AT_EXECFN */);
    const char *at;
    for (at = name; at && *at; at++)
        if (*at == '/' && at[1])
            name = at + 1;
    return name;
}
RECORDER_INLINE_ bool recorder_os_thread_ended_(intptr_t process, int32_t id)
{
    return recorder_syscall_(SYS_tgkill, (long)process, (long)id, 0L) != 0 &&
           *recorder_os_errno_() == RECORDER_ESRCH_;
}
extern void recorder_os_exit_(int status) RECORDER_LABEL_(_exit);

#ifdef __GLIBC__
#define RECORDER_ATFORK_ __register_atfork
extern void *recorder_module_ RECORDER_LABEL_(__dso_handle)
    __attribute__((visibility("hidden")));
#else
#define RECORDER_ATFORK_ pthread_atfork
#define recorder_module_ NULL /* pthread_atfork() ignores a fourth argument */
#endif
extern int recorder_atfork_(void (*prepare)(void), void (*parent)(void),
                            void (*child)(void), void *module)
    RECORDER_LABEL_(RECORDER_ATFORK_) __attribute__((weak));
RECORDER_INLINE_ void recorder_os_at_fork_(void (*prepare)(void),
                                           void (*parent)(void),
                                           void (*child)(void))
{
    if (recorder_atfork_)
        recorder_atfork_(prepare, parent, child, recorder_module_);
}

/* ---------------------------------------------------------------- memory -- */

extern void *recorder_os_mmap_(void *at, size_t bytes, int protection,
                               int flags, int fd, long offset)
    RECORDER_LABEL_(mmap);
extern int recorder_os_unmap_(void *at, size_t bytes) RECORDER_LABEL_(munmap);
RECORDER_INLINE_ void *recorder_os_memory_(size_t bytes)
{
#if defined(__mips__)
    const int private_anonymous = 0x802;
#else
    const int private_anonymous = 0x22;
#endif
    void *memory = recorder_os_mmap_(NULL, bytes, 3 /* read, write */,
                                     private_anonymous, -1, 0);
    return memory == (void *)-1 ? NULL : memory;
}
extern int recorder_os_protect_(void *at, size_t bytes, int protection)
    RECORDER_LABEL_(mprotect);

RECORDER_INLINE_ long recorder_os_read_self_(uintptr_t from, void *to,
                                             size_t size)
{
    struct {
        void *base;
        size_t size;
    } here, there; /* struct iovec */
    long count;
    here.base = to;
    there.base = (void *)from;
    here.size = there.size = size;
    count =
        recorder_syscall_(SYS_process_vm_readv, (long)recorder_os_process_(),
                          &here, 1L, &there, 1L, 0L);
    return count < 0 && *recorder_os_errno_() == RECORDER_EFAULT_ ? 0 : count;
}

enum { RECORDER_OS_UNLOADS_ = 1, RECORDER_OS_SEES_SELF_ = 0 };
struct recorder_os_segment_ {
    uintptr_t at, file_bytes, bytes;
    bool writable;
};
struct recorder_os_headers_ {
    const uintptr_t *first, *next, *end;
    uintptr_t bias; /* the loader's addition to each address */
};
enum { RECORDER_HEADER_WORDS_ = __SIZEOF_POINTER__ == 8 ? 7 : 8 };
RECORDER_INLINE_ struct recorder_os_headers_ recorder_os_headers_open_(void)
{
    struct recorder_os_headers_ headers;
    uintptr_t count = recorder_os_auxiliary_(5 /* AT_PHNUM */);
    headers.first = (const uintptr_t *)recorder_os_auxiliary_(3 /* AT_PHDR */);
    headers.next = headers.first;
    headers.end =
        headers.first ? headers.first + count * RECORDER_HEADER_WORDS_ : NULL;
    headers.bias = 0;
    return headers;
}
/* The program headers of a module, by its ELF header: e_phnum, at e_phoff. */
RECORDER_INLINE_ struct recorder_os_headers_
recorder_os_headers_of_(const char *elf)
{
    struct recorder_os_headers_ headers;
    uintptr_t offset;
    uint16_t count;
    __builtin_memcpy(&offset, elf + (__SIZEOF_POINTER__ == 8 ? 32 : 28),
                     sizeof offset);
    __builtin_memcpy(&count, elf + (__SIZEOF_POINTER__ == 8 ? 56 : 44),
                     sizeof count);
    headers.bias = (uintptr_t)elf;
    headers.first = headers.next =
        (const uintptr_t *)(const void *)(elf + offset);
    headers.end = headers.first + (size_t)count * RECORDER_HEADER_WORDS_;
    return headers;
}
/* The needed words have the same index on 32 and 64 bits: 2 address, 4 bytes in
 * the file, 5 in memory. PT_PHDR precedes the segments. */
RECORDER_INLINE_ bool
recorder_os_next_segment_(struct recorder_os_headers_ *headers,
                          struct recorder_os_segment_ *segment)
{
    while (headers->next != headers->end) {
        const uintptr_t *h = headers->next;
        uint32_t type = *(const uint32_t *)h;
        uint32_t flags =
            __SIZEOF_POINTER__ == 8 ? ((const uint32_t *)h)[1] : (uint32_t)h[6];
        headers->next += RECORDER_HEADER_WORDS_;
        if (type == 6) /* PT_PHDR */
            headers->bias = (uintptr_t)headers->first - h[2];
        if (type != 1) /* PT_LOAD */
            continue;
        segment->at = headers->bias + h[2];
        segment->file_bytes = h[4];
        segment->bytes = h[5];
        segment->writable = (flags & 2) != 0; /* PF_W */
        return true;
    }
    return false;
}
enum { RECORDER_OS_MAPS_ = 1 };
RECORDER_INLINE_ long recorder_os_maps_(int *fd, char *to, size_t size)
{
    long count;
    if (*fd < 0)
        *fd = (int)recorder_syscall_(SYS_openat, (long)RECORDER_AT_CWD_,
                                     "/proc/self/maps",
                                     (long)RECORDER_O_CLOEXEC_);
    if (*fd < 0)
        return -1;
    count = recorder_syscall_(SYS_read, (long)*fd, to, size);
    if (count <= 0) {
        recorder_syscall_(SYS_close, (long)*fd);
        *fd = -1;
    }
    return count;
}

/* ----------------------------------------------------------------- files -- */

#define RECORDER_PIPE_BYTES_ ((size_t)4096) /* PIPE_BUF */
extern long recorder_os_write_(int fd, const void *from, size_t size)
    RECORDER_LABEL_(write);
extern int recorder_os_pipe_(int fds[2]) RECORDER_LABEL_(pipe);
extern int recorder_os_fcntl_(int fd, int command, ...) RECORDER_LABEL_(fcntl);
RECORDER_INLINE_ int recorder_os_dup_above_(int fd)
{
    return recorder_os_fcntl_(fd, 0 /* F_DUPFD */, 3);
}
/* Sanitizers check the arguments of write(), but not of syscall(). */
RECORDER_INLINE_ long recorder_os_write_unchecked_(int fd, uintptr_t from,
                                                   size_t size)
{
    return recorder_syscall_(SYS_write, (long)fd, from, size);
}
/* Writes a text and a newline in one call. compat/ asks for it, on Linux only.
 */
RECORDER_INLINE_ long recorder_os_write_line_(int fd, const void *text,
                                              size_t size)
{
    struct {
        const void *base;
        size_t size;
    } pieces[2]; /* struct iovec */
    pieces[0].base = text;
    pieces[0].size = size;
    pieces[1].base = "\n";
    pieces[1].size = 1;
    return recorder_syscall_(SYS_writev, (long)fd, pieces, 2L);
}

struct recorder_pollfd_ {
    int fd;
    short events, revents;
};
enum { RECORDER_POLLOUT_ = 4, RECORDER_POLL_FAILED_ = 0 };
extern int recorder_os_poll_(struct recorder_pollfd_ *fds, unsigned long count,
                             int milliseconds) RECORDER_LABEL_(poll);

RECORDER_INLINE_ int recorder_os_create_(const char *path, bool append)
{
#if defined(__mips__)
    const long flags = 1 | 0x100 | (append ? 8 : 0x200);
#else
    const long flags = 1 | 0100 | (append ? 02000 : 01000);
#endif
    return (int)recorder_syscall_(SYS_openat, (long)RECORDER_AT_CWD_, path,
                                  flags | RECORDER_O_CLOEXEC_, 0666L);
}
struct recorder_statx_ {
    uint32_t mask, block_bytes;
    uint64_t attributes;
    uint32_t links, user, group;
    uint16_t mode, spare_1;
    uint64_t inode, bytes, blocks, attributes_mask;
    uint64_t times[8];
    uint32_t of_device[2], device[2];
    uint64_t spare_2[14];
};

RECORDER_SELDOM_ uint32_t recorder_os_user_(void)
{
#ifdef SYS_geteuid32
    return (uint32_t)recorder_syscall_(SYS_geteuid32);
#else
    return (uint32_t)recorder_syscall_(SYS_geteuid);
#endif
}
RECORDER_SELDOM_ long recorder_os_statx_(int fd, const char *path,
                                         struct recorder_statx_ *to)
{
#ifdef SYS_statx
    const long empty = 0x1000, no_follow = 0x100;
    long result = recorder_syscall_(
        SYS_statx, fd < 0 ? (long)RECORDER_AT_CWD_ : (long)fd, path,
        fd < 0 ? no_follow : empty, 0x7ffL /* all the basic ones */, to);
    return result == -1 ? -(long)*recorder_os_errno_() : result;
#else
    (void)fd, (void)path, (void)to;
    return -1;
#endif
}
/* True for a regular file of this user with one name. */
RECORDER_INLINE_ bool recorder_os_is_own_(const struct recorder_statx_ *stat)
{
    return (stat->mode & 0170000) == 0100000 && stat->links == 1 &&
           stat->user == recorder_os_user_();
}
RECORDER_INLINE_ int recorder_os_append_(const char *path)
{
#if defined(__mips__)
    const long flags = 1 | 8 | 0x80 | 0x100 | 0x20000;
#elif defined(__arm__) || defined(__aarch64__) || defined(__powerpc__)
    const long flags = 1 | 0100 | 02000 | 04000 | 0100000;
#else
    const long flags = 1 | 0100 | 02000 | 04000 | 0400000;
#endif
    struct recorder_statx_ stat;
    int fd = (int)recorder_syscall_(SYS_openat, (long)RECORDER_AT_CWD_, path,
                                    flags | RECORDER_O_CLOEXEC_, 0600L);
    if (fd < 0)
        return -1;
    if (recorder_os_statx_(fd, "", &stat) == 0 && recorder_os_is_own_(&stat))
        return fd;
    recorder_os_close_(fd);
    return -1;
}
RECORDER_INLINE_ void recorder_os_replace_(int fd, int by)
{
    recorder_syscall_(SYS_dup3, (long)by, (long)fd, (long)RECORDER_O_CLOEXEC_);
}

/* --------------------------------------------------------------- signals -- */

struct recorder_signal_set_ {
    unsigned long bits[1024 / (8 * sizeof(long))];
};
/* Linux: of the calling thread. Before glibc 2.32, pthread_sigmask() is not in
 * libc, and programs without threads may not link with libpthread. */
extern int recorder_os_mask_(int how, const struct recorder_signal_set_ *set,
                             struct recorder_signal_set_ *old)
    RECORDER_LABEL_(sigprocmask);
extern int recorder_os_pending_(struct recorder_signal_set_ *set)
    RECORDER_LABEL_(sigpending);
extern int recorder_os_sigtimedwait_(const struct recorder_signal_set_ *set,
                                     void *info,
                                     const struct recorder_timespec_ *timeout)
    RECORDER_LABEL_(sigtimedwait);
#if defined(__mips__)
enum { RECORDER_SIG_BLOCK_ = 1, RECORDER_SIG_SETMASK_ = 3,
       RECORDER_SIGPIPE_ = 13, RECORDER_SIGXFSZ_ = 31 };
#else
enum { RECORDER_SIG_BLOCK_ = 0, RECORDER_SIG_SETMASK_ = 2,
       RECORDER_SIGPIPE_ = 13, RECORDER_SIGXFSZ_ = 25 };
#endif

struct recorder_action_ {
#if defined(__mips__)
    unsigned flags;
    void (*handler)(int sig, void *info, void *context);
    struct recorder_signal_set_ mask;
#elif defined(__s390x__) && defined(__GLIBC__)
    void (*handler)(int sig, void *info, void *context);
    int reserved;
    unsigned flags;
    void (*restorer)(void);
    struct recorder_signal_set_ mask;
#else
    void (*handler)(int sig, void *info, void *context);
    struct recorder_signal_set_ mask;
    unsigned flags;
#endif
    void *rest[2];
};
struct recorder_stack_of_signals_ { /* stack_t */
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

extern int recorder_os_action_(int sig, const struct recorder_action_ *action,
                               struct recorder_action_ *old)
    RECORDER_LABEL_(sigaction);
extern int recorder_os_stack_(const struct recorder_stack_of_signals_ *stack,
                              struct recorder_stack_of_signals_ *old)
    RECORDER_LABEL_(sigaltstack);

RECORDER_INLINE_ void recorder_os_block_(struct recorder_signal_set_ *before)
{
    struct recorder_signal_set_ all;
    __builtin_memset(&all, 0xff, sizeof all);
    __builtin_memset(before, 0, sizeof *before);
    recorder_os_mask_(RECORDER_SIG_SETMASK_, &all, before);
}
RECORDER_INLINE_ void recorder_os_unblock_faults_(void)
{
    struct recorder_signal_set_ faults = {{0}};
    faults.bits[0] =
        1ul << (RECORDER_SIGSEGV_ - 1) | 1ul << (RECORDER_SIGBUS_ - 1) |
        1ul << (RECORDER_SIGILL_ - 1) | 1ul << (RECORDER_SIGFPE_ - 1);
    recorder_os_mask_(RECORDER_SIG_BLOCK_ + 1 /* SIG_UNBLOCK */, &faults, NULL);
}
/* The largest jmp_buf is 64-bit POWER's, 656 bytes. */
enum { RECORDER_OS_JUMPS_ = 1, RECORDER_MARK_BYTES_ = 1024 };
extern int recorder_os_mark_(void *at) RECORDER_LABEL_(_setjmp)
    __attribute__((returns_twice));
extern void recorder_os_jump_(void *at, int value) RECORDER_LABEL_(_longjmp)
    __attribute__((noreturn));
/* The offset of the signal mask in the context of a handler (ucontext_t); 0:
 * unknown on this machine. */
#if defined(__x86_64__) && __SIZEOF_POINTER__ == 8
enum { RECORDER_CONTEXT_MASK_ = 296 };
#elif defined(__i386__)
enum { RECORDER_CONTEXT_MASK_ = 108 };
#elif __SIZEOF_POINTER__ == 8 &&                                               \
    (defined(__aarch64__) || defined(__riscv) || defined(__powerpc__))
enum { RECORDER_CONTEXT_MASK_ = 40 };
#elif defined(__arm__)
enum { RECORDER_CONTEXT_MASK_ = 104 };
#elif defined(__powerpc__)
enum { RECORDER_CONTEXT_MASK_ = 52 };
#elif defined(__s390x__)
enum { RECORDER_CONTEXT_MASK_ = 384 };
#else
enum { RECORDER_CONTEXT_MASK_ = 0 };
#endif
/* A fault whose signal is blocked ends the program, whatever its action: the
 * kernel sets the default one (force_sig()). So the context's mask gets it. */
RECORDER_INLINE_ bool recorder_os_fault_again_(int sig, const void *info,
                                               void *context)
{
    unsigned long *mask =
        (unsigned long *)(void *)((char *)context + RECORDER_CONTEXT_MASK_);
    const int code = ((const int *)info)[2]; /* above 0: from the kernel */
    bool faults = sig == RECORDER_SIGSEGV_ || sig == RECORDER_SIGBUS_ ||
                  sig == RECORDER_SIGILL_ || sig == RECORDER_SIGFPE_;
    if (RECORDER_CONTEXT_MASK_ == 0 || !faults || code <= 0)
        return false;
    *mask |= 1ul << (sig - 1);
    return true;
}
RECORDER_INLINE_ bool recorder_os_ignores_(int sig)
{
    return sig == RECORDER_SIGCHLD_ || sig == RECORDER_SIGCONT_ ||
           sig == RECORDER_SIGURG_ || sig == RECORDER_SIGWINCH_;
}
RECORDER_INLINE_ void recorder_os_requeue_signal_(int sig, void *info)
{
    long process = (long)recorder_os_process_(), thread = recorder_os_thread_();
    if (recorder_syscall_(SYS_rt_tgsigqueueinfo, process, thread, (long)sig,
                          info) != 0)
        recorder_syscall_(SYS_tgkill, process, thread, (long)sig);
}

#define RECORDER_OUTPUT_SIGNALS_                                               \
    (1ul << (RECORDER_SIGPIPE_ - 1) | 1ul << (RECORDER_SIGXFSZ_ - 1))

struct recorder_held_ {
    struct recorder_signal_set_ mask, pending;
    int error;
};

RECORDER_IF_CALLED_ void recorder_os_hold_signals_(struct recorder_held_ *held)
{
    struct recorder_signal_set_ block = {{0}};
    held->error = *recorder_os_errno_();
    block.bits[0] = RECORDER_OUTPUT_SIGNALS_;
    held->mask.bits[0] = held->pending.bits[0] = 0;
    recorder_os_mask_(RECORDER_SIG_BLOCK_, &block, &held->mask);
    recorder_os_pending_(&held->pending);
}
RECORDER_IF_CALLED_ void
recorder_os_release_signals_(struct recorder_held_ *held)
{
    struct recorder_signal_set_ raised = {{0}};
    struct recorder_timespec_ now = {0, 0};
    raised.bits[0] = RECORDER_OUTPUT_SIGNALS_ & ~held->pending.bits[0];
    if (raised.bits[0])
        while (recorder_os_sigtimedwait_(&raised, NULL, &now) > 0)
            ;
    recorder_os_mask_(RECORDER_SIG_SETMASK_, &held->mask, NULL);
    *recorder_os_errno_() = held->error;
}

/* ----------------------------------------------------------- environment -- */

RECORDER_INLINE_ bool recorder_os_trusted_(void)
{
    return !recorder_os_auxiliary_(23 /* AT_SECURE */);
}
extern char *recorder_os_getenv_(const char *name) RECORDER_LABEL_(getenv);
RECORDER_INLINE_ char *recorder_os_environment_(const char *name)
{
    return recorder_os_trusted_() ? recorder_os_getenv_(name) : NULL;
}

RECORDER_C_END_
#endif
