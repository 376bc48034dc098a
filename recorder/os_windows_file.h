/* os_windows_file.h - the functions of os_file.h for 64-bit Windows. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OS_WINDOWS_FILE_H_
#define RECORDER_OS_WINDOWS_FILE_H_

#include "file_elf.h"
#include "os_windows.h"

RECORDER_C_BEGIN_
RECORDER_STUBS_

/* ---------------------------------------------------------------- system -- */

#ifdef __x86_64__
enum { RECORDER_WIN_MACHINE_ = 62, RECORDER_WIN_REGISTERS_ = 27 };
#else /* aarch64 */
enum { RECORDER_WIN_MACHINE_ = 183, RECORDER_WIN_REGISTERS_ = 34 };
#endif

extern void *recorder_win_create_(const char *path, unsigned access,
                                  unsigned share, void *security, unsigned how,
                                  unsigned flags, void *model)
    RECORDER_LABEL_(CreateFileA);
extern int recorder_win_descriptor_(intptr_t handle, int flags)
    RECORDER_LABEL_(_open_osfhandle);
extern int64_t recorder_win_seek_(int fd, int64_t offset, int from)
    RECORDER_LABEL_(_lseeki64);
extern int recorder_win_pointer_(void *handle, int64_t to, int64_t *is,
                                 unsigned from)
    RECORDER_LABEL_(SetFilePointerEx);
extern int recorder_win_cut_(void *handle) RECORDER_LABEL_(SetEndOfFile);
extern unsigned recorder_win_kind_(void *handle) RECORDER_LABEL_(GetFileType);
struct recorder_win_found_ {
    uint32_t attributes, times[6]; /* made, read, written: low, high */
    uint32_t volume, bytes[2], links, index[2]; /* high, low */
};
extern int recorder_win_look_(void *handle, struct recorder_win_found_ *to)
    RECORDER_LABEL_(GetFileInformationByHandle);
extern void *recorder_win_section_(void *handle, void *security,
                                   unsigned protection, unsigned high,
                                   unsigned low, const char *name)
    RECORDER_LABEL_(CreateFileMappingA);
extern void *recorder_win_view_(void *section, unsigned access, unsigned high,
                                unsigned low, size_t bytes)
    RECORDER_LABEL_(MapViewOfFile);
struct recorder_win_range_ { /* OVERLAPPED */
    uintptr_t internal[2];
    uint32_t low, high;
    void *event;
};
extern int recorder_win_lock_(void *handle, unsigned flags, unsigned reserved,
                              unsigned low, unsigned high,
                              struct recorder_win_range_ *at)
    RECORDER_LABEL_(LockFileEx);
extern int recorder_win_unlock_(void *handle, unsigned reserved, unsigned low,
                                unsigned high, struct recorder_win_range_ *at)
    RECORDER_LABEL_(UnlockFileEx);
extern int recorder_win_move_(const char *from, const char *to, unsigned flags)
    RECORDER_LABEL_(MoveFileExA);
extern int recorder_win_delete_(const char *path) RECORDER_LABEL_(DeleteFileA);
extern unsigned recorder_win_folder_(unsigned size, char *to)
    RECORDER_LABEL_(GetCurrentDirectoryA);
extern int recorder_win_host_(char *to, unsigned *size)
    RECORDER_LABEL_(GetComputerNameA);
extern void *recorder_win_open_process_(unsigned rights, int inherit,
                                        unsigned id)
    RECORDER_LABEL_(OpenProcess);
extern int recorder_win_times_(void *process, uint64_t *start, uint64_t *end,
                               uint64_t *kernel, uint64_t *user)
    RECORDER_LABEL_(GetProcessTimes);
extern int recorder_win_modules_(void *process, void **to, unsigned bytes,
                                 unsigned *needed)
    RECORDER_LABEL_(K32EnumProcessModules);

#define RECORDER_REGISTERS_ RECORDER_WIN_REGISTERS_
#define RECORDER_INFO_PID_ 24
enum {
    RECORDER_O_NEW_ = 0x502, /* RDWR, CREAT, EXCL of the C library */
    RECORDER_O_NONBLOCK_ = 0,
    RECORDER_ENOENT_ = 2,
    RECORDER_EIO_ = 5,
    RECORDER_ENOMEM_ = 12,
    RECORDER_EACCES_ = 13,
    RECORDER_EEXIST_ = 17,
    RECORDER_ENOTDIR_ = 20,
    RECORDER_EFBIG_ = 27,
    RECORDER_ENOSPC_ = 28,
    RECORDER_EROFS_ = 30,
    RECORDER_EDQUOT_ = 10069
};

