/* calls.c - calls of libc that may block: the slow ones are recorded. */
/* SPDX-License-Identifier: MIT */
/*
   The clock is read before and after the real function, and a call that took
   less than a limit leaves nothing. The path of a slow call's descriptor is
   looked up after the call: it is another file's only if another thread closed
   the descriptor during the call, and opened a file.

   Each function passes on the arguments of libc's, so that errno, EINTR and
   cancellation are libc's; a thread that is cancelled leaves nothing to clean up.
   The functions are safe in signal handlers and in a child of vfork(): they take
   no lane, and record nothing on another stack than the thread's own. They have
   other names in C, and simple types, for the reasons in sandbox.c.
*/
#include "real_functions.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

enum {
    STACK = 16384,       /* bytes that recording a call may need */
    PATH = 256,          /* of a descriptor: more bytes are cut off */
    PEER = 112,          /* more bytes than a peer of a socket has */
    MEASURED = 10000000, /* ns: the rate of the clock is known well */
    NO_PATH = 1 << 30    /* is added to a descriptor that has been closed */
};

static uintptr_t least_us; /* 0: nothing is recorded */
static uintptr_t least;    /* the same in ticks; 0: it is not known yet */
static struct recorder_moment start;

void run_calls_begin(uintptr_t us)
{
    start.ticks = recorder_ticks_();
    start.monotonic_ns = recorder_clock_ns_(RECORDER_MONOTONIC_);
    least_us = us;
}

/* A word of the thread's cell: from 1 on, the format, descriptor and time of the call
 * that the thread is in; a time of 0: in none. */
RUN_INLINE uintptr_t *call_word(unsigned j)
{
    return run_cell_word(&recorder_for_thread_calls, &run_self.calls, j);
}

/* Returns the time, or 0: the call is not measured. A seccomp filter may forbid
 * to read the clock. Notes the call, as the program may be killed in it. */
RUN_INLINE uint64_t call_begins(const char *format, int fd)
{
    const struct run_thread *t = &run_self;
    uint64_t began;
    if (!t->lane || t->inside || t->waits || !least_us ||
        recorder_get_(&run_sandboxed))
        return 0;
    began = recorder_ticks_();
    recorder_put_(call_word(1), (uintptr_t)format);
    recorder_put_(call_word(2), (uintptr_t)(unsigned)(fd & ~NO_PATH));
    recorder_put_(call_word(3), (uintptr_t)began);
    return began;
}

/* Measures the limit in ticks, once, unless it is known. */
static bool is_slow(uint64_t lasted)
{
    const uint64_t ticks = recorder_ticks_() - start.ticks;
    const uint64_t ns =
        recorder_clock_ns_(RECORDER_MONOTONIC_) - start.monotonic_ns;
    const double limit = (double)ticks * (double)least_us * 1000 / (double)ns;
    if (recorder_get_(&least))
        return true;
    if (ns > MEASURED)
        recorder_put_(&least, (uintptr_t)limit);
    return (double)lasted >= limit;
}

static char *number_put(char *to, unsigned number)
{
    char digits[10];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

/* Writes the peer of a socket, " 127.0.0.1:80", " [::1]:80", " /run/socket" or
 * " @abstract"; or nothing. Returns the end. */
static char *peer_put(char *to, int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        char bytes[PEER]; /* a path of UNIX may lack its final 0 */
    } peer = {.bytes = {0}};
    socklen_t size = sizeof peer - 1;
    const char *path = peer.bytes + offsetof(struct sockaddr_un, sun_path);
    if (getpeername(fd, &peer.any, &size) != 0 || size >= sizeof peer)
        return to;
    if (peer.any.sa_family == AF_UNIX) {
        if (size <= offsetof(struct sockaddr_un, sun_path) + 1)
            return to;
        *to++ = ' ';
        if (!*path) {
            *to++ = '@';
            path++;
        }
        while (*path)
            *to++ = *path++;
    } else if (peer.any.sa_family == AF_INET6 ||
               peer.any.sa_family == AF_INET) {
        const bool is_v6 = peer.any.sa_family == AF_INET6;
        *to++ = ' ';
        if (is_v6)
            *to++ = '[';
        if (inet_ntop(peer.any.sa_family,
                      is_v6 ? (const void *)&peer.v6.sin6_addr
                            : &peer.v4.sin_addr,
                      to, INET6_ADDRSTRLEN))
            to += strlen(to);
        if (is_v6)
            *to++ = ']';
        *to++ = ':';
        to = number_put(to, ntohs(peer.v4.sin_port)); /* of both */
    }
    return to;
}

