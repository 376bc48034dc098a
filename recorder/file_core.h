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
    helpers     paths and memory
    core        ELF head, segments, notes
*/
#ifndef RECORDER_FILE_CORE_H_
#define RECORDER_FILE_CORE_H_

#include "events.h"
#include "memory.h"
#include "os_linux_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- helpers -- */

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
    size = recorder_os_read_link("/proc/self/ns/pid", text, sizeof text);
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
