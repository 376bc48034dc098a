/* os_windows.h - the functions of os.h for 64-bit Windows. */
/* SPDX-License-Identifier: MIT */
/*
For recorder.h with gcc or clang for mingw-w64. No header of Windows is needed:
functions of kernel32, ntdll and the C library are declared under other
names.

PROMISES
    * Recording, dumps, names of threads, crashes and recorders of DLLs work as
      on other systems -> tests/ports/hosted_windows.c
    * An exception that the program handles is none of ours: a dump is made by
      the last of all handlers, after frame and vectored ones, when the
      process is about to end; with the status that it had without us.
      -> tests/ports/hosted_windows.c
    * A filter that the program sets by SetUnhandledExceptionFilter() later is
      called after our filter: a vectored handler puts ours in front again when a
      crash may come. -> tests/ports/hosted_windows.c
    * GetLastError() does not change -> tests/ports/hosted_windows.c

LIMITS
    * recorder_file() cannot see whether other threads record: the program calls
      it before it starts them. RECORDER_FILE in the environment does that.
    * Paths are in the code page of the process, as for fopen().
    * Signals are the C library's, and exceptions have their names: SIGSEGV
      of an access violation or a full stack, SIGILL, SIGFPE, SIGTRAP of a
      breakpoint; SIGABRT; SIGINT, SIGTERM and SIGBREAK if they are asked for.
      There is no signal on demand but SIGBREAK (Ctrl+Break).
    * A filter of the program that repairs and continues is called after a dump.
      __fastfail() and TerminateProcess() call no filter: no dump.
    * A DLL that asks for dumps of crashes is never unloaded.
    * A dump waits as long as a reader of its pipe does.
    * MSVC's own compiler knows neither __attribute__ nor __atomic.

CONTENTS
    system      functions of Windows
    clock       CLOCK_REALTIME and CLOCK_MONOTONIC
    errors      errno
    threads     their ids, names and ends
    memory      pages, pieces of the program
    files       descriptors of the C library
    environment of the process

os_windows_signal.h has its signals and exceptions, os_windows_file.h the
functions for recordings.
*/
#ifndef RECORDER_OS_WINDOWS_H_
#define RECORDER_OS_WINDOWS_H_

#include "language.h"

#define RECORDER_OS_FILES_ /* os_windows_file.h */

#if __SIZEOF_POINTER__ != 8
#error "recorder.h: Windows has 64 bits, or define RECORDER_THREAD()"
#endif

RECORDER_C_BEGIN_
RECORDER_STUBS_

/* ---------------------------------------------------------------- system -- */

/* A `long` of Windows has 32 bits. */
extern unsigned recorder_win_last_error_(void) RECORDER_LABEL_(GetLastError);
extern void recorder_win_set_error_(unsigned error)
    RECORDER_LABEL_(SetLastError);
extern unsigned recorder_win_thread_(void) RECORDER_LABEL_(GetCurrentThreadId);
extern void *recorder_win_open_thread_(unsigned rights, int inherit,
                                       unsigned id) RECORDER_LABEL_(OpenThread);
extern int recorder_win_close_(void *handle) RECORDER_LABEL_(CloseHandle);
extern unsigned recorder_win_wait_(void *handle, unsigned milliseconds)
    RECORDER_LABEL_(WaitForSingleObject);
extern void *recorder_win_module_(const char *name)
    RECORDER_LABEL_(GetModuleHandleA);
extern void *recorder_win_function_(void *module, const char *name)
    RECORDER_LABEL_(GetProcAddress);
extern unsigned recorder_win_path_(void *module, char *to, unsigned size)
    RECORDER_LABEL_(GetModuleFileNameA);
extern void recorder_win_sleep_(unsigned milliseconds) RECORDER_LABEL_(Sleep);
extern int recorder_win_end_(void *process, unsigned status)
    RECORDER_LABEL_(TerminateProcess);
extern void recorder_win_date_(uint64_t *to)
    RECORDER_LABEL_(GetSystemTimePreciseAsFileTime);
extern int recorder_win_counter_(int64_t *to)
    RECORDER_LABEL_(QueryPerformanceCounter);
