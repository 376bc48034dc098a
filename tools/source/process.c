/* process.c - a running process as a source: process_vm_readv, no ptrace. */
/* SPDX-License-Identifier: MIT */
#include "proc.h"
#include "source.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#ifndef SYS_pidfd_getfd /* Linux 5.6; libc's headers may be older */
#define SYS_pidfd_getfd 438
#endif

/* A file that the process maps shared, a recording: it outlives the process. */
struct shared {
    uint64_t start, size, offset; /* offset: in the file */
    int fd;
};

struct process {
    struct memory memory;
    int pid;
    struct namespace namespace;
    struct shared shared[16];
    size_t shared_count;
    struct ranges constants;
    uint64_t constants_ns; /* when they were read, by CLOCK_MONOTONIC */
};

/* Returns the file that has all of some bytes, or null. */
static const struct shared *shared_at(struct memory *memory, uint64_t address,
                                      size_t size)
{
    const struct process *process = (const struct process *)memory_base(memory);
    for (size_t i = 0; i < process->shared_count; i++) {
        const struct shared *s = &process->shared[i];
        if (address - s->start < s->size &&
            size <= s->size - (address - s->start))
            return s;
    }
    return NULL;
}
static bool process_stays(struct memory *memory, uint64_t address, size_t size)
{
    return shared_at(memory, address, size);
}

static size_t process_read(struct memory *memory, uint64_t address, void *to,
                           size_t size)
{
    const struct process *process = (const struct process *)memory;
    const struct shared *s = shared_at(memory, address, size);
    size_t done = 0;
    if (s) {
        ssize_t got =
            pread(s->fd, to, size, (off_t)(s->offset + address - s->start));
        return got < 0 ? 0 : (size_t)got; /* it may have been truncated */
    }
    while (done < size) {
        struct iovec here = {(char *)to + done, size - done};
        struct iovec there = {(void *)(uintptr_t)(address + done), size - done};
        ssize_t got = process_vm_readv(process->pid, &here, 1, &there, 1, 0);
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

static bool process_write(struct memory *memory, uint64_t address,
                          const void *from, size_t size)
{
    const struct process *process = (const struct process *)memory;
    struct iovec here = {(void *)(uintptr_t)from, size};
    struct iovec there = {(void *)(uintptr_t)address, size};
    return process_vm_writev(process->pid, &here, 1, &there, 1, 0) ==
           (ssize_t)size;
}

static bool process_thread(struct memory *memory, int32_t id, char name[16])
{
    struct process *process = (struct process *)memory_base(memory);
    char text[17] = "";
    id = namespace_id(&process->namespace, id);
    if (!proc_name(process->pid, id, text))
        return false;
    if (*text)
        memcpy(name, text, 16);
    return true;
}

/* Reads again which mappings are private, of a file, and read-only. If the
 * process has ended, the last ones stay. */
static void constants_read(struct process *process)
{
    struct ranges ranges = {0}, before = process->constants;
    struct proc_mapping m;
    FILE *maps = proc_open(process->pid, "maps");
    if (!maps)
        return;
    while (proc_mapping_next(maps, &m))
        if (m.mode[1] != 'w' && m.mode[3] == 'p' && *m.path == '/')
            range_add(&ranges, m.start, m.end);
    fclose(maps);
    if (ranges.count) {
        process->constants = ranges;
        free(before.all);
    }
}

/* As struct memory's. An address in no known range may be of a library that was
 * opened since, or a stack or heap: so the ranges are read again, at most ten
 * times a second. */
static bool process_constant(struct memory *memory, uint64_t address)
{
    struct process *process = (struct process *)memory_base(memory);
    uint64_t now;
    if (range_has(&process->constants, address))
        return true;
    now = recorder_clock_ns_(RECORDER_MONOTONIC_);
    if (process->constants_ns && now - process->constants_ns < 100000000)
        return false;
    constants_read(process);
    process->constants_ns = now;
    return range_has(&process->constants, address);
}

/* The `descriptor` and `unmap` of struct memory: maps the ring through a copy
 * of the program's descriptor, if it still is a perf event: the program may
 * have closed it, and opened a file that shrinks while it is read. */
static const void *process_descriptor(struct memory *memory, int fd,
                                      size_t size)
{
    static const char wanted[] = "anon_inode:[perf_event]";
    const struct process *process = (const struct process *)memory_base(memory);
    int of = (int)syscall(SYS_pidfd_open, process->pid, 0), copy;
    char path[40], link[sizeof wanted];
    void *at = MAP_FAILED;
    if (of < 0)
        return NULL;
    copy = (int)syscall(SYS_pidfd_getfd, of, fd, 0);
    if (copy >= 0) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
        if (readlink(path, link, sizeof link) == sizeof wanted - 1 &&
            memcmp(link, wanted, sizeof wanted - 1) == 0)
            at = mmap(NULL, size, PROT_READ, MAP_SHARED, copy, 0);
        else
            errno = EBADF;
        fd = errno;
        close(copy);
        errno = fd;
    }
    fd = errno;
    close(of);
    errno = fd;
    return at == MAP_FAILED ? NULL : at;
}
static void process_unmap(struct memory *memory, const void *at, size_t size)
{
    (void)memory;
    munmap((void *)(uintptr_t)at, size);
}

/* Reads the ELF header of an executable. Returns false if there is none. */
static bool header_read(const char *path, Elf64_Ehdr *header)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool whole;
    if (fd < 0)
        return false;
    whole = read(fd, header, sizeof *header) == (ssize_t)sizeof *header &&
            memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
    close(fd);
    return whole;
}