/* Returns minus errno of the last call of Windows, which failed, sets errno,
 * and leaves GetLastError() as it was before: `error`. */
RECORDER_SELDOM_ long recorder_win_failed_(unsigned error)
{
    static const struct {
        short windows, error;
    } all[] = {{2, RECORDER_ENOENT_},     /* ERROR_FILE_NOT_FOUND */
               {3, RECORDER_ENOENT_},     /* ERROR_PATH_NOT_FOUND */
               {5, RECORDER_EACCES_},     /* ERROR_ACCESS_DENIED */
               {8, RECORDER_ENOMEM_},     /* ERROR_NOT_ENOUGH_MEMORY */
               {19, RECORDER_EROFS_},     /* ERROR_WRITE_PROTECT */
               {32, RECORDER_EACCES_},    /* ERROR_SHARING_VIOLATION */
               {33, RECORDER_EAGAIN_},    /* ERROR_LOCK_VIOLATION */
               {80, RECORDER_EEXIST_},    /* ERROR_FILE_EXISTS */
               {112, RECORDER_ENOSPC_},   /* ERROR_DISK_FULL */
               {183, RECORDER_EEXIST_},   /* ERROR_ALREADY_EXISTS */
               {223, RECORDER_EFBIG_},    /* ERROR_FILE_TOO_LARGE */
               {997, RECORDER_EAGAIN_},   /* ERROR_IO_PENDING */
               {1295, RECORDER_EDQUOT_},  /* ERROR_DISK_QUOTA_EXCEEDED */
               {1455, RECORDER_ENOMEM_}}; /* ERROR_COMMITMENT_LIMIT */
    unsigned last = recorder_win_last_error_();
    size_t i;
    *recorder_os_errno_() = RECORDER_EIO_;
    for (i = 0; i < sizeof all / sizeof *all; i++)
        if ((unsigned)all[i].windows == last)
            *recorder_os_errno_() = all[i].error;
    recorder_win_set_error_(error);
    return -(long)*recorder_os_errno_();
}

/* ----------------------------------------------------------------- files -- */

RECORDER_INLINE_ long recorder_os_result_(long value)
{
    return value == -1 ? -(long)*recorder_os_errno_() : value;
}
/* Others may read, rename and delete it, as on other systems. */
RECORDER_SELDOM_ long recorder_os_open_(const char *path, long flags)
{
    const unsigned read = 0x80000000, write = 0x40000000, share = 7;
    const unsigned link = 0x200000; /* FILE_FLAG_OPEN_REPARSE_POINT */
    unsigned error = recorder_win_last_error_();
    void *handle = recorder_win_create_(
        path, flags & 2 ? read | write : read, share, NULL,
        flags & 0x100 ? 1u /* CREATE_NEW */ : 3u /* OPEN_EXISTING */, link,
        NULL);
    int fd = -1;
    if (handle == RECORDER_WIN_SELF_) /* INVALID_HANDLE_VALUE */
        return recorder_win_failed_(error);
    fd = recorder_win_descriptor_((intptr_t)handle, 0x8000 /* binary */);
    if (fd < 0)
        recorder_win_close_(handle);
    recorder_win_set_error_(error);
    return recorder_os_result_(fd);
}
struct recorder_statx_ {
    uint32_t mode, links, user, device[2];
    uint64_t inode, bytes, times[8];
};
RECORDER_SELDOM_ long recorder_os_statx_(int fd, const char *path,
                                         struct recorder_statx_ *to)
{
    const uint32_t folder = 0x10, link = 0x400;
    unsigned error = recorder_win_last_error_();
    struct recorder_win_found_ found;
    long opened = fd < 0 ? recorder_os_open_(path, 0) : fd, result = 0;
    void *handle;
    if (opened < 0)
        return opened;
    handle = (void *)recorder_win_handle_((int)opened);
    __builtin_memset(to, 0, sizeof *to);
    if (!recorder_win_look_(handle, &found)) {
        result = recorder_win_failed_(error);
    } else {
        to->mode = recorder_win_kind_(handle) == 1 /* FILE_TYPE_DISK */ &&
                           !(found.attributes & (folder | link))
                       ? 0100600
                       : 0;
        to->links = found.links;
        to->device[0] = found.volume;
        to->inode = (uint64_t)found.index[0] << 32 | found.index[1];
        to->bytes = (uint64_t)found.bytes[0] << 32 | found.bytes[1];
        to->times[6] =
            ((uint64_t)found.times[5] << 32 | found.times[4]) / 10000000 -
            11644473600u;
    }
    if (fd < 0)
        recorder_os_close_((int)opened);
    recorder_win_set_error_(error);
    return result;
}
RECORDER_INLINE_ uint32_t recorder_os_user_(void)
{
    return 0; /* the right to write a file is no number here */
}
RECORDER_INLINE_ bool recorder_os_is_own_(const struct recorder_statx_ *stat)
{
    return (stat->mode & 0170000) == 0100000 && stat->links == 1 &&
           stat->user == recorder_os_user_();
}
RECORDER_SELDOM_ bool recorder_os_seek_(int fd, uintptr_t offset)
{
    return recorder_win_seek_(fd, (int64_t)offset, 0) >= 0;
}
/* Makes a file as long as that; 0 or minus errno. */
RECORDER_SELDOM_ long recorder_win_length_(int fd, uintptr_t bytes)
{
    unsigned error = recorder_win_last_error_();
    void *handle = (void *)recorder_win_handle_(fd);
    if (!recorder_win_pointer_(handle, (int64_t)bytes, NULL, 0) ||
        !recorder_win_cut_(handle))
        return recorder_win_failed_(error);
    return 0;
}
RECORDER_SELDOM_ long recorder_os_allocate_(int fd, uintptr_t offset,
                                            uintptr_t bytes)
{
    return recorder_win_length_(fd, offset + bytes);
}
RECORDER_SELDOM_ void recorder_os_truncate_(int fd, uintptr_t bytes)
{
    recorder_win_length_(fd, bytes);
}