extern int recorder_win_frequency_(int64_t *to)
    RECORDER_LABEL_(QueryPerformanceFrequency);
extern void *recorder_win_memory_(void *at, size_t bytes, unsigned type,
                                  unsigned protection)
    RECORDER_LABEL_(VirtualAlloc);
extern int recorder_win_free_(void *at, size_t bytes, unsigned type)
    RECORDER_LABEL_(VirtualFree);
extern int recorder_win_unmap_(const void *at) RECORDER_LABEL_(UnmapViewOfFile);
extern int recorder_win_protect_(void *at, size_t bytes, unsigned protection,
                                 unsigned *before)
    RECORDER_LABEL_(VirtualProtect);
extern int recorder_win_read_memory_(void *process, const void *from, void *to,
                                     size_t size, size_t *done)
    RECORDER_LABEL_(ReadProcessMemory);
extern void *recorder_win_standard_(unsigned which)
    RECORDER_LABEL_(GetStdHandle);
extern int recorder_win_write_(void *handle, const void *from, unsigned size,
                               unsigned *done, void *overlapped)
    RECORDER_LABEL_(WriteFile);

/* The handle of the calling process. */
#define RECORDER_WIN_SELF_ ((void *)(intptr_t)-1)

/* ----------------------------------------------------------------- clock -- */

enum { RECORDER_REALTIME_ = 0, RECORDER_MONOTONIC_ = 1,
       RECORDER_PROCESSOR_ = 1 };
struct recorder_timespec_ {
    int64_t seconds;
    long nanoseconds;
};
RECORDER_FUNCTION_ int recorder_os_clock_(int clock,
                                          struct recorder_timespec_ *to)
{
    if (clock == RECORDER_REALTIME_) {
        uint64_t date = 0; /* since 1601, by 100 ns */
        recorder_win_date_(&date);
        to->seconds = (int64_t)(date / 10000000) - 11644473600;
        to->nanoseconds = (long)(date % 10000000 * 100);
    } else {
        int64_t count = 0, hertz = 1;
        recorder_win_counter_(&count);
        recorder_win_frequency_(&hertz);
        to->seconds = count / hertz;
        to->nanoseconds = (long)(count % hertz * 1000000000 / hertz);
    }
    return 0;
}

/* ---------------------------------------------------------------- errors -- */

enum {
    RECORDER_ESRCH_ = 3,
    RECORDER_EINTR_ = 4,
    RECORDER_EAGAIN_ = 11,
    RECORDER_EFAULT_ = 14,
    RECORDER_ENOSYS_ = 40
};
extern int *recorder_os_errno_(void) RECORDER_LABEL_(_errno);
RECORDER_STUB_(const char *, recorder_os_error_text_, (int error), return NULL;)

/* --------------------------------------------------------------- threads -- */

RECORDER_INLINE_ int32_t recorder_os_thread_(void)
{
    return (int32_t)recorder_win_thread_();
}
/* Two words of the calling thread, 0 at first. gcc's own thread-local variables
 * ask for memory; this is a slot of TlsAlloc(), at its place in the block of the
 * thread if it is one of the first 64. */
