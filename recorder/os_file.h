/* os_file.h - the functions that recordings need of an operating system. */
/* SPDX-License-Identifier: MIT */
/*
os_linux_file.h and os_windows_file.h define the functions below; other systems
have no recordings and no RECORDER_OS_FILES_. tests/house.sh looks for each name.

"Minus errno" is a negative error number: of RECORDER_ENOENT_ and its like.

    files
        RECORDER_O_NEW_, RECORDER_O_NONBLOCK_
            flags of open(): to make a new file only; not to wait
        long recorder_os_open_(const char *path, long flags)
            opens a file for this process only, for reading if there is no flag,
            2 for both; fails if the path is a link. A descriptor, or minus errno
        long recorder_os_statx_(int fd, const char *path,
                                struct recorder_statx_ *to)
            facts about a descriptor or, if `fd` is -1, about a path, which may
            be a link: mode, links, user, bytes, times[6] (changed, in s since
            1970), inode, device. 0, or minus errno
        uint32_t recorder_os_user_(void)
            the owner of files that this process makes
        bool recorder_os_is_own_(const struct recorder_statx_ *stat)
            true if a file is a regular one of this user, with one name
        bool recorder_os_seek_(int fd, uintptr_t offset)
            moves the file's position, at which reads and writes continue
        long recorder_os_allocate_(int fd, uintptr_t offset, uintptr_t bytes)
            enlarges a file of `offset` bytes, which is positioned at its end,
            by `bytes`, and takes the disk space. 0 or more, or minus errno
        void recorder_os_truncate_(int fd, uintptr_t bytes)
            shortens a file
        char *recorder_os_share_(int fd, uintptr_t offset, uintptr_t bytes)
            maps a piece of a file, shared; both are multiples of 64K. Null
            on failure
        void recorder_os_keep_(int fd)
            leaves a file to its mapping
        long recorder_os_has_writer_(int fd)
            1 if a process has the file of a recording mapped, 0 if none has,
            minus errno if the system does not say
        long recorder_os_lock_(int fd)
            locks a file until `fd` is closed. -RECORDER_EAGAIN_: another did
        int recorder_os_rename_(const char *from, const char *to)
        int recorder_os_unlink_(const char *path)
            as in POSIX
        bool recorder_os_is_absolute_(const char *path)
            true if a path does not depend on the working directory
    memory
        uintptr_t recorder_os_page_bytes_(void)
            the size of a page
        char *recorder_os_reserve_(uintptr_t bytes)
            zeroed memory that takes no swap space until it is used, or null
        bool recorder_os_map_over_(void *at, uintptr_t bytes)
            replaces the mapping there by zeroed memory
        bool recorder_os_move_over_(void *from, void *at, uintptr_t bytes)
            moves a mapping there; these three are for children of fork()
    process
        bool recorder_os_is_alone_(void)
            false if the process has other threads that may record
        bool recorder_os_process_exists_(intptr_t pid)
            false if there is surely no such process
        uintptr_t recorder_os_process_start_(intptr_t pid)
            its start, in units of the system; 0 if there is no such process
        void recorder_os_at_exit_(void (*call)(int status, void *argument))
            makes exit() call it, if the system passes the status
        int recorder_os_modules_(int (*each)(struct recorder_dl_info_ *, size_t,
                                            void *), void *context)
            dl_iterate_phdr(): the program first, then its libraries
        bool recorder_os_machine_(struct recorder_elf_ *to)
            class, byte order, machine and its flags, as an ELF head has them
        void recorder_os_siginfo_(char *to, int sig, const void *info)
            Linux's siginfo_t, 128 bytes, for a handler's second argument, which
            may be null
        int recorder_os_registers_(uintptr_t *to, const void *context)
            the registers of a handler's third argument in the order of
            NT_PRSTATUS. Returns the index of the stack pointer, -1 if unknown
    texts; each returns its size, 0 if it is not known, and writes no NUL
        size_t recorder_os_path_(char *to, size_t max)
            the program's file, folders parted by '/'
        size_t recorder_os_host_(char *to, size_t max)
            the name of the machine; a newline may end it
        size_t recorder_os_boot_(char *to, size_t max)
        size_t recorder_os_namespace_(char *to, size_t max)
            a text that changes with each start of the machine; a text that is
            equal for processes that see the same pids
        size_t recorder_os_vector_(char *to, size_t max)
            NT_AUXV of the process
        void recorder_os_folder_(char *to, size_t max)
            the working directory, with a NUL
*/
#ifndef RECORDER_OS_FILE_H_
#define RECORDER_OS_FILE_H_

#include "os.h"

#ifdef RECORDER_LINUX_
#include "os_linux_file.h"
#else
#include "os_windows_file.h"
#endif

#endif
