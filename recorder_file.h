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
    * The file needs no other to be read: it holds the formats, too, and is an
      ELF core file (recorder_core.h), so that gdb and readelf open it.
    * Nothing that is there is overwritten, truncated or followed as a link. A
      recording whose process is gone becomes PATH.old, in the place of the one
      before it, or is removed if it was never finished and is empty. One whose
      process may be alive, in another pid namespace or on another host, too,
      stays: the new one is PATH.1 to PATH.9, and a line on stderr says which.
    * All space is taken at the start. What cannot be done is said in one line
      on stderr, and the program goes on as without a file.

LIMITS
    * Linux only: elsewhere recorder_file() says so, and returns false.
    * The records survive the program, not the machine: nothing waits for the
      disk. Truncating a file that is in use kills its program (SIGBUS).
    * recorder_file() needs a process of one thread, else it says so and returns
      false: RECORDER_FILE in the environment makes the file before main(), and
      `recorder save PID` makes one of a process that has threads. Where a
      library's constructor starts a thread first, RECORDER_FILE says so, too,
      and the program goes on without a file.
    * A handler that interrupts record() must not call recorder_file(): that
      record would not be in the file.
    * On an overlay (the root of a container) the kernel does not say whether a
      process of another pid namespace is alive: until the next boot, its
      recording counts as in use there.
    * A child of fork() begins with copies of the parent's rings, up to 64 MB in
      all; further rings begin empty. A child made by a bare system call records
      into its parent's file.
    * If the only library that includes this header is closed, children that are
      made by fork() later record into the file of their parent.

CONTENTS
    interface   recorder_file()
    modules     the program and its libraries
    open        what lies at the path, and whether it may be taken
    fork        a file of its own for a child
    file        making it, adding libraries and recorders
*/
#ifndef RECORDER_FILE_H
#define RECORDER_FILE_H

#include "recorder_dump.h"
#ifdef RECORDER_LINUX_
#include "recorder_move.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------- interface --
 *
 * bool recorder_file(const char *path)
 *     Moves the rings of all recorders, those that come later included, into a
 *     new file. Only in a process of one thread. In the path, %p is the process
 *     id, %e the name of the program, %h that of the host, %t the time in
 *     seconds since 1970, %% a percent. False, and a line on stderr: they stay
 *     where they are. A child of fork() gets a file of its own if the path has
 *     %p, else goes on in memory. There is one file for a process.
 *
 * The environment's RECORDER_FILE does that before main(), unless the program
 * runs with more rights than its caller (setuid).
 */
RECORDER_PROGRAM_ unsigned char recorder_file_asked = 0;

#ifdef RECORDER_LINUX_
/* --------------------------------------------------------------- modules -- */

/* A segment of a module: where it is in memory and in its file. */
struct recorder_module_segment {
    uintptr_t start, bytes, offset;
    const char *path;
    bool save; /* the recording gets a copy of it */
};
struct recorder_modules {
    struct recorder_module_segment *all;
    size_t count, max;
    size_t modules_count;
    char *text; /* their paths */
    size_t text_size, text_max;
    const void *only; /* of the module that holds this; null: of all */
    const struct recorder_recording *file;
    void *memory;
    size_t memory_bytes;
};

RECORDER_FUNCTION_ uintptr_t
recorder_modules_note_bytes(const struct recorder_modules *modules)
{
    uintptr_t bytes = (2 + 3 * modules->count) * sizeof(uintptr_t);
    size_t i;
    for (i = 0; i < modules->count; i++)
        bytes += recorder_length(modules->all[i].path, RECORDER_PATH_MAX) + 1;
    return bytes;
}
/* Adds NT_FILE: the number of segments, the size of a page, {start, end, page}
 * of each, their paths. Returns false if there is no room. */
RECORDER_FUNCTION_ bool
recorder_modules_add_note(struct recorder_recording *file,
                          const struct recorder_modules *modules)
{
    const uintptr_t page = recorder_os_page_bytes();
    uintptr_t bytes = recorder_modules_note_bytes(modules), words[3];
    char *start = recorder_core_take(file, 24 + bytes, false);
    char *at = start, *to;
    size_t i;
    if (!start)
        return false;
    to = recorder_core_note(&at, "CORE", 5, 0x46494c45, (uint32_t)bytes);
    words[0] = modules->count;
    words[1] = page;
    __builtin_memcpy(to, words, 2 * sizeof *words);
    to += 2 * sizeof *words;
    for (i = 0; i < modules->count; i++, to += sizeof words) {
        const struct recorder_module_segment *m = &modules->all[i];
        words[0] = m->start & ~(page - 1);
        words[1] = recorder_round_up(m->start + m->bytes, page);
        words[2] = m->offset / page;
        __builtin_memcpy(to, words, sizeof words);
    }
    for (i = 0; i < modules->count; i++) {
        const char *path = modules->all[i].path;
        size_t size = recorder_length(path, RECORDER_PATH_MAX) + 1;
        __builtin_memcpy(to, path, size);
        to += size;
    }
    return recorder_core_add_header(file, RECORDER_ELF_NOTE_, 0, start,
                                    (uintptr_t)(at - start), RECORDER_ELF_R_);
}