/* Another thread of a process whose first thread has ended: in /proc and for
 * the system calls that read memory, any thread represents its process. 0: all
 * have ended, or the first one is alive. */
static int other_thread(int pid)
{
    char path[64];
    int found = 0;
    int32_t *ids;
    size_t count = proc_threads(pid, &ids);
    for (size_t i = 0; i < count && !found; i++) {
        Elf64_Ehdr header;
        snprintf(path, sizeof path, "/proc/%d/exe", ids[i]);
        if (ids[i] != pid && header_read(path, &header))
            found = ids[i];
    }
    free(ids);
    return found;
}

/* Keeps open a file that the process maps shared. */
static void share(struct process *process, const struct proc_mapping *m)
{
    uint64_t size = m->end - m->start;
    int fd = mapping_open(process->pid, m);
    struct stat stat;
    if (fd >= 0 && fstat(fd, &stat) == 0 &&
        m->offset + size <= (uint64_t)stat.st_size)
        process->shared[process->shared_count++] =
            (struct shared){m->start, size, m->offset, fd};
    else if (fd >= 0)
        close(fd);
}

/* Keeps the mapped files, and looks for registries in those parts of them that
 * are the program's variables. */
static const char *maps_read(struct source *source, int pid)
{
    struct process *process = (struct process *)source->memory;
    struct proc_mapping m;
    FILE *maps = proc_open(pid, "maps");
    if (!maps)
        return source_wrong(source, "%s", strerror(errno));
    while (proc_mapping_next(maps, &m)) {
        source->memory->size += m.end - m.start;
        if (*m.path != '/')
            continue;
        if (m.mode[1] == 'w' && m.mode[3] == 's' &&
            process->shared_count <
                sizeof process->shared / sizeof *process->shared)
            share(process, &m);
        source_module(source, m.start, m.end, m.offset, m.path, strlen(m.path),
                      m.mode[1] == 'w' && m.mode[3] == 'p');
    }
    fclose(maps);
    for (size_t i = 0; i < source->modules_count; i++)
        if (source->modules[i].writable)
            source_scan(source, source->modules[i].start,
                        source->modules[i].end);
    return NULL;
}

/* The `build_id` of struct source: of a mapping. */
static size_t process_build_id(struct source *source, uint64_t address,
                               unsigned char to[64])
{
    unsigned char page[4096];
    size_t size = process_read(source->memory, address, page, sizeof page);
    Elf *elf = elf_memory((char *)page, size);
    size = elf ? source_build_id(elf, to) : 0;
    elf_end(elf);
    return size;
}

static void process_close(struct source *source)
{
    struct process *process = (struct process *)source->memory;
    for (size_t i = 0; i < process->shared_count; i++)
        close(process->shared[i].fd);
    free(process->constants.all);
    namespace_close(&process->namespace);
    free(process);
}

/* Reads the ELF header of a process's program; *pid becomes another of its
 * threads if that one has ended. Null, or the reason. */
static const char *program_read(struct source *source, int *pid,
                                Elf64_Ehdr *header)
{
    char path[32];
    int other;
    snprintf(path, sizeof path, "/proc/%d", *pid);
    if (access(path, F_OK) != 0)
        return source_wrong(source, access("/proc/self", F_OK) == 0
                                        ? "no such process"
                                        : "/proc is not mounted here");
    snprintf(path, sizeof path, "/proc/%d/exe", *pid);
    if (header_read(path, header))
        return NULL;
    if (errno == ENOENT && (other = other_thread(*pid)) != 0) {
        *pid = other;
        snprintf(path, sizeof path, "/proc/%d/exe", *pid);
    }
    if (header_read(path, header))
        return NULL;
    if (errno == ENOENT)
        return source_wrong(source, "has ended, or is of the kernel");
    if (errno == EACCES || errno == EPERM)
        return source_wrong(
            source, "may not be read by this user: run as its owner, or as "
                    "root (in a container, with CAP_SYS_PTRACE)");
    return source_wrong(source, "runs no program that could be read (%s)",
                        strerror(errno));
}

/* Null, or why the memory of a process cannot be read. */
static const char *unread_why(struct source *source)
{
    unsigned char byte;
    if (!source->modules_count)
        return source_wrong(source, "has ended");
    if (process_read(source->memory, source->modules[0].start, &byte, 1) == 1)
        return NULL;
    return source_wrong(source, errno == EPERM
                                    ? "may not be read: as its owner with "
                                      "/proc/sys/kernel/yama/ptrace_scope at "
                                      "0, or as root, it may"
                                : errno == ESRCH ? "has ended"
                                                 : "its memory cannot be read");
}

const char *source_open_process(struct source *source, int pid)
{
    struct process *process;
    Elf64_Ehdr header;
    if (program_read(source, &pid, &header))
        return source->why;
    process = need(calloc(1, sizeof *process));
    process->pid = source->pid = pid;
    namespace_open(&process->namespace, pid);
    process->memory.read = process_read;
    process->memory.write = process_write;
    process->memory.thread = process_thread;
    process->memory.stays = process_stays;
    process->memory.constant = process_constant;
    process->memory.descriptor = process_descriptor;
    process->memory.unmap = process_unmap;
    process->memory.size = (uint64_t)4 << 30; /* room for later mappings */
    process->memory.live = true;
    source_kind(&process->memory, header.e_ident, header.e_machine);
    process->memory.ticks_here = process->memory.native;
    source->memory = &process->memory;
    source->close = process_close;
    source->build_id = process_build_id;
    if (maps_read(source, pid))
        return source->why;
    constants_read(process);
    /* No registry: perhaps because nothing could be read. */
    return source->registry ? NULL : unread_why(source);
}