#define RECORDER_OS_OWN_
extern unsigned recorder_win_slot_new_(void) RECORDER_LABEL_(TlsAlloc);
extern int recorder_win_slot_free_(unsigned slot) RECORDER_LABEL_(TlsFree);
RECORDER_PROGRAM_ unsigned recorder_win_slot_ = 0; /* one more than it */
RECORDER_PROGRAM_ unsigned recorder_win_shared_[2] = {0, 0};
#define RECORDER_OS_SHARED_ 0x7fffu /* RECORDER_THREAD_SHARED */
RECORDER_SELDOM_ unsigned recorder_win_slot_take_(void)
{
    unsigned error = recorder_win_last_error_(), none = 0;
    unsigned slot = recorder_win_slot_new_();
    if (!__atomic_compare_exchange_n(&recorder_win_slot_, &none, slot + 1,
                                     false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED)) {
        recorder_win_slot_free_(slot);
        slot = none - 1;
    }
    recorder_win_set_error_(error);
    return slot;
}
RECORDER_INLINE_ unsigned *recorder_os_own_(unsigned which)
{
    unsigned slot = __atomic_load_n(&recorder_win_slot_, __ATOMIC_RELAXED) - 1;
    char *thread; /* struct TEB */
    if (RECORDER_UNLIKELY_(slot >= 64)) {
        if (slot == UINT32_MAX)
            slot = recorder_win_slot_take_();
        if (slot >= 64) { /* they are taken: threads share a number */
            recorder_win_shared_[0] = RECORDER_OS_SHARED_;
            return recorder_win_shared_ + which;
        }
    }
#ifdef __x86_64__
    __asm__("movq %%gs:0x30, %0" : "=r"(thread));
#else
    __asm__("mov %0, x18" : "=r"(thread));
#endif
    return (unsigned *)(void *)(thread + 0x1480 + 8 * (uintptr_t)slot) + which;
}
RECORDER_SELDOM_ bool recorder_os_thread_ended_(intptr_t process, int32_t id)
{
    unsigned error = recorder_win_last_error_();
    void *thread =
        recorder_win_open_thread_(0x100000 /* SYNCHRONIZE */, 0, (unsigned)id);
    bool ended = thread ? recorder_win_wait_(thread, 0) == 0
                        : recorder_win_last_error_() ==
                              87; /* ERROR_INVALID_PARAMETER: no thread of that
                                   * id */
    if (thread)
        recorder_win_close_(thread);
    recorder_win_set_error_(error);
    return ended;
}

/* Copies the name of SetThreadDescription(), which Windows keeps as UTF-16. Its
 * own function for that asks for memory; this one does not. */
RECORDER_SELDOM_ bool recorder_win_name_(void *thread, char name[16])
{
    typedef int32_t query(void *thread, int what, void *to, unsigned size,
                          unsigned *used);
    struct {
        unsigned short bytes, room;
        const unsigned short *text;
        unsigned short space[64];
    } wide;
    void *ntdll = recorder_win_module_("ntdll.dll");
    query *ask = ntdll ? (query *)(uintptr_t)recorder_win_function_(
                             ntdll, "NtQueryInformationThread")
                       : NULL;
    unsigned used = 0, i, size = 0;
    if (!ask || ask(thread, 38 /* ThreadNameInformation */, &wide, sizeof wide,
                    &used) < 0)
        return false;
    for (i = 0; i < wide.bytes / 2u && i < 64; i++) {
        unsigned c = wide.text[i];
        if (size + (c < 0x80 ? 1 : c < 0x800 ? 2 : 3) > 15)
            break;
        if (c >= 0xd800 && c < 0xe000)
            c = '?'; /* half a character */
        if (c < 0x80) {
            name[size++] = (char)c;
            continue;
        }
        if (c < 0x800) {
            name[size++] = (char)(0xc0 | c >> 6);
        } else {
            name[size++] = (char)(0xe0 | c >> 12);
            name[size++] = (char)(0x80 | (c >> 6 & 0x3f));
        }
        name[size++] = (char)(0x80 | (c & 0x3f));
    }
    if (size)
        name[size] = '\0';
    return size > 0;
}
RECORDER_SELDOM_ bool recorder_os_get_name_of_(int32_t id, char name[16])
{
    unsigned error = recorder_win_last_error_();
    /* THREAD_QUERY_LIMITED_INFORMATION */
    void *thread = recorder_win_open_thread_(0x800, 0, (unsigned)id);
    bool named = thread && recorder_win_name_(thread, name);
    if (thread)
        recorder_win_close_(thread);
    recorder_win_set_error_(error);
    return named;
}
RECORDER_SELDOM_ void recorder_os_get_thread_name_(char name[16])
{
    recorder_os_get_name_of_(recorder_os_thread_(), name);
}
enum { RECORDER_OS_NAMES_ = 1 };
extern unsigned recorder_win_process_(void)
    RECORDER_LABEL_(GetCurrentProcessId);