struct recorder_dl_info {
    uintptr_t bias;
    const char *path;
    const struct recorder_elf_header *headers;
    uint16_t headers_count;
};
extern int recorder_os_modules(int (*each)(struct recorder_dl_info *, size_t,
                                           void *),
                               void *context) RECORDER_LABEL_(dl_iterate_phdr);

/* True if a module records: its data hold a recorder_home that leads to our
 * registry. */
__attribute__((no_sanitize("address", "thread"))) RECORDER_FUNCTION_ bool
recorder_module_records(const struct recorder_dl_info *info)
{
    const struct recorder_elf_header *h = info->headers;
    unsigned i;
    for (i = 0; i < info->headers_count; i++, h++) {
        const uintptr_t *at = (const uintptr_t *)recorder_round_up(
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

/* True if a segment with these flags holds constants: a read-only one, or the
 * code where the module has no read-only segment. */
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

/* Copies the path of a module's file into the text and returns the copy; null
 * if it has no file or the text no room. Without a text, adds up the sizes. */
RECORDER_FUNCTION_ const char *
recorder_module_path(struct recorder_modules *to,
                     const struct recorder_dl_info *info)
{
    const char *path = info->path;
    struct recorder_string string = recorder_string_at(NULL, 0);
    if (to->modules_count++ == 0 && (!path || !*path))
        path = to->file->program;
    if (!path || recorder_path_basename(path) == path)
        return NULL; /* the kernel's own */
    if (to->text && to->text_size < to->text_max)
        string = recorder_string_at(to->text + to->text_size,
                                    to->text_max - to->text_size);
    if (*path != '/') {
        recorder_add_string(&string, to->file->folder);
        recorder_add_string(&string, "/");
    }
    recorder_add_string(&string, path);
    recorder_add_text(&string, "", 1);
    to->text_size += string.size;
    if (!to->text)
        return path;
    return to->text_size <= to->text_max ? string.to : NULL;
}

/* Adds a module's segments; counts them before there is memory for them. */
RECORDER_FUNCTION_ int recorder_module_add(struct recorder_dl_info *info,
                                           size_t bytes, void *context)
{
    struct recorder_modules *to = (struct recorder_modules *)context;
    const char *path;
    bool records;
    unsigned i;
    (void)bytes;
    if (to->only && !recorder_module_holds(info, to->only)) {
        to->modules_count++;
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
            struct recorder_module_segment *m = &to->all[to->count];
            m->start = info->bias + h->address;
            m->bytes = h->file_bytes;
            m->offset = h->offset & ~(recorder_os_page_bytes() - 1);
            m->path = path;
            m->save = records && recorder_module_constants(info, h->flags) &&
                      (h->flags & RECORDER_ELF_R_);
        }
        if (to->count < to->max || !to->max)
            to->count++;
    }
    return 0;
}

/* Lists the segments of all modules, or of the one that holds the address
 * `only`. Returns false if there is no memory. */
RECORDER_FUNCTION_ bool
recorder_modules_open(struct recorder_modules *to,
                      const struct recorder_recording *file, const void *only)
{
    __builtin_memset(to, 0, sizeof *to);
    to->only = only;
    to->file = file;
    recorder_os_modules(recorder_module_add, to);
    to->count += 64; /* a library may be opened before the second look */
    to->text_size += 64 * 64;
    to->memory_bytes = to->count * sizeof *to->all + to->text_size;
    to->memory = recorder_os_memory(to->memory_bytes);
    if (!to->memory)
        return false;
    to->all = (struct recorder_module_segment *)to->memory;
    to->max = to->count;
    to->text = (char *)(to->all + to->max);
    to->text_max = to->text_size;
    to->count = to->text_size = to->modules_count = 0;
    recorder_os_modules(recorder_module_add, to);
    return true;
}
RECORDER_FUNCTION_ void
recorder_modules_close(const struct recorder_modules *modules)
{
    if (modules->memory)
        recorder_munmap(modules->memory, modules->memory_bytes);
}
/* Returns how many bytes of a part the segments to save take. */
RECORDER_FUNCTION_ uintptr_t
recorder_modules_bytes(const struct recorder_modules *modules)
{
    uintptr_t bytes = 0;
    size_t i;
    for (i = 0; i < modules->count; i++)
        if (modules->all[i].save)
            bytes += modules->all[i].bytes + RECORDER_LINE_BYTES;
    return bytes;
}

/* Saves a segment. If a closed library used these addresses, its saved copy
 * stays reachable only inside the file; format pointers in records are
 * redirected there. */
RECORDER_FUNCTION_ void
recorder_module_save(struct recorder_recording *file,
                     const struct recorder_module_segment *m)
{
    unsigned i, count = file->elf->headers_count;
    char *to;
    for (i = 0; i < count; i++) {
        struct recorder_elf_header *h = &file->headers[i];
        const char *at;
        if (h->type != RECORDER_ELF_LOAD_ ||
            (h->address - m->start >= m->bytes &&
             m->start - h->address >= h->file_bytes))
            continue; /* they do not overlap */
        at = recorder_core_bytes(file, h);
        if (h->address == m->start && h->file_bytes == m->bytes &&
            __builtin_memcmp(at, (const void *)m->start, m->bytes) == 0)
            return;
        recorder_move_formats(file, h->address, (uintptr_t)at, h->file_bytes);
        __atomic_store_n(&h->type, 0, __ATOMIC_RELEASE);
    }
    to = recorder_core_take(file, m->bytes, false);
    if (to && recorder_memory_copy_all(to, m->start, m->bytes))
        recorder_core_add_segment(file, m->start, to, m->bytes,
                                  RECORDER_ELF_R_);
}

/* ------------------------------------------------------------------ open --
 *
 * What lies at the path, and whether it may be taken. A recording whose process
 * is gone becomes PATH.old, in the place of the one before it. One whose
 * process may be alive stays where it is: the new one takes PATH.1 to PATH.9.
 * Nothing else is ever touched.
 */
enum {
    RECORDER_OPEN_NUMBERS = 9,
    RECORDER_OPEN_SUFFIX = 5 /* .old and the NUL */
};

/* Says "recorder: PATH: WRONG; goes on in memory", or what `then` says. */
RECORDER_FUNCTION_ void recorder_open_say(const char *path, const char *wrong,
                                          const char *then)
{
    struct recorder_string say;
    char text[1024];
    say = recorder_string_at(text, sizeof text);
    recorder_add_string(&say, "recorder: ");
    recorder_add_name(&say, path, sizeof text - 400);
    recorder_add_string(&say, ": ");
    recorder_add_string(&say, wrong);
    if (then) {
        recorder_add_string(&say, "; records into ");
        recorder_add_name(&say, then, 120);
        recorder_add_string(&say, "\n");
    } else {
        recorder_add_string(&say, "; goes on in memory\n");
    }
    recorder_say(&say);
}

/* Says what a call failed with, in words where a user can do something about
 * it. */
RECORDER_FUNCTION_ void recorder_open_fail(const char *path, const char *call,
                                           long error)
{
    static const struct {
        short error;
        char text[26];
    } words[] = {{RECORDER_ENOENT_, "No such file or directory"},
                 {RECORDER_ENOMEM_, "Cannot allocate memory"},
                 {RECORDER_EACCES_, "Permission denied"},
                 {RECORDER_ENOTDIR_, "Not a directory"},
                 {RECORDER_EFBIG_, "File too large"},
                 {RECORDER_ENOSPC_, "No space left on device"},
                 {RECORDER_EROFS_, "Read-only file system"},
                 {RECORDER_EDQUOT_, "Disk quota exceeded"}};
    struct recorder_string say;
    char text[60];
    size_t i;
    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].error == -error) {
            recorder_open_say(path, words[i].text, NULL);
            return;
        }
    say = recorder_string_at(text, sizeof text - 1);
    recorder_add_string(&say, call);
    recorder_add_string(&say, ": error ");
    recorder_add_number(&say, (uint64_t)-error, 10, 1);
    recorder_add_text(&say, "", 1);
    recorder_open_say(path, text, NULL);
}

