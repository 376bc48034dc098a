/* os_linux_file.h - the functions of os_file.h for Linux. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OS_LINUX_FILE_H_
#define RECORDER_OS_LINUX_FILE_H_

#include "file_elf.h"
#include "os.h"
#include "text.h"

#if defined(__x86_64__) && defined(__ILP32__)
#error "recorder_dump.h: no port to x32: -mx32"
#endif

RECORDER_C_BEGIN_

#if defined(__mips__)
enum {
    RECORDER_O_NEW_ = 0x502,
    RECORDER_O_NONBLOCK_ = 0x80,
    RECORDER_MAP_NORESERVE_ = 0xc02,
    RECORDER_MAP_FIXED_ = 0xc12
};
#else
enum {
    RECORDER_O_NEW_ = 0302 /* RDWR, CREAT, EXCL */,
    RECORDER_O_NONBLOCK_ = 04000,
    RECORDER_MAP_NORESERVE_ = 0x4022 /* private, anonymous */,
    RECORDER_MAP_FIXED_ = 0x4032
};
#endif
#if defined(__arm__) || defined(__aarch64__) || defined(__powerpc__)
enum { RECORDER_O_NOFOLLOW_ = 0100000 };
#else
enum { RECORDER_O_NOFOLLOW_ = 0400000 };
#endif
enum {
    RECORDER_ENOENT_ = 2,
    RECORDER_ENOMEM_ = 12,
    RECORDER_EACCES_ = 13,
    RECORDER_EEXIST_ = 17,
    RECORDER_ENOTDIR_ = 20,
    RECORDER_EFBIG_ = 27,
    RECORDER_ENOSPC_ = 28,
    RECORDER_EROFS_ = 30,
#if defined(__mips__)
    RECORDER_ENOSYS_ = 89,
    RECORDER_EOPNOTSUPP_ = 122,
    RECORDER_EDQUOT_ = 1133
#else
    RECORDER_ENOSYS_ = 38,
    RECORDER_EOPNOTSUPP_ = 95,
    RECORDER_EDQUOT_ = 122
#endif
};

RECORDER_INLINE_ uintptr_t recorder_os_page_bytes_(void)
{
    return recorder_os_auxiliary_(6 /* AT_PAGESZ */);
}

RECORDER_INLINE_ bool recorder_os_is_absolute_(const char *path)
{
    return *path == '/';
}

/* Returns the result of a call, or minus errno if it is -1. */
RECORDER_INLINE_ long recorder_os_result_(long value)
{
    return value == -1 ? -(long)*recorder_os_errno_() : value;
}
/* Opens a file for this process only. */
RECORDER_SELDOM_ long recorder_os_openat_(const char *path, long flags,
                                          long mode)
{
    return recorder_os_result_(
        recorder_syscall_(SYS_openat, (long)RECORDER_AT_CWD_, path,
                          flags | RECORDER_O_CLOEXEC_, mode));
}
RECORDER_SELDOM_ long recorder_os_open_(const char *path, long flags)
{
    return recorder_os_openat_(path, flags | RECORDER_O_NOFOLLOW_, 0600);
}
/* Reads at most `max` bytes of a file. Returns how many; 0 also where the file
 * cannot be opened. */
