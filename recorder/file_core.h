/* file_core.h - lays out a recording as an ELF core file. */
/* SPDX-License-Identifier: MIT */
/*
For file.h. A recording is read like the core file of a process.

PROMISES
    * gdb, readelf and other readers of core files open a recording.
    * An addition is visible at once or not at all: the count of program headers
      is stored last.

LIMITS
    * NT_PRSTATUS holds zeros for the registers: the process was not stopped.

CONTENTS
    system      calls of Linux that only recordings need
    core        ELF head, segments, notes
*/
#ifndef RECORDER_FILE_CORE_H_
#define RECORDER_FILE_CORE_H_

#include "events.h"
#include "memory.h"
#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- system -- */

/* An ELF file's head and a program header, in the layout of <elf.h>. */
struct recorder_elf {
    unsigned char ident[16];
    uint16_t type, machine;
    uint32_t version;
    uintptr_t entry, headers, sections;
    uint32_t flags;
    uint16_t bytes, header_bytes, headers_count;
    uint16_t section_bytes, sections_count, names;
};
struct recorder_elf_header {
    uint32_t type;
#if __SIZEOF_POINTER__ == 8
    uint32_t flags;
#endif
    uintptr_t offset, address, physical, file_bytes, memory_bytes;
#if __SIZEOF_POINTER__ == 4
    uint32_t flags;
#endif
    uintptr_t align;
};
enum {
    RECORDER_ELF_LOAD_ = 1,
    RECORDER_ELF_NOTE_ = 4,
    RECORDER_ELF_CORE_ = 4,
    RECORDER_ELF_X_ = 1,
    RECORDER_ELF_W_ = 2,
    RECORDER_ELF_R_ = 4
};

struct recorder_statx {
    uint32_t mask, block_bytes;
    uint64_t attributes;
    uint32_t links, user, group;
    uint16_t mode, spare_1;
    uint64_t inode, bytes, blocks, attributes_mask;
    uint64_t times[8];
    uint32_t of_device[2], device[2];
    uint64_t spare_2[14];
};

#if defined(__mips__)
enum {
    RECORDER_O_NEW_ = 0x502 /* RDWR, CREAT, EXCL */,
    RECORDER_O_NONBLOCK_ = 0x80,
    RECORDER_MAP_NORESERVE_ = 0xc02,
    RECORDER_MAP_FIXED_ = 0xc12
};
#else
enum {
    RECORDER_O_NEW_ = 0302,
    RECORDER_O_NONBLOCK_ = 04000,
    RECORDER_MAP_NORESERVE_ = 0x4022 /* private, anonymous */,
    RECORDER_MAP_FIXED_ = 0x4032
};
#endif
#if defined(__arm__) || defined(__aarch64__) || defined(__powerpc__)
enum { RECORDER_O_NOFOLLOW_ = 0100000, RECORDER_O_CLOEXEC_ = 02000000 };
#else
enum { RECORDER_O_NOFOLLOW_ = 0400000, RECORDER_O_CLOEXEC_ = 02000000 };
#endif
enum { RECORDER_AT_CWD_ = -100 };

enum {
    RECORDER_ENOENT_ = 2,
    RECORDER_ENOMEM_ = 12,
    RECORDER_EACCES_ = 13,
    RECORDER_EEXIST_ = 17,
    RECORDER_ENOTDIR_ = 20,
    RECORDER_EFBIG_ = 27,
    RECORDER_ENOSPC_ = 28,
    RECORDER_EROFS_ = 30,
#if defined(__mips__)
    RECORDER_ENOSYS_ = 89,
    RECORDER_EOPNOTSUPP_ = 122,
    RECORDER_EDQUOT_ = 1133
#else
    RECORDER_ENOSYS_ = 38,
    RECORDER_EOPNOTSUPP_ = 95,
    RECORDER_EDQUOT_ = 122
#endif
};

extern unsigned long recorder_os_auxiliary(unsigned long type)
    RECORDER_LABEL_(getauxval);
/* True unless the program has more rights than its caller (setuid). */
RECORDER_INLINE_ bool recorder_os_trusted(void)
{
    return !recorder_os_auxiliary(23 /* AT_SECURE */);
}

RECORDER_INLINE_ uintptr_t recorder_os_page_bytes(void)
{
    return recorder_os_auxiliary(6 /* AT_PAGESZ */);
}