/* The first contents of a file, in one write(): an ELF head and one note that
 * names the owner, so that a half-made file is recognised. Later writes keep
 * the head and its first note valid at every step. */
struct recorder_open_claim {
    struct recorder_elf elf;
    struct recorder_elf_header header;
    uint32_t head[3];
    char name[12];
    uintptr_t words[RECORDER_NOTE_WORDS];
};
RECORDER_FUNCTION_ void
recorder_open_claim_make(struct recorder_open_claim *claim)
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
    claim->header.offset = offsetof(struct recorder_open_claim, head);
    claim->header.file_bytes = sizeof *claim - claim->header.offset;
    claim->header.align = 4;
    note = (char *)claim + claim->header.offset;
    recorder_core_note(&note, "RECORDER", 9, 1, sizeof claim->words);
    recorder_core_owner(claim->words, 0);
}

/* Reads the claim of a file, wherever its first note stands. False: it is no
 * recording of ours. */
RECORDER_FUNCTION_ bool recorder_open_claim_read(int fd,
                                                 struct recorder_open_claim *to)
{
    if (recorder_os_read(fd, &to->elf, sizeof to->elf) !=
            (long)sizeof to->elf ||
        __builtin_memcmp(to->elf.ident, "\177ELF", 4) != 0 ||
        to->elf.type != RECORDER_ELF_CORE_ ||
        to->elf.headers != sizeof to->elf ||
        to->elf.header_bytes != sizeof to->header ||
        recorder_os_read(fd, &to->header, sizeof to->header) !=
            (long)sizeof to->header ||
        to->header.type != RECORDER_ELF_NOTE_ ||
        recorder_syscall(SYS_lseek, (long)fd, (long)to->header.offset, 0L) < 0)
        return false;
    return recorder_os_read(fd, to->head, sizeof to->head) ==
               (long)sizeof to->head &&
           recorder_os_read(fd, to->name, sizeof to->name) ==
               (long)sizeof to->name &&
           recorder_os_read(fd, to->words, sizeof to->words) ==
               (long)sizeof to->words &&
           to->head[0] == 9 && to->head[1] == sizeof to->words &&
           to->head[2] == 1 && __builtin_memcmp(to->name, "RECORDER", 9) == 0;
}