RECORDER_SELDOM_ size_t recorder_os_file_(const char *path, void *to,
                                          size_t max)
{
    long fd = recorder_os_openat_(path, 0, 0);
    size_t size = 0;
    long count = 1;
    if (fd < 0)
        return 0;
    while (size < max && count > 0) {
        count = recorder_os_read_((int)fd, (char *)to + size, max - size);
        if (count > 0)
            size += (size_t)count;
    }
    recorder_os_close_((int)fd);
    return size;
}
/* The kernel grants a read lease only where there is no writer. */
RECORDER_SELDOM_ long recorder_os_has_writer_(int fd)
{
    const int set = 1024;                /* F_SETLEASE */
    const long read_lease = 0, none = 2; /* F_RDLCK, F_UNLCK */
    long result = recorder_os_result_(recorder_os_fcntl_(fd, set, read_lease));
    if (result == 0)
        recorder_os_fcntl_(fd, set, none);
    return result == -RECORDER_EAGAIN_ ? 1 : result;
}
RECORDER_SELDOM_ long recorder_os_lock_(int fd)
{
    return recorder_os_result_(
        recorder_syscall_(SYS_flock, (long)fd, 2L | 4L /* LOCK_EX, LOCK_NB */));
}
RECORDER_SELDOM_ char *recorder_os_share_(int fd, uintptr_t offset,
                                          uintptr_t bytes)
{
#if __SIZEOF_POINTER__ == 8
    long at =
        recorder_syscall_(SYS_mmap, NULL, bytes, 3L, 1L, (long)fd, offset);
#else
    long at = recorder_syscall_(SYS_mmap2, NULL, bytes, 3L, 1L, (long)fd,
                                offset / 4096);
#endif
    return at == -1 ? NULL : (char *)at;
}
/* SIGXFSZ may be raised. */
RECORDER_SELDOM_ long recorder_os_allocate_(int fd, uintptr_t offset,
                                            uintptr_t bytes)
{
    const uintptr_t piece = 65536;
    long result;
    void *zeros;
#if __SIZEOF_POINTER__ == 8
    result = recorder_syscall_(SYS_fallocate, (long)fd, 0L, offset, bytes);
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    result =
        recorder_syscall_(SYS_fallocate, (long)fd, 0L, offset, 0L, bytes, 0L);
#else
    result =
        recorder_syscall_(SYS_fallocate, (long)fd, 0L, 0L, offset, 0L, bytes);
#endif
    result = recorder_os_result_(result);
    if (result != -RECORDER_ENOSYS_ && result != -RECORDER_EOPNOTSUPP_)
        return result;
    zeros = recorder_os_memory_(piece);
    if (!zeros)
        return -RECORDER_ENOMEM_;
    for (result = 0; bytes && result >= 0;) {
        result = recorder_os_result_(
            recorder_os_write_(fd, zeros, bytes < piece ? bytes : piece));
        if (result > 0)
            bytes -= (uintptr_t)result;
        else if (result == -RECORDER_EINTR_)
            result = 0;
        else if (result == 0)
            result = -RECORDER_ENOSPC_;
    }
    recorder_os_unmap_(zeros, piece);
    return result < 0 ? result : 0;
}

RECORDER_SELDOM_ bool recorder_os_seek_(int fd, uintptr_t offset)
{
    return recorder_syscall_(SYS_lseek, (long)fd, (long)offset, 0L) >= 0;
}
RECORDER_SELDOM_ void recorder_os_truncate_(int fd, uintptr_t bytes)
{
    recorder_syscall_(SYS_ftruncate, (long)fd, (long)bytes);
}
RECORDER_INLINE_ void recorder_os_keep_(int fd)
{
    recorder_os_close_(fd); /* the mapping keeps the file */
}
RECORDER_SELDOM_ void recorder_os_folder_(char *to, size_t max)
{
    recorder_syscall_(SYS_getcwd, to, max);
}
RECORDER_SELDOM_ char *recorder_os_reserve_(uintptr_t bytes)
{
    void *memory =
        recorder_os_mmap_(NULL, bytes, 3, RECORDER_MAP_NORESERVE_, -1, 0);
    return memory == (void *)-1 ? NULL : (char *)memory;
}
RECORDER_SELDOM_ bool recorder_os_map_over_(void *at, uintptr_t bytes)
{
    return recorder_os_mmap_(at, bytes, 3, RECORDER_MAP_FIXED_, -1, 0) !=
           (void *)-1;
}
RECORDER_SELDOM_ bool recorder_os_move_over_(void *from, void *at,
                                             uintptr_t bytes)
{
    return recorder_syscall_(SYS_mremap, from, bytes, bytes,
                             3L /* MAYMOVE, FIXED */, at) != -1;
}