/* Writes " 5 /tmp/file" for a descriptor. Returns its size. */
static size_t file_text(char text[PATH], int fd)
{
    static const char folder[] = "/proc/thread-self/fd/", socket[] = "socket:[";
    char link[sizeof folder + 10], *end = text, *path;
    ssize_t size;
    if (fd < 0)
        return 0;
    *end++ = ' ';
    end = number_put(end, (unsigned)fd & ~(unsigned)NO_PATH);
    if (fd & NO_PATH)
        return (size_t)(end - text);
    __builtin_memcpy(link, folder, sizeof folder);
    *number_put(link + sizeof folder - 1, (unsigned)fd) = '\0';
    path = end + 1;
    size = readlink(link, path, (size_t)(text + PATH - path));
    if (size <= 0)
        return (size_t)(end - text);
    *end = ' ';
    end = path + size;
    if (end < text + PATH - PEER && size > (ssize_t)sizeof socket &&
        __builtin_memcmp(path, socket, sizeof socket - 1) == 0)
        end = peer_put(end, fd);
    return (size_t)(end - text);
}

/* Records a call if it was slow. */
static RUN_SELDOM void call_ends(const char *const formats[2], int fd,
                                 intptr_t result, uintptr_t asked,
                                 uint64_t began, struct run_call from)
{
    const struct recorder *r = &recorder_for_slow_call;
    const uintptr_t lasted = (uintptr_t)(recorder_ticks_() - began);
    struct run_thread *t = &run_self;
    const uintptr_t above = t->stack_high - from.cfa, time = recorder_time_();
    uintptr_t words[8] = {0, (uintptr_t)result, asked, 0, lasted};
    char text[PATH];
    RUN_INSIDE(t);
    if (is_slow(lasted) && above < t->stack_bytes &&
        t->stack_bytes - above > STACK &&
        __atomic_load_n(&r->trace, __ATOMIC_RELAXED) >= 0) {
        run_file_due();
        words[0] =
            (uintptr_t)recorder_copy_bytes_(r, text, file_text(text, fd));
        words[3] = result < 0 ? (uintptr_t)(unsigned)run_inside_.error : 0;
        words[5] = run_stack(from, false);
        run_record_at(r, time - lasted, formats[0], from.site,
                      RUN_WORDS(words[0], words[5]), 1);
        run_record_at(r, time, formats[1], from.site, words, 2);
    }
}

/* X(type, name, name in records, descriptor, size, parameters, arguments): the
 * size is how many bytes or descriptors were asked for. */