/* The value of a call that returned -1 with errno becomes minus that errno. */
RECORDER_INLINE_ long recorder_os_result(long value)
{
    return value == -1 ? -(long)*recorder_errno() : value;
}
/* Opens a file for this process only. Returns a descriptor, or minus errno. */
RECORDER_FUNCTION_ long recorder_os_openat(const char *path, long flags,
                                           long mode)
{
    return recorder_os_result(
        recorder_syscall(SYS_openat, (long)RECORDER_AT_CWD_, path,
                         flags | RECORDER_O_CLOEXEC_, mode));
}
/* The same, unless the path is a symbolic link. */
RECORDER_FUNCTION_ long recorder_os_open(const char *path, long flags)
{
    return recorder_os_openat(path, flags | RECORDER_O_NOFOLLOW_, 0600);
}
/* Reads at most `max` bytes of a file. Returns how many; 0 also where the file
 * cannot be opened. */
RECORDER_FUNCTION_ size_t recorder_os_file(const char *path, void *to,
                                           size_t max)
{
    long fd = recorder_os_openat(path, 0, 0);
    size_t size = 0;
    long count = 1;
    if (fd < 0)
        return 0;
    while (size < max && count > 0) {
        count = recorder_os_read((int)fd, (char *)to + size, max - size);
        if (count > 0)
            size += (size_t)count;
    }
    recorder_os_close((int)fd);
    return size;
}
RECORDER_FUNCTION_ uint32_t recorder_os_user(void)
{
#ifdef SYS_geteuid32
    return (uint32_t)recorder_syscall(SYS_geteuid32);
#else
    return (uint32_t)recorder_syscall(SYS_geteuid);
#endif
}
/* statx() of a descriptor or, where `fd` is -1, of a path, without following a
 * link. Returns 0 or minus errno. */
RECORDER_FUNCTION_ long recorder_os_statx(int fd, const char *path,
                                          struct recorder_statx *to)
{
#ifdef SYS_statx
    const long empty = 0x1000, no_follow = 0x100;
    return recorder_os_result(recorder_syscall(
        SYS_statx, fd < 0 ? (long)RECORDER_AT_CWD_ : (long)fd, path,
        fd < 0 ? no_follow : empty, 0x7ffL /* all the basic ones */, to));
#else
    (void)fd, (void)path, (void)to;
    return -RECORDER_ENOSYS_;
#endif
}
/* Returns 1 if a process has the file open or mapped for writing, 0 if none
 * has, minus errno if the file system cannot tell. The kernel grants a read
 * lease only where there is no writer. */
RECORDER_FUNCTION_ long recorder_os_has_writer(int fd)
{
    const int set = 1024;                /* F_SETLEASE */
    const long read_lease = 0, none = 2; /* F_RDLCK, F_UNLCK */
    long result = recorder_os_result(recorder_os_fcntl(fd, set, read_lease));
    if (result == 0)
        recorder_os_fcntl(fd, set, none);
    return result == -RECORDER_EAGAIN_ ? 1 : result;
}
/* Locks a file until `fd` is closed. Returns -RECORDER_EAGAIN_ if another holds
 * the lock. */
RECORDER_FUNCTION_ long recorder_os_lock(int fd)
{
    return recorder_os_result(
        recorder_syscall(SYS_flock, (long)fd, 2L | 4L /* LOCK_EX, LOCK_NB */));
}
/* Maps a piece of a file, shared. Returns null on failure. */
RECORDER_FUNCTION_ char *recorder_os_share(int fd, uintptr_t offset,
                                           uintptr_t bytes)
{
#if __SIZEOF_POINTER__ == 8
    long at = recorder_syscall(SYS_mmap, NULL, bytes, 3L, 1L, (long)fd, offset);
#else
    long at = recorder_syscall(SYS_mmap2, NULL, bytes, 3L, 1L, (long)fd,
                               offset / 4096);
#endif
    return at == -1 ? NULL : (char *)at;
}
/* Enlarges a file of `offset` bytes, which is positioned at its end, and takes
 * the disk space. Returns 0 or minus errno. SIGXFSZ may be raised. */