/* Locks are byte ranges past the end of any file: one is held while a process
 * maps the file, one is for recorder_os_lock_(). */
enum { RECORDER_WIN_MAPPED_, RECORDER_WIN_LOCKED_ };
RECORDER_SELDOM_ long recorder_win_take_(int fd, unsigned which, bool keep)
{
    unsigned error = recorder_win_last_error_();
    void *handle = (void *)recorder_win_handle_(fd);
    struct recorder_win_range_ at = {{0, 0}, 0, 0x40000000, NULL};
    at.low = which;
    if (!recorder_win_lock_(handle, 3 /* exclusive, at once */, 0, 1, 0, &at))
        return recorder_win_failed_(error);
    if (!keep)
        recorder_win_unlock_(handle, 0, 1, 0, &at);
    return 0;
}
RECORDER_SELDOM_ long recorder_os_lock_(int fd)
{
    return recorder_win_take_(fd, RECORDER_WIN_LOCKED_, true);
}
RECORDER_SELDOM_ long recorder_os_has_writer_(int fd)
{
    long result = recorder_win_take_(fd, RECORDER_WIN_MAPPED_, false);
    return result == -RECORDER_EAGAIN_ ? 1 : result;
}
RECORDER_SELDOM_ char *recorder_os_share_(int fd, uintptr_t offset,
                                          uintptr_t bytes)
{
    unsigned error = recorder_win_last_error_();
    void *section =
        recorder_win_section_((void *)recorder_win_handle_(fd), NULL,
                              4 /* PAGE_READWRITE */, 0, 0, NULL);
    void *view = NULL;
    if (section) {
        view = recorder_win_view_(section, 6 /* to read and write */,
                                  (unsigned)(offset >> 32), (unsigned)offset,
                                  bytes);
        recorder_win_close_(section); /* the view keeps it */
    }
    if (view)
        recorder_win_take_(fd, RECORDER_WIN_MAPPED_, true);
    recorder_win_set_error_(error);
    return (char *)view;
}
RECORDER_INLINE_ void recorder_os_keep_(int fd)
{
    (void)fd; /* the lock ends with it */
}
RECORDER_SELDOM_ int recorder_os_rename_(const char *from, const char *to)
{
    unsigned error = recorder_win_last_error_();
    if (recorder_win_move_(from, to, 1 /* in the place of another */))
        return 0;
    recorder_win_failed_(error);
    return -1;
}
RECORDER_SELDOM_ int recorder_os_unlink_(const char *path)
{
    unsigned error = recorder_win_last_error_();
    if (recorder_win_delete_(path))
        return 0;
    recorder_win_failed_(error);
    return -1;
}
RECORDER_INLINE_ bool recorder_os_is_absolute_(const char *path)
{
    return *path == '/' || *path == '\\' || (*path && path[1] == ':');
}