/* May the owner of a recording be alive? Its pid tells where it counts: on this
 * boot, in this pid namespace. Elsewhere the kernel tells whether anybody has
 * the file open for writing, which is so as long as it is mapped; but another
 * pid namespace of this boot is believed only if the owner saw that it works
 * (on an overlay it does not). */
RECORDER_FUNCTION_ bool
recorder_open_is_alive(int fd, const struct recorder_open_claim *claim)
{
    const intptr_t pid = (intptr_t)claim->words[RECORDER_OWNER_PID];
    uintptr_t me[RECORDER_NOTE_WORDS];
    long writer = recorder_os_has_writer(fd);
    recorder_core_owner(me, 0);
    if (writer == 1)
        return true;
    if (me[RECORDER_OWNER_BOOT] && me[RECORDER_OWNER_NAMESPACE] &&
        claim->words[RECORDER_OWNER_BOOT] == me[RECORDER_OWNER_BOOT] &&
        claim->words[RECORDER_OWNER_NAMESPACE] == me[RECORDER_OWNER_NAMESPACE])
        return pid > 0 && pid != recorder_os_process() &&
               (recorder_syscall(SYS_kill, (long)pid, 0L) == 0 ||
                *recorder_errno() != RECORDER_ESRCH_) &&
               recorder_os_process_stat(pid, RECORDER_STAT_START_) ==
                   claim->words[RECORDER_OWNER_START];
    if (writer < 0)
        return true;
    return claim->words[RECORDER_OWNER_BOOT] == me[RECORDER_OWNER_BOOT] &&
           !claim->words[RECORDER_OWNER_TELLS];
}

/* What is at a path. */
enum recorder_open_found {
    RECORDER_ABSENT,
    RECORDER_FOREIGN, /* or it cannot be told */
    RECORDER_IN_USE,
    RECORDER_LEFT,
    RECORDER_BEGUN /* left before there was a record in it */
};
RECORDER_FUNCTION_ enum recorder_open_found recorder_open_look(int fd)
{
    struct recorder_statx stat;
    struct recorder_open_claim claim;
    if (recorder_os_statx(fd, "", &stat) < 0 ||
        (stat.mode & 0170000) != 0100000 || stat.links != 1 ||
        stat.user != recorder_os_user())
        return RECORDER_FOREIGN;
    if (stat.bytes == 0 && (stat.mode & 0777) == 0600) /* before its claim? */
        return recorder_clock_ns(RECORDER_REALTIME_) / 1000000000u <
                       stat.times[6] + 2 /* changed, in seconds */
                   ? RECORDER_IN_USE
                   : RECORDER_BEGUN;
    if (!recorder_open_claim_read(fd, &claim))
        return RECORDER_FOREIGN;
    if (recorder_open_is_alive(fd, &claim))
        return RECORDER_IN_USE;
    return claim.header.offset == offsetof(struct recorder_open_claim, head)
               ? RECORDER_BEGUN
               : RECORDER_LEFT;
}

/* Takes a recording out of the way that was left: it becomes PATH.old. False,
 * and said: something else is there. */
RECORDER_FUNCTION_ bool recorder_open_keep(const char *path)
{
    enum recorder_open_found found = RECORDER_ABSENT;
    struct recorder_string name;
    char old[RECORDER_PATH_MAX + RECORDER_OPEN_SUFFIX];
    long fd;
    name = recorder_string_at(old, sizeof old - 1);
    recorder_add_string(&name, path);
    recorder_add_text(&name, ".old", RECORDER_OPEN_SUFFIX);
    fd = recorder_os_open(old, RECORDER_O_NONBLOCK_);
    if (fd >= 0) {
        found = recorder_open_look((int)fd);
        recorder_os_close((int)fd);
    } else if (fd != -RECORDER_ENOENT_) {
        found = RECORDER_FOREIGN;
    }
    if (found == RECORDER_FOREIGN || found == RECORDER_IN_USE) {
        recorder_open_say(old, "exists, and is no recording that was left",
                          NULL);
        return false;
    }
    if (recorder_os_rename(path, old) != 0) {
        recorder_open_fail(path, "rename", -(long)*recorder_errno());
        return false;
    }
    return true;
}

