/* memory.h - bytes that may not be there. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_MEMORY_H_
#define RECORDER_MEMORY_H_

#include "os.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- memory --
 *
 * Formats and strings are bytes at addresses that a record only claims. They
 * are copied by process_vm_readv() on oneself, which fails where a load would
 * fault; where a sandbox, an emulator or a system that is not Linux lacks it,
 * through a pipe. Without an operating system, the port says what may be
 * loaded.
 */
#if !defined(RECORDER_HOSTED_) && !defined(RECORDER_READABLE)
#error "recorder_dump.h: define RECORDER_READABLE(address)"
#endif
struct recorder_memory {
    int fds[2]; /* the pipe, or -1 */
    bool piped; /* recorder_os_read_self() cannot tell */
};

RECORDER_FUNCTION_ void recorder_memory_open(struct recorder_memory *memory)
{
    if (RECORDER_OS_SEES_SELF_)
        return; /* no pipe is needed */
    memory->fds[0] = memory->fds[1] = -1;
    memory->piped = false;
}
RECORDER_FUNCTION_ void recorder_memory_close(struct recorder_memory *memory)
{
    if (!RECORDER_OS_SEES_SELF_ && memory->fds[0] >= 0) {
        recorder_os_close(memory->fds[0]);
        recorder_os_close(memory->fds[1]);
    }
    recorder_memory_open(memory);
}

/* Opens the pipe. Where the program closed 0, 1 or 2, the pipe must not take
 * their place: a dump to stderr would go into it. */
RECORDER_FUNCTION_ bool recorder_memory_pipe_open(
    struct recorder_memory *memory)
{
    int fds[2], i;
    if (recorder_os_pipe(fds) != 0)
        return false;
    for (i = 0; i < 2; i++)
        if (fds[i] <= 2) {
            int low = fds[i];
            fds[i] = recorder_os_dup_above(low);
            recorder_os_close(low);
        }
    if (fds[0] >= 0 && fds[1] >= 0) {
        memory->fds[0] = fds[0];
        memory->fds[1] = fds[1];
        return true;
    }
    for (i = 0; i < 2; i++)
        if (fds[i] >= 0)
            recorder_os_close(fds[i]);
    return false;
}

/* Writing to a pipe fails with EFAULT at the first byte that is not there. What
 * is written fits an empty pipe, so that neither call waits. */
RECORDER_FUNCTION_ ptrdiff_t recorder_memory_pipe(
    struct recorder_memory *memory, uintptr_t from, void *to, size_t size)
{
    long count;
    if (memory->fds[0] < 0 && !recorder_memory_pipe_open(memory))
        return -1;
    if (size > RECORDER_PIPE_BYTES_)
        size = RECORDER_PIPE_BYTES_;
    count = recorder_os_write_unchecked(memory->fds[1], from, size);
    return count <= 0 ? -1
                      : (ptrdiff_t)recorder_os_read(memory->fds[0], to,
                                                    (size_t)count);
}

/* Copies up to `size` bytes that stand at an address of this process. Returns
 * how many, fewer where memory ends, -1 where none can be read. */
RECORDER_FUNCTION_ ptrdiff_t recorder_memory_copy(
    struct recorder_memory *memory, uint64_t from, void *to, size_t size)
{
    ptrdiff_t count = -1;
    uintptr_t address = (uintptr_t)from;
    size_t done = 0;
    if (address != from || address < 4096)
        return -1;
    if (RECORDER_OS_SEES_SELF_ || !memory->piped) {
        count = recorder_os_read_self(address, to, size);
        if (RECORDER_OS_SEES_SELF_ || count >= 0)
            return count > 0 ? count : -1;
        memory->piped = true;
    }
    /* write() may refuse all where only the end is missing: page by page; no
     * page size is smaller. */
    while (done < size) {
        size_t page = 4096 - (address + done) % 4096;
        count = recorder_memory_pipe(memory, address + done, (char *)to + done,
                                     size - done < page ? size - done : page);
        if (count <= 0)
            break;
        done += (size_t)count;
    }
    return done ? (ptrdiff_t)done : -1;
}

/* A piece of memory that is to be divided, at a multiple of 16. */
RECORDER_INLINE_ char *recorder_carve(char **from, size_t bytes)
{
    char *piece = *from;
    *from += (bytes + 15) & ~(size_t)15;
    return piece;
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
