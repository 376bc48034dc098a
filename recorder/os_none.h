/* os_none.h - no operating system: the functions of a port, and no others. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OS_NONE_H_
#define RECORDER_OS_NONE_H_

#include "language.h"

RECORDER_C_BEGIN_
RECORDER_STUBS_

/* All are inlined away. Functions without a caller on ports fail. */

/* --------------------------------------------------------------- threads -- */

RECORDER_STUB_(int32_t, recorder_os_thread_, (void), return 0;)
enum { RECORDER_OS_NAMES_ = 0 };
RECORDER_STUB_(bool, recorder_os_get_name_of_, (int32_t id, char name[16]),
               return false;)
RECORDER_STUB_(intptr_t, recorder_os_process_, (void), return 0;)
RECORDER_STUB_(const char *, recorder_os_program_, (void), return NULL;)
RECORDER_STUB_(void, recorder_os_yield_, (void), return;)

/* ---------------------------------------------------------------- clocks -- */

enum { RECORDER_REALTIME_ = 0, RECORDER_MONOTONIC_ = 1,
       RECORDER_PROCESSOR_ = 1 };
struct recorder_timespec_ {
    long seconds, nanoseconds;
};
RECORDER_INLINE_ int recorder_os_clock_(int clock,
                                        struct recorder_timespec_ *to)
{
    to->seconds = to->nanoseconds = 0;
    return -1;
}

/* ---------------------------------------------------------------- errors -- */

enum { RECORDER_ESRCH_ = 3, RECORDER_EINTR_ = 4, RECORDER_EAGAIN_ = 11,
       RECORDER_EFAULT_ = 14 };
RECORDER_INLINE_ int *recorder_os_errno_(void)
{
    static int error;
    return &error;
}
RECORDER_STUB_(const char *, recorder_os_error_text_, (int error), return NULL;)

/* ---------------------------------------------------------------- memory -- */

enum { RECORDER_OS_UNLOADS_ = 0, RECORDER_OS_SEES_SELF_ = 1 };
RECORDER_STUB_(void *, recorder_os_memory_, (size_t bytes), return NULL;)
RECORDER_STUB_(int, recorder_os_unmap_, (void *at, size_t bytes), return -1;)
#ifndef RECORDER_READABLE
#define RECORDER_OS_BLIND_ /* enough to record, not to dump (memory.h) */
#define RECORDER_READABLE(address) false
#endif
RECORDER_INLINE_ long recorder_os_read_self_(uintptr_t from, void *to,
                                             size_t size)
{
    size_t done = 0;
    for (; done < size && RECORDER_READABLE(from + done); done++)
        ((char *)to)[done] = *(const volatile char *)(from + done);
    return (long)done;
}
#ifdef RECORDER_OS_BLIND_
#undef RECORDER_READABLE
#endif
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

#define RECORDER_PIPE_BYTES_ ((size_t)512)
struct recorder_pollfd_ {
    int fd;
    short events, revents;
};
enum { RECORDER_POLLOUT_ = 4, RECORDER_POLL_FAILED_ = 0 };
RECORDER_STUB_(long, recorder_os_read_, (int fd, void *to, size_t size),
               return -1;)
RECORDER_STUB_(long, recorder_os_write_,
               (int fd, const void *from, size_t size), return -1;)
RECORDER_STUB_(long, recorder_os_write_unchecked_,
               (int fd, uintptr_t from, size_t size), return -1;)
RECORDER_INLINE_ int recorder_os_pipe_(int fds[2])
{
    fds[0] = fds[1] = -1;
    return -1;
}
RECORDER_STUB_(int, recorder_os_close_, (int fd), return -1;)
RECORDER_STUB_(int, recorder_os_poll_,
               (struct recorder_pollfd_ *fds, unsigned long count,
                int milliseconds), return -1;)
RECORDER_STUB_(int, recorder_os_dup_above_, (int fd), return -1;)
RECORDER_STUB_(int, recorder_os_create_, (const char *path, bool append),
               return -1;)
RECORDER_STUB_(void, recorder_os_replace_, (int fd, int by), return;)

/* --------------------------------------------------------------- signals -- */

struct recorder_held_ {
    char none;
};
RECORDER_STUB_(void, recorder_os_hold_signals_, (struct recorder_held_ *held),
               return;)
RECORDER_STUB_(void, recorder_os_release_signals_,
               (struct recorder_held_ *held), return;)

/* ----------------------------------------------------------- environment -- */

RECORDER_STUB_(char *, recorder_os_environment_, (const char *name),
               return NULL;)

RECORDER_STUBS_END_
RECORDER_C_END_
#endif
