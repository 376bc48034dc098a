/* recorder_file.h - keeps the rings in a file, which survives the program. */
/* SPDX-License-Identifier: MIT */
/*
    $ RECORDER_FILE=/var/log/%e.%p.rec ./server     # includes recorder_dump.h
    $ kill -9 4711
    $ recorder dump /var/log/server.4711.rec        # or: gdb server -c ...

PROMISES
    * Whatever ends the program, every record that was complete is in the file,
      and none that is torn: SIGKILL, abort(), _exit(), no memory.
    * A record costs the same with and without a file.
    * The file tells all by itself: it holds the formats, too, and is an ELF
      core file, so that gdb and readelf open it.
    * Nothing that is there is overwritten, truncated or followed as a link. A
      recording of a process that is gone is kept as PATH.old.
    * All space is taken at the start. What cannot be done is said in one line
      on stderr, and the program goes on as without a file.

LIMITS
    * What the file holds survives the program, not the machine: nothing waits
      for the disk. Whoever cuts the file off while it is in use kills the
      program (SIGBUS).
    * recorder_file() in a program that has threads already takes 50 ms or, on
      a busy machine, as long as it takes for each of them to run, 2 s at most:
      for records that are being written. A thread that is stopped inside of
      record() for longer loses that one. What is recorded in that time may
      stay in its ring longer than as much that is newer.
    * A child of fork() starts with copies of the parent's records: of those
      recorders that are 64 MB together, the others are empty. One made by a
      bare system call records into its parent's file.
    * If the only library that includes this header is closed, later children of
      fork() record into the file of their parent.

CONTENTS
    interface   recorder_file()
    layout      of the file: for those who read it
    system      files, as the kernel has them
    parts       the file's memory
    notes       what the file tells of the process
    modules     the program and its libraries
    moving      rings, while others record into them
    opening     of a file that may be there, and of one that is not
    events      libraries that come, children, what changes
*/
#ifndef RECORDER_FILE_H
#define RECORDER_FILE_H

#include "recorder_dump.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- interface --
 *
 * bool recorder_file(const char *path)
 *     Moves the rings of all recorders, those that come later included, into a
 *     new file. %p in the path is the process id, %e the name of the program,
 *     %% a percent. False, and a line on stderr: they stay where they are. A
 *     child of fork() gets a file of its own if the path has %p, else goes on
 *     in memory. There is one file for a process.
 *
 * The environment's RECORDER_FILE does that before main(), unless the program
 * runs with more rights than its caller (setuid).
 */

/* ---------------------------------------------------------------- layout --
 *
 * An ELF core file of the program's class, byte order and machine. Readers take
 * everything by its address, through the PT_LOADs; their order and the offsets
 * say nothing. The file grows by further program headers when libraries come:
 * e_phnum counts those that are whole, and is stored last.
 *
 * PT_NOTE (one; one more for each library that came later)
 *     "RECORDER", type 1: words {RECORDER_LAYOUT, address of the registry,
 *         process id, 1 if the file is whole or 0 if it was being made, start
 *         of the process in clock ticks since boot (/proc/PID/stat, 22)}. It is
 *         the first note, the first word of it at a multiple of 8
 *     "CORE", NT_PRSTATUS (where the machine's is known; registers are 0),
 *         NT_PRPSINFO, NT_AUXV (as of /proc/self/auxv), NT_FILE (all segments
 *         of the program and its libraries)
 * PT_LOAD
 *     the file itself, at the addresses where it was mapped: one for each part,
 *         writable. Everything that `first` and `threads` of the registry lead
 *         to lies there: a copy of each struct recorder (so is `next`), its
 *         name and description, its rings; the thread table; `line`
 *     copies at the addresses of the originals: the registry, the order word,
 *         each struct recorder (for debuggers), the read-only segments of each
 *         module that records (its formats, its build-id). The last also lie
 *         in the first kind, twice in memory and once in the file
 *
 * The rings and the thread table are live, the copies are as old as the last
 * change that was noted (recorder_file_sync): `trace` of a struct recorder and
 * the order word are those of the start. The end of the recording is the
 * highest order in it. `tweaks`, `types`, `hook` and `thread` are 0.
 * A recorder whose library was closed stays in the list; if the library comes
 * again to the same address, it goes on in the same rings. Formats of a library
 * whose place another has taken are moved, in the records, to addresses of the
 * file.
 */

/* ---------------------------------------------------------------- system -- */

/* As the kernel lays them out: an ELF file's head, a program header. */
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
enum { RECORDER_O_SAFE_ = 02100000 }; /* CLOEXEC, NOFOLLOW */
#else
enum { RECORDER_O_SAFE_ = 02400000 };
#endif
enum { RECORDER_AT_CWD_ = -100 };

extern unsigned long recorder_os_auxiliary(unsigned long type)
    RECORDER_LABEL_(getauxval);

/* The calls return the kernel's value, or minus the errno. */
RECORDER_INLINE_ long recorder_os_result(long value)
{
    return value == -1 ? -(long)*recorder_errno() : value;
}
RECORDER_FUNCTION_ long recorder_os_open(const char *path, long flags)
{
    return recorder_os_result(
        recorder_syscall(SYS_openat, (long)RECORDER_AT_CWD_, path,
                         flags | RECORDER_O_SAFE_, 0600L));
}
/* Reads a file's start. Returns its size, at most `max`. */
RECORDER_FUNCTION_ size_t recorder_os_file(const char *path, void *to,
                                           size_t max)
{
    long fd = recorder_syscall(SYS_openat, (long)RECORDER_AT_CWD_, path,
                               02000000L /* CLOEXEC */);
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
/* What a descriptor or, where that is none, a path is; 0, or an error. */
RECORDER_FUNCTION_ long recorder_os_stat(int fd, const char *path,
                                         struct recorder_statx *to)
{
#ifdef SYS_statx
    const long empty = 0x1000, no_follow = 0x100;
    return recorder_os_result(recorder_syscall(
        SYS_statx, fd < 0 ? (long)RECORDER_AT_CWD_ : (long)fd, path,
        fd < 0 ? no_follow : empty, 0x7ffL /* all the basic ones */, to));
#else
    (void)fd, (void)path, (void)to;
    return -38; /* ENOSYS */
#endif
}
/* Maps a piece of a file, shared. Null: it cannot be. */
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
/* Takes disk space at the end of a file, which has `offset` bytes and is at
 * that position; 0, or an error. SIGXFSZ may be raised. */
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
    if (result != -38 && result != -89 && result != -95 && result != -122)
        return result; /* neither ENOSYS nor EOPNOTSUPP, nor those of mips */
    zeros = recorder_os_memory(piece);
    if (!zeros)
        return -12; /* ENOMEM */
    for (result = 0; bytes && result >= 0;) {
        result = recorder_os_result(
            recorder_os_write(fd, zeros, bytes < piece ? bytes : piece));
        if (result > 0)
            bytes -= (uintptr_t)result;
        else if (result == -4 /* EINTR */)
            result = 0;
        else if (result == 0)
            result = -28; /* ENOSPC */
    }
    recorder_munmap(zeros, piece);
    return result < 0 ? result : 0;
}

/* ----------------------------------------------------------------- parts --
 *
 * The file is mapped in parts, the first for what there is at the start, the
 * others for libraries that come later. A part is given away from both ends:
 * rings from its end, all else from its start, so that a child can copy that in
 * one piece.
 */
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
    bool own_process;                        /* %p is in the pattern */
    void (*event)(int what, const void *of); /* for the registry */
    char pattern[RECORDER_PATH_MAX], folder[RECORDER_PATH_MAX];
    char path[RECORDER_PATH_MAX], program[RECORDER_PATH_MAX];
};
RECORDER_PROGRAM_ struct recorder_recording *recorder_recording = 0;
RECORDER_PROGRAM_ uint32_t recorder_file_busy = 0;
RECORDER_PROGRAM_ unsigned char recorder_file_asked = 0;

RECORDER_INLINE_ uintptr_t recorder_round(uintptr_t bytes, uintptr_t to)
{
    return (bytes + to - 1) & ~(to - 1);
}

/* Memory of the file, zeroed; null: there is no more. */
RECORDER_FUNCTION_ char *recorder_part_take(struct recorder_recording *file,
                                            uintptr_t bytes, bool ring)
{
    struct recorder_part *part = &file->parts[file->parts_count - 1];
    bytes = recorder_round(bytes, RECORDER_LINE_BYTES);
    if (bytes > part->high - part->low)
        return NULL;
    if (ring)
        return part->memory + (part->high -= bytes);
    part->low += bytes;
    return part->memory + part->low - bytes;
}

RECORDER_FUNCTION_ struct recorder_part *
recorder_part_of(struct recorder_recording *file, uintptr_t address)
{
    unsigned i;
    for (i = 0; i < file->parts_count; i++)
        if (address - (uintptr_t)file->parts[i].memory < file->parts[i].bytes)
            return &file->parts[i];
    return NULL;
}

/* A program header for `bytes` at `at` in the file, which stand for those at
 * `address` in the program. False: there is none left. */
RECORDER_FUNCTION_ bool recorder_file_header(struct recorder_recording *file,
                                             uint32_t type, uintptr_t address,
                                             const void *at, uintptr_t bytes,
                                             uint32_t flags)
{
    unsigned count = file->elf->headers_count;
    struct recorder_elf_header *header = &file->headers[count];
    const struct recorder_part *part = recorder_part_of(file, (uintptr_t)at);
    if (count == file->headers_max || !part)
        return false;
    header->offset = part->offset + ((uintptr_t)at - (uintptr_t)part->memory);
    header->address = address;
    header->file_bytes = bytes;
    header->memory_bytes = type == RECORDER_ELF_NOTE_ ? 0 : bytes;
    header->flags = flags;
    header->align = type == RECORDER_ELF_NOTE_ ? 4 : 1;
    header->type = type;
    __atomic_store_n(&file->elf->headers_count, (uint16_t)(count + 1),
                     __ATOMIC_RELEASE);
    return true;
}
RECORDER_FUNCTION_ bool recorder_file_load(struct recorder_recording *file,
                                           uintptr_t address, const void *at,
                                           uintptr_t bytes, uint32_t flags)
{
    return recorder_file_header(file, RECORDER_ELF_LOAD_, address, at, bytes,
                                flags);
}

