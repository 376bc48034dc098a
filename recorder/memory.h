/* memory.h - copies bytes from addresses that may be unmapped. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_MEMORY_H_
#define RECORDER_MEMORY_H_

#include "os.h"

RECORDER_C_BEGIN_

/* ---------------------------------------------------------------- memory --
 *
 * A record names formats and strings by address, and nothing may be mapped
 * there any more. process_vm_readv() on the own process copies them, and fails
 * where a load would fault. A sandbox, an emulator or a system that is not
 * Linux may lack it: then bytes go through a pipe. Without an operating system,
 * the port tells which addresses may be loaded (RECORDER_READABLE).
 */
#ifdef RECORDER_OS_BLIND_
#error "recorder_dump.h: define RECORDER_READABLE(address) before recorder.h"
#endif
struct recorder_memory_ {
    int fds[2]; /* the pipe, or -1 */
    bool piped; /* recorder_os_read_self_() could not tell: use the pipe */
};

RECORDER_SELDOM_ void recorder_memory_open_(struct recorder_memory_ *memory)
{
    if (RECORDER_OS_SEES_SELF_)
        return; /* no pipe is needed */
    memory->fds[0] = memory->fds[1] = -1;
    memory->piped = false;
}
RECORDER_SELDOM_ void recorder_memory_close_(struct recorder_memory_ *memory)
{
    if (!RECORDER_OS_SEES_SELF_ && memory->fds[0] >= 0) {
        recorder_os_close_(memory->fds[0]);
        recorder_os_close_(memory->fds[1]);
    }
    recorder_memory_open_(memory);
}

/* Opens the pipe; returns false on failure. If the program has closed 0, 1 or
 * 2, the pipe must not get these numbers: a dump to stderr would go into it. */
RECORDER_SELDOM_ bool
recorder_memory_pipe_open_(struct recorder_memory_ *memory)
{
    int fds[2], i;
    if (recorder_os_pipe_(fds) != 0)
        return false;
    for (i = 0; i < 2; i++)
        if (fds[i] <= 2) {
            int low = fds[i];
            fds[i] = recorder_os_dup_above_(low);
            recorder_os_close_(low);
        }
    if (fds[0] >= 0 && fds[1] >= 0) {
        memory->fds[0] = fds[0];
        memory->fds[1] = fds[1];
        return true;
    }
    for (i = 0; i < 2; i++)
        if (fds[i] >= 0)
            recorder_os_close_(fds[i]);
    return false;
}

/* Copies through the pipe: write() fails with EFAULT where a load would fault.
 * Returns how many bytes, or -1. A copy fits the empty pipe, so that neither
 * call blocks. */
RECORDER_SELDOM_ ptrdiff_t recorder_memory_pipe_(
    struct recorder_memory_ *memory, uintptr_t from, void *to, size_t size)
{
    long count;
    if (memory->fds[0] < 0 && !recorder_memory_pipe_open_(memory))
        return -1;
    if (size > RECORDER_PIPE_BYTES_)
        size = RECORDER_PIPE_BYTES_;
    count = recorder_os_write_unchecked_(memory->fds[1], from, size);
    return count <= 0 ? -1
                      : (ptrdiff_t)recorder_os_read_(memory->fds[0], to,
                                                     (size_t)count);
}

/* Copies up to `size` bytes from an address of this process. Returns how many
 * (fewer where memory ends), or -1 if not even the first can be read. */
RECORDER_SELDOM_ ptrdiff_t recorder_memory_copy_(
    struct recorder_memory_ *memory, uint64_t from, void *to, size_t size)
{
    ptrdiff_t count = -1;
    uintptr_t address = (uintptr_t)from;
    size_t done = 0;
    if (address != from || address < 4096)
        return -1;
    if (RECORDER_OS_SEES_SELF_ || !memory->piped) {
        count = recorder_os_read_self_(address, to, size);
        if (RECORDER_OS_SEES_SELF_ || count >= 0)
            return count > 0 ? count : -1;
        memory->piped = true;
    }
    /* write() may refuse all bytes if only the last is missing. So each copy
     * stays in one page; 4096 is the smallest page size. */
    while (done < size) {
        size_t page = 4096 - (address + done) % 4096;
        count = recorder_memory_pipe_(memory, address + done, (char *)to + done,
                                      size - done < page ? size - done : page);
        if (count <= 0)
            break;
        done += (size_t)count;
    }
    return done ? (ptrdiff_t)done : -1;
}

/* Cuts a piece off the start of *from, which stays a multiple of 16. */
RECORDER_INLINE_ char *recorder_carve_(char **from, size_t bytes)
{
    char *piece = *from;
    *from += (bytes + 15) & ~(size_t)15;
    return piece;
}

RECORDER_C_END_
#endif