RECORDER_FUNCTION_ long recorder_os_allocate(int fd, uintptr_t offset,
                                             uintptr_t bytes)
{
    const uintptr_t piece = 65536;
    long result;
    void *zeros;
#if __SIZEOF_POINTER__ == 8
    result = recorder_syscall(SYS_fallocate, (long)fd, 0L, offset, bytes);
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    result =
        recorder_syscall(SYS_fallocate, (long)fd, 0L, offset, 0L, bytes, 0L);
#else
    result =
        recorder_syscall(SYS_fallocate, (long)fd, 0L, 0L, offset, 0L, bytes);
#endif
    result = recorder_os_result(result);
    if (result != -RECORDER_ENOSYS_ && result != -RECORDER_EOPNOTSUPP_)
        return result;
    zeros = recorder_os_memory(piece);
    if (!zeros)
        return -RECORDER_ENOMEM_;
    for (result = 0; bytes && result >= 0;) {
        result = recorder_os_result(
            recorder_os_write(fd, zeros, bytes < piece ? bytes : piece));
        if (result > 0)
            bytes -= (uintptr_t)result;
        else if (result == -RECORDER_EINTR_)
            result = 0;
        else if (result == 0)
            result = -RECORDER_ENOSPC_;
    }
    recorder_munmap(zeros, piece);
    return result < 0 ? result : 0;
}

extern int recorder_os_rename(const char *from, const char *to)
    RECORDER_LABEL_(rename);
extern int recorder_os_unlink(const char *path) RECORDER_LABEL_(unlink);

/* Returns a number of /proc/PID/stat; 0 if the process does not exist or is a
 * zombie. Fields count from 1, as in proc(5). */
enum { RECORDER_STAT_THREADS_ = 20, RECORDER_STAT_START_ = 22 };
RECORDER_FUNCTION_ uintptr_t recorder_os_process_stat(intptr_t pid,
                                                      unsigned wanted)
{
    struct recorder_string path;
    char text[1024], name[40];
    size_t size, i;
    unsigned field = 2;
    uintptr_t number = 0;
    path = recorder_string_at(name, sizeof name - 1);
    recorder_add_string(&path, "/proc/");
    if (pid == recorder_os_process()) /* /proc may number another namespace */
        recorder_add_string(&path, "self");
    else
        recorder_add_number(&path, (uint64_t)pid, 10, 1);
    recorder_add_text(&path, "/stat", 6);
    size = recorder_os_file(name, text, sizeof text);
    for (i = size; i > 0 && text[i - 1] != ')'; i--)
        ; /* the name in front may contain blanks and brackets */
    for (; i < size && field < wanted; i++)
        if (text[i] == ' ')
            field++;
        else if (field == 3 && (text[i] == 'Z' || text[i] == 'X'))
            return 0;
    for (i = i < size ? i : size; i < size && text[i] >= '0'; i++)
        number = number * 10 + (uintptr_t)(text[i] - '0');
    return number;
}