extern int recorder_os_modules_(int (*each)(struct recorder_dl_info_ *, size_t,
                                            void *),
                                void *context) RECORDER_LABEL_(dl_iterate_phdr);

extern int recorder_on_exit_(void (*call)(int status, void *argument),
                             void *argument) RECORDER_LABEL_(on_exit)
    __attribute__((weak));
RECORDER_INLINE_ void recorder_os_at_exit_(void (*call)(int status,
                                                        void *argument))
{
    if (recorder_on_exit_)
        recorder_on_exit_(call, NULL);
}

extern int recorder_os_rename_(const char *from, const char *to)
    RECORDER_LABEL_(rename);
extern int recorder_os_unlink_(const char *path) RECORDER_LABEL_(unlink);

RECORDER_SELDOM_ bool recorder_os_process_exists_(intptr_t pid)
{
    return recorder_syscall_(SYS_kill, (long)pid, 0L) == 0 ||
           *recorder_os_errno_() != RECORDER_ESRCH_;
}

/* Returns a number of /proc/PID/stat; 0 if the process does not exist or is a
 * zombie. Fields count from 1, as in proc(5). */
enum { RECORDER_STAT_THREADS_ = 20, RECORDER_STAT_START_ = 22 };
RECORDER_SELDOM_ uintptr_t recorder_os_process_stat_(intptr_t pid,
                                                     unsigned wanted)
{
    struct recorder_string_ path;
    char text[1024], name[40];
    size_t size, i;
    unsigned field = 2;
    uintptr_t number = 0;
    path = recorder_string_at_(name, sizeof name - 1);
    recorder_add_string_(&path, "/proc/");
    if (pid == recorder_os_process_()) /* /proc may number another namespace */
        recorder_add_string_(&path, "self");
    else
        recorder_add_number_(&path, (uint64_t)pid, 10, 1);
    recorder_add_text_(&path, "/stat", 6);
    size = recorder_os_file_(name, text, sizeof text);
    for (i = size; i > 0 && text[i - 1] != ')'; i--)
        ; /* the name in front may contain blanks and brackets */
    for (; i < size && field < wanted; i++)
        if (text[i] == ' ')
            field++;
        else if (field == 3 && (text[i] == 'Z' || text[i] == 'X'))
            return 0;
    for (i = i < size ? i : size; i < size && text[i] >= '0'; i++)
        number = number * 10 + (uintptr_t)(text[i] - '0');
    return number;
}

RECORDER_INLINE_ uintptr_t recorder_os_process_start_(intptr_t pid)
{
    return recorder_os_process_stat_(pid, RECORDER_STAT_START_);
}
RECORDER_INLINE_ bool recorder_os_is_alone_(void)
{
    return recorder_os_process_stat_(recorder_os_process_(),
                                     RECORDER_STAT_THREADS_) <= 1;
}

RECORDER_SELDOM_ size_t recorder_os_link_(const char *path, char *to,
                                          size_t max)
{
    long size = recorder_syscall_(SYS_readlinkat, (long)RECORDER_AT_CWD_, path,
                                  to, max);
    return size > 0 ? (size_t)size : 0;
}
RECORDER_INLINE_ size_t recorder_os_path_(char *to, size_t max)
{
    return recorder_os_link_("/proc/self/exe", to, max);
}
RECORDER_INLINE_ size_t recorder_os_namespace_(char *to, size_t max)
{
    return recorder_os_link_("/proc/self/ns/pid", to, max);
}
RECORDER_INLINE_ size_t recorder_os_boot_(char *to, size_t max)
{
    return recorder_os_file_("/proc/sys/kernel/random/boot_id", to, max);
}
RECORDER_INLINE_ size_t recorder_os_host_(char *to, size_t max)
{
    return recorder_os_file_("/proc/sys/kernel/hostname", to, max);
}
RECORDER_INLINE_ size_t recorder_os_vector_(char *to, size_t max)
{
    return recorder_os_file_("/proc/self/auxv", to, max);
}
RECORDER_SELDOM_ bool recorder_os_machine_(struct recorder_elf_ *to)
{
    return recorder_os_file_("/proc/self/exe", to, sizeof *to) == sizeof *to &&
           __builtin_memcmp(to->ident, "\177ELF", 4) == 0;
}
/* The words of ucontext_t that NT_PRSTATUS has, in its order; -1: none, -2: all
 * ones. */