/* Copies bytes of the program, which may go away meanwhile. */
RECORDER_FUNCTION_ bool recorder_file_copy(void *to, uintptr_t from,
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

/* ----------------------------------------------------------------- notes -- */

/* Registers in the machine's NT_PRSTATUS; 0: unknown, and there is no such
 * note. */
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
/* Three numbers and two of 16 bits of a signal, two masks, the ids, 4 times. */
#define RECORDER_STATUS_PID_ (16 + 2 * sizeof(long))
#define RECORDER_STATUS_BYTES_                                                 \
    (RECORDER_STATUS_PID_ + 16 + (8 + RECORDER_REGISTERS_ + 1) * sizeof(long))
/* Four letters, flags, user and group, four ids, two names. */
#if __SIZEOF_POINTER__ == 8
#define RECORDER_INFO_PID_ 24
#elif defined(__powerpc__) || defined(__mips__) || defined(__riscv)
#define RECORDER_INFO_PID_ 16
#else
#define RECORDER_INFO_PID_ 12
#endif
#define RECORDER_INFO_BYTES_ (RECORDER_INFO_PID_ + 16 + 16 + 80)
enum { RECORDER_AUXILIARY_MAX = 2048, RECORDER_NOTE_WORDS = 5 };

/* Begins a note at *at, moves that behind it and returns its contents. */
RECORDER_FUNCTION_ char *recorder_note(char **at, const char *name,
                                       uint32_t name_bytes, uint32_t type,
                                       uint32_t bytes)
{
    uint32_t head[3];
    char *contents = *at + sizeof head + recorder_round(name_bytes, 4);
    head[0] = name_bytes;
    head[1] = bytes;
    head[2] = type;
    __builtin_memcpy(*at, head, sizeof head);
    __builtin_memcpy(*at + sizeof head, name, name_bytes);
    *at = contents + recorder_round(bytes, 4);
    return contents;
}

/* When a process began, in clock ticks since boot; 0: it is not there, or dead
 * and not yet waited for. */
RECORDER_FUNCTION_ uintptr_t recorder_process_start(intptr_t pid)
{
    struct recorder_string path;
    char text[1024], name[40];
    size_t size, i, field = 2;
    uintptr_t start = 0;
    path = recorder_string_at(name, sizeof name - 1);
    recorder_add_string(&path, "/proc/");
    recorder_add_number(&path, (uint64_t)pid, 10, 1);
    recorder_add_text(&path, "/stat", 6);
    size = recorder_os_file(name, text, sizeof text);
    for (i = size; i > 0 && text[i - 1] != ')'; i--)
        ; /* the name before it may hold anything */
    for (; i < size && field < 22; i++)
        if (text[i] == ' ')
            field++;
        else if (field == 3 && (text[i] == 'Z' || text[i] == 'X'))
            return 0;
    for (i = i < size ? i : size; i < size && text[i] >= '0'; i++)
        start = start * 10 + (uintptr_t)(text[i] - '0');
    return start;
}

/* Writes the ids of the process into the notes. */
RECORDER_FUNCTION_ void recorder_note_process(struct recorder_recording *file,
                                              uintptr_t whole)
{
    uintptr_t words[RECORDER_NOTE_WORDS];
    intptr_t pid = recorder_os_process();
    int32_t id = (int32_t)pid;
    words[0] = RECORDER_LAYOUT;
    words[1] = (uintptr_t)recorder_home.registry;
    words[2] = (uintptr_t)pid;
    words[3] = whole;
    words[4] = recorder_process_start(pid);
    __builtin_memcpy(file->note, words, sizeof words);
    if (file->status)
        __builtin_memcpy(file->status + RECORDER_STATUS_PID_, &id, 4);
    __builtin_memcpy(file->info + RECORDER_INFO_PID_, &id, 4);
}

/* A program's segments, and where their files are. */
struct recorder_mapping {
    uintptr_t start, bytes, offset;
    const char *path;
    bool save; /* its bytes belong into the file */
};
struct recorder_mappings {
    struct recorder_mapping *all;
    size_t count, max;
    size_t modules;
    char *text; /* their paths */
    size_t text_size, text_max;
    const void *only; /* of the module that holds this; null: of all */
    const struct recorder_recording *file;
    void *memory;
    size_t memory_bytes;
};

RECORDER_INLINE_ uintptr_t recorder_page_bytes(void)
{
    return recorder_os_auxiliary(6 /* AT_PAGESZ */);
}

RECORDER_FUNCTION_ uintptr_t
recorder_note_files_bytes(const struct recorder_mappings *mappings)
{
    uintptr_t bytes = (2 + 3 * mappings->count) * sizeof(uintptr_t);
    size_t i;
    for (i = 0; i < mappings->count; i++)
        bytes += recorder_length(mappings->all[i].path, RECORDER_PATH_MAX) + 1;
    return bytes;
}
/* NT_FILE: how many, the size of a page, {start, end, page} of each, paths. */
RECORDER_FUNCTION_ void
recorder_note_files(char **at, const struct recorder_mappings *mappings)
{
    const uintptr_t page = recorder_page_bytes();
    char *to = recorder_note(at, "CORE", 5, 0x46494c45,
                             (uint32_t)recorder_note_files_bytes(mappings));
    uintptr_t words[3];
    size_t i;
    words[0] = mappings->count;
    words[1] = page;
    __builtin_memcpy(to, words, 2 * sizeof *words);
    to += 2 * sizeof *words;
    for (i = 0; i < mappings->count; i++, to += sizeof words) {
        const struct recorder_mapping *m = &mappings->all[i];
        words[0] = m->start & ~(page - 1);
        words[1] = recorder_round(m->start + m->bytes, page);
        words[2] = m->offset / page;
        __builtin_memcpy(to, words, sizeof words);
    }
    for (i = 0; i < mappings->count; i++) {
        const char *path = mappings->all[i].path;
        size_t size = recorder_length(path, RECORDER_PATH_MAX) + 1;
        __builtin_memcpy(to, path, size);
        to += size;
    }
}

RECORDER_FUNCTION_ const char *recorder_file_name(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

/* Writes all notes, `bytes` of them at most. */
RECORDER_FUNCTION_ bool recorder_notes(struct recorder_recording *file,
                                       const struct recorder_mappings *mappings)
{
    char auxiliary[RECORDER_AUXILIARY_MAX], *start, *at, *to;
    size_t size =
        recorder_os_file("/proc/self/auxv", auxiliary, sizeof auxiliary);
    uintptr_t bytes = 5 * 24 + RECORDER_NOTE_WORDS * sizeof(uintptr_t) +
                      RECORDER_STATUS_BYTES_ + RECORDER_INFO_BYTES_ + size +
                      recorder_note_files_bytes(mappings) + 5 * 4;
    size_t i;
    at = start = recorder_part_take(file, bytes, false);
    if (!start)
        return false;
    file->note = recorder_note(&at, "RECORDER", 9, 1,
                               RECORDER_NOTE_WORDS * sizeof(uintptr_t));
    if (RECORDER_REGISTERS_)
        file->status = recorder_note(&at, "CORE", 5, 1 /* NT_PRSTATUS */,
                                     RECORDER_STATUS_BYTES_);
    file->info = recorder_note(&at, "CORE", 5, 3 /* NT_PRPSINFO */,
                               RECORDER_INFO_BYTES_);
    to = file->info + RECORDER_INFO_PID_ + 16;
    __builtin_memcpy(to, recorder_file_name(file->program),
                     recorder_length(recorder_file_name(file->program), 15));
    to += 16;
    i = recorder_os_file("/proc/self/cmdline", to, 79);
    while (i > 0 && to[i - 1] == '\0')
        i--;
    while (i-- > 0)
        if (to[i] == '\0')
            to[i] = ' ';
    if (size)
        __builtin_memcpy(
            recorder_note(&at, "CORE", 5, 6 /* NT_AUXV */, (uint32_t)size),
            auxiliary, size);
    recorder_note_files(&at, mappings);
    recorder_note_process(file, 0);
    return recorder_file_header(file, RECORDER_ELF_NOTE_, 0, start,
                                (uintptr_t)(at - start), RECORDER_ELF_R_);
}

/* --------------------------------------------------------------- modules -- */

struct recorder_dl_info {
    uintptr_t bias;
    const char *path;
    const struct recorder_elf_header *headers;
    uint16_t headers_count;
};
extern int recorder_os_modules(int (*each)(struct recorder_dl_info *, size_t,
                                           void *),
                               void *context) RECORDER_LABEL_(dl_iterate_phdr);

/* Does a module record? Then its data hold a recorder_home that leads to our
 * registry. */
__attribute__((no_sanitize("address", "thread"))) RECORDER_FUNCTION_ bool
recorder_module_records(const struct recorder_dl_info *info)
{
    const struct recorder_elf_header *h = info->headers;
    unsigned i;
    for (i = 0; i < info->headers_count; i++, h++) {
        const uintptr_t *at = (const uintptr_t *)recorder_round(
            info->bias + h->address, sizeof *at);
        const uintptr_t *end =
            (const uintptr_t *)((info->bias + h->address + h->file_bytes) &
                                ~(uintptr_t)(sizeof *at - 1));
        if (h->type != RECORDER_ELF_LOAD_ || !(h->flags & RECORDER_ELF_W_))
            continue;
        for (; at + 1 < end; at++)
            if (recorder_get(at) == (uintptr_t)recorder_home.order &&
                recorder_get(at + 1) == (uintptr_t)recorder_home.registry)
                return true;
    }
    return false;
}

/* Where there is no read-only segment, constants are among the code. */
RECORDER_FUNCTION_ bool
recorder_module_constants(const struct recorder_dl_info *info, uint32_t flags)
{
    const uint32_t mask = RECORDER_ELF_W_ | RECORDER_ELF_X_;
    unsigned i;
    if (!(flags & mask))
        return true;
    for (i = 0; i < info->headers_count; i++)
        if (info->headers[i].type == RECORDER_ELF_LOAD_ &&
            !(info->headers[i].flags & mask))
            return false;
    return !(flags & RECORDER_ELF_W_);
}

RECORDER_FUNCTION_ bool
recorder_module_holds(const struct recorder_dl_info *info, const void *address)
{
    unsigned i;
    for (i = 0; i < info->headers_count; i++)
        if (info->headers[i].type == RECORDER_ELF_LOAD_ &&
            (uintptr_t)address - info->bias - info->headers[i].address <
                info->headers[i].memory_bytes)
            return true;
    return false;
}

/* The path of a module's file in our text; null: it has none. */
RECORDER_FUNCTION_ const char *
recorder_module_path(struct recorder_mappings *to,
                     const struct recorder_dl_info *info)
{
    const char *path = info->path;
    struct recorder_string string;
    if (to->modules++ == 0 && (!path || !*path))
        path = to->file->program;
    if (!path || recorder_file_name(path) == path)
        return NULL; /* the kernel's own */
    string = recorder_string_at(
        to->text + (to->max ? to->text_size : 0),
        to->text_max > to->text_size ? to->text_max - to->text_size : 0);
    if (*path != '/') {
        recorder_add_string(&string, to->file->folder);
        recorder_add_string(&string, "/");
    }
    recorder_add_string(&string, path);
    recorder_add_text(&string, "", 1);
    path = string.to;
    to->text_size += string.size;
    return to->text_size <= to->text_max || !to->max ? path : NULL;
}

/* Adds a module's segments; counts them where there is no room. */
RECORDER_FUNCTION_ int recorder_module_add(struct recorder_dl_info *info,
                                           size_t bytes, void *context)
{
    struct recorder_mappings *to = (struct recorder_mappings *)context;
    const char *path;
    bool records;
    unsigned i;
    (void)bytes;
    if (to->only && !recorder_module_holds(info, to->only)) {
        to->modules++;
        return 0;
    }
    path = recorder_module_path(to, info);
    if (!path)
        return 0;
    records = to->max && recorder_module_records(info);
    for (i = 0; i < info->headers_count; i++) {
        const struct recorder_elf_header *h = &info->headers[i];
        if (h->type != RECORDER_ELF_LOAD_ || h->file_bytes == 0)
            continue;
        if (to->count < to->max) {
            struct recorder_mapping *m = &to->all[to->count];
            m->start = info->bias + h->address;
            m->bytes = h->file_bytes;
            m->offset = h->offset & ~(recorder_page_bytes() - 1);
            m->path = path;
            m->save = records && recorder_module_constants(info, h->flags) &&
                      (h->flags & RECORDER_ELF_R_);
        }
        if (to->count < to->max || !to->max)
            to->count++;
    }
    return 0;
}

/* The segments of all modules or of one. False: no memory. */
RECORDER_FUNCTION_ bool
recorder_mappings_open(struct recorder_mappings *to,
                       const struct recorder_recording *file, const void *only)
{
    __builtin_memset(to, 0, sizeof *to);
    to->only = only;
    to->file = file;
    recorder_os_modules(recorder_module_add, to);
    to->count += 64; /* others that may come before the second look */
    to->text_size += 64 * 64;
    to->memory_bytes = to->count * sizeof *to->all + to->text_size;
    to->memory = recorder_os_memory(to->memory_bytes);
    if (!to->memory)
        return false;
    to->all = (struct recorder_mapping *)to->memory;
    to->max = to->count;
    to->text = (char *)(to->all + to->max);
    to->text_max = to->text_size;
    to->count = to->text_size = to->modules = 0;
    recorder_os_modules(recorder_module_add, to);
    return true;
}
RECORDER_FUNCTION_ void
recorder_mappings_close(const struct recorder_mappings *mappings)
{
    if (mappings->memory)
        recorder_munmap(mappings->memory, mappings->memory_bytes);
}
/* Bytes of the segments that are to be saved. */
RECORDER_FUNCTION_ uintptr_t
recorder_mappings_bytes(const struct recorder_mappings *mappings)
{
    uintptr_t bytes = 0;
    size_t i;
    for (i = 0; i < mappings->count; i++)
        if (mappings->all[i].save)
            bytes += mappings->all[i].bytes + RECORDER_LINE_BYTES;
    return bytes;
}

/* ---------------------------------------------------------------- moving --
 *
 * A ring is copied as readers copy, slot by slot, while others write into it;
 * then its address is published, then what came into the old one meanwhile is
 * written into the new one like any record, with its order and time. The turns
 * of the new ring are made so that the next position finds each slot: where the
 * last position handed out left nothing whole, all laps since what is there
 * have given up.
 */
struct recorder_moved {
    uintptr_t commit; /* of the slot when it was copied; 0: it was not */
    uintptr_t to;     /* 1 + the slot where it was written anew; 0: the same */
};
struct recorder_move {
    struct recorder *recorder;
    struct recorder_ring *from, *to;
    uintptr_t mask, lanes, ring_bytes;
    struct recorder_moved *slots;
    struct recorder_key *keys; /* of those that came late */
    struct recorder_move_lane *lane;
};
struct recorder_move_lane {
    uintptr_t begun; /* positions handed out when it was copied */
    size_t late;     /* keys */
    bool unfinished; /* records were being written */
};
struct recorder_moves {
    struct recorder_move *all;
    size_t count, max;
    uintptr_t first, end; /* all old rings lie between them */
    char *memory, *free;
    size_t memory_bytes;
};

RECORDER_INLINE_ struct recorder_ring *
recorder_ring_at(const struct recorder_ring *rings, uintptr_t ring_bytes,
                 uintptr_t lane)
{
    return (struct recorder_ring *)((uintptr_t)rings + lane * ring_bytes);
}
RECORDER_INLINE_ bool recorder_is_text(const struct recorder_record *r)
{
    return r->format != 0 && r->format < RECORDER_TEXT_END;
}

/* What a word becomes that is a token of a text in an old ring. What has the
 * low bits of the text's order is one; where another record stands by now, its
 * text is lost, unless words are so short that a number may look like that. */
RECORDER_FUNCTION_ uintptr_t
recorder_moved_token(const struct recorder_moves *moves, uintptr_t word)
{
    const uintptr_t low = sizeof(struct recorder_record) - 1;
    size_t i;
    if (word - moves->first >= moves->end - moves->first)
        return word;
    for (i = 0; i < moves->count; i++) {
        const struct recorder_move *m = &moves->all[i];
        uintptr_t at = word - (uintptr_t)m->from, lane, slot;
        const struct recorder_ring *ring;
        struct recorder_record text;
        if (at >= m->ring_bytes * m->lanes)
            continue;
        lane = at / m->ring_bytes;
        ring = recorder_ring_at(m->from, m->ring_bytes, lane);
        slot = (word - (uintptr_t)recorder_records(ring)) / sizeof text;
        if (word != (uintptr_t)ring && slot > m->mask)
            return word;
        if (word == (uintptr_t)ring || /* the token of a lost text */
            !recorder_look(ring, m->mask, slot, &text) ||
            !recorder_is_text(&text) || ((text.order ^ word) & low))
            return word == (uintptr_t)ring || sizeof word == 8
                       ? (uintptr_t)recorder_ring_at(m->to, m->ring_bytes, lane)
                       : word;
        at = lane * (m->mask + 1) + slot;
        slot = m->slots[at].to ? m->slots[at].to - 1 : slot;
        ring = recorder_ring_at(m->to, m->ring_bytes, lane);
        return (uintptr_t)(recorder_records(ring) + slot) + (word & low);
    }
    return word;
}
RECORDER_FUNCTION_ void recorder_moved_words(const struct recorder_moves *moves,
                                             struct recorder_record *r)
{
    unsigned i;
    if (recorder_is_text(r))
        r->caller = recorder_moved_token(moves, r->caller);
    else
        for (i = 0; i < 4; i++)
            r->argument[i] = recorder_moved_token(moves, r->argument[i]);
}

/* How a ring is copied: `before` null, or only what is of a lower order;
 * `moves` null, or tokens become those of the new rings, and `slots` say what
 * was copied. */
struct recorder_copying {
    const struct recorder_ring *from;
    struct recorder_ring *to;
    uintptr_t mask, next; /* the position to be handed out next */
    const uintptr_t *before;
    const struct recorder_moves *moves;
    struct recorder_moved *slots;
};

/* Copies a slot. Returns whether what should be there is not yet whole. */
RECORDER_INLINE_ bool recorder_slot_copy(const struct recorder_copying *c,
                                         uintptr_t slot)
{
    const uintptr_t thread = (uintptr_t)RECORDER_THREAD_NONE << 1;
    uintptr_t lap = (c->next - 1 - slot) & ~c->mask; /* the last handed out */
    uintptr_t turn = recorder_commit_lap(lap, c->mask), distance;
    struct recorder_turn *to = &recorder_turns(c->to, c->mask)[slot];
    struct recorder_record record;
    uintptr_t commit = recorder_look(c->from, c->mask, slot, &record);
    if (commit && ((intptr_t)((commit & ~thread) - turn) > 0 ||
                   (c->before && (intptr_t)(record.order - *c->before) >= 0)))
        commit = 0; /* of a later position, of another process */
    if (c->moves)
        c->slots[slot].commit = commit;
    if (commit) {
        if (c->moves)
            recorder_moved_words(c->moves, &record);
        recorder_records(c->to)[slot] = record;
        recorder_put(&recorder_commits(c->to, c->mask)[slot], commit);
    }
    distance = (turn - (recorder_get(&recorder_commits(c->to, c->mask)[slot]) &
                        ~thread)) >>
               RECORDER_THREAD_BITS_;
    if (distance == 0 && recorder_get(&to->gave_up) == 0)
        return false;
    recorder_put(&to->gave_up, distance);
    recorder_put(&to->highest, lap);
    return distance &&
           recorder_get(&recorder_turns(c->from, c->mask)[slot].gave_up) !=
               distance;
}

/* Copies a ring into zeroed memory. Returns whether there were records that are
 * not whole. */
RECORDER_FUNCTION_ bool recorder_ring_copy(struct recorder_copying *c)
{
    uintptr_t slot, unfinished = 0, begun, rounds;
    c->next = recorder_get(&c->from->write) + c->mask + 1;
    if (c->next == c->mask + 1 &&
        recorder_get(recorder_commits(c->from, c->mask)) == 0)
        return false; /* nothing was ever written: leave the pages alone */
    for (slot = 0; slot <= c->mask; slot++)
        unfinished += recorder_slot_copy(c, slot);
    /* And what came meanwhile, until that is little. */
    for (rounds = 0; c->moves && rounds < 16; rounds++) {
        begun = c->next;
        c->next = recorder_get(&c->from->write) + c->mask + 1;
        if (c->next - begun > c->mask)
            begun = c->next - c->mask - 1;
        for (; begun != c->next; begun++)
            if (recorder_slot_copy(c, begun & c->mask))
                unfinished++;
    }
    recorder_put(&c->to->write, c->next - c->mask - 1);
    recorder_put(&c->to->lost, recorder_get(&c->from->lost));
    recorder_put(&c->to->given_up,
                 recorder_get(&c->from->given_up) + unfinished);
    return unfinished != 0;
}

/* Memory to move up to `count` recorders of `slots` slots and `lanes` lanes in
 * all. */
RECORDER_FUNCTION_ bool recorder_moves_open(struct recorder_moves *moves,
                                            size_t count, size_t slots,
                                            size_t lanes)
{
    __builtin_memset(moves, 0, sizeof *moves);
    moves->max = count;
    moves->first = UINTPTR_MAX;
    moves->memory_bytes =
        count * sizeof *moves->all +
        slots * (sizeof(struct recorder_moved) + sizeof(struct recorder_key)) +
        lanes * sizeof(struct recorder_move_lane) + (3 * count + 1) * 16;
    moves->memory = (char *)recorder_os_memory(moves->memory_bytes);
    moves->free = moves->memory;
    if (moves->memory)
        moves->all = (struct recorder_move *)(void *)recorder_carve(
            &moves->free, count * sizeof *moves->all);
    return moves->memory != NULL;
}
RECORDER_FUNCTION_ void recorder_moves_close(const struct recorder_moves *moves)
{
    recorder_munmap(moves->memory, moves->memory_bytes);
}

/* Plans a move, which begins with all moves known. */
RECORDER_FUNCTION_ void recorder_moves_add(struct recorder_moves *moves,
                                           struct recorder *recorder,
                                           struct recorder_ring *to)
{
    struct recorder_move *m = &moves->all[moves->count++];
    uintptr_t end;
    m->recorder = recorder;
    m->from = recorder->rings;
    m->to = to;
    m->mask = recorder->mask;
    m->lanes = recorder->lanes_mask + 1;
    m->ring_bytes = recorder->ring_bytes;
    m->slots = (struct recorder_moved *)(void *)recorder_carve(
        &moves->free, m->lanes * (m->mask + 1) * sizeof *m->slots);
    m->keys = (struct recorder_key *)(void *)recorder_carve(
        &moves->free, m->lanes * (m->mask + 1) * sizeof *m->keys);
    m->lane = (struct recorder_move_lane *)(void *)recorder_carve(
        &moves->free, m->lanes * sizeof *m->lane);
    end = (uintptr_t)m->from + m->lanes * m->ring_bytes;
    if ((uintptr_t)m->from < moves->first)
        moves->first = (uintptr_t)m->from;
    if (end > moves->end)
        moves->end = end;
}

/* From here on records go to the new rings. */
RECORDER_FUNCTION_ void recorder_moves_publish(struct recorder_moves *moves)
{
    size_t i;
    uintptr_t lane;
    for (i = 0; i < moves->count; i++) {
        struct recorder_move *m = &moves->all[i];
        for (lane = 0; lane < m->lanes; lane++) {
            struct recorder_ring *to =
                recorder_ring_at(m->to, m->ring_bytes, lane);
            struct recorder_copying copy = {0, 0, 0, 0, 0, 0, 0};
            copy.from = recorder_ring_at(m->from, m->ring_bytes, lane);
            copy.to = to;
            copy.mask = m->mask;
            copy.moves = moves;
            copy.slots = m->slots + lane * (m->mask + 1);
            m->lane[lane].unfinished = recorder_ring_copy(&copy);
            m->lane[lane].begun = to->write;
        }
        __atomic_store_n(&m->recorder->rings, m->to, __ATOMIC_RELEASE);
    }
}

/* How many more records a new ring takes before what was copied is gone. */
RECORDER_INLINE_ uintptr_t recorder_move_room(const struct recorder_move *m,
                                              uintptr_t lane)
{
    const struct recorder_ring *to =
        recorder_ring_at(m->to, m->ring_bytes, lane);
    uintptr_t since = recorder_get(&to->write) - m->lane[lane].begun;
    return since > m->mask ? 0 : m->mask + 1 - since;
}

/* Finds what came into an old ring after it was copied, as far as a ring would
 * still have it. */
RECORDER_FUNCTION_ void recorder_move_late(struct recorder_move *m,
                                           uintptr_t lane, uintptr_t end)
{
    const struct recorder_ring *ring =
        recorder_ring_at(m->from, m->ring_bytes, lane);
    struct recorder_move_lane *l = &m->lane[lane];
    const struct recorder_moved *slots = m->slots + lane * (m->mask + 1);
    struct recorder_key *keys = m->keys + lane * (m->mask + 1);
    uintptr_t room = recorder_move_room(m, lane), slot;
    size_t i;
    if (!l->unfinished && recorder_get(&ring->write) == l->begun)
        return;
    for (slot = 0; slot <= m->mask; slot++) {
        struct recorder_record record;
        uintptr_t commit = recorder_look(ring, m->mask, slot, &record);
        if (!commit || commit == slots[slot].commit)
            continue;
        keys[l->late].index = slot;
        keys[l->late++].order = record.order - end;
    }
    recorder_sort_keys(keys, l->late);
    if (l->late > room) {
        for (i = 0; i < room; i++)
            keys[i] = keys[l->late - room + i];
        l->late = room;
    }
}

/* Writes the i-th of them into the new ring, if it is a text or if it is none.
 * Where there is no room for all that follow, it would not be there longer. */
RECORDER_FUNCTION_ void recorder_move_again(const struct recorder_moves *moves,
                                            const struct recorder_move *m,
                                            uintptr_t lane, size_t i, bool text)
{
    struct recorder_ring *to = recorder_ring_at(m->to, m->ring_bytes, lane);
    uintptr_t at = lane * (m->mask + 1), slot = m->keys[at + i].index;
    struct recorder_record record, *written;
    uintptr_t commit = recorder_look(
        recorder_ring_at(m->from, m->ring_bytes, lane), m->mask, slot, &record);
    if (!commit || recorder_is_text(&record) != text ||
        recorder_move_room(m, lane) < (text ? 1 : m->lane[lane].late - i))
        return;
    recorder_moved_words(moves, &record);
    written = recorder_write_words(to, m->mask, recorder_commit_thread(commit),
                                   &record);
    if (written)
        m->slots[at + slot].to =
            1 + (uintptr_t)(written - recorder_records(to));
}
RECORDER_FUNCTION_ void recorder_moves_again(struct recorder_moves *moves)
{
    uintptr_t end = recorder_get(recorder_home.order), lane;
    struct recorder_move *m, *last = moves->all + moves->count;
    size_t i;
    for (m = moves->all; m < last; m++)
        for (lane = 0; lane < m->lanes; lane++)
            recorder_move_late(m, lane, end);
    for (m = moves->all; m < last; m++) /* the last piece of a text first */
        for (lane = 0; lane < m->lanes; lane++)
            for (i = m->lane[lane].late; i-- > 0;)
                recorder_move_again(moves, m, lane, i, true);
    for (m = moves->all; m < last; m++)
        for (lane = 0; lane < m->lanes; lane++)
            for (i = 0; i < m->lane[lane].late; i++)
                recorder_move_again(moves, m, lane, i, false);
}

/* Tokens of old rings in records of the new ones, made since these are there.
 * The exact word is replaced by what it means now, so that it does not matter
 * if another record has come there. */
RECORDER_FUNCTION_ void recorder_move_tokens(const struct recorder_moves *moves,
                                             const struct recorder_move *m)
{
    uintptr_t lane, position;
    unsigned i;
    for (lane = 0; lane < m->lanes; lane++) {
        struct recorder_ring *ring =
            recorder_ring_at(m->to, m->ring_bytes, lane);
        uintptr_t end = recorder_get(&ring->write);
        uintptr_t count = end - m->lane[lane].begun;
        if (count > m->mask + 1)
            count = m->mask + 1;
        for (position = end - count; position != end; position++) {
            struct recorder_record record,
                *there = &recorder_records(ring)[position & m->mask];
            if (!recorder_look(ring, m->mask, position & m->mask, &record) ||
                recorder_is_text(&record))
                continue;
            for (i = 0; i < 4; i++) {
                uintptr_t old = record.argument[i];
                uintptr_t now = recorder_moved_token(moves, old);
                if (now != old)
                    __atomic_compare_exchange_n(&there->argument[i], &old, now,
                                                false, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED);
            }
        }
    }
}

/* Leaves question marks in an old ring, so that a token that was kept for long
 * shows no text of another. */
RECORDER_FUNCTION_ void recorder_move_clear(const struct recorder_move *m)
{
    uintptr_t lane, slot, word;
    unsigned i;
    __builtin_memset(&word, '?', sizeof word);
    ((char *)&word)[sizeof word - 1] = '\0';
    for (lane = 0; lane < m->lanes; lane++) {
        struct recorder_ring *ring =
            recorder_ring_at(m->from, m->ring_bytes, lane);
        if (recorder_get(&ring->write) == 0)
            continue;
        for (slot = 0; slot <= m->mask; slot++) {
            uintptr_t *commit = &recorder_commits(ring, m->mask)[slot];
            uintptr_t *to = &recorder_records(ring)[slot].format;
            if (recorder_get(commit) == 0)
                continue;
            recorder_put(commit, 0);
            __atomic_thread_fence(__ATOMIC_RELEASE);
            for (i = 0; i < sizeof(struct recorder_record) / sizeof *to; i++)
                recorder_put(to + i, word);
        }
    }
}

RECORDER_FUNCTION_ bool recorder_is_listed(const struct recorder *wanted)
{
    const struct recorder *recorder =
        __atomic_load_n(&recorder_home.registry->first, __ATOMIC_SEQ_CST);
    while (recorder && recorder != wanted)
        recorder = recorder_walk_on(recorder);
    return recorder != NULL;
}

/* Brings over what came late, a while after the new rings were published. */
RECORDER_FUNCTION_ void recorder_moves_finish(struct recorder_moves *moves)
{
    uint64_t start = recorder_clock_ns(RECORDER_MONOTONIC_);
    size_t i, kept = 0;
    recorder_walk();
    for (i = 0; i < moves->count; i++) /* libraries may be closed meanwhile */
        if (recorder_is_listed(moves->all[i].recorder))
            moves->all[kept++] = moves->all[i];
    moves->count = kept;
    recorder_moves_again(moves);
    for (i = 0; i < moves->count; i++)
        recorder_move_tokens(moves, &moves->all[i]);
    while (__atomic_load_n(&recorder_home.registry->readers, __ATOMIC_SEQ_CST) >
               1 &&
           recorder_clock_ns(RECORDER_MONOTONIC_) - start < 1000000000u)
        recorder_os_yield(); /* they may be in an old ring */
    if (__atomic_load_n(&recorder_home.registry->readers, __ATOMIC_SEQ_CST) ==
        1)
        for (i = 0; i < moves->count; i++)
            recorder_move_clear(&moves->all[i]);
    recorder_unwalk();
}

/* Moves the thread table. A row that is taken meanwhile is copied later. */
RECORDER_FUNCTION_ void
recorder_threads_copy(const struct recorder_thread *from,
                      struct recorder_thread *to, uintptr_t count)
{
    uintptr_t i;
    for (i = 0; i < count; i++) {
        const struct recorder_thread *row = &from[i];
        uint16_t state = __atomic_load_n(&row->state, __ATOMIC_ACQUIRE);
        char name[sizeof row->name];
        unsigned j;
        if (state == RECORDER_ROW_FREE || state == RECORDER_ROW_TAKEN ||
            (to[i].state == state && to[i].named >= row->named))
            continue;
        for (j = 0; j < sizeof name; j++)
            name[j] = __atomic_load_n(&row->name[j], __ATOMIC_RELAXED);
        name[sizeof name - 1] = '\0';
        recorder_put(&to[i].first, recorder_get(&row->first));
        __atomic_store_n(&to[i].id, row->id, __ATOMIC_RELAXED);
        __atomic_store_n(&to[i].named, row->named, __ATOMIC_RELAXED);
        recorder_thread_set_name(&to[i], name);
        __atomic_store_n(&to[i].state, state, __ATOMIC_RELEASE);
    }
}

/* --------------------------------------------------------------- opening -- */

/* "recorder: PATH: what is wrong; goes on in memory" */
RECORDER_FUNCTION_ void recorder_file_say(const char *path, const char *also,
                                          long error, const char *wrong)
{
    static const struct {
        short error;
        char text[34];
    } words[] = {
        {1, "Operation not permitted"},
        {2, "No such file or directory"},
        {12, "Cannot allocate memory"},
        {13, "Permission denied"},
        {17, "File exists"},
        {20, "Not a directory"},
        {21, "Is a directory"},
        {23, "Too many open files in system"},
        {24, "Too many open files"},
        {27, "File too large"},
        {28, "No space left on device"},
        {30, "Read-only file system"},
#if defined(__mips__)
        {78, "File name too long"},
        {90, "Too many levels of symbolic links"},
        {1133, "Disk quota exceeded"}
    };
#else
        {36, "File name too long"},
        {40, "Too many levels of symbolic links"},
        {122, "Disk quota exceeded"}
    };
#endif
    struct recorder_string say;
    char text[1024];
    unsigned i;
    say = recorder_string_at(text, sizeof text);
    recorder_add_string(&say, "recorder: ");
    recorder_add_name(&say, path, sizeof text - 200);
    recorder_add_string(&say, also);
    recorder_add_string(&say, ": ");
    for (i = 0; i < sizeof words / sizeof *words && !wrong; i++)
        if (words[i].error == -error)
            wrong = words[i].text;
    if (wrong) {
        recorder_add_string(&say, wrong);
    } else {
        recorder_add_string(&say, "error ");
        recorder_add_number(&say, (uint64_t)-error, 10, 1);
    }
    recorder_add_string(&say, "; goes on in memory\n");
    recorder_say(&say);
}

extern int recorder_os_rename(const char *from, const char *to)
    RECORDER_LABEL_(rename);
extern int recorder_os_unlink(const char *path) RECORDER_LABEL_(unlink);

/* What is at a path. */
enum recorder_there {
    RECORDER_ABSENT,
    RECORDER_FOREIGN,
    RECORDER_IN_USE,
    RECORDER_LEFT
};
RECORDER_FUNCTION_ bool recorder_file_is_left(int fd, bool *in_use)
{
    struct recorder_statx stat;
    struct recorder_elf elf;
    struct recorder_elf_header header;
    uint32_t head[3];
    char name[12];
    uintptr_t words[RECORDER_NOTE_WORDS];
    intptr_t pid;
    if (recorder_os_stat(fd, "", &stat) < 0 ||
        (stat.mode & 0170000) != 0100000 || stat.links != 1 ||
        stat.user != recorder_os_user() ||
        recorder_os_read(fd, &elf, sizeof elf) != (long)sizeof elf ||
        __builtin_memcmp(elf.ident, "\177ELF", 4) != 0 ||
        elf.type != RECORDER_ELF_CORE_ || elf.headers != sizeof elf ||
        elf.header_bytes != sizeof header ||
        recorder_os_read(fd, &header, sizeof header) != (long)sizeof header ||
        header.type != RECORDER_ELF_NOTE_ ||
        recorder_syscall(SYS_lseek, (long)fd, (long)header.offset, 0L) < 0 ||
        recorder_os_read(fd, head, sizeof head) != (long)sizeof head ||
        recorder_os_read(fd, name, sizeof name) != (long)sizeof name ||
        recorder_os_read(fd, words, sizeof words) != (long)sizeof words ||
        head[0] != 9 || head[1] != sizeof words || head[2] != 1 ||
        __builtin_memcmp(name, "RECORDER", 9) != 0)
        return false;
    pid = (intptr_t)words[2];
    *in_use = pid > 0 && pid != recorder_os_process() &&
              (recorder_syscall(SYS_kill, (long)pid, 0L) == 0 ||
               *recorder_errno() != 3 /* ESRCH */) &&
              recorder_process_start(pid) == words[4];
    return true;
}
RECORDER_FUNCTION_ enum recorder_there recorder_file_there(const char *path)
{
    long fd = recorder_os_open(path, RECORDER_O_NONBLOCK_);
    bool in_use = false, left;
    if (fd < 0)
        return fd == -2 ? RECORDER_ABSENT : RECORDER_FOREIGN;
    left = recorder_file_is_left((int)fd, &in_use);
    recorder_os_close((int)fd);
    return !left ? RECORDER_FOREIGN : in_use ? RECORDER_IN_USE : RECORDER_LEFT;
}

/* Clears the way: keeps the recording of a process that is gone. False, and
 * said: something else is there. */
RECORDER_FUNCTION_ bool recorder_file_clear(const char *path)
{
    enum recorder_there there = recorder_file_there(path);
    struct recorder_string name;
    char old[RECORDER_PATH_MAX + 8];
    if (there == RECORDER_ABSENT)
        return true;
    if (there != RECORDER_LEFT) {
        recorder_file_say(path, "", 0,
                          there == RECORDER_IN_USE
                              ? "in use by a process"
                              : "exists, and is no recording of "
                                "ours");
        return false;
    }
    name = recorder_string_at(old, sizeof old - 1);
    recorder_add_string(&name, path);
    recorder_add_text(&name, ".old", 5);
    there = recorder_file_there(old);
    if (there == RECORDER_FOREIGN || there == RECORDER_IN_USE) {
        recorder_file_say(path, ".old", 0,
                          "exists, and is no recording that "
                          "was left");
        return false;
    }
    if (recorder_os_rename(path, old) != 0) {
        recorder_file_say(path, "", -(long)*recorder_errno(), NULL);
        return false;
    }
    return true;
}

/* The path of this process: the pattern with its %s, from the folder where the
 * program started to record. False: it is too long. */
RECORDER_FUNCTION_ bool recorder_file_path(struct recorder_recording *file)
{
    struct recorder_string to;
    const char *at = file->pattern;
    to = recorder_string_at(file->path, sizeof file->path - 1);
    if (*at != '/') {
        recorder_add_string(&to, file->folder);
        recorder_add_string(&to, "/");
    }
    for (; *at; at++)
        if (at[0] == '%' && at[1] == 'p') {
            recorder_add_number(&to, (uint64_t)recorder_os_process(), 10, 1);
            at++;
        } else if (at[0] == '%' && at[1] == 'e') {
            recorder_add_string(&to, recorder_file_name(file->program));
            at++;
        } else {
            at += at[0] == '%' && at[1] == '%';
            recorder_add_text(&to, at, 1);
        }
    file->path[to.size < to.max ? to.size : to.max] = '\0';
    return to.size < to.max - 8;
}

/* Makes the file, `bytes` large. Returns its descriptor; below 0, and said: it
 * cannot be. */
RECORDER_FUNCTION_ int recorder_file_make(struct recorder_recording *file,
                                          uintptr_t bytes)
{
    struct recorder_statx stat;
    long fd, error;
    if (!recorder_file_path(file)) {
        recorder_file_say(file->pattern, "", 0, "File name too long");
        return -1;
    }
    if (!recorder_file_clear(file->path))
        return -1;
    fd = recorder_os_open(file->path, RECORDER_O_NEW_);
    if (fd < 0) {
        recorder_file_say(file->path, "", fd, NULL);
        return -1;
    }
    error = recorder_os_allocate((int)fd, 0, bytes);
    if (error < 0) {
        recorder_os_unlink(file->path);
        recorder_os_close((int)fd);
        recorder_file_say(file->path, "", error, NULL);
        return -1;
    }
    __builtin_memset(&stat, 0, sizeof stat);
    recorder_os_stat((int)fd, "", &stat);
    file->inode = stat.inode;
    file->device[0] = stat.device[0];
    file->device[1] = stat.device[1];
    return (int)fd;
}

/* Maps `bytes` of the file as one more part. */
RECORDER_FUNCTION_ bool recorder_part_open(struct recorder_recording *file,
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

/* Has room for `low` and `high` bytes: enlarges the file where the last part
 * has not. The file may have been renamed meanwhile: then there is none. */
RECORDER_FUNCTION_ bool recorder_file_room(struct recorder_recording *file,
                                           uintptr_t low, uintptr_t high)
{
    struct recorder_part *part = &file->parts[file->parts_count - 1];
    uintptr_t bytes = recorder_round(low + high + 4096, RECORDER_PART_PAGE);
    uintptr_t offset = part->offset + part->bytes;
    struct recorder_statx stat;
    long fd, error;
    if (low + high <= part->high - part->low)
        return true;
    if (file->parts_count == RECORDER_PARTS)
        return false;
    if (bytes < RECORDER_PART_BYTES)
        bytes = RECORDER_PART_BYTES;
    fd = recorder_os_open(file->path, 2 /* RDWR */ | RECORDER_O_NONBLOCK_);
    if (fd < 0)
        return false;
    error = recorder_os_stat((int)fd, "", &stat);
    if (error == 0 && (stat.inode != file->inode || stat.bytes != offset ||
                       stat.device[0] != file->device[0] ||
                       stat.device[1] != file->device[1]))
        error = -1;
    if (error == 0 && recorder_syscall(SYS_lseek, fd, (long)offset, 0L) < 0)
        error = -1;
    if (error == 0) {
        error = recorder_os_allocate((int)fd, offset, bytes);
        if (error < 0 || !recorder_part_open(file, (int)fd, offset, bytes)) {
            recorder_syscall(SYS_ftruncate, fd, (long)offset);
            error = -1;
        }
    }
    recorder_os_close((int)fd);
    if (error < 0)
        return false;
    part = &file->parts[file->parts_count - 1];
    return recorder_file_load(file, (uintptr_t)part->memory, part->memory,
                              part->bytes, RECORDER_ELF_R_ | RECORDER_ELF_W_);
}

/* A copy of a string in the file. */
RECORDER_FUNCTION_ const char *
recorder_file_string(struct recorder_recording *file, const char *string)
{
    size_t size = recorder_length(string, RECORDER_PATH_MAX);
    char *to = recorder_part_take(file, size + 1, false);
    if (!to)
        return NULL;
    __builtin_memcpy(to, string, size);
    return to;
}
RECORDER_INLINE_ uintptr_t recorder_file_low_bytes(const struct recorder *r)
{
    return recorder_length(r->name, RECORDER_PATH_MAX) +
           recorder_length(r->description, RECORDER_PATH_MAX) +
           4 * RECORDER_LINE_BYTES;
}
RECORDER_INLINE_ uintptr_t recorder_file_high_bytes(const struct recorder *r)
{
    return recorder_round(r->ring_bytes * (r->lanes_mask + 1),
                          RECORDER_LINE_BYTES);
}

/* The copy that the file has of a recorder at an address; null: none. */
RECORDER_FUNCTION_ struct recorder *
recorder_file_copy_of(struct recorder_recording *file,
                      const struct recorder *recorder)
{
    unsigned i;
    for (i = 0; i < file->elf->headers_count; i++) {
        const struct recorder_elf_header *h = &file->headers[i];
        unsigned j;
        if (h->type != RECORDER_ELF_LOAD_ ||
            h->address != (uintptr_t)recorder ||
            h->file_bytes != sizeof *recorder)
            continue;
        for (j = 0; j < file->parts_count; j++) {
            struct recorder_part *part = &file->parts[j];
            if (h->offset - part->offset < part->bytes)
                return (struct recorder *)(void *)(part->memory + h->offset -
                                                   part->offset);
        }
    }
    return NULL;
}

/* Brings a recorder into the file, without its records. Null: there is no room,
 * or it is a list of none. */
RECORDER_FUNCTION_ struct recorder *
recorder_file_add(struct recorder_recording *file,
                  const struct recorder *recorder)
{
    struct recorder *copy = (struct recorder *)(void *)recorder_part_take(
        file, sizeof *copy, false);
    struct recorder_ring *rings =
        (struct recorder_ring *)(void *)recorder_part_take(
            file, recorder_file_high_bytes(recorder), true);
    struct recorder **link =
        file->last ? &file->last->next : &file->image->first;
    if (!copy || !rings)
        return NULL;
    *copy = *recorder;
    copy->name = recorder_file_string(file, recorder->name);
    copy->description = recorder_file_string(file, recorder->description);
    copy->rings = rings;
    copy->next = NULL;
    if (!copy->name || !copy->description)
        return NULL;
    recorder_file_load(file, (uintptr_t)recorder, copy, sizeof *copy,
                       RECORDER_ELF_R_ | RECORDER_ELF_W_);
    __atomic_store_n(link, copy, __ATOMIC_RELEASE);
    file->last = copy;
    return copy;
}

/* Formats of a library that is gone, `bytes` at `from`, are in the file at
 * `to`: records that show there are to be read now. */
RECORDER_FUNCTION_ void
recorder_file_formats(const struct recorder_recording *file, uintptr_t from,
                      uintptr_t to, uintptr_t bytes)
{
    const struct recorder *r;
    uintptr_t lane, slot;
    for (r = file->image->first; r; r = r->next)
        for (lane = 0; lane <= r->lanes_mask; lane++)
            for (slot = 0; slot <= r->mask; slot++) {
                uintptr_t *format = &recorder_records(recorder_ring_at(
                    r->rings, r->ring_bytes, lane))[slot]
                                         .format;
                uintptr_t old = recorder_get(format);
                if (old - from < bytes)
                    __atomic_compare_exchange_n(format, &old, old - from + to,
                                                false, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED);
            }
}

/* Saves a segment. What the file has of another library that was there before
 * is to be had at an address of the file only from now on. */
RECORDER_FUNCTION_ void recorder_file_segment(struct recorder_recording *file,
                                              const struct recorder_mapping *m)
{
    unsigned i, count = file->elf->headers_count;
    char *to;
    for (i = 0; i < count; i++) {
        struct recorder_elf_header *h = &file->headers[i];
        const char *at = NULL;
        unsigned j;
        if (h->type != RECORDER_ELF_LOAD_ ||
            (h->address - m->start >= m->bytes &&
             m->start - h->address >= h->file_bytes))
            continue; /* they do not overlap */
        for (j = 0; j < file->parts_count; j++)
            if (h->offset - file->parts[j].offset < file->parts[j].bytes)
                at = file->parts[j].memory + h->offset - file->parts[j].offset;
        if (h->address == m->start && h->file_bytes == m->bytes &&
            __builtin_memcmp(at, (const void *)m->start, m->bytes) == 0)
            return;
        recorder_file_formats(file, h->address, (uintptr_t)at, h->file_bytes);
        __atomic_store_n(&h->type, 0, __ATOMIC_RELEASE);
    }
    to = recorder_part_take(file, m->bytes, false);
    if (to && recorder_file_copy(to, m->start, m->bytes))
        recorder_file_load(file, m->start, to, m->bytes, RECORDER_ELF_R_);
}

/* Brings what changes seldom up to date. Safe in a signal handler. */
RECORDER_FUNCTION_ void recorder_file_sync(struct recorder_recording *file)
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

/* Has the process threads besides the caller? */
RECORDER_FUNCTION_ bool recorder_has_threads(void)
{
    struct recorder_statx
        stat; /* a folder has 2 links and one for each in it */
    return recorder_os_stat(-1, "/proc/self/task", &stat) < 0 ||
           stat.links != 3;
}

/* The first number of /proc/self/task/ID/schedstat, which is how long the
 * thread ran, or the letter of its state in .../stat; 0: not to be had. */
RECORDER_FUNCTION_ uint64_t recorder_thread_fact(int32_t id, const char *name)
{
    struct recorder_string path;
    char text[512], file[64];
    size_t size, i = 0;
    uint64_t number = 0;
    path = recorder_string_at(file, sizeof file - 1);
    recorder_add_string(&path, "/proc/self/task/");
    recorder_add_number(&path, (uint64_t)(uint32_t)id, 10, 1);
    recorder_add_string(&path, name);
    recorder_add_text(&path, "", 1);
    size = recorder_os_file(file, text, sizeof text);
    for (i = size; i > 0 && text[i - 1] != ')'; i--)
        ;
    if (i && i + 1 < size)
        return (uint64_t)text[i + 1]; /* stat: (name) R */
    for (i = 0; i < size && text[i] >= '0'; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    return number;
}

/* Waits until no thread can still hold the address of an old ring: each has run
 * since, or waits for something, which nobody does inside of a record. */
RECORDER_FUNCTION_ void recorder_threads_wait(void)
{
    const struct recorder_registry *registry = recorder_home.registry;
    const struct recorder_thread *rows = registry->threads;
    const uint64_t enough = 20000; /* ns: some records */
    uintptr_t count = registry->threads_count, i;
    int32_t self = recorder_os_thread();
    uint64_t *ran;
    unsigned rounds;
    bool waits = true;
    if (count > registry->threads_max)
        count = registry->threads_max;
    ran = (uint64_t *)recorder_os_memory((count + 1) * sizeof *ran);
    for (i = 0; i < count && ran; i++)
        ran[i] = recorder_thread_fact(rows[i].id, "/schedstat");
    for (rounds = 0; rounds < 400 && waits; rounds++) {
        recorder_os_poll(NULL, 0, rounds == 0 ? 50 : 5);
        waits = false;
        for (i = 0; i < count && !waits && ran; i++) {
            uint64_t state = recorder_thread_fact(rows[i].id, "/stat");
            waits = rows[i].state == RECORDER_ROW_ALIVE && rows[i].id != self &&
                    ran[i] && (state == 'R' || state == 'D') &&
                    recorder_thread_fact(rows[i].id, "/schedstat") - ran[i] <
                        enough;
        }
    }
    if (ran)
        recorder_munmap(ran, (count + 1) * sizeof *ran);
}

/* What begins a file of ours: the head and what is known without the rings. */
RECORDER_FUNCTION_ bool recorder_file_head(struct recorder_recording *file,
                                           const struct recorder_elf *program,
                                           unsigned headers)
{
    const struct recorder_registry *registry = recorder_home.registry;
    file->elf = (struct recorder_elf *)(void *)recorder_part_take(
        file, sizeof *file->elf + headers * sizeof *file->headers, false);
    file->headers = (struct recorder_elf_header *)(file->elf + 1);
    file->headers_max = headers;
    *file->elf = *program; /* class, byte order, machine and its flags */
    file->elf->type = RECORDER_ELF_CORE_;
    file->elf->entry = file->elf->sections = 0;
    file->elf->headers = sizeof *file->elf;
    file->elf->bytes = sizeof *file->elf;
    file->elf->header_bytes = sizeof *file->headers;
    file->elf->headers_count = file->elf->section_bytes = 0;
    file->elf->sections_count = file->elf->names = 0;
    file->image = (struct recorder_registry *)(void *)recorder_part_take(
        file, sizeof *file->image, false);
    file->order = (uintptr_t *)(void *)recorder_part_take(
        file, sizeof *file->order, false);
    file->line = recorder_part_take(file, 256, false);
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

/* How large the file must be, and what it takes to move the rings. */
struct recorder_file_size {
    size_t recorders, slots, lanes;
    uintptr_t bytes;
};
RECORDER_FUNCTION_ struct recorder_file_size
recorder_file_measure(const struct recorder_mappings *mappings,
                      unsigned *headers)
{
    struct recorder_file_size size = {0, 0, 0, 0};
    const struct recorder *r;
    for (r = recorder_walk(); r; r = recorder_walk_on(r)) {
        size.recorders++;
        size.lanes += r->lanes_mask + 1;
        size.slots += (r->lanes_mask + 1) * (r->mask + 1);
        size.bytes += recorder_file_low_bytes(r) + recorder_file_high_bytes(r);
    }
    recorder_unwalk();
    *headers =
        (unsigned)(size.recorders + mappings->count + RECORDER_HEADERS_SPARE);
    if (*headers > 65000)
        *headers = 65000;
    size.bytes += sizeof(struct recorder_elf) +
                  *headers * sizeof(struct recorder_elf_header) +
                  sizeof(struct recorder_registry) +
                  recorder_note_files_bytes(mappings) +
                  recorder_mappings_bytes(mappings) +
                  RECORDER_THREADS * sizeof(struct recorder_thread) +
                  RECORDER_AUXILIARY_MAX + RECORDER_PART_SPARE;
    size.bytes = recorder_round(size.bytes, RECORDER_PART_PAGE);
    return size;
}

/* Fills the file with all but the rings. The threads' rows, or null: a part of
 * it has no room. */
RECORDER_FUNCTION_ struct recorder_thread *
recorder_file_fill(struct recorder_recording *file,
                   const struct recorder_mappings *mappings,
                   const struct recorder_elf *program, unsigned headers)
{
    const uint32_t writable = RECORDER_ELF_R_ | RECORDER_ELF_W_;
    const struct recorder_registry *registry = recorder_home.registry;
    struct recorder_part *part = &file->parts[0];
    struct recorder_thread *rows;
    size_t i;
    if (!recorder_file_head(file, program, headers) ||
        !recorder_notes(file, mappings) ||
        !recorder_file_load(file, (uintptr_t)part->memory, part->memory,
                            part->bytes, writable) ||
        !recorder_file_load(file, (uintptr_t)registry, file->image,
                            sizeof *file->image, writable) ||
        !recorder_file_load(file, (uintptr_t)registry->order, file->order,
                            sizeof *file->order, writable))
        return NULL;
    rows = (struct recorder_thread *)(void *)recorder_part_take(
        file, RECORDER_THREADS * sizeof *rows, false);
    for (i = 0; i < mappings->count; i++)
        if (mappings->all[i].save)
            recorder_file_segment(file, &mappings->all[i]);
    return rows;
}

/* Gives the table of threads a place in the file. Returns the one before. */
RECORDER_FUNCTION_ struct recorder_thread *
recorder_file_threads(struct recorder_recording *file,
                      struct recorder_thread *rows)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_thread *before =
        __atomic_load_n(&registry->threads, __ATOMIC_ACQUIRE);
    if (!before) {
        recorder_put(&registry->threads_max, RECORDER_THREADS);
        if (__atomic_compare_exchange_n(&registry->threads, &before, rows,
                                        false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            before = NULL;
    }
    if (before && registry->threads_max > RECORDER_THREADS)
        rows = before; /* of a module that was compiled with more */
    else if (before) {
        recorder_threads_copy(before, rows, registry->threads_max);
        __atomic_store_n(&registry->threads, rows, __ATOMIC_RELEASE);
    }
    file->image->threads = rows;
    file->image->threads_max = registry->threads_max;
    return before == rows ? NULL : before;
}

/* Moves everything into the file that was made. */
RECORDER_FUNCTION_ void recorder_file_move(struct recorder_recording *file,
                                           struct recorder_moves *moves,
                                           struct recorder_thread *rows)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_thread *before;
    struct recorder_clock clock;
    struct recorder *recorder, *copy;
    bool threads = recorder_has_threads();
    uint64_t since;
    for (recorder = recorder_walk(); recorder && moves->count < moves->max;
         recorder = recorder_walk_on(recorder)) {
        copy = recorder_file_add(file, recorder);
        if (copy)
            recorder_moves_add(moves, recorder, copy->rings);
    }
    before = recorder_file_threads(file, rows);
    recorder_recording = file;
    registry->image = file->image;
    __atomic_store_n(&registry->file, file->event, __ATOMIC_RELEASE);
    recorder_moves_publish(moves);
    recorder_unwalk();
    recorder_file_sync(file);
    recorder_note_process(file, 1);
    /* The rate of the ticks, for the time when nobody runs to measure it. */
    since =
        recorder_clock_ns(RECORDER_MONOTONIC_) - registry->start.monotonic_ns;
    if (threads)
        recorder_threads_wait();
    else if (since < 2000000)
        recorder_os_poll(NULL, 0, 3);
    recorder_clock_open(&clock);
    if (before)
        recorder_threads_copy(before, rows, registry->threads_max);
    recorder_moves_finish(moves);
    recorder_file_sync(file);
}

/* Begins a recording. Says what is wrong. */
RECORDER_FUNCTION_ bool recorder_file_begin(struct recorder_recording *file,
                                            const char *path)
{
    struct recorder_mappings mappings;
    struct recorder_file_size size;
    struct recorder_elf program;
    struct recorder_moves moves;
    struct recorder_thread *rows = NULL;
    unsigned headers;
    size_t length = recorder_length(path, RECORDER_PATH_MAX);
    int fd = -1;
    if (length >= RECORDER_PATH_MAX - 8) {
        recorder_file_say(path, "", 0, "File name too long");
        return false;
    }
    __builtin_memcpy(file->pattern, path, length);
    for (; *path; path++)
        file->own_process |= path[0] == '%' && path[1] == 'p';
    recorder_syscall(SYS_getcwd, file->folder, sizeof file->folder - 1);
    recorder_syscall(SYS_readlinkat, (long)RECORDER_AT_CWD_, "/proc/self/exe",
                     file->program, sizeof file->program - 1);
    if (recorder_os_file("/proc/self/exe", &program, sizeof program) !=
            sizeof program ||
        __builtin_memcmp(program.ident, "\177ELF", 4) != 0) {
        recorder_file_say("/proc/self/exe", "", 0, "cannot be read");
        return false;
    }
    if (!recorder_mappings_open(&mappings, file, NULL)) {
        recorder_file_say(file->pattern, "", -12, NULL);
        return false;
    }
    size = recorder_file_measure(&mappings, &headers);
    if (!recorder_moves_open(&moves, size.recorders, size.slots, size.lanes)) {
        recorder_file_say(file->pattern, "", -12, NULL);
    } else {
        fd = recorder_file_make(file, size.bytes);
        if (fd >= 0 && recorder_part_open(file, fd, 0, size.bytes))
            rows = recorder_file_fill(file, &mappings, &program, headers);
        if (fd >= 0) {
            if (!rows) {
                recorder_os_unlink(file->path);
                recorder_file_say(file->path, "", -12, NULL);
            }
            recorder_os_close(fd);
        }
        if (rows)
            recorder_file_move(file, &moves, rows);
        else if (file->parts_count)
            recorder_munmap(file->parts[0].memory, file->parts[0].bytes);
        recorder_moves_close(&moves);
    }
    recorder_mappings_close(&mappings);
    return rows != NULL;
}

/* ---------------------------------------------------------------- events -- */

/* A library is here that records: its formats. */
RECORDER_FUNCTION_ void recorder_file_module(struct recorder_recording *file,
                                             const void *of)
{
    struct recorder_mappings mappings;
    uintptr_t bytes;
    char *note, *at;
    size_t i;
    if (!recorder_mappings_open(&mappings, file, of))
        return;
    bytes = 24 + recorder_note_files_bytes(&mappings);
    if (mappings.count &&
        recorder_file_room(file,
                           recorder_mappings_bytes(&mappings) + bytes +
                               RECORDER_LINE_BYTES,
                           0)) {
        uintptr_t count = file->elf->headers_count;
        for (i = 0; i < mappings.count; i++)
            if (mappings.all[i].save)
                recorder_file_segment(file, &mappings.all[i]);
        if (file->elf->headers_count != count) { /* it was not here before */
            at = note = recorder_part_take(file, bytes, false);
            if (note)
                recorder_note_files(&at, &mappings);
            if (note)
                recorder_file_header(file, RECORDER_ELF_NOTE_, 0, note,
                                     (uintptr_t)(at - note), RECORDER_ELF_R_);
        }
    }
    recorder_mappings_close(&mappings);
}

/* A recorder is here: it goes on in the rings that it had, if it is back. */
RECORDER_FUNCTION_ void recorder_file_recorder(struct recorder_recording *file,
                                               struct recorder *recorder)
{
    struct recorder *copy = recorder_file_copy_of(file, recorder);
    size_t lanes = recorder->lanes_mask + 1;
    struct recorder_moves moves;
    if (copy &&
        (copy->mask != recorder->mask ||
         copy->ring_bytes != recorder->ring_bytes ||
         copy->lanes_mask != recorder->lanes_mask ||
         __builtin_memcmp(copy->name, recorder->name,
                          recorder_length(copy->name, RECORDER_PATH_MAX) + 1)))
        copy = NULL;
    if (copy) {
        __atomic_store_n(&recorder->rings, copy->rings, __ATOMIC_RELEASE);
        return;
    }
    if (!recorder_moves_open(&moves, 1, lanes * (recorder->mask + 1), lanes))
        return;
    if (recorder_file_room(file, recorder_file_low_bytes(recorder),
                           recorder_file_high_bytes(recorder)))
        copy = recorder_file_add(file, recorder);
    if (copy) {
        recorder_moves_add(&moves, recorder, copy->rings);
        recorder_moves_publish(&moves);
        recorder_moves_finish(&moves);
    }
    recorder_moves_close(&moves);
}

/* Fills the memory of a child with what its parent's file has. A ring that is
 * too large for that begins empty. */
RECORDER_FUNCTION_ void
recorder_file_inherit(const struct recorder_recording *file,
                      char *const to[RECORDER_PARTS])
{
    const struct recorder_registry *registry = recorder_home.registry;
    uintptr_t order = recorder_get(registry->order), left = 64u << 20, lane;
    const struct recorder *r;
    struct recorder_thread *row;
    unsigned i;
    for (i = 0; i < file->parts_count; i++)
        __builtin_memcpy(to[i], file->parts[i].memory, file->parts[i].low);
    for (r = file->image->first; r; r = r->next) {
        uintptr_t bytes = recorder_file_high_bytes(r), at = 0;
        for (i = 0; i < file->parts_count; i++) {
            at = (uintptr_t)r->rings - (uintptr_t)file->parts[i].memory;
            if (at < file->parts[i].bytes)
                break;
        }
        if (bytes > left || i == file->parts_count)
            continue;
        left -= bytes;
        for (lane = 0; lane <= r->lanes_mask; lane++) {
            struct recorder_copying copy = {0, 0, 0, 0, 0, 0, 0};
            copy.from = recorder_ring_at(r->rings, r->ring_bytes, lane);
            copy.to =
                recorder_ring_at((struct recorder_ring *)(void *)(to[i] + at),
                                 r->ring_bytes, lane);
            copy.mask = r->mask;
            copy.before = &order;
            recorder_ring_copy(&copy);
        }
    }
    /* Rows that were taken since are of the parent's threads. */
    row =
        (struct recorder_thread *)(void *)(to[0] + ((char *)registry->threads -
                                                    file->parts[0].memory));
    if ((uintptr_t)registry->threads - (uintptr_t)file->parts[0].memory <
            file->parts[0].bytes &&
        registry->threads_count < registry->threads_max)
        __builtin_memset(row + registry->threads_count, 0,
                         (registry->threads_max - registry->threads_count) *
                             sizeof *row);
}

/* In the child of fork(), which must not touch its parent's file: puts other
 * memory in its place, of a file of its own or of none. All addresses stay. */
RECORDER_FUNCTION_ void recorder_file_forked(struct recorder_recording *file)
{
    const long move = 3; /* MREMAP_MAYMOVE, MREMAP_FIXED */
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_part *last = &file->parts[file->parts_count - 1];
    char *memory[RECORDER_PARTS] = {0};
    struct recorder *recorder;
    struct recorder_held held;
    bool whole = true, lost = false;
    int fd = -1;
    unsigned i;
    recorder_file_busy = 0;
    recorder_signals_hold(&held);
    if (file->own_process)
        fd = recorder_file_make(file, last->offset + last->bytes);
    for (i = 0; i < file->parts_count; i++) {
        const struct recorder_part *part = &file->parts[i];
        memory[i] = fd >= 0
                        ? recorder_os_share(fd, part->offset, part->bytes)
                        : (char *)recorder_mmap(NULL, part->bytes, 3,
                                                RECORDER_MAP_NORESERVE_, -1, 0);
        if (!memory[i] || memory[i] == (char *)-1)
            whole = false;
    }
    if (fd >= 0)
        recorder_os_close(fd);
    if (whole)
        recorder_file_inherit(file, memory);
    for (i = 0; i < file->parts_count; i++) {
        const struct recorder_part *part = &file->parts[i];
        if (whole && recorder_syscall(SYS_mremap, memory[i], part->bytes,
                                      part->bytes, move, part->memory) != -1)
            continue;
        fd = -1; /* no memory: what was recorded is lost, but all goes on */
        if (recorder_mmap(part->memory, part->bytes, 3, RECORDER_MAP_FIXED_, -1,
                          0) == (void *)-1)
            lost = true;
        registry->threads_count = 0;
    }
    for (recorder = registry->first; recorder && lost;
         recorder = recorder->next)
        recorder->trace = -1;
    if (lost)
        registry->threads = NULL;
    if (fd >= 0) {
        recorder_note_process(file, 1);
        file->image->pid = recorder_os_process();
        recorder_file_sync(file);
    } else {
        registry->image = NULL;
        registry->file = NULL;
        recorder_recording = NULL;
    }
    recorder_signals_release(&held);
}

RECORDER_FUNCTION_ void recorder_file_event(int what, const void *of)
{
    struct recorder_recording *file = recorder_recording;
    struct recorder_held held;
    int *at = recorder_errno(), error = *at;
    if (!file)
        return;
    if (what == RECORDER_FILE_FORKED) {
        recorder_file_forked(file);
    } else if (what == RECORDER_FILE_SYNC) {
        recorder_file_sync(file);
    } else if (!__atomic_exchange_n(&recorder_file_busy, 1, __ATOMIC_ACQUIRE)) {
        recorder_signals_hold(&held);
        if (what == RECORDER_FILE_MODULE)
            recorder_file_module(file, of);
        else
            recorder_file_recorder(file, (struct recorder *)(uintptr_t)of);
        recorder_file_sync(file);
        recorder_signals_release(&held);
        __atomic_store_n(&recorder_file_busy, 0, __ATOMIC_RELEASE);
    }
    *at = error;
}

RECORDER_FUNCTION_ bool recorder_file(const char *path)
{
    struct recorder_recording *file;
    struct recorder_held held;
    int *at = recorder_errno(), error = *at;
    bool done = false;
    if (!path || !*path ||
        __atomic_exchange_n(&recorder_file_busy, 1, __ATOMIC_ACQUIRE))
        return false;
    recorder_start();
    recorder_signals_hold(&held);
    if (recorder_home.registry->image) {
        recorder_file_say(path, "", 0, "the process has a recording already");
    } else {
        file = (struct recorder_recording *)recorder_os_memory(sizeof *file);
        if (file)
            file->event = recorder_file_event;
        done = file && recorder_file_begin(file, path);
        if (file && !done)
            recorder_munmap(file, sizeof *file);
    }
    recorder_signals_release(&held);
    __atomic_store_n(&recorder_file_busy, 0, __ATOMIC_RELEASE);
    *at = error;
    return done;
}

__attribute__((constructor(103))) static void recorder_file_enter(void)
{
    const char *path = recorder_os_environment("RECORDER_FILE");
    if (recorder_file_asked || recorder_home.registry->image)
        return;
    recorder_file_asked = 1;
    if (path && !recorder_os_auxiliary(23 /* AT_SECURE */))
        recorder_file(path);
}
#ifdef RECORDER_IN_LIBRARY_
__attribute__((destructor(103))) static void recorder_file_leave(void)
{
    if (recorder_home.registry->file == recorder_file_event)
        recorder_home.registry->file = NULL;
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
