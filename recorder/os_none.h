/* os_none.h - no operating system: the functions of a port, and no others. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_OS_NONE_H_
#define RECORDER_OS_NONE_H_

#include "language.h"

RECORDER_C_BEGIN_

/* All are inlined away. Functions without a caller on ports fail. */

/* --------------------------------------------------------------- threads -- */

RECORDER_INLINE_ int32_t recorder_os_thread_(void)
{
    return 0;
}
RECORDER_INLINE_ bool recorder_os_thread_ended_(intptr_t process, int32_t id)
{
    (void)process;
    (void)id;
    return false;
}
RECORDER_INLINE_ void recorder_os_get_thread_name_(char name[16])
{
    (void)name;
}
enum { RECORDER_OS_NAMES_ = 0 };
RECORDER_INLINE_ bool recorder_os_get_name_of_(int32_t id, char name[16])
{
    (void)id, (void)name;
    return false;
}
RECORDER_INLINE_ intptr_t recorder_os_process_(void)
{
    return 0;
}
RECORDER_INLINE_ const char *recorder_os_program_(void)
{
    return NULL;
}
RECORDER_INLINE_ void recorder_os_yield_(void)
{
}
RECORDER_INLINE_ void recorder_os_at_fork_(void (*prepare)(void),
                                           void (*parent)(void),
                                           void (*child)(void))
{
    (void)prepare, (void)parent, (void)child;
}
RECORDER_INLINE_ void recorder_os_exit_(int status)
{
    (void)status;
    __builtin_trap();
}

/* ---------------------------------------------------------------- clocks -- */

enum { RECORDER_REALTIME_ = 0, RECORDER_MONOTONIC_ = 1,
       RECORDER_PROCESSOR_ = 1 };
struct recorder_timespec_ {
    long seconds, nanoseconds;
};
RECORDER_INLINE_ int recorder_os_clock_(int clock,
                                        struct recorder_timespec_ *to)
{
    (void)clock;
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

/* ---------------------------------------------------------------- memory -- */

enum { RECORDER_OS_UNLOADS_ = 0, RECORDER_OS_SEES_SELF_ = 1 };
RECORDER_INLINE_ void *recorder_os_memory_(size_t bytes)
{
    (void)bytes;
    return NULL;
}
RECORDER_INLINE_ int recorder_os_unmap_(void *at, size_t bytes)
{
    (void)at, (void)bytes;
    return -1;
}
RECORDER_INLINE_ int recorder_os_protect_(void *at, size_t bytes,
                                          int protection)
{
    (void)at, (void)bytes, (void)protection;
    return -1;
}
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
RECORDER_INLINE_ struct recorder_os_headers_ recorder_os_headers_open_(void)
{
    struct recorder_os_headers_ headers = {0};
    return headers;
}
RECORDER_INLINE_ bool
recorder_os_next_segment_(struct recorder_os_headers_ *headers,
                          struct recorder_os_segment_ *segment)
{
    (void)headers, (void)segment;
    return false;
}
enum { RECORDER_OS_MAPS_ = 0 };
RECORDER_INLINE_ long recorder_os_maps_(int *fd, char *to, size_t size)
{
    (void)fd, (void)to, (void)size;
    return -1;
}

/* ----------------------------------------------------------------- files -- */

#define RECORDER_PIPE_BYTES_ ((size_t)512)
struct recorder_pollfd_ {
    int fd;
    short events, revents;
};
enum { RECORDER_POLLOUT_ = 4, RECORDER_POLL_FAILED_ = 0 };
RECORDER_INLINE_ long recorder_os_read_(int fd, void *to, size_t size)
{
    (void)fd, (void)to, (void)size;
    return -1;
}
RECORDER_INLINE_ long recorder_os_write_(int fd, const void *from, size_t size)
{
    (void)fd, (void)from, (void)size;
    return -1;
}
RECORDER_INLINE_ long recorder_os_write_unchecked_(int fd, uintptr_t from,
                                                   size_t size)
{
    (void)fd, (void)from, (void)size;
    return -1;
}
RECORDER_INLINE_ int recorder_os_pipe_(int fds[2])
{
    fds[0] = fds[1] = -1;
    return -1;
}
RECORDER_INLINE_ int recorder_os_close_(int fd)
{
    (void)fd;
    return -1;
}
RECORDER_INLINE_ int recorder_os_poll_(struct recorder_pollfd_ *fds,
                                       unsigned long count, int milliseconds)
{
    (void)fds, (void)count, (void)milliseconds;
    return -1;
}
RECORDER_INLINE_ int recorder_os_dup_above_(int fd)
{
    (void)fd;
    return -1;
}
RECORDER_INLINE_ int recorder_os_create_(const char *path, bool append)
{
    (void)path, (void)append;
    return -1;
}
RECORDER_INLINE_ int recorder_os_append_(const char *path)
{
    (void)path;
    return -1;
}
RECORDER_INLINE_ void recorder_os_replace_(int fd, int by)
{
    (void)fd, (void)by;
}

/* --------------------------------------------------------------- signals -- */

struct recorder_signal_set_ {
    char none;
};
struct recorder_action_ {
    void (*handler)(int sig, void *info, void *context);
    struct recorder_signal_set_ mask;
    unsigned flags;
};
struct recorder_stack_of_signals_ {
    void *base;
    int flags;
    size_t bytes;
};
struct recorder_held_ {
    char none;
};
RECORDER_INLINE_ int recorder_os_action_(int sig,
                                         const struct recorder_action_ *action,
                                         struct recorder_action_ *old)
{
    (void)sig, (void)action, (void)old;
    return -1;
}
RECORDER_INLINE_ int
recorder_os_stack_(const struct recorder_stack_of_signals_ *stack,
                   struct recorder_stack_of_signals_ *old)
{
    (void)stack, (void)old;
    return -1;
}
RECORDER_INLINE_ int recorder_os_mask_(int how,
                                       const struct recorder_signal_set_ *set,
                                       struct recorder_signal_set_ *old)
{
    (void)how, (void)set, (void)old;
    return -1;
}
RECORDER_INLINE_ void recorder_os_block_(struct recorder_signal_set_ *before)
{
    (void)before;
}
RECORDER_INLINE_ void recorder_os_unblock_faults_(void)
{
}
enum { RECORDER_OS_JUMPS_ = 0, RECORDER_MARK_BYTES_ = 16 };
RECORDER_INLINE_ int recorder_os_mark_(const void *at)
{
    (void)at;
    return 0;
}
RECORDER_INLINE_ void recorder_os_jump_(const void *at, int value)
{
    (void)at, (void)value;
}
RECORDER_INLINE_ bool recorder_os_ignores_(int sig)
{
    (void)sig;
    return false;
}
RECORDER_INLINE_ void recorder_os_requeue_signal_(int sig, void *info)
{
    (void)sig, (void)info;
}
RECORDER_INLINE_ bool recorder_os_fault_again_(int sig, const void *info,
                                               void *context)
{
    (void)sig, (void)info, (void)context;
    return false;
}
RECORDER_INLINE_ void recorder_os_hold_signals_(struct recorder_held_ *held)
{
    (void)held;
}
RECORDER_INLINE_ void recorder_os_release_signals_(struct recorder_held_ *held)
{
    (void)held;
}

/* ----------------------------------------------------------- environment -- */

RECORDER_INLINE_ bool recorder_os_trusted_(void)
{
    return true;
}
RECORDER_INLINE_ char *recorder_os_environment_(const char *name)
{
    (void)name;
    return NULL;
}

RECORDER_C_END_
#endif