RECORDER_FUNCTION_ const char *recorder_path_basename(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

/* Copies memory that may be unmapped meanwhile. Returns false if it was. */
RECORDER_FUNCTION_ bool recorder_memory_copy_all(void *to, uintptr_t from,
                                                 uintptr_t bytes)
{
    struct recorder_memory memory;
    uintptr_t done = 0;
    ptrdiff_t count = 1;
    recorder_memory_open(&memory);
    while (done < bytes && count > 0) {
        count = recorder_memory_copy(&memory, from + done, (char *)to + done,
                                     bytes - done);
        done += count > 0 ? (uintptr_t)count : 0;
    }
    recorder_memory_close(&memory);
    return done == bytes;
}

/* ------------------------------------------------------------------ core --
 *
 * A recording is an ELF core file of the program's class, byte order and
 * machine. Readers find everything by its address, through the PT_LOADs; the
 * order of these and their offsets mean nothing. Each library that is opened
 * later adds program headers; e_phnum is stored last and counts complete ones.
 *
 * PT_NOTE (of the process)
 *     "RECORDER", type 1: words {RECORDER_LAYOUT, address of the registry,
 *         process id, 1 if the file is whole or 0 if it was being made, start
 *         of the process in clock ticks since boot (/proc/PID/stat, 22), the
 *         boot and the pid namespace (hashed; 0: unknown), 1 if leases tell on
 *         this file system whether a process maps a file}. It is the first
 *         note; its first word stands at a multiple of 8
 *     "CORE", NT_PRSTATUS (where the machine's is known; registers are 0),
 *         NT_PRPSINFO, NT_AUXV (as of /proc/self/auxv)
 * PT_NOTE (of the program and its libraries; one for each that came later)
 *     "CORE", NT_FILE (all segments)
 * PT_LOAD
 *     the file itself, one writable segment for each part, at the address where
 *         the part is mapped. It holds everything that `first` and `threads` of
 *         the registry lead to: a copy of each struct recorder (`next` leads to
 *         the next copy), its name and description, its rings; the thread
 *         table; `line`
 *     copies at the addresses of the originals: the registry, the order word,
 *         each struct recorder (for debuggers), the read-only segments of each
 *         module that records (its formats, its build-id). Their bytes lie in
 *         the parts, so the file has them once, at two addresses
 *
 * The rings and the thread table are live. The copies are as old as the last
 * call of recorder_core_sync(): `trace` of a struct recorder and the order word
 * are those of the start, and a recording ends with the highest order in it.
 * `tweaks`, `types`, `hook` and `thread` are 0.
 * A recorder whose library was closed stays in the list; if the library returns
 * to the same address, it uses the same rings again. If another library takes
 * its addresses, its saved formats stay reachable only inside the parts, and
 * the records' format pointers are redirected there.
 */

/* The file is mapped in parts: the first when it is made, others for libraries
 * that are opened later. Rings are allocated from a part's end, all else from
 * its start, so that a child copies that in one piece. */
struct recorder_part {
    char *memory;
    uintptr_t bytes, offset; /* in the file */
    uintptr_t low, high;     /* what is free begins and ends here */
};
enum {
    RECORDER_PARTS = 64,
    RECORDER_HEADERS_SPARE = 512,
    RECORDER_PATH_MAX = 2048
};
#define RECORDER_PART_BYTES ((uintptr_t)1 << 20) /* the least for a later one */
#define RECORDER_PART_SPARE ((uintptr_t)64 << 10)
#define RECORDER_PART_PAGE ((uintptr_t)64 << 10) /* the largest */

/* A slot as it was in front of fork(), where a ticket was open in it: drawn,
 * and neither whole nor given up. */
struct recorder_fork_slot {
    struct recorder_ring *ring;
    uintptr_t mask, slot, lap, commit; /* lap: the last that was handed out */
    struct recorder_turn turn;
    struct recorder_record record;
};
enum { RECORDER_FORK_SLOTS = 64 };

struct recorder_recording {
    struct recorder_part parts[RECORDER_PARTS];
    unsigned parts_count;
    struct recorder_elf *elf;
    struct recorder_elf_header *headers; /* behind it */
    unsigned headers_max;
    struct recorder_registry *image;
    char *line;                 /* 256 bytes */
    uintptr_t *order;           /* the copy of it */
    struct recorder *last;      /* copy in the list; null: there is none */
    char *note, *status, *info; /* contents of the notes that name a process */
    uint64_t inode;
    uint32_t device[2];
    bool own_process;                         /* %p is in the pattern */
    void (*notify)(int what, const void *of); /* for the registry */
    char pattern[RECORDER_PATH_MAX], folder[RECORDER_PATH_MAX];
    char path[RECORDER_PATH_MAX], program[RECORDER_PATH_MAX];
    struct recorder_fork_slot open[RECORDER_FORK_SLOTS];
    unsigned open_count;
};
RECORDER_PROGRAM_ struct recorder_recording *recorder_recording = 0;

RECORDER_INLINE_ uintptr_t recorder_round_up(uintptr_t bytes, uintptr_t to)
{
    return (bytes + to - 1) & ~(to - 1);
}

/* Allocates zeroed memory in the last part. Returns null if it is full. */
RECORDER_FUNCTION_ char *recorder_core_take(struct recorder_recording *file,
                                            uintptr_t bytes, bool ring)
{
    struct recorder_part *part = &file->parts[file->parts_count - 1];
    bytes = recorder_round_up(bytes, RECORDER_LINE_BYTES);
    if (bytes > part->high - part->low)
        return NULL;
    if (ring)
        return part->memory + (part->high -= bytes);
    part->low += bytes;
    return part->memory + part->low - bytes;
}

RECORDER_FUNCTION_ struct recorder_part *
recorder_core_part(struct recorder_recording *file, uintptr_t address)
{
    unsigned i;
    for (i = 0; i < file->parts_count; i++)
        if (address - (uintptr_t)file->parts[i].memory < file->parts[i].bytes)
            return &file->parts[i];
    return NULL;
}

/* Returns the bytes of a segment in its part. */
RECORDER_FUNCTION_ char *
recorder_core_bytes(const struct recorder_recording *file,
                    const struct recorder_elf_header *header)
{
    unsigned i;
    for (i = 0; i < file->parts_count; i++)
        if (header->offset - file->parts[i].offset < file->parts[i].bytes)
            return file->parts[i].memory + header->offset -
                   file->parts[i].offset;
    return NULL;
}

/* Maps `bytes` of the file as a further part. Returns false on failure. */
RECORDER_FUNCTION_ bool recorder_core_map(struct recorder_recording *file,
                                          int fd, uintptr_t offset,
                                          uintptr_t bytes)
{
    struct recorder_part *part = &file->parts[file->parts_count];
    part->memory = recorder_os_share(fd, offset, bytes);
    if (!part->memory)
        return false;
    part->bytes = part->high = bytes;
    part->offset = offset;
    part->low = 0;
    file->parts_count++;
    return true;
}

/* Adds a program header: `bytes` at `at`, in a part, are what the program has
 * at `address`. Returns false if there is no header left. */
RECORDER_FUNCTION_ bool
recorder_core_add_header(struct recorder_recording *file, uint32_t type,
                         uintptr_t address, const void *at, uintptr_t bytes,
                         uint32_t flags)
{
    unsigned count = file->elf->headers_count;
    struct recorder_elf_header *header = &file->headers[count];
    const struct recorder_part *part = recorder_core_part(file, (uintptr_t)at);
    if (count == file->headers_max || !part)
        return false;
    header->offset = part->offset + ((uintptr_t)at - (uintptr_t)part->memory);
    header->address = address;
    header->physical = 0; /* see struct recorder_open_claim */
    header->file_bytes = bytes;
    header->memory_bytes = type == RECORDER_ELF_NOTE_ ? 0 : bytes;
    header->flags = flags;
    header->align = type == RECORDER_ELF_NOTE_ ? 4 : 1;
    header->type = type;
    __atomic_store_n(&file->elf->headers_count, (uint16_t)(count + 1),
                     __ATOMIC_RELEASE);
    return true;
}
RECORDER_FUNCTION_ bool
recorder_core_add_segment(struct recorder_recording *file, uintptr_t address,
                          const void *at, uintptr_t bytes, uint32_t flags)
{
    return recorder_core_add_header(file, RECORDER_ELF_LOAD_, address, at,
                                    bytes, flags);
}

/* The number of registers in the machine's NT_PRSTATUS; 0: unknown, and the
 * note is left out. */
#if defined(__x86_64__) && __SIZEOF_POINTER__ == 8
#define RECORDER_REGISTERS_ 27
#elif defined(__i386__)
#define RECORDER_REGISTERS_ 17
#elif defined(__aarch64__) && __SIZEOF_POINTER__ == 8
#define RECORDER_REGISTERS_ 34
#elif defined(__arm__)
#define RECORDER_REGISTERS_ 18
#elif defined(__riscv)
#define RECORDER_REGISTERS_ 32
#elif defined(__powerpc__)
#define RECORDER_REGISTERS_ 48
#elif defined(__s390x__)
#define RECORDER_REGISTERS_ 27
#elif defined(__mips__) && (__SIZEOF_POINTER__ == 8) == (_MIPS_SIM == _ABI64)
#define RECORDER_REGISTERS_ 45
#else
#define RECORDER_REGISTERS_ 0
#endif
/* NT_PRSTATUS: a signal (three ints, two shorts), two masks, ids, 4 times. */
#define RECORDER_STATUS_PID_ (16 + 2 * sizeof(long))
#define RECORDER_STATUS_BYTES_                                                 \
    (RECORDER_STATUS_PID_ + 16 + (8 + RECORDER_REGISTERS_ + 1) * sizeof(long))
/* NT_PRPSINFO: four letters, flags, user and group, four ids, two names. */
#if __SIZEOF_POINTER__ == 8
#define RECORDER_INFO_PID_ 24
#elif defined(__powerpc__) || defined(__mips__) || defined(__riscv)
#define RECORDER_INFO_PID_ 16
#else
#define RECORDER_INFO_PID_ 12
#endif
#define RECORDER_INFO_BYTES_ (RECORDER_INFO_PID_ + 16 + 16 + 80)
enum { RECORDER_AUXILIARY_MAX = 2048 };
enum { /* the words of the first note */
       RECORDER_OWNER_LAYOUT,
       RECORDER_OWNER_REGISTRY,
       RECORDER_OWNER_PID,
       RECORDER_OWNER_WHOLE,
       RECORDER_OWNER_START,
       RECORDER_OWNER_BOOT,
       RECORDER_OWNER_NAMESPACE,
       RECORDER_OWNER_TELLS,
       RECORDER_NOTE_WORDS
};

/* Writes a note's head at *at and sets *at behind the note. Returns where its
 * contents go. */
RECORDER_FUNCTION_ char *recorder_core_note(char **at, const char *name,
                                            uint32_t name_bytes, uint32_t type,
                                            uint32_t bytes)
{
    uint32_t head[3];
    char *contents = *at + sizeof head + recorder_round_up(name_bytes, 4);
    head[0] = name_bytes;
    head[1] = bytes;
    head[2] = type;
    __builtin_memcpy(*at, head, sizeof head);
    __builtin_memcpy(*at + sizeof head, name, name_bytes);
    *at = contents + recorder_round_up(bytes, 4);
    return contents;
}

/* FNV-1a of a text; 0 for an empty one. */
RECORDER_FUNCTION_ uintptr_t recorder_core_hash(const char *text, size_t size)
{
    uintptr_t hash = size ? 2166136261u : 0;
    size_t i;
    for (i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

/* Fills the words of the first note: the process, and whether the file is
 * whole. */
RECORDER_FUNCTION_ void recorder_core_owner(uintptr_t *words, uintptr_t whole)
{
    intptr_t pid = recorder_os_process();
    char text[64];
    long size;
    words[RECORDER_OWNER_LAYOUT] = RECORDER_LAYOUT;
    words[RECORDER_OWNER_REGISTRY] = (uintptr_t)recorder_home.registry;
    words[RECORDER_OWNER_PID] = (uintptr_t)pid;
    words[RECORDER_OWNER_WHOLE] = whole;
    words[RECORDER_OWNER_START] =
        recorder_os_process_stat(pid, RECORDER_STAT_START_);
    words[RECORDER_OWNER_BOOT] = recorder_core_hash(
        text,
        recorder_os_file("/proc/sys/kernel/random/boot_id", text, sizeof text));
    size = recorder_syscall(SYS_readlinkat, (long)RECORDER_AT_CWD_,
                            "/proc/self/ns/pid", text, sizeof text);
    words[RECORDER_OWNER_NAMESPACE] =
        recorder_core_hash(text, size > 0 ? (size_t)size : 0);
    words[RECORDER_OWNER_TELLS] = 0;
}
RECORDER_FUNCTION_ void recorder_core_set_owner(struct recorder_recording *file,
                                                uintptr_t whole)
{
    uintptr_t words[RECORDER_NOTE_WORDS];
    int32_t id = (int32_t)recorder_os_process();
    recorder_core_owner(words, whole);
    if (whole) {
        long fd = recorder_os_open(file->path, 0);
        words[RECORDER_OWNER_TELLS] =
            fd >= 0 && recorder_os_has_writer((int)fd) == 1;
        if (fd >= 0)
            recorder_os_close((int)fd);
    }
    __builtin_memcpy(file->note, words, sizeof words);
    if (file->status)
        __builtin_memcpy(file->status + RECORDER_STATUS_PID_, &id, 4);
    __builtin_memcpy(file->info + RECORDER_INFO_PID_, &id, 4);
}

/* Adds the notes of the process. Returns false if there is no room. */
RECORDER_FUNCTION_ bool recorder_core_add_notes(struct recorder_recording *file)
{
    char auxiliary[RECORDER_AUXILIARY_MAX], *start, *at, *to;
    size_t size =
        recorder_os_file("/proc/self/auxv", auxiliary, sizeof auxiliary);
    uintptr_t bytes = 4 * 24 + RECORDER_NOTE_WORDS * sizeof(uintptr_t) +
                      RECORDER_STATUS_BYTES_ + RECORDER_INFO_BYTES_ + size +
                      4 * 4;
    size_t i;
    at = start = recorder_core_take(file, bytes, false);
    if (!start)
        return false;
    file->note = recorder_core_note(&at, "RECORDER", 9, 1,
                                    RECORDER_NOTE_WORDS * sizeof(uintptr_t));
    if (RECORDER_REGISTERS_)
        file->status = recorder_core_note(&at, "CORE", 5, 1 /* NT_PRSTATUS */,
                                          RECORDER_STATUS_BYTES_);
    file->info = recorder_core_note(&at, "CORE", 5, 3 /* NT_PRPSINFO */,
                                    RECORDER_INFO_BYTES_);
    to = file->info + RECORDER_INFO_PID_ + 16;
    __builtin_memcpy(
        to, recorder_path_basename(file->program),
        recorder_length(recorder_path_basename(file->program), 15));
    to += 16;
    i = recorder_os_file("/proc/self/cmdline", to, 79);
    while (i > 0 && to[i - 1] == '\0')
        i--;
    while (i-- > 0)
        if (to[i] == '\0')
            to[i] = ' ';
    if (size)
        __builtin_memcpy(
            recorder_core_note(&at, "CORE", 5, 6 /* NT_AUXV */, (uint32_t)size),
            auxiliary, size);
    recorder_core_set_owner(file, 0);
    return recorder_core_add_header(file, RECORDER_ELF_NOTE_, 0, start,
                                    (uintptr_t)(at - start), RECORDER_ELF_R_);
}

/* Makes the ELF head and the copies of the registry, of the order word and of
 * the line format. Returns false if there is no room. */
RECORDER_FUNCTION_ bool recorder_core_begin(struct recorder_recording *file,
                                            const struct recorder_elf *program,
                                            unsigned headers)
{
    const struct recorder_registry *registry = recorder_home.registry;
    struct recorder_elf elf;
    file->elf = (struct recorder_elf *)(void *)recorder_core_take(
        file, sizeof *file->elf + headers * sizeof *file->headers, false);
    file->headers = (struct recorder_elf_header *)(file->elf + 1);
    file->headers_max = headers;
    elf = *program; /* class, byte order, machine and its flags */
    elf.type = RECORDER_ELF_CORE_;
    elf.entry = elf.sections = 0;
    elf.headers = elf.bytes = sizeof elf;
    elf.header_bytes = sizeof *file->headers;
    elf.headers_count = elf.section_bytes = 0;
    elf.sections_count = elf.names = 0;
    *file->elf = elf;
    file->image = (struct recorder_registry *)(void *)recorder_core_take(
        file, sizeof *file->image, false);
    file->order = (uintptr_t *)(void *)recorder_core_take(
        file, sizeof *file->order, false);
    file->line = recorder_core_take(file, 256, false);
    if (!file->line)
        return false;
    *file->image = *registry;
    file->image->first = NULL;
    file->image->later_set = 0;
    file->image->readers = 0;
    file->image->thread = NULL;
    file->image->hook = NULL;
    file->image->tweaks = NULL;
    file->image->types = NULL;
    file->image->image = NULL;
    file->image->file = NULL;
    return true;
}

/* Updates the copies of the registry and of the order word. Safe in a signal
 * handler. */
RECORDER_FUNCTION_ void recorder_core_sync(struct recorder_recording *file)
{
    const struct recorder_registry *from = recorder_home.registry;
    struct recorder_registry *to = file->image;
    const char *line = __atomic_load_n(&from->line, __ATOMIC_ACQUIRE);
    uint32_t set = __atomic_load_n(&from->later_set, __ATOMIC_ACQUIRE);
    unsigned i;
    recorder_put(&to->cleared, recorder_get(&from->cleared));
    recorder_put(file->order, recorder_get(from->order));
    recorder_put(&to->threads_count, recorder_get(&from->threads_count));
    if (set && !(set & 1) && set != to->later_set) {
        struct recorder_moment later = from->later;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&from->later_set, __ATOMIC_RELAXED) == set) {
            __atomic_store_n(&to->later_set, 1, __ATOMIC_RELEASE);
            to->later = later;
            __atomic_store_n(&to->later_set, set, __ATOMIC_RELEASE);
        }
    }
    for (i = 0; i < RECORDER_WRAPS; i++) {
        recorder_put(&to->wraps[i].order, recorder_get(&from->wraps[i].order));
        recorder_put(&to->wraps[i].high, recorder_get(&from->wraps[i].high));
    }
    recorder_put(&to->high, recorder_get(&from->high));
    recorder_put(&to->wraps_count, recorder_get(&from->wraps_count));
    if (line) {
        size_t size = recorder_length(line, 255);
        __builtin_memcpy(file->line, line, size);
        file->line[size] = '\0';
    }
    __atomic_store_n(&to->line, line ? file->line : NULL, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