#define BYTES int fd, void *at, size_t size
#define FILE_AT const char *path, int flags
#define MESSAGE int fd, void *message, int flags
#define READY void *of, unsigned long count
#define SETS int count, void *a, void *b, void *c
#define FIRST count == 1 && result >= 0 ? *(const int *)of : -1
/* clang-format off: columns */
#define CALLS(X)                                                               \
    X(ssize_t, read, read, fd, size, (BYTES), fd, at, size)                    \
    X(ssize_t, write, write, fd, size, (BYTES), fd, at, size)                  \
    X(ssize_t, pread, pread, fd, size, (BYTES, __off_t to), fd, at, size, to)  \
    X(ssize_t, pwrite, pwrite, fd, size, (BYTES, __off_t to), fd, at, size,    \
      to)                                                                      \
    X(ssize_t, pread64, pread, fd, size, (BYTES, __off64_t to), fd, at, size,  \
      to)                                                                      \
    X(ssize_t, pwrite64, pwrite, fd, size, (BYTES, __off64_t to), fd, at,      \
      size, to)                                                                \
    X(ssize_t, readv, readv, fd, 0, (int fd, void *at, int n), fd, at, n)      \
    X(ssize_t, writev, writev, fd, 0, (int fd, void *at, int n), fd, at, n)    \
    X(ssize_t, recv, recv, fd, size, (BYTES, int flags), fd, at, size, flags)  \
    X(ssize_t, send, send, fd, size, (BYTES, int flags), fd, at, size, flags)  \
    X(ssize_t, recvfrom, recvfrom, fd, size,                                   \
      (BYTES, int flags, void *from, void *n), fd, at, size, flags, from, n)   \
    X(ssize_t, sendto, sendto, fd, size,                                       \
      (BYTES, int flags, void *to, unsigned n), fd, at, size, flags, to, n)    \
    X(ssize_t, recvmsg, recvmsg, fd, 0, (MESSAGE), fd, message, flags)         \
    X(ssize_t, sendmsg, sendmsg, fd, 0, (MESSAGE), fd, message, flags)         \
    X(ssize_t, __read_chk, read, fd, size, (BYTES, size_t room), fd, at, size, \
      room)                                                                    \
    X(ssize_t, __pread_chk, pread, fd, size, (BYTES, __off_t to, size_t room), \
      fd, at, size, to, room)                                                  \
    X(ssize_t, __pread64_chk, pread, fd, size,                                 \
      (BYTES, __off64_t to, size_t room), fd, at, size, to, room)              \
    X(ssize_t, __recv_chk, recv, fd, size, (BYTES, size_t room, int flags),    \
      fd, at, size, room, flags)                                               \
    X(ssize_t, __recvfrom_chk, recvfrom, fd, size,                             \
      (BYTES, size_t room, int flags, void *from, void *n), fd, at, size,      \
      room, flags, from, n)                                                    \
    X(int, poll, poll, FIRST, count, (READY, int ms), of, count, ms)           \
    X(int, __poll_chk, poll, FIRST, count, (READY, int ms, size_t room), of,   \
      count, ms, room)                                                         \
    X(int, ppoll, ppoll, FIRST, count, (READY, void *time, void *mask), of,    \
      count, time, mask)                                                       \
    X(int, __ppoll_chk, ppoll, FIRST, count,                                   \
      (READY, void *time, void *mask, size_t room), of, count, time, mask,     \
      room)                                                                    \
    X(int, select, select, -1, 0, (SETS, void *time), count, a, b, c, time)    \
    X(int, pselect, pselect, -1, 0, (SETS, void *time, void *mask), count, a,  \
      b, c, time, mask)                                                        \
    X(int, epoll_wait, epoll_wait, fd, 0, (int fd, void *of, int n, int ms),   \
      fd, of, n, ms)                                                           \
    X(int, epoll_pwait, epoll_pwait, fd, 0,                                    \
      (int fd, void *of, int n, int ms, void *mask), fd, of, n, ms, mask)      \
    X(int, accept, accept, fd, 0, (int fd, void *from, void *n), fd, from, n)  \
    X(int, accept4, accept4, fd, 0, (int fd, void *from, void *n, int flags),  \
      fd, from, n, flags)                                                      \
    X(int, connect, connect, fd, 0, (int fd, void *to, unsigned n), fd, to, n) \
    X(int, open, open, result, 0, (FILE_AT, long mode), path, flags, mode)     \
    X(int, open64, open, result, 0, (FILE_AT, long mode), path, flags, mode)   \
    X(int, openat, openat, result, 0, (int fd, FILE_AT, long mode), fd, path,  \
      flags, mode)                                                             \
    X(int, openat64, openat, result, 0, (int fd, FILE_AT, long mode), fd,      \
      path, flags, mode)                                                       \
    X(int, creat, creat, result, 0, (FILE_AT), path, flags)                    \
    X(int, creat64, creat, result, 0, (FILE_AT), path, flags)                  \
    X(int, __open_2, open, result, 0, (FILE_AT), path, flags)                  \
    X(int, __open64_2, open, result, 0, (FILE_AT), path, flags)                \
    X(int, __openat_2, openat, result, 0, (int fd, FILE_AT), fd, path, flags)  \
    X(int, __openat64_2, openat, result, 0, (int fd, FILE_AT), fd, path,       \
      flags)                                                                   \
    X(int, close, close, fd < 0 ? fd : fd | NO_PATH, 0, (int fd), fd)          \
    X(int, fsync, fsync, fd, 0, (int fd), fd)                                  \
    X(int, fdatasync, fdatasync, fd, 0, (int fd), fd)                          \
    X(int, nanosleep, nanosleep, -1, 0, (void *time, void *rest), time, rest)  \
    X(int, clock_nanosleep, clock_nanosleep, -1, 0,                            \
      (int clock, int flags, void *time, void *rest), clock, flags, time,      \
      rest)                                                                    \
    X(int, usleep, usleep, -1, 0, (unsigned us), us)                           \
    X(unsigned, sleep, sleep, -1, 0, (unsigned seconds), seconds)              \
    X(int, wait, wait, -1, 0, (void *status), status)                          \
    X(int, waitpid, waitpid, -1, 0, (int id, void *status, int options), id,   \
      status, options)                                                         \
    X(int, wait4, wait4, -1, 0,                                                \
      (int id, void *status, int options, void *usage), id, status, options,   \
      usage)                                                                   \
    X(int, waitid, waitid, -1, 0,                                              \
      (int of, unsigned id, void *info, int options), of, id, info, options)   \
    X(int, getaddrinfo, getaddrinfo, -1, 0,                                    \
      (const char *host, const char *port, void *hints, void *found), host,    \
      port, hints, found)
/* clang-format on */

#define DEFINE(type, name, label, fd_of, asked, parameters, ...)               \
    typedef type type_##name parameters;                                       \
    static type_##name *real_##name;                                           \
    RUN_EXPORT type_##name call_##name __asm__(#name);                         \
    type call_##name parameters                                                \
    {                                                                          \
        static const char *const formats[2] = {                                \
            RUN_FORMAT("begins call", ">" #label "%s, stack %u"),              \
            RUN_FORMAT("ends call",                                            \
                       "<" #label "%s: returned %zd, asked %zu, errno %d, "    \
                       "after %u ticks, stack %u")};                           \
        uint64_t began;                                                        \
        type result = (type)-1;                                                \
        run_bind();                                                            \
        began = call_begins(formats[0], fd_of);                                \
        result = real_##name(__VA_ARGS__);                                     \
        if (!began)                                                            \
            return result;                                                     \
        recorder_put_(call_word(3), 0);                                        \
        if (RUN_UNLIKELY(recorder_ticks_() - began >= recorder_get_(&least)))  \
            call_ends(formats, fd_of, (intptr_t)result, asked, began,          \
                      RUN_CALL);                                               \
        return result;                                                         \
    }
CALLS(DEFINE)

void run_calls_bind(run_find *find)
{
#define FIND(type, name, ...) RUN_FIND(real_##name, find, #name);
    CALLS(FIND)
}