/* Clears the way. RECORDER_ABSENT: it is clear; RECORDER_IN_USE: another name
 * is needed; RECORDER_FOREIGN: neither, and said. */
RECORDER_FUNCTION_ enum recorder_open_found
recorder_open_clear(const char *path)
{
    struct recorder_statx at, of;
    enum recorder_open_found found;
    long fd = recorder_os_open(path, RECORDER_O_NONBLOCK_);
    if (fd == -RECORDER_ENOENT_)
        return RECORDER_ABSENT;
    if (fd < 0 && recorder_os_statx(-1, path, &at) < 0) {
        recorder_open_fail(path, "open", fd);
        return RECORDER_FOREIGN;
    }
    found = fd < 0 ? RECORDER_FOREIGN : recorder_open_look((int)fd);
    if (found == RECORDER_FOREIGN)
        recorder_open_say(path, "exists, and is no recording of ours", NULL);
    /* Another newcomer may see the same: who has the lock takes it away, if it
     * is still there; what is there by then may be the other's own. */
    if (found == RECORDER_LEFT || found == RECORDER_BEGUN) {
        if (recorder_os_lock((int)fd) == -RECORDER_EAGAIN_ ||
            recorder_os_statx(-1, path, &at) < 0 ||
            recorder_os_statx((int)fd, "", &of) < 0 || at.inode != of.inode)
            found = RECORDER_IN_USE;
        else if (found == RECORDER_BEGUN)
            found = recorder_os_unlink(path) == 0 ? RECORDER_ABSENT
                                                  : RECORDER_IN_USE;
        else
            found =
                recorder_open_keep(path) ? RECORDER_ABSENT : RECORDER_FOREIGN;
    }
    if (fd >= 0)
        recorder_os_close((int)fd);
    return found;
}

/* The path of this process: the pattern with its %s, from the folder where the
 * program started to record, and a number. False: it is too long. */
RECORDER_FUNCTION_ bool recorder_open_path(struct recorder_recording *file,
                                           unsigned number)
{
    struct recorder_string to;
    const char *at = file->pattern;
    char host[65];
    size_t size;
    to = recorder_string_at(file->path, sizeof file->path - 1);
    if (*at != '/') {
        recorder_add_string(&to, file->folder);
        recorder_add_string(&to, "/");
    }
    for (; *at; at++)
        switch (at[0] == '%' ? at[1] : '\0') {
        case 'p':
            recorder_add_number(&to, (uint64_t)recorder_os_process(), 10, 1);
            at++;
            break;
        case 'e':
            recorder_add_string(&to, recorder_path_basename(file->program));
            at++;
            break;
        case 'h':
            size = recorder_os_file("/proc/sys/kernel/hostname", host,
                                    sizeof host);
            recorder_add_text(&to, host, size ? size - 1 : 0); /* a newline */
            at++;
            break;
        case 't':
            recorder_add_number(
                &to, recorder_clock_ns(RECORDER_REALTIME_) / 1000000000u, 10,
                1);
            at++;
            break;
        case '%': at++; /* fall through */
        default: recorder_add_text(&to, at, 1);
        }
    if (number) {
        recorder_add_string(&to, ".");
        recorder_add_number(&to, number, 10, 1);
    }
    file->path[to.size < to.max ? to.size : to.max] = '\0';
    return to.size < to.max - RECORDER_OPEN_SUFFIX;
}

/* Opens a new file at a path that was free. Returns its descriptor, or minus
 * the errno, said unless it is EEXIST. */
RECORDER_FUNCTION_ long recorder_open_at(const char *path, uintptr_t bytes)
{
    struct recorder_open_claim claim;
    const char *call = "write";
    long fd, error;
    recorder_open_claim_make(&claim); /* first: it is written at once then */
    fd = recorder_os_open(path, RECORDER_O_NEW_);
    if (fd < 0) {
        if (fd != -RECORDER_EEXIST_)
            recorder_open_fail(path, "open", fd);
        return fd;
    }
    error =
        recorder_os_result(recorder_os_write((int)fd, &claim, sizeof claim));
    if (error >= 0 && error != (long)sizeof claim) {
        error = -RECORDER_ENOSPC_;
    } else if (error >= 0) {
        error =
            recorder_os_allocate((int)fd, sizeof claim, bytes - sizeof claim);
        call = "fallocate";
    }
    if (error >= 0)
        return fd;
    recorder_os_unlink(path);
    recorder_os_close((int)fd);
    recorder_open_fail(path, call, error);
    return error;
}