/* ---------------------------------------------------------------- memory -- */

RECORDER_INLINE_ uintptr_t recorder_os_page_bytes_(void)
{
    return 4096;
}
/* There is no fork(). */
RECORDER_STUB_(char *, recorder_os_reserve_, (uintptr_t bytes), return NULL;)
RECORDER_STUB_(bool, recorder_os_map_over_, (void *at, uintptr_t bytes),
               return false;)
RECORDER_STUB_(bool, recorder_os_move_over_,
               (void *from, void *at, uintptr_t bytes), return false;)

/* --------------------------------------------------------------- process -- */

/* Windows starts additional threads in each process, which do not record. */
RECORDER_STUB_(bool, recorder_os_is_alone_, (void), return true;)
RECORDER_SELDOM_ uintptr_t recorder_os_process_start_(intptr_t pid)
{
    unsigned error = recorder_win_last_error_();
    void *process = recorder_win_open_process_(
        0x1000 /* PROCESS_QUERY_LIMITED_INFORMATION */, 0, (unsigned)pid);
    uint64_t start = 0, end, kernel, user;
    if (process) {
        if (!recorder_win_times_(process, &start, &end, &kernel, &user))
            start = 0;
        recorder_win_close_(process);
    }
    recorder_win_set_error_(error);
    return (uintptr_t)start;
}
RECORDER_STUB_(void, recorder_os_at_exit_,
               (void (*call)(int status, void *argument)), return;)
RECORDER_SELDOM_ bool recorder_os_process_exists_(intptr_t pid)
{
    return recorder_os_process_start_(pid) != 0;
}

/* Windows takes both ways to part folders; readers on other systems one. */
RECORDER_SELDOM_ size_t recorder_win_slashes_(char *path, size_t size)
{
    size_t i;
    for (i = 0; i < size; i++)
        if (path[i] == '\\')
            path[i] = '/';
    return size;
}
RECORDER_SELDOM_ size_t recorder_win_file_of_(void *module, char *to,
                                              size_t max)
{
    unsigned error = recorder_win_last_error_();
    size_t size = recorder_win_path_(module, to, (unsigned)max);
    recorder_win_set_error_(error);
    return recorder_win_slashes_(to, size < max ? size : 0);
}
RECORDER_INLINE_ size_t recorder_os_path_(char *to, size_t max)
{
    return recorder_win_file_of_(NULL, to, max);
}
RECORDER_SELDOM_ void recorder_os_folder_(char *to, size_t max)
{
    unsigned size = recorder_win_folder_((unsigned)max, to);
    if (size >= max)
        *to = '\0';
    else if (recorder_win_slashes_(to, size) && to[size - 1] == '/')
        to[size - 1] = '\0'; /* C:\ */
}
RECORDER_SELDOM_ size_t recorder_os_host_(char *to, size_t max)
{
    unsigned size = (unsigned)max;
    return recorder_win_host_(to, &size) ? size : 0;
}
/* A lock shows whether a process exists, these need not. */
RECORDER_INLINE_ size_t recorder_os_boot_(char *to, size_t max)
{
    *to = '\0';
    return 0;
}
RECORDER_INLINE_ size_t recorder_os_namespace_(char *to, size_t max)
{
    *to = '\0';
    return 0;
}
RECORDER_INLINE_ size_t recorder_os_vector_(char *to, size_t max)
{
    *to = '\0';
    return 0;
}
RECORDER_SELDOM_ bool recorder_os_machine_(struct recorder_elf_ *to)
{
    __builtin_memset(to, 0, sizeof *to);
    __builtin_memcpy(to->ident, "\177ELF\2\1\1", 7); /* 64 bits, little */
    to->machine = RECORDER_WIN_MACHINE_;
    to->version = 1;
    return true;
}

