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
      core file (recorder_core.h), so that gdb and readelf open it.
    * Nothing that is there is overwritten, truncated or followed as a link. A
      recording of a process that is gone is kept as PATH.old; one that was
      still being made when its process was killed, and is empty, is removed.
    * All space is taken at the start. What cannot be done is said in one line
      on stderr, and the program goes on as without a file.

LIMITS
    * Linux only: elsewhere recorder_file() says so, and returns false.
    * What the file holds survives the program, not the machine: nothing waits
      for the disk. Whoever cuts the file off while it is in use kills the
      program (SIGBUS).
    * recorder_file() needs a process of one thread, else it says so and returns
      false: RECORDER_FILE in the environment makes the file before main(), and
      `recorder save PID` makes one of a process that has threads. Where a
      library's constructor starts a thread first, RECORDER_FILE says so, too,
      and the program goes on without a file.
    * A handler that interrupts record() must not call recorder_file(): that
      record would not be in the file.
    * A child of fork() starts with copies of the parent's records: of those
      recorders that are 64 MB together, the others are empty. One made by a
      bare system call records into its parent's file.
    * If the only library that includes this header is closed, later children of
      fork() record into the file of their parent.

CONTENTS
    interface   recorder_file()
    opening     of a file that may be there, and of one that is not
    events      libraries that come, children, what changes
*/
#ifndef RECORDER_FILE_H
#define RECORDER_FILE_H

#include "recorder_dump.h"
#ifdef RECORDER_LINUX_
#include "recorder_core.h"
#include "recorder_move.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- interface --
 *
 * bool recorder_file(const char *path)
 *     Moves the rings of all recorders, those that come later included, into a
 *     new file. Only in a process of one thread. %p in the path is the process
 *     id, %e the name of the program, %% a percent. False, and a line on
 *     stderr: they stay where they are. A child of fork() gets a file of its
 *     own if the path has %p, else goes on in memory. There is one file for a
 *     process.
 *
 * The environment's RECORDER_FILE does that before main(), unless the program
 * runs with more rights than its caller (setuid).
 */
RECORDER_PROGRAM_ unsigned char recorder_file_asked = 0;

#ifdef RECORDER_LINUX_
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
    RECORDER_LEFT,
    RECORDER_BEGUN /* and left before there was a record in it */
};

/* The first that a file holds, in one write: whose it is, should its program be
 * killed while it is made. What follows is put over it, piece by piece, each of
 * which leaves it readable as a head and its first note. */
struct recorder_file_claim {
    struct recorder_elf elf;
    struct recorder_elf_header header;
    uint32_t head[3];
    char name[12];
    uintptr_t words[RECORDER_NOTE_WORDS];
};
RECORDER_FUNCTION_ void recorder_claim_make(struct recorder_file_claim *claim)
{
    char *note;
    __builtin_memset(claim, 0, sizeof *claim);
    __builtin_memcpy(claim->elf.ident, "\177ELF", 4);
    claim->elf.ident[4] = __SIZEOF_POINTER__ / 4; /* class */
    claim->elf.ident[5] =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1 : 2; /* byte order */
    claim->elf.ident[6] = 1;
    claim->elf.type = RECORDER_ELF_CORE_;
    claim->elf.version = 1;
    claim->elf.headers = claim->elf.bytes = sizeof claim->elf;
    claim->elf.header_bytes = sizeof claim->header;
    claim->elf.headers_count = 1;
    claim->header.type = RECORDER_ELF_NOTE_;
    claim->header.offset = offsetof(struct recorder_file_claim, head);
    claim->header.file_bytes = sizeof *claim - claim->header.offset;
    claim->header.align = 4;
    note = (char *)claim + claim->header.offset;
    recorder_note(&note, "RECORDER", 9, 1, sizeof claim->words);
    recorder_note_words(claim->words, 0);
}