RECORDER_INLINE_ intptr_t recorder_os_process_(void)
{
    return (intptr_t)recorder_win_process_();
}
RECORDER_SELDOM_ const char *recorder_os_program_(void)
{
    static char path[260];
    unsigned size = recorder_win_path_(NULL, path, sizeof path - 1);
    while (size && path[size - 1] != '\\' && path[size - 1] != '/')
        size--;
    return path[size] ? path + size : NULL;
}
RECORDER_INLINE_ void recorder_os_yield_(void)
{
    recorder_win_sleep_(0);
}
RECORDER_STUB_(void, recorder_os_at_fork_,
               (void (*prepare)(void), void (*parent)(void),
                void (*child)(void)), return;)
RECORDER_INLINE_ void recorder_os_exit_(int status)
{
    recorder_win_end_(RECORDER_WIN_SELF_, (unsigned)status);
}

/* ---------------------------------------------------------------- memory -- */

RECORDER_INLINE_ void *recorder_os_memory_(size_t bytes)
{
    return recorder_win_memory_(NULL, bytes, 0x3000 /* reserve and commit */,
                                4 /* read and write */);
}
RECORDER_INLINE_ int recorder_os_unmap_(void *at, size_t bytes)
{
    return recorder_win_free_(at, 0, 0x8000 /* release */) ||
                   recorder_win_unmap_(at) /* a file's */
               ? 0
               : -1;
}
RECORDER_INLINE_ int recorder_os_protect_(void *at, size_t bytes,
                                          int protection)
{
    static const unsigned char flags[] = {1, 2, 4, 4}; /* none, r, w, rw */
    unsigned before;
    return recorder_win_protect_(at, bytes, flags[protection & 3], &before)
               ? 0
               : -1;
}
enum { RECORDER_OS_UNLOADS_ = 1, RECORDER_OS_SEES_SELF_ = 1 };
/* Windows copies all of a piece or nothing: a page at a time. */
RECORDER_SELDOM_ long recorder_os_read_self_(uintptr_t from, void *to,
                                             size_t size)
{
    unsigned error = recorder_win_last_error_();
    size_t all = 0;
    while (all < size) {
        size_t page = 4096 - ((from + all) & 4095), done = 0;
        size_t piece = size - all < page ? size - all : page;
        if (!recorder_win_read_memory_(RECORDER_WIN_SELF_,
                                       (const void *)(from + all),
                                       (char *)to + all, piece, &done) ||
            done < piece)
            break;
        all += piece;
    }
    recorder_win_set_error_(error);
    return (long)all;
}

/* The sections of the program that was started, by its PE header. */
struct recorder_os_segment_ {
    uintptr_t at, file_bytes, bytes;
    bool writable;
};
struct recorder_os_headers_ {
    const unsigned char *image, *next;
    unsigned left;
};
RECORDER_SELDOM_ uint32_t recorder_win_word_(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}
/* The table of sections after the PE header at `head`: its offset, and its
 * number of rows. */
enum { RECORDER_WIN_ROW_ = 40 }; /* bytes */
RECORDER_SELDOM_ uint32_t recorder_win_table_(const unsigned char *head,
                                              unsigned *count)
{
    uint32_t pe = recorder_win_word_(head + 0x3c);
    *count = recorder_win_word_(head + pe + 4) >> 16;
    return pe + 24 + (recorder_win_word_(head + pe + 20) & 0xffff);
}
struct recorder_win_part_ {
    uint32_t at, bytes, file_bytes, offset, flags; /* at: from the image */
};
RECORDER_SELDOM_ struct recorder_win_part_
recorder_win_row_(const unsigned char *row)
{
    struct recorder_win_part_ part;
    part.bytes = recorder_win_word_(row + 8);
    part.at = recorder_win_word_(row + 12);
    part.file_bytes = recorder_win_word_(row + 16);
    if (part.file_bytes > part.bytes)
        part.file_bytes = part.bytes;
    part.offset = recorder_win_word_(row + 20);
    part.flags = recorder_win_word_(row + 36);
    return part;
}
RECORDER_SELDOM_ struct recorder_os_headers_ recorder_os_headers_open_(void)
{
    struct recorder_os_headers_ headers = {NULL, NULL, 0};
    headers.image = (const unsigned char *)recorder_win_module_(NULL);
    if (headers.image)
        headers.next =
            headers.image + recorder_win_table_(headers.image, &headers.left);
    return headers;
}
RECORDER_SELDOM_ bool
recorder_os_next_segment_(struct recorder_os_headers_ *headers,
                          struct recorder_os_segment_ *segment)
{
    struct recorder_win_part_ part;
    if (!headers->left)
        return false;
    part = recorder_win_row_(headers->next);
    headers->left--;
    headers->next += RECORDER_WIN_ROW_;
    segment->at = (uintptr_t)headers->image + part.at;
    segment->bytes = part.bytes;
    segment->file_bytes = part.file_bytes;
    segment->writable = part.flags >> 31;
    return true;
}
enum { RECORDER_OS_MAPS_ = 0 };
RECORDER_STUB_(long, recorder_os_maps_, (int *fd, char *to, size_t size),
               return -1;)