/* Makes the file, `bytes` large. Returns its descriptor; below 0, and said: it
 * cannot be. */
RECORDER_FUNCTION_ int recorder_open_new(struct recorder_recording *file,
                                         uintptr_t bytes)
{
    enum recorder_open_found found = RECORDER_IN_USE;
    struct recorder_statx stat;
    unsigned number;
    long fd = -1;
    for (number = 0; found == RECORDER_IN_USE; number++) {
        if (number > RECORDER_OPEN_NUMBERS) {
            recorder_open_path(file, 0);
            recorder_open_say(
                file->path, "in use by a process, as .1 to .9 of it are", NULL);
            return -1;
        }
        if (!recorder_open_path(file, number)) {
            recorder_open_say(file->pattern, "File name too long", NULL);
            return -1;
        }
        found = recorder_open_clear(file->path);
        if (found == RECORDER_ABSENT) {
            fd = recorder_open_at(file->path, bytes);
            if (fd == -RECORDER_EEXIST_)
                found = RECORDER_IN_USE;
        }
    }
    if (fd < 0)
        return -1;
    if (number > 1) {
        char path[RECORDER_PATH_MAX];
        __builtin_memcpy(path, file->path, sizeof path);
        path[recorder_length(path, sizeof path) - 2] = '\0';
        recorder_open_say(path, "in use by a process",
                          recorder_path_basename(file->path));
    }
    __builtin_memset(&stat, 0, sizeof stat);
    recorder_os_statx((int)fd, "", &stat);
    file->inode = stat.inode;
    file->device[0] = stat.device[0];
    file->device[1] = stat.device[1];
    return (int)fd;
}

/* Sees to room for `low` and `high` bytes: adds a part where the last one has
 * too little. Returns false if that fails, or if the path has another file
 * now. */
RECORDER_FUNCTION_ bool recorder_open_room(struct recorder_recording *file,
                                           uintptr_t low, uintptr_t high)
{
    struct recorder_part *part = &file->parts[file->parts_count - 1];
    uintptr_t bytes = recorder_round_up(low + high + 4096, RECORDER_PART_PAGE);
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
    error = recorder_os_statx((int)fd, "", &stat);
    if (error == 0 && (stat.inode != file->inode || stat.bytes != offset ||
                       stat.device[0] != file->device[0] ||
                       stat.device[1] != file->device[1]))
        error = -1;
    if (error == 0 && recorder_syscall(SYS_lseek, fd, (long)offset, 0L) < 0)
        error = -1;
    if (error == 0) {
        error = recorder_os_allocate((int)fd, offset, bytes);
        if (error < 0 || !recorder_core_map(file, (int)fd, offset, bytes)) {
            recorder_syscall(SYS_ftruncate, fd, (long)offset);
            error = -1;
        }
    }
    recorder_os_close((int)fd);
    if (error < 0)
        return false;
    part = &file->parts[file->parts_count - 1];
    return recorder_core_add_segment(file, (uintptr_t)part->memory,
                                     part->memory, part->bytes,
                                     RECORDER_ELF_R_ | RECORDER_ELF_W_);
}

/* ------------------------------------------------------------------ fork -- */

/* Copies the parent's file into the parts of a child. Rings above 64 MB in all
 * begin empty. */
RECORDER_FUNCTION_ void
recorder_fork_inherit(const struct recorder_recording *file,
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
    recorder_core_owner(process, 0); /* the child's, and not whole yet */
    __builtin_memcpy(to[0] + (file->note - file->parts[0].memory), process,
                     sizeof process);
    for (r = file->image->first; r; r = r->next) {
        uintptr_t bytes = recorder_move_high_bytes(r), at = 0;
        for (i = 0; i < file->parts_count; i++) {
            at = (uintptr_t)r->rings - (uintptr_t)file->parts[i].memory;
            if (at < file->parts[i].bytes)
                break;
        }
        if (bytes > left || i == file->parts_count)
            continue;
        left -= bytes;
        recorder_move_rings(r, r->rings,
                            (struct recorder_ring *)(void *)(to[i] + at),
                            &order, NULL);
    }
    /* Threads of the parent may have taken rows after fork(). */
    row =
        (struct recorder_thread *)(void *)(to[0] + ((char *)registry->threads -
                                                    file->parts[0].memory));
    if (registry->threads_count < registry->threads_max)
        __builtin_memset(row + registry->threads_count, 0,
                         (registry->threads_max - registry->threads_count) *
                             sizeof *row);
}

/* In a child of fork(), which must not write into its parent's file: maps other
 * memory at the same addresses, of a file of its own or of none. */