RECORDER_FUNCTION_ enum recorder_there recorder_file_whose(int fd)
{
    struct recorder_statx stat;
    struct recorder_file_claim is;
    intptr_t pid;
    if (recorder_os_stat(fd, "", &stat) < 0 ||
        (stat.mode & 0170000) != 0100000 || stat.links != 1 ||
        stat.user != recorder_os_user())
        return RECORDER_FOREIGN;
    if (stat.bytes == 0 && (stat.mode & 0777) == 0600) /* before its claim? */
        return recorder_clock_ns(RECORDER_REALTIME_) / 1000000000u <
                       stat.times[6] + 2 /* changed, in seconds */
                   ? RECORDER_IN_USE
                   : RECORDER_BEGUN;
    if (recorder_os_read(fd, &is.elf, sizeof is.elf) != (long)sizeof is.elf ||
        __builtin_memcmp(is.elf.ident, "\177ELF", 4) != 0 ||
        is.elf.type != RECORDER_ELF_CORE_ || is.elf.headers != sizeof is.elf ||
        is.elf.header_bytes != sizeof is.header ||
        recorder_os_read(fd, &is.header, sizeof is.header) !=
            (long)sizeof is.header ||
        is.header.type != RECORDER_ELF_NOTE_ ||
        recorder_syscall(SYS_lseek, (long)fd, (long)is.header.offset, 0L) < 0 ||
        recorder_os_read(fd, is.head, sizeof is.head) != (long)sizeof is.head ||
        recorder_os_read(fd, is.name, sizeof is.name) != (long)sizeof is.name ||
        recorder_os_read(fd, is.words, sizeof is.words) !=
            (long)sizeof is.words ||
        is.head[0] != 9 || is.head[1] != sizeof is.words || is.head[2] != 1 ||
        __builtin_memcmp(is.name, "RECORDER", 9) != 0)
        return RECORDER_FOREIGN;
    pid = (intptr_t)is.words[2];
    if (pid > 0 && pid != recorder_os_process() &&
        (recorder_syscall(SYS_kill, (long)pid, 0L) == 0 ||
         *recorder_errno() != RECORDER_ESRCH_) &&
        recorder_process_stat(pid, RECORDER_STAT_START_) == is.words[4])
        return RECORDER_IN_USE;
    return is.header.offset == offsetof(struct recorder_file_claim, head)
               ? RECORDER_BEGUN
               : RECORDER_LEFT;
}
RECORDER_FUNCTION_ enum recorder_there recorder_file_there(const char *path)
{
    long fd = recorder_os_open(path, RECORDER_O_NONBLOCK_);
    enum recorder_there there;
    if (fd < 0)
        return fd == -2 ? RECORDER_ABSENT : RECORDER_FOREIGN;
    there = recorder_file_whose((int)fd);
    recorder_os_close((int)fd);
    return there;
}

/* Clears the way: keeps the recording of a process that is gone. False, and
 * said: something else is there. */