/* ----------------------------------------------------------------- files -- */

/* Descriptors are the C library's. */
#define RECORDER_PIPE_BYTES_ ((size_t)512)
extern intptr_t recorder_win_handle_(int fd) RECORDER_LABEL_(_get_osfhandle);
extern int recorder_win_open_(const char *path, int flags, ...)
    RECORDER_LABEL_(_open);
extern int recorder_os_close_(int fd) RECORDER_LABEL_(_close);
extern int recorder_win_read_(int fd, void *to, unsigned size)
    RECORDER_LABEL_(_read);
extern int recorder_os_dup_above_(int fd) RECORDER_LABEL_(_dup);
extern int recorder_win_replace_(int by, int fd) RECORDER_LABEL_(_dup2);
RECORDER_INLINE_ long recorder_os_read_(int fd, void *to, size_t size)
{
    return recorder_win_read_(fd, to, (unsigned)size);
}
/* Not _write(): the thread that crashed may hold its lock. */
RECORDER_SELDOM_ long recorder_os_write_(int fd, const void *from, size_t size)
{
    unsigned error = recorder_win_last_error_(), done = 0;
    void *handle = fd == 2 ? recorder_win_standard_((unsigned)-12)
                           : (void *)recorder_win_handle_(fd);
    bool written =
        recorder_win_write_(handle, from, (unsigned)size, &done, NULL) != 0;
    recorder_win_set_error_(error);
    return written ? (long)done : -1;
}
RECORDER_INLINE_ long recorder_os_write_unchecked_(int fd, uintptr_t from,
                                                   size_t size)
{
    return recorder_os_write_(fd, (const void *)from, size);
}
RECORDER_INLINE_ int recorder_os_pipe_(int fds[2])
{
    fds[0] = fds[1] = -1; /* read_self() can always tell */
    return -1;
}
/* Windows cannot tell whether a pipe takes bytes: a write waits. */
struct recorder_pollfd_ {
    int fd;
    short events, revents;
};
enum { RECORDER_POLLOUT_ = 4, RECORDER_POLL_FAILED_ = 0x20 };
RECORDER_INLINE_ int recorder_os_poll_(struct recorder_pollfd_ *fds,
                                       unsigned long count, int milliseconds)
{
    if (count)
        fds->revents = RECORDER_POLLOUT_;
    else
        recorder_win_sleep_((unsigned)milliseconds);
    return (int)count;
}
enum {
    RECORDER_WIN_WRITE_ = 0x8101, /* binary, new, for writing */
    RECORDER_WIN_APPEND_ = 8,
    RECORDER_WIN_EMPTIED_ = 0x200
};
RECORDER_INLINE_ int recorder_os_create_(const char *path, bool append)
{
    return recorder_win_open_(
        path,
        RECORDER_WIN_WRITE_ |
            (append ? RECORDER_WIN_APPEND_ : RECORDER_WIN_EMPTIED_),
        0600);
}
RECORDER_INLINE_ int recorder_os_append_(const char *path)
{
    return recorder_os_create_(path, true);
}
RECORDER_INLINE_ void recorder_os_replace_(int fd, int by)
{
    recorder_win_replace_(by, fd);
}

/* ----------------------------------------------------------- environment -- */

extern char *recorder_os_environment_(const char *name) RECORDER_LABEL_(getenv);
RECORDER_INLINE_ bool recorder_os_trusted_(void)
{
    return true; /* there are no programs with their owner's rights */
}

RECORDER_STUBS_END_
RECORDER_C_END_
#endif