RECORDER_FUNCTION_ void recorder_fork_child(struct recorder_recording *file)
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
        fd = recorder_open_new(file, last->offset + last->bytes);
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
        recorder_fork_inherit(file, memory);
    for (i = 0; i < file->parts_count; i++) {
        const struct recorder_part *part = &file->parts[i];
        if (whole && recorder_syscall(SYS_mremap, memory[i], part->bytes,
                                      part->bytes, move, part->memory) != -1)
            continue;
        fd = -1; /* without memory for a copy, the child begins empty */
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
        recorder_core_set_owner(file, 1);
        file->image->pid = recorder_os_process();
        recorder_core_sync(file);
    } else {
        registry->image = NULL;
        registry->file = NULL;
        recorder_recording = NULL;
    }
    recorder_signals_release(&held);
}

/* ------------------------------------------------------------------ file -- */

/* Returns the number of rows that the thread table has in the file. */
RECORDER_INLINE_ uintptr_t recorder_file_rows(void)
{
    const struct recorder_registry *registry = recorder_home.registry;
    return registry->threads ? registry->threads_max : RECORDER_THREADS;
}

/* How much a new file must hold. */
struct recorder_file_size {
    size_t recorders;
    unsigned headers;
    uintptr_t bytes;
};
RECORDER_FUNCTION_ struct recorder_file_size
recorder_file_measure(const struct recorder_modules *modules)
{
    struct recorder_file_size size = {0, 0, 0};
    const struct recorder *r;
    for (r = recorder_walk(); r; r = recorder_walk_on(r)) {
        size.recorders++;
        size.bytes += recorder_move_low_bytes(r) + recorder_move_high_bytes(r);
    }
    recorder_unwalk();
    size.headers =
        (unsigned)(size.recorders + modules->count + RECORDER_HEADERS_SPARE);
    if (size.headers > 65000)
        size.headers = 65000;
    size.bytes += sizeof(struct recorder_elf) +
                  size.headers * sizeof(struct recorder_elf_header) +
                  sizeof(struct recorder_registry) + 24 +
                  recorder_modules_note_bytes(modules) +
                  recorder_modules_bytes(modules) +
                  recorder_file_rows() * sizeof(struct recorder_thread) +
                  RECORDER_AUXILIARY_MAX + RECORDER_PART_SPARE;
    size.bytes = recorder_round_up(size.bytes, RECORDER_PART_PAGE);
    return size;
}

/* Fills the file with all but the recorders. Returns the rows of its thread
 * table, or null if something has no room. */
RECORDER_FUNCTION_ struct recorder_thread *
recorder_file_fill(struct recorder_recording *file,
                   const struct recorder_modules *modules,
                   const struct recorder_elf *program, unsigned headers)
{
    const uint32_t writable = RECORDER_ELF_R_ | RECORDER_ELF_W_;
    const struct recorder_registry *registry = recorder_home.registry;
    struct recorder_part *part = &file->parts[0];
    struct recorder_thread *rows;
    size_t i;
    if (!recorder_core_begin(file, program, headers) ||
        !recorder_core_add_notes(file) ||
        !recorder_modules_add_note(file, modules) ||
        !recorder_core_add_segment(file, (uintptr_t)part->memory, part->memory,
                                   part->bytes, writable) ||
        !recorder_core_add_segment(file, (uintptr_t)registry, file->image,
                                   sizeof *file->image, writable) ||
        !recorder_core_add_segment(file, (uintptr_t)registry->order,
                                   file->order, sizeof *file->order, writable))
        return NULL;
    rows = (struct recorder_thread *)(void *)recorder_core_take(
        file, recorder_file_rows() * sizeof *rows, false);
    for (i = 0; i < modules->count; i++)
        if (modules->all[i].save)
            recorder_module_save(file, &modules->all[i]);
    return rows;
}

/* Moves the thread table into the file. */
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

/* Moves the recorders and the thread table into the file. */
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
        copy = recorder_move_add(file, recorder);
        if (copy)
            recorder_move_plan(moves, recorder, copy->rings);
    }
    recorder_file_threads(file, rows);
    recorder_recording = file;
    registry->image = file->image;
    __atomic_store_n(&registry->file, file->notify, __ATOMIC_RELEASE);
    recorder_move_all(moves);
    recorder_unwalk();
    recorder_core_sync(file);
    recorder_core_set_owner(file, 1);
    /* Measures the tick rate over at least 2 ms: readers of the file cannot. */
    since =
        recorder_clock_ns(RECORDER_MONOTONIC_) - registry->start.monotonic_ns;
    if (since < 2000000)
        recorder_os_poll(NULL, 0, 3);
    recorder_clock_open(&clock);
    recorder_core_sync(file);
}

/* Makes the file and moves everything into it. Returns false, and says what is
 * wrong, if it cannot. */
