/* os.h - the functions that recorder needs of an operating system. */
/* SPDX-License-Identifier: MIT */
/*
One of os_linux.h, os_posix.h, os_windows.h and os_none.h defines the functions
below. These files have all code that varies with the system, except the clock's
ticks (clock.h). A file for another system defines each function; tests/house.sh
looks for each name.

Functions return as their namesakes of POSIX do, -1 with errno, unless their
text says otherwise. They are safe in signal handlers.

    threads
        int32_t recorder_os_thread_(void)
            the calling thread's id; 0 if the system has no threads
        bool recorder_os_get_name_of_(int32_t id, char name[16])
            another thread's present name; false if the system does not say
        RECORDER_OS_NAMES_
            0 if that is always false
        intptr_t recorder_os_process_(void)
            this process's id
        const char *recorder_os_program_(void)
            the program's name, without folders; null if it is unknown
        void recorder_os_yield_(void)
            lets other threads run
    clocks
        struct recorder_timespec_
            seconds, nanoseconds
        int recorder_os_clock_(int clock, struct recorder_timespec_ *to)
            clock_gettime() of RECORDER_REALTIME_, RECORDER_MONOTONIC_ or
            RECORDER_PROCESSOR_, the processor's time of the calling thread;
            a system without this last clock takes RECORDER_MONOTONIC_
    errors
        int *recorder_os_errno_(void)
            the address of errno; RECORDER_ESRCH_, _EINTR_, _EAGAIN_, _EFAULT_
        const char *recorder_os_error_text_(int error)
            the words for an errno of Linux; null if they are not known
    memory
        void *recorder_os_memory_(size_t bytes)
            maps zeroed memory; null on failure
        int recorder_os_unmap_(void *at, size_t bytes)
            gives such memory back
        long recorder_os_read_self_(uintptr_t from, void *to, size_t size)
            copies bytes of this process that may not exist; returns their
            number, 0 if the first does not exist, -1 if it cannot tell
        RECORDER_OS_SEES_SELF_
            1 if it can always tell
        struct recorder_os_segment_
            at, file_bytes, bytes, writable: a piece of the main program in
            memory
        struct recorder_os_headers_ recorder_os_headers_open_(void)
            an iterator over these pieces; it is opened early, as it may call
            functions of the C library for the first time
        bool recorder_os_next_segment_(struct recorder_os_headers_ *headers,
                                       struct recorder_os_segment_ *segment)
            the next piece; false: there is none, or the linker has found what
            may be looked for in it. Takes little stack
        long recorder_os_maps_(int *fd, char *to, size_t size)
            reads the next bytes of a text that lists this process's mappings,
            as /proc/self/maps of Linux does; opens it if *fd is -1. Returns
            the number of bytes; 0 or less at the end, after which the text is
            closed. Takes little stack
        RECORDER_OS_MAPS_
            0 if the system has no list of mappings
        RECORDER_OS_UNLOADS_
            1 if libraries may be closed while others read their recorders
    files
        long recorder_os_read_(int fd, void *to, size_t size)
        long recorder_os_write_(int fd, const void *from, size_t size)
        int recorder_os_pipe_(int fds[2])
        int recorder_os_close_(int fd)
        int recorder_os_poll_(struct recorder_pollfd_ *fds, unsigned long count,
                             int milliseconds)
            as in POSIX; events: RECORDER_POLLOUT_, RECORDER_POLL_FAILED_
        long recorder_os_write_unchecked_(int fd, uintptr_t from, size_t size)
            write() of bytes that may not exist, unseen by sanitizers
        RECORDER_PIPE_BYTES_
            number of bytes that an empty pipe takes without blocking
        int recorder_os_dup_above_(int fd)
            a copy of a descriptor, which is none of stdin, stdout and stderr
        int recorder_os_create_(const char *path, bool append)
            opens a file to write, new or emptied, or at its end
        void recorder_os_replace_(int fd, int by)
            makes `fd` a copy of `by`: dup2()
    signals
        struct recorder_held_
            the state that a call of the next function keeps
        void recorder_os_hold_signals_(struct recorder_held_ *held)
            blocks SIGPIPE and SIGXFSZ, which our writes may raise, and keeps
            the mask, the pending signals and errno
        void recorder_os_release_signals_(struct recorder_held_ *held)
            removes signals raised since, and restores mask and errno
    environment
        char *recorder_os_environment_(const char *name)
            getenv(); null unless the program is trusted

A system that is no port defines these, too:

        bool recorder_os_thread_ended_(intptr_t process, int32_t id)
            true if there is surely no such thread in this process, whose id
            the caller knows, any more
        void recorder_os_get_thread_name_(char name[16])
            the calling thread's name; leaves `name` alone if it has none
        void recorder_os_at_fork_(void (*prepare)(void), void (*parent)(void),
                                  void (*child)(void))
            has `prepare` called before each fork(), and `parent` after it, or
            `child` in its child, before fork() returns
        void recorder_os_exit_(int status)
            ends the process at once: _exit()
        int recorder_os_protect_(void *at, size_t bytes, int protection)
            mprotect(); 0 is PROT_NONE
        int recorder_os_append_(const char *path)
            opens a file to append to it, or makes it for this user; follows no
            link, and fails if it is no regular file of this user with one name
        struct recorder_signal_set_, recorder_action_,
        recorder_stack_of_signals_
            sigset_t, struct sigaction, stack_t
        int recorder_os_action_(int sig, const struct recorder_action_ *action,
                               struct recorder_action_ *old)
        int recorder_os_stack_(const struct recorder_stack_of_signals_ *stack,
                              struct recorder_stack_of_signals_ *old)
        int recorder_os_mask_(int how, const struct recorder_signal_set_ *set,
                             struct recorder_signal_set_ *old)
            sigaction(), sigaltstack(), sigprocmask()
        void recorder_os_block_(struct recorder_signal_set_ *before)
            blocks all signals; *before becomes the earlier mask
        void recorder_os_unblock_faults_(void)
            lets SIGSEGV, SIGBUS, SIGILL and SIGFPE come to this thread
        int recorder_os_mark_(void *at)
        void recorder_os_jump_(void *at, int value)
            _setjmp() and _longjmp(), in RECORDER_MARK_BYTES_
        RECORDER_OS_JUMPS_
            0 if a handler cannot jump
        bool recorder_os_ignores_(int sig)
            true if the system ignores a signal for which no handler is set
        void recorder_os_requeue_signal_(int sig, void *info)
            sends a signal to this thread, with its siginfo_t if possible
        bool recorder_os_fault_again_(int sig, const void *info, void *context)
            makes a fault end the program when its handler returns to it, even
            if no action can be set any more; false if it cannot, or if the
            signal is no fault that comes again
        bool recorder_os_trusted_(void)
            false if the program has more rights than its caller (setuid)

Recordings need more functions (os_file.h); a system that has them defines
RECORDER_OS_FILES_. compat/, which is for Linux only, needs
recorder_os_write_line_().
*/
#ifndef RECORDER_OS_H_
#define RECORDER_OS_H_

#include "language.h"

#if !defined(RECORDER_HOSTED_)
#include "os_none.h"
#elif defined(RECORDER_LINUX_)
#include "os_linux.h"
#elif defined(_WIN32)
#include "os_windows_signal.h"
#else
#include "os_posix.h"
#endif

#endif