#if defined(__x86_64__) && __SIZEOF_POINTER__ == 8
#define RECORDER_REGISTERS_ 27
enum { RECORDER_CONTEXT_SP_ = 19 };
#define RECORDER_CONTEXT_                                                      \
    12, 11, 10, 9, 15, 16, 8, 7, 6, 5, 18, 19, 17, 14, 13, -2, 21, -1, 22, 20, \
        -1, -1, -1, -1, -1, -1, -1
#elif defined(__i386__)
#define RECORDER_REGISTERS_ 17
enum { RECORDER_CONTEXT_SP_ = 15 };
#define RECORDER_CONTEXT_                                                      \
    13, 15, 14, 10, 9, 11, 16, 8, 7, 6, 5, -2, 19, 20, 21, 12, 23
#elif defined(__aarch64__) && __SIZEOF_POINTER__ == 8
#define RECORDER_REGISTERS_ 34
enum { RECORDER_CONTEXT_SP_ = 31 };
#define RECORDER_CONTEXT_                                                      \
    23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,    \
        41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56
#elif defined(__arm__)
#define RECORDER_REGISTERS_ 18
enum { RECORDER_CONTEXT_SP_ = 13 };
#define RECORDER_CONTEXT_                                                      \
    8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, -2
#elif defined(__riscv) && __SIZEOF_POINTER__ == 8
#define RECORDER_REGISTERS_ 32
enum { RECORDER_CONTEXT_SP_ = 2 };
#define RECORDER_CONTEXT_                                                      \
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,    \
        40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53
#else
enum { RECORDER_CONTEXT_SP_ = -1 };
#define RECORDER_CONTEXT_ -1
#if defined(__riscv)
#define RECORDER_REGISTERS_ 32
#elif defined(__powerpc__)
#define RECORDER_REGISTERS_ 48
#elif defined(__s390x__)
#define RECORDER_REGISTERS_ 27
#elif defined(__mips__) && (__SIZEOF_POINTER__ == 8) == (_MIPS_SIM == _ABI64)
#define RECORDER_REGISTERS_ 45
#else
#define RECORDER_REGISTERS_ 0
#endif
#endif
#if __SIZEOF_POINTER__ == 8
#define RECORDER_INFO_PID_ 24
#elif defined(__powerpc__) || defined(__mips__) || defined(__riscv)
#define RECORDER_INFO_PID_ 16
#else
#define RECORDER_INFO_PID_ 12
#endif
RECORDER_SELDOM_ int recorder_os_registers_(uintptr_t *to, const void *context)
{
    static const signed char words[] = {RECORDER_CONTEXT_};
    unsigned i;
    for (i = 0; i < sizeof words && context && RECORDER_CONTEXT_SP_ >= 0; i++)
        to[i] = words[i] >= 0    ? ((const uintptr_t *)context)[words[i]]
                : words[i] == -2 ? UINTPTR_MAX
                                 : 0;
    return context ? (int)RECORDER_CONTEXT_SP_ : -1;
}
RECORDER_INLINE_ void recorder_os_siginfo_(char *to, int sig, const void *info)
{
    if (info) {
        __builtin_memcpy(to, info, 128);
    } else {
        __builtin_memset(to, 0, 128);
        __builtin_memcpy(to, &sig, sizeof sig);
    }
}

RECORDER_C_END_
#endif
