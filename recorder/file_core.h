/* file_core.h - lays out a recording as an ELF core file. */
/* SPDX-License-Identifier: MIT */
/*
For file.h. A recording is read like the core file of a process.

PROMISES
    * gdb, readelf and other readers of core files open a recording.
      -> tests/outside/recording.c
    * An addition is visible at once or not at all: the count of program headers
      is stored last. -> tests/outside/recording.c

LIMITS
    * NT_PRSTATUS and NT_SIGINFO hold zeros until a crash (file_crash.h).

CONTENTS
    helpers     paths and memory
    core        ELF head, segments, notes
*/
#ifndef RECORDER_FILE_CORE_H_
#define RECORDER_FILE_CORE_H_

#include "events.h"
#include "memory.h"
#include "os_file.h"

RECORDER_C_BEGIN_

/* --------------------------------------------------------------- helpers -- */

RECORDER_SELDOM_ const char *recorder_path_basename_(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

/* Copies memory that may be unmapped during the copy. Returns false if it
 * was. */
RECORDER_SELDOM_ bool recorder_memory_copy_all_(void *to, uintptr_t from,
                                                uintptr_t bytes)
{
    struct recorder_memory_ memory;
    uintptr_t done = 0;
    ptrdiff_t count = 1;
    recorder_memory_open_(&memory);
    while (done < bytes && count > 0) {
        count = recorder_memory_copy_(&memory, from + done, (char *)to + done,
                                      bytes - done);
        done += count > 0 ? (uintptr_t)count : 0;
    }
    recorder_memory_close_(&memory);
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
 *         note; its first word lies at a multiple of 8
 *     "CORE", NT_PRSTATUS (where the machine's is known; registers are 0
 *         until a crash), NT_PRPSINFO, NT_AUXV (as of /proc/self/auxv),
 *         NT_SIGINFO (of a crash)
 * PT_NOTE (of the program and its libraries; one for each that came later)
 *     "CORE", NT_FILE (all segments)
 * PT_LOAD
 *     the file itself, one writable segment for each part, at the address where
 *         the part is mapped. It holds everything that `first` and `threads` of
 *         the registry lead to: a copy of each struct recorder (`next` leads to
 *         the next copy), its name and description, its rings; the thread
 *         table; `line`
 *     memory of a crash; until then, PT_NULL
 *     copies at the addresses of the originals: the registry, the order word,
 *         each struct recorder (for debuggers), the read-only segments of each
 *         module that records (its formats, its build-id). Their bytes lie in
 *         the parts, so the file has them once, at two addresses
 *
 * The rings and the thread table are live. The copies are as old as the last
 * call of recorder_core_sync_(), among them `trace` of a struct recorder, and a
 * recording ends with the highest order in it.
 * `tweaks`, `types`, `hook` and `thread` are 0.
 * A recorder whose library was closed stays in the list; if the library returns
 * to the same address, it uses the same rings again. If another library takes
 * its addresses, its saved formats stay reachable only inside the parts, and
 * the records' format pointers are redirected there.
 */

/* The file is mapped in parts: the first when it is made, others for libraries
 * that are opened later. Rings are allocated from a part's end, all else from
 * its start, so that a child copies that in one piece. */
struct recorder_part_ {
    char *memory;
    uintptr_t bytes, offset; /* in the file */
    uintptr_t low, high;     /* its free bytes begin and end here */
};
enum {
    RECORDER_PARTS_ = 64,
    RECORDER_HEADERS_SPARE_ = 512,
    RECORDER_PATH_MAX_ = 2048
};
#define RECORDER_PART_BYTES_                                                   \
    ((uintptr_t)1 << 20) /* the least for a later one */
#define RECORDER_PART_SPARE_ ((uintptr_t)64 << 10)
#define RECORDER_PART_PAGE_ ((uintptr_t)64 << 10) /* the largest */

/* A slot as it was before fork(), if it had an open ticket: one that was drawn,
 * and is neither whole nor given up. */
struct recorder_fork_slot_ {
    struct recorder_ring *ring;
    uintptr_t mask, slot, lap, commit; /* lap: the last that was handed out */
    struct recorder_turn turn;
    struct recorder_record record;
};
enum { RECORDER_FORK_SLOTS_ = 64 };

struct recorder_recording_ {
    struct recorder_part_ parts[RECORDER_PARTS_];
    unsigned parts_count;
    struct recorder_elf_ *elf;
    struct recorder_elf_header_ *headers; /* after it */
    unsigned headers_max;
    struct recorder_registry *image;
    char *line;                  /* 256 bytes */
    uintptr_t *order;            /* the copy of it */
    struct recorder_life *lives; /* the table in memory, or null */
    struct recorder *last;       /* copy in the list; null: there is none */
    char *note, *status, *info;  /* contents of the notes that name a process */
    char *siginfo;               /* and of the one of a crash */
    char *crash_room;            /* in the first part; null: there is none */
    unsigned crash_first;        /* the first of its program headers */
    uintptr_t dynamic, dynamic_bytes; /* the program's PT_DYNAMIC; or 0 */
    uintptr_t strings, strings_end;   /* arguments and environment; or 0 */
    uint64_t inode;
    uint32_t device[2];
    bool own_process; /* %p is in the pattern */
    bool forgets;     /* a child of fork() begins with empty rings, in memory */
    void (*notify)(int what, const void *of); /* for the registry */
    char pattern[RECORDER_PATH_MAX_], folder[RECORDER_PATH_MAX_];
    char path[RECORDER_PATH_MAX_], program[RECORDER_PATH_MAX_];
    struct recorder_fork_slot_ open[RECORDER_FORK_SLOTS_];
    unsigned open_count;
    uintptr_t forks; /* the end of the records from before fork() */
};
RECORDER_PROGRAM_ struct recorder_recording_ *recorder_recording_ = 0;

RECORDER_INLINE_ uintptr_t recorder_round_up_(uintptr_t bytes, uintptr_t to)
{
    return (bytes + to - 1) & ~(to - 1);
}

/* Allocates zeroed memory in the last part. Returns null if it is full. */
RECORDER_SELDOM_ char *recorder_core_take_(struct recorder_recording_ *file,
                                           uintptr_t bytes, bool ring)
{
    struct recorder_part_ *part = &file->parts[file->parts_count - 1];
    bytes = recorder_round_up_(bytes, RECORDER_CACHE_LINE);
    if (bytes > part->high - part->low)
        return NULL;
    if (ring)
        return part->memory + (part->high -= bytes);
    part->low += bytes;
    return part->memory + part->low - bytes;
}

RECORDER_SELDOM_ struct recorder_part_ *
recorder_core_part_(struct recorder_recording_ *file, uintptr_t address)
{
    unsigned i;
    for (i = 0; i < file->parts_count; i++)
        if (address - (uintptr_t)file->parts[i].memory < file->parts[i].bytes)
            return &file->parts[i];
    return NULL;
}

/* Returns the bytes of a segment in its part. */
RECORDER_SELDOM_ char *
recorder_core_bytes_(const struct recorder_recording_ *file,
                     const struct recorder_elf_header_ *header)
{
    unsigned i;
    for (i = 0; i < file->parts_count; i++)
        if (header->offset - file->parts[i].offset < file->parts[i].bytes)
            return file->parts[i].memory + header->offset -
                   file->parts[i].offset;
    return NULL;
}

/* Maps `bytes` of the file as a further part. Returns false on failure. */
RECORDER_SELDOM_ bool recorder_core_map_(struct recorder_recording_ *file,
                                         int fd, uintptr_t offset,
                                         uintptr_t bytes)
{
    struct recorder_part_ *part = &file->parts[file->parts_count];
    part->memory = recorder_os_share_(fd, offset, bytes);
    if (!part->memory)
        return false;
    part->bytes = part->high = bytes;
    part->offset = offset;
    part->low = 0;
    file->parts_count++;
    return true;
}

/* Adds a program header: `bytes` at `at`, in a part, are the program's bytes at
 * `address`. Returns false if there is no header left. */
RECORDER_SELDOM_ bool
recorder_core_add_header_(struct recorder_recording_ *file, uint32_t type,
                          uintptr_t address, const void *at, uintptr_t bytes,
                          uint32_t flags)
{
    unsigned count = file->elf->headers_count;
    struct recorder_elf_header_ *header = &file->headers[count];
    const struct recorder_part_ *part =
        recorder_core_part_(file, (uintptr_t)at);
    if (count == file->headers_max || !part)
        return false;
    header->offset = part->offset + ((uintptr_t)at - (uintptr_t)part->memory);
    header->address = address;
    header->physical = 0; /* see struct recorder_open_claim_ */
    header->file_bytes = bytes;
    header->memory_bytes = type == RECORDER_ELF_NOTE_ ? 0 : bytes;
    header->flags = flags;
    header->align = type == RECORDER_ELF_NOTE_ ? 4 : RECORDER_ELF_ALIGN_;
    header->type = type;
    __atomic_store_n(&file->elf->headers_count, (uint16_t)(count + 1),
                     __ATOMIC_RELEASE);
    return true;
}
enum { /* the words of the first note */
       RECORDER_OWNER_LAYOUT_,
       RECORDER_OWNER_REGISTRY_,
       RECORDER_OWNER_PID_,
       RECORDER_OWNER_WHOLE_,
       RECORDER_OWNER_START_,
       RECORDER_OWNER_BOOT_,
       RECORDER_OWNER_NAMESPACE_,
       RECORDER_OWNER_TELLS_,
       RECORDER_NOTE_WORDS_
};

/* Writes a note's head at *at and sets *at after the note. Returns the place of
 * its contents. */
RECORDER_SELDOM_ char *recorder_core_note_(char **at, const char *name,
                                           uint32_t name_bytes, uint32_t type,
                                           uint32_t bytes)
{
    uint32_t head[3];
    char *contents = *at + sizeof head + recorder_round_up_(name_bytes, 4);
    head[0] = name_bytes;
    head[1] = bytes;
    head[2] = type;
    __builtin_memcpy(*at, head, sizeof head);
    __builtin_memcpy(*at + sizeof head, name, name_bytes);
    *at = contents + recorder_round_up_(bytes, 4);
    return contents;
}

/* FNV-1a of a text; 0 for an empty one. */
RECORDER_SELDOM_ uintptr_t recorder_core_hash_(const char *text, size_t size)
{
    uintptr_t hash = size ? 2166136261u : 0;
    size_t i;
    for (i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

/* Fills the words of the first note: the process, and whether the file is
 * whole. */
RECORDER_SELDOM_ void recorder_core_owner_(uintptr_t *words, uintptr_t whole)
{
    intptr_t pid = recorder_os_process_();
    char text[64];
    words[RECORDER_OWNER_LAYOUT_] = RECORDER_LAYOUT;
    words[RECORDER_OWNER_REGISTRY_] = (uintptr_t)recorder_home_.registry;
    words[RECORDER_OWNER_PID_] = (uintptr_t)pid;
    words[RECORDER_OWNER_WHOLE_] = whole;
    words[RECORDER_OWNER_START_] = recorder_os_process_start_(pid);
    words[RECORDER_OWNER_BOOT_] =
        recorder_core_hash_(text, recorder_os_boot_(text, sizeof text));
    words[RECORDER_OWNER_NAMESPACE_] =
        recorder_core_hash_(text, recorder_os_namespace_(text, sizeof text));
    words[RECORDER_OWNER_TELLS_] = 0;
}
RECORDER_SELDOM_ void recorder_core_set_owner_(struct recorder_recording_ *file,
                                               uintptr_t whole)
{
    uintptr_t words[RECORDER_NOTE_WORDS_];
    int32_t id = (int32_t)recorder_os_process_();
    recorder_core_owner_(words, whole);
    if (whole) {
        long fd = recorder_os_open_(file->path, 0);
        words[RECORDER_OWNER_TELLS_] =
            fd >= 0 && recorder_os_has_writer_((int)fd) == 1;
        if (fd >= 0)
            recorder_os_close_((int)fd);
    }
    __builtin_memcpy(file->note, words, sizeof words);
    if (file->status)
        __builtin_memcpy(file->status + RECORDER_STATUS_PID_, &id, 4);
    __builtin_memcpy(file->info + RECORDER_INFO_PID_, &id, 4);
}

/* Notes where the strings of arguments and environment are: after AT_RANDOM of the
 * auxiliary vector, 16 bytes, up to the program's path at AT_EXECFN
 * (create_elf_tables() of Linux). Emulators have memory after these. */
RECORDER_SELDOM_ void recorder_core_strings_(struct recorder_recording_ *file,
                                             const char *auxiliary, size_t size)
{
    uintptr_t pair[2];
    for (; size >= sizeof pair; size -= sizeof pair, auxiliary += sizeof pair) {
        __builtin_memcpy(pair, auxiliary, sizeof pair);
        if (pair[0] == 25 /* AT_RANDOM */) {
            file->strings = pair[1];
            file->strings_end = UINTPTR_MAX;
        } else if (pair[0] == 31 /* AT_EXECFN */ && file->strings &&
                   file->strings < pair[1]) {
            file->strings_end = pair[1];
        }
    }
}

/* Adds the notes of the process. Returns false if there is no room. */
RECORDER_APART_ bool recorder_core_add_notes_(struct recorder_recording_ *file)
{
    char auxiliary[RECORDER_AUXILIARY_MAX_], *start, *at, *to;
    size_t size = recorder_os_vector_(auxiliary, sizeof auxiliary);
    uintptr_t bytes = 5 * 24 + RECORDER_NOTE_WORDS_ * sizeof(uintptr_t) +
                      RECORDER_STATUS_BYTES_ + RECORDER_INFO_BYTES_ + size +
                      RECORDER_SIGINFO_BYTES_ + 4 * 4;
    at = start = recorder_core_take_(file, bytes, false);
    if (!start)
        return false;
    file->note = recorder_core_note_(&at, "RECORDER", 9, 1,
                                     RECORDER_NOTE_WORDS_ * sizeof(uintptr_t));
    if (RECORDER_REGISTERS_ > 0)
        file->status = recorder_core_note_(&at, "CORE", 5, 1 /* NT_PRSTATUS */,
                                           RECORDER_STATUS_BYTES_);
    file->info = recorder_core_note_(&at, "CORE", 5, 3 /* NT_PRPSINFO */,
                                     RECORDER_INFO_BYTES_);
    to = file->info + RECORDER_INFO_PID_ + 16;
    __builtin_memcpy(
        to, recorder_path_basename_(file->program),
        recorder_length_(recorder_path_basename_(file->program), 15));
    /* Not the arguments: they may hold a password. */
    __builtin_memcpy(to + 16, file->program,
                     recorder_length_(file->program, 79));
    recorder_core_strings_(file, auxiliary, size);
    if (size)
        __builtin_memcpy(recorder_core_note_(&at, "CORE", 5, 6 /* NT_AUXV */,
                                             (uint32_t)size),
                         auxiliary, size);
    file->siginfo = recorder_core_note_(
        &at, "CORE", 5, 0x53494749 /* _SIGINFO */, RECORDER_SIGINFO_BYTES_);
    recorder_core_set_owner_(file, 0);
    return recorder_core_add_header_(file, RECORDER_ELF_NOTE_, 0, start,
                                     (uintptr_t)(at - start), RECORDER_ELF_R_);
}

/* Makes the ELF head and the copies of the registry, of the order word and of
 * the line format. Returns false if there is no room. */
RECORDER_SELDOM_ bool recorder_core_begin_(struct recorder_recording_ *file,
                                           const struct recorder_elf_ *program,
                                           unsigned headers)
{
    const struct recorder_registry *registry = recorder_home_.registry;
    struct recorder_elf_ elf;
    char *name;
    file->elf = (struct recorder_elf_ *)(void *)recorder_core_take_(
        file, sizeof *file->elf + headers * sizeof *file->headers, false);
    file->headers = (struct recorder_elf_header_ *)(file->elf + 1);
    file->headers_max = headers;
    elf = *program; /* class, byte order, machine and its flags */
    elf.type = RECORDER_ELF_CORE_;
    elf.entry = elf.sections = 0;
    elf.headers = elf.bytes = sizeof elf;
    elf.header_bytes = sizeof *file->headers;
    elf.headers_count = elf.section_bytes = 0;
    elf.sections_count = elf.names = 0;
    *file->elf = elf;
    file->image = (struct recorder_registry *)(void *)recorder_core_take_(
        file, sizeof *file->image, false);
    file->order = (uintptr_t *)(void *)recorder_core_take_(
        file, sizeof *file->order, false);
    file->line = recorder_core_take_(file, 256, false);
    if (!file->line)
        return false;
    name = recorder_core_take_(file, RECORDER_PROGRAM_MAX_, false);
    if (!name)
        return false;
    if (registry->program)
        __builtin_memcpy(
            name, registry->program,
            recorder_length_(registry->program, RECORDER_PROGRAM_MAX_ - 1));
    *file->image = *registry;
    file->image->program = name;
    file->image->first = NULL;
    file->image->later_sequence = 0;
    file->image->readers = 0;
    file->image->thread = NULL;
    file->image->hook = NULL;
    file->image->tweaks = NULL;
    file->image->types = NULL;
    file->image->image = NULL;
    file->image->file = NULL;
    file->image->kernel = NULL;
    file->image->decoder = NULL;
    file->image->lives = (struct recorder_life *)(void *)recorder_core_take_(
        file, RECORDER_LIVES_ * sizeof(struct recorder_life), false);
    file->image->lives_changes = 0;
    file->image->ended = 0;
    return file->image->lives != NULL;
}

/* Updates `trace` in the copies of recorders: of each, the original has the
 * same rings. */
RECORDER_SELDOM_ void
recorder_core_sync_traces_(const struct recorder_recording_ *file)
{
    struct recorder *copy = file->image->first;
    size_t left = recorder_list_length_(copy);
    for (; left; left--, copy = copy->next) {
        struct recorder_walk_ walk;
        const struct recorder *from = recorder_walk_begin_(&walk);
        while (from && from->rings != copy->rings)
            from = recorder_walk_next_(&walk);
        if (from)
            __atomic_store_n(&copy->trace,
                             __atomic_load_n(&from->trace, __ATOMIC_RELAXED),
                             __ATOMIC_RELAXED);
        recorder_readers_leave_();
    }
}

/* Updates the copies of the registry, of the order word and of `trace`. Safe in
 * a signal handler. */
RECORDER_SELDOM_ void recorder_core_sync_(struct recorder_recording_ *file)
{
    const struct recorder_registry *from = recorder_home_.registry;
    struct recorder_registry *to = file->image;
    const char *line = __atomic_load_n(&from->line, __ATOMIC_ACQUIRE);
    struct recorder_moment later;
    uint32_t set = recorder_later_read_(from, &later);
    unsigned i;
    recorder_core_sync_traces_(file);
    recorder_put_(&to->cleared, recorder_get_(&from->cleared));
    recorder_put_(file->order, recorder_get_(from->order));
    /* `bytes` says whether it counts. */
    recorder_put_(&to->clocked, recorder_get_(&from->clocked));
    recorder_put_(&to->threads_count, recorder_get_(&from->threads_count));
    if (set && set != to->later_sequence) {
        __atomic_store_n(&to->later_sequence, 1, __ATOMIC_RELEASE);
        recorder_later_write_(to, &later, set);
    }
    for (i = 0; i < RECORDER_WRAPS_MAX_; i++) {
        recorder_put_(&to->wraps[i].order,
                      recorder_get_(&from->wraps[i].order));
        recorder_put_(&to->wraps[i].high, recorder_get_(&from->wraps[i].high));
    }
    recorder_put_(&to->high, recorder_get_(&from->high));
    recorder_put_(&to->wraps_count, recorder_get_(&from->wraps_count));
    if (line) {
        size_t size = recorder_length_(line, 255);
        __builtin_memcpy(file->line, line, size);
        file->line[size] = '\0';
    }
    __atomic_store_n(&to->line, line ? file->line : NULL, __ATOMIC_RELEASE);
}

RECORDER_C_END_
#endif