RECORDER_FUNCTION_ bool recorder_file_begin(struct recorder_recording *file,
                                            const char *path)
{
    struct recorder_modules modules;
    struct recorder_file_size size;
    struct recorder_elf program;
    struct recorder_moves moves = {NULL, 0, 0, 0};
    struct recorder_thread *rows = NULL;
    size_t moves_bytes;
    size_t length = recorder_length(path, RECORDER_PATH_MAX);
    int fd = -1;
    if (length >= RECORDER_PATH_MAX - 8) {
        recorder_open_say(path, "File name too long", NULL);
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
        recorder_open_say("/proc/self/exe", "cannot be read", NULL);
        return false;
    }
    if (!recorder_modules_open(&modules, file, NULL)) {
        recorder_open_fail(file->pattern, "mmap", -RECORDER_ENOMEM_);
        return false;
    }
    size = recorder_file_measure(&modules);
    moves_bytes = (size.recorders + 1) * sizeof *moves.all;
    moves.all = (struct recorder_move *)recorder_os_memory(moves_bytes);
    if (!moves.all) {
        recorder_open_fail(file->pattern, "mmap", -RECORDER_ENOMEM_);
    } else {
        fd = recorder_open_new(file, size.bytes);
        if (fd >= 0 && recorder_core_map(file, fd, 0, size.bytes))
            rows = recorder_file_fill(file, &modules, &program, size.headers);
        if (fd >= 0) {
            if (!rows) {
                recorder_os_unlink(file->path);
                recorder_open_fail(file->path, "mmap", -RECORDER_ENOMEM_);
            }
            recorder_os_close(fd);
        }
        if (rows)
            recorder_file_move(file, &moves, size.recorders, rows);
        else if (file->parts_count)
            recorder_munmap(file->parts[0].memory, file->parts[0].bytes);
        recorder_munmap(moves.all, moves_bytes);
    }
    recorder_modules_close(&modules);
    return rows != NULL;
}

/* Adds the formats of a library that was opened; `of` is an address in it. */
RECORDER_FUNCTION_ void recorder_file_module(struct recorder_recording *file,
                                             const void *of)
{
    struct recorder_modules modules;
    size_t i;
    if (!recorder_modules_open(&modules, file, of))
        return;
    if (modules.count &&
        recorder_open_room(file,
                           recorder_modules_bytes(&modules) + 24 +
                               recorder_modules_note_bytes(&modules) +
                               RECORDER_LINE_BYTES,
                           0)) {
        uintptr_t count = file->elf->headers_count;
        for (i = 0; i < modules.count; i++)
            if (modules.all[i].save)
                recorder_module_save(file, &modules.all[i]);
        if (file->elf->headers_count != count) /* the library is new */
            recorder_modules_add_note(file, &modules);
    }
    recorder_modules_close(&modules);
}

/* Gives a recorder rings in the file, before anybody records into it. One whose
 * library was closed and is back gets those that it had. */
RECORDER_FUNCTION_ void recorder_file_recorder(struct recorder_recording *file,
                                               struct recorder *recorder)
{
    struct recorder *copy = recorder_move_copy_of(file, recorder);
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
    if (recorder_open_room(file, recorder_move_low_bytes(recorder),
                           recorder_move_high_bytes(recorder)))
        copy = recorder_move_add(file, recorder);
    if (copy) { /* an earlier constructor may have recorded into it */
        struct recorder_move move;
        struct recorder_moves moves = {NULL, 0, 0, 0};
        moves.all = &move;
        recorder_move_plan(&moves, recorder, copy->rings);
        recorder_move_all(&moves);
    }
}

/* Called through the registry when something happens: RECORDER_FILE_. */
RECORDER_FUNCTION_ void recorder_file_notify(int what, const void *of)
{
    struct recorder_recording *file = recorder_recording;
    struct recorder_held held;
    int *at = recorder_errno(), error = *at;
    if (!file)
        return;
    if (what == RECORDER_FILE_FORKED) {
        recorder_fork_child(file);
    } else if (what == RECORDER_FILE_SYNC) {
        recorder_core_sync(file);
    } else {
        recorder_signals_hold(&held);
        if (what == RECORDER_FILE_MODULE)
            recorder_file_module(file, of);
        else
            recorder_file_recorder(file, (struct recorder *)(uintptr_t)of);
        recorder_core_sync(file);
        recorder_signals_release(&held);
    }
    *at = error;
}

/* recorder_file() and RECORDER_FILE; `threads` is what to say if the process
 * has more than one thread. */
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
        recorder_open_say(path, "the process has a recording already", NULL);
    } else if (recorder_os_process_stat(recorder_os_process(),
                                        RECORDER_STAT_THREADS_) > 1) {
        recorder_open_say(path, threads, NULL);
    } else {
        /* A handler that records meanwhile would write into the old ring. */
        __builtin_memset(&all, 0xff, sizeof all);
        recorder_os_mask(RECORDER_SIG_BLOCK_, &all, NULL);
        file = (struct recorder_recording *)recorder_os_memory(sizeof *file);
        if (file)
            file->notify = recorder_file_notify;
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
    if (recorder_home.registry->file == recorder_file_notify)
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