/* The head of a module, which another thread may take away: a copy. */
struct recorder_win_head_ {
    unsigned char bytes[4096];
    struct recorder_elf_header_ sections[40];
};
RECORDER_SELDOM_ unsigned
recorder_win_sections_(struct recorder_win_head_ *head, uintptr_t image)
{
    const unsigned most = sizeof head->sections / sizeof *head->sections;
    long size = recorder_os_read_self_(image, head->bytes, sizeof head->bytes);
    uint32_t at;
    unsigned i, count;
    if (size != (long)sizeof head->bytes ||
        recorder_win_word_(head->bytes + 0x3c) > sizeof head->bytes - 24)
        return 0;
    at = recorder_win_table_(head->bytes, &count);
    for (i = 0;
         i < count && i < most && at + RECORDER_WIN_ROW_ <= sizeof head->bytes;
         i++, at += RECORDER_WIN_ROW_) {
        struct recorder_win_part_ part = recorder_win_row_(head->bytes + at);
        struct recorder_elf_header_ *to = &head->sections[i];
        __builtin_memset(to, 0, sizeof *to);
        to->memory_bytes = part.bytes;
        to->address = part.at;
        to->file_bytes = part.file_bytes;
        to->offset = part.offset;
        to->flags = (part.flags >> 31) * RECORDER_ELF_W_ |
                    (part.flags >> 30 & 1) * RECORDER_ELF_R_ |
                    (part.flags >> 29 & 1) * RECORDER_ELF_X_;
        if (!(part.flags & 0x2000000)) /* discardable: debug information */
            to->type = RECORDER_ELF_LOAD_;
    }
    return i;
}
RECORDER_SELDOM_ int
recorder_os_modules_(int (*each)(struct recorder_dl_info_ *, size_t, void *),
                     void *context)
{
    unsigned error = recorder_win_last_error_(), bytes = 0, i;
    int result = 0;
    struct recorder_win_seen_ {
        void *all[512];
        char path[1024];
        struct recorder_win_head_ head;
    } *m = (struct recorder_win_seen_ *)recorder_os_memory_(sizeof *m);
    if (!m)
        return -1;
    if (!recorder_win_modules_(RECORDER_WIN_SELF_, m->all, sizeof m->all,
                               &bytes))
        bytes = 0;
    if (bytes > sizeof m->all)
        bytes = sizeof m->all;
    for (i = 0; i < bytes / sizeof *m->all && !result; i++) {
        struct recorder_dl_info_ info;
        m->path[recorder_win_file_of_(m->all[i], m->path, sizeof m->path - 1)] =
            '\0';
        info.bias = (uintptr_t)m->all[i];
        info.path = m->path;
        info.headers = m->head.sections;
        info.headers_count =
            (uint16_t)recorder_win_sections_(&m->head, info.bias);
        result = each(&info, sizeof info, context);
    }
    recorder_os_unmap_(m, sizeof *m);
    recorder_win_set_error_(error);
    return result;
}
/* CONTEXT of x86-64, in the order of Linux's NT_PRSTATUS; 0: none. */
RECORDER_SELDOM_ int recorder_os_registers_(uintptr_t *to, const void *context)
{
    static const unsigned char words[] = {30, 29, 28, 27, 20, 18, 26,
                                          25, 24, 23, 15, 16, 17, 21,
                                          22, 0,  31, 0,  0,  19};
    unsigned i;
    for (i = 0; i < sizeof words && context && sizeof *to == 8; i++)
        to[i] = words[i] ? ((const uintptr_t *)context)[words[i]] : 0;
    to[15] = UINTPTR_MAX;
    return context && sizeof *to == 8 ? 19 : -1;
}
/* An EXCEPTION_RECORD becomes a siginfo_t, with its code in place of si_errno: its
 * code is at 0, the number of its parameters at 24, and from 32 on the parameters, of
 * which the second is the memory's address; all bits, where that cannot exist. */
RECORDER_SELDOM_ void recorder_os_siginfo_(char *to, int sig, const void *info)
{
    const uint32_t *record = (const uint32_t *)info;
    int32_t number = sig == 22 /* SIGABRT of Windows */ ? 6 : sig, code = 1;
    uint64_t address = UINT64_MAX;
    __builtin_memset(to, 0, 128);
    __builtin_memcpy(to, &number, 4);
    if (record) {
        __builtin_memcpy(to + 4, record, 4);
        if (record[6] >= 2)
            __builtin_memcpy(&address, (const char *)info + 40, 8);
        __builtin_memcpy(to + 16, &address, 8);
    }
    if (!record)
        code = -6; /* sent: SI_TKILL */
    else if (sig == 11 /* SIGSEGV */ && address == UINT64_MAX)
        code = 128; /* SI_KERNEL */
    else if (sig == 8 /* SIGFPE */ && record[0] < 0xc0000094u)
        code = 3; /* FPE_FLTDIV, and not by an integer */
    __builtin_memcpy(to + 8, &code, 4);
}

RECORDER_STUBS_END_
RECORDER_C_END_
#endif