RECORDER_FUNCTION_ bool recorder_file_clear(const char *path)
{
    enum recorder_there there = recorder_file_there(path);
    struct recorder_string name;
    char old[RECORDER_PATH_MAX + 8];
    if (there == RECORDER_BEGUN)
        recorder_os_unlink(path);
    if (there == RECORDER_ABSENT || there == RECORDER_BEGUN)
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
    struct recorder_file_claim claim;
    long fd, error;
    if (!recorder_file_path(file)) {
        recorder_file_say(file->pattern, "", 0, "File name too long");
        return -1;
    }
    if (!recorder_file_clear(file->path))
        return -1;
    recorder_claim_make(&claim); /* first: it is written at once then */
    fd = recorder_os_open(file->path, RECORDER_O_NEW_);
    if (fd < 0) {
        recorder_file_say(file->path, "", fd, NULL);
        return -1;
    }
    error =
        recorder_os_result(recorder_os_write((int)fd, &claim, sizeof claim));
    if (error >= 0)
        error = error == (long)sizeof claim
                    ? recorder_os_allocate((int)fd, sizeof claim,
                                           bytes - sizeof claim)
                    : -28 /* ENOSPC */;
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
                uintptr_t *format = &recorder_records(recorder_move_lane(
                    r->rings, r, lane))[slot]
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

/* What begins a file of ours: the head and what is known without the rings. */
RECORDER_FUNCTION_ bool recorder_file_head(struct recorder_recording *file,
                                           const struct recorder_elf *program,
                                           unsigned headers)
{
    const struct recorder_registry *registry = recorder_home.registry;
    struct recorder_elf elf;
    file->elf = (struct recorder_elf *)(void *)recorder_part_take(
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

/* Rows of the thread table in the file. */
RECORDER_INLINE_ uintptr_t recorder_file_rows(void)
{
    const struct recorder_registry *registry = recorder_home.registry;
    return registry->threads ? registry->threads_max : RECORDER_THREADS;
}

/* How large the file must be, and what it has to hold. */
struct recorder_file_size {
    size_t recorders;
    unsigned headers;
    uintptr_t bytes;
};
RECORDER_FUNCTION_ struct recorder_file_size
recorder_file_measure(const struct recorder_mappings *mappings)
{
    struct recorder_file_size size = {0, 0, 0};
    const struct recorder *r;
    for (r = recorder_walk(); r; r = recorder_walk_on(r)) {
        size.recorders++;
        size.bytes += recorder_file_low_bytes(r) + recorder_file_high_bytes(r);
    }
    recorder_unwalk();
    size.headers =
        (unsigned)(size.recorders + mappings->count + RECORDER_HEADERS_SPARE);
    if (size.headers > 65000)
        size.headers = 65000;
    size.bytes += sizeof(struct recorder_elf) +
                  size.headers * sizeof(struct recorder_elf_header) +
                  sizeof(struct recorder_registry) + 24 +
                  recorder_note_files_bytes(mappings) +
                  recorder_mappings_bytes(mappings) +
                  recorder_file_rows() * sizeof(struct recorder_thread) +
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
    if (!recorder_file_head(file, program, headers) || !recorder_notes(file) ||
        !recorder_note_files(file, mappings) ||
        !recorder_file_load(file, (uintptr_t)part->memory, part->memory,
                            part->bytes, writable) ||
        !recorder_file_load(file, (uintptr_t)registry, file->image,
                            sizeof *file->image, writable) ||
        !recorder_file_load(file, (uintptr_t)registry->order, file->order,
                            sizeof *file->order, writable))
        return NULL;
    rows = (struct recorder_thread *)(void *)recorder_part_take(
        file, recorder_file_rows() * sizeof *rows, false);
    for (i = 0; i < mappings->count; i++)
        if (mappings->all[i].save)
            recorder_file_segment(file, &mappings->all[i]);
    return rows;
}

/* Moves the thread table. */
RECORDER_FUNCTION_ void recorder_file_threads(struct recorder_recording *file,
                                              struct recorder_thread *rows)
{
    struct recorder_registry *registry = recorder_home.registry;
    uintptr_t count = recorder_file_rows();
    if (registry->threads)
        __builtin_memcpy(rows, registry->threads, count * sizeof *rows);
    recorder_put(&registry->threads_max, count);
    __atomic_store_n(&registry->threads, rows, __ATOMIC_RELEASE);
    file->image->threads = rows;
    file->image->threads_max = count;
}

/* Moves everything into the file that was made. */
RECORDER_FUNCTION_ void recorder_file_move(struct recorder_recording *file,
                                           struct recorder_moves *moves,
                                           size_t moves_max,
                                           struct recorder_thread *rows)
{
    struct recorder_registry *registry = recorder_home.registry;
    struct recorder_clock clock;
    struct recorder *recorder, *copy;
    uint64_t since;
    for (recorder = recorder_walk(); recorder && moves->count < moves_max;
         recorder = recorder_walk_on(recorder)) {
        copy = recorder_file_add(file, recorder);
        if (copy)
            recorder_move_plan(moves, recorder, copy->rings);
    }
    recorder_file_threads(file, rows);
    recorder_recording = file;
    registry->image = file->image;
    __atomic_store_n(&registry->file, file->event, __ATOMIC_RELEASE);
    recorder_move_all(moves);
    recorder_unwalk();
    recorder_file_sync(file);
    recorder_note_process(file, 1);
    /* The rate of the ticks, for the time when nobody runs to measure it. */
    since =
        recorder_clock_ns(RECORDER_MONOTONIC_) - registry->start.monotonic_ns;
    if (since < 2000000)
        recorder_os_poll(NULL, 0, 3);
    recorder_clock_open(&clock);
    recorder_file_sync(file);
}

/* Begins a recording. Says what is wrong. */
RECORDER_FUNCTION_ bool recorder_file_begin(struct recorder_recording *file,
                                            const char *path)
{
    struct recorder_mappings mappings;
    struct recorder_file_size size;
    struct recorder_elf program;
    struct recorder_moves moves = {NULL, 0, 0, 0};
    struct recorder_thread *rows = NULL;
    size_t moves_bytes;
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
    size = recorder_file_measure(&mappings);
    moves_bytes = (size.recorders + 1) * sizeof *moves.all;
    moves.all = (struct recorder_move *)recorder_os_memory(moves_bytes);
    if (!moves.all) {
        recorder_file_say(file->pattern, "", -12, NULL);
    } else {
        fd = recorder_file_make(file, size.bytes);
        if (fd >= 0 && recorder_part_open(file, fd, 0, size.bytes))
            rows = recorder_file_fill(file, &mappings, &program, size.headers);
        if (fd >= 0) {
            if (!rows) {
                recorder_os_unlink(file->path);
                recorder_file_say(file->path, "", -12, NULL);
            }
            recorder_os_close(fd);
        }
        if (rows)
            recorder_file_move(file, &moves, size.recorders, rows);
        else if (file->parts_count)
            recorder_munmap(file->parts[0].memory, file->parts[0].bytes);
        recorder_munmap(moves.all, moves_bytes);
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
    size_t i;
    if (!recorder_mappings_open(&mappings, file, of))
        return;
    if (mappings.count &&
        recorder_file_room(file,
                           recorder_mappings_bytes(&mappings) + 24 +
                               recorder_note_files_bytes(&mappings) +
                               RECORDER_LINE_BYTES,
                           0)) {
        uintptr_t count = file->elf->headers_count;
        for (i = 0; i < mappings.count; i++)
            if (mappings.all[i].save)
                recorder_file_segment(file, &mappings.all[i]);
        if (file->elf->headers_count != count) /* it was not here before */
            recorder_note_files(file, &mappings);
    }
    recorder_mappings_close(&mappings);
}

/* A recorder is here, and nobody has recorded into it: it gets rings in the
 * file, or goes on in those that it had, if it is back. */
RECORDER_FUNCTION_ void recorder_file_recorder(struct recorder_recording *file,
                                               struct recorder *recorder)
{
    struct recorder *copy = recorder_file_copy_of(file, recorder);
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
    if (recorder_file_room(file, recorder_file_low_bytes(recorder),
                           recorder_file_high_bytes(recorder)))
        copy = recorder_file_add(file, recorder);
    if (copy) { /* a constructor may have recorded before ours ran */
        struct recorder_move move;
        struct recorder_moves moves = {NULL, 0, 0, 0};
        moves.all = &move;
        recorder_move_plan(&moves, recorder, copy->rings);
        recorder_move_all(&moves);
    }
}

/* Fills the memory of a child with what its parent's file has. A ring that is
 * too large for that begins empty. */
RECORDER_FUNCTION_ void
recorder_file_inherit(const struct recorder_recording *file,
                      char *const to[RECORDER_PARTS])
{
    const struct recorder_registry *registry = recorder_home.registry;
    uintptr_t order = recorder_get(registry->order), left = 64u << 20;
    const struct recorder *r;
    struct recorder_thread *row;
    uintptr_t process[RECORDER_NOTE_WORDS];
    unsigned i;
    for (i = 0; i < file->parts_count; i++)
        __builtin_memcpy(to[i], file->parts[i].memory, file->parts[i].low);
    recorder_note_words(process, 0); /* it is not whole yet */
    __builtin_memcpy(to[0] + (file->note - file->parts[0].memory), process,
                     sizeof process);
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
        recorder_copy_rings(r, r->rings,
                            (struct recorder_ring *)(void *)(to[i] + at),
                            &order, NULL);
    }
    /* Rows that were taken since are of the parent's threads. */
    row =
        (struct recorder_thread *)(void *)(to[0] + ((char *)registry->threads -
                                                    file->parts[0].memory));
    if (registry->threads_count < registry->threads_max)
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
    } else {
        recorder_signals_hold(&held);
        if (what == RECORDER_FILE_MODULE)
            recorder_file_module(file, of);
        else
            recorder_file_recorder(file, (struct recorder *)(uintptr_t)of);
        recorder_file_sync(file);
        recorder_signals_release(&held);
    }
    *at = error;
}

/* The same from main() and before it: `threads` says what is wrong where the
 * process has more than one thread. */
RECORDER_FUNCTION_ bool recorder_file_open(const char *path,
                                           const char *threads)
{
    struct recorder_recording *file;
    struct recorder_signal_set all;
    struct recorder_held held;
    bool done = false;
    recorder_signals_hold(&held);
    recorder_start();
    if (recorder_home.registry->image) {
        recorder_file_say(path, "", 0, "the process has a recording already");
    } else if (recorder_process_stat(recorder_os_process(),
                                     RECORDER_STAT_THREADS_) > 1) {
        recorder_file_say(path, "", 0, threads);
    } else {
        /* No handler may record meanwhile. */
        __builtin_memset(&all, 0xff, sizeof all);
        recorder_os_mask(RECORDER_SIG_BLOCK_, &all, NULL);
        file = (struct recorder_recording *)recorder_os_memory(sizeof *file);
        if (file)
            file->event = recorder_file_event;
        done = file && recorder_file_begin(file, path);
        if (file && !done)
            recorder_munmap(file, sizeof *file);
    }
    recorder_signals_release(&held);
    return done;
}

RECORDER_FUNCTION_ bool recorder_file(const char *path)
{
    return path && *path &&
           recorder_file_open(path,
                              "the process has threads: RECORDER_FILE in its "
                              "environment makes the file before main(), "
                              "recorder save PID makes one at any time");
}

#ifdef RECORDER_IN_LIBRARY_
__attribute__((destructor(103))) static void recorder_file_leave(void)
{
    if (recorder_home.registry->file == recorder_file_event)
        recorder_home.registry->file = NULL;
}
#endif
#else
RECORDER_FUNCTION_ bool recorder_file_open(const char *path,
                                           const char *threads)
{
    struct recorder_string say;
    char text[1024];
    (void)threads;
    say = recorder_string_at(text, sizeof text);
    recorder_add_string(&say, "recorder: ");
    recorder_add_name(&say, path, sizeof text - 200);
    recorder_add_string(&say, ": recordings are made on Linux only; goes on in "
                              "memory\n");
    recorder_say(&say);
    return false;
}
RECORDER_FUNCTION_ bool recorder_file(const char *path)
{
    return path && *path && recorder_file_open(path, "");
}
#endif

__attribute__((constructor(103))) static void recorder_file_enter(void)
{
    const char *path = recorder_os_environment("RECORDER_FILE");
    if (recorder_file_asked || recorder_home.registry->image)
        return;
    recorder_file_asked = 1;
    if (path && *path && recorder_os_trusted())
        recorder_file_open(path, "a library started threads before the file "
                                 "could be made: recorder save PID makes one "
                                 "at any time");
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
