/* file_open.h - finds and frees the path of a new recording. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_FILE_OPEN_H_
#define RECORDER_FILE_OPEN_H_

#include "file_modules.h"
#include "output.h"

RECORDER_C_BEGIN_

/* ------------------------------------------------------------------ open --
 *
 * A recording that lies at the path is renamed PATH.old if its process is gone,
 * in the place of an earlier one. If its process may be alive it stays, and the
 * new one takes PATH.1 to PATH.9. No other file is ever touched.
 */
enum {
    RECORDER_OPEN_NUMBERS_ = 9,
    RECORDER_OPEN_SUFFIX_ = 5 /* .old and the NUL */
};

/* Writes "recorder: PATH: WRONG; records into memory", or "records into
 * THEN" at the end. */
RECORDER_SELDOM_ void recorder_open_say_(const char *path, const char *wrong,
                                         const char *then)
{
    struct recorder_string_ say;
    char text[1024];
    say = recorder_string_at_(text, sizeof text);
    recorder_add_string_(&say, "recorder: ");
    recorder_add_name_(&say, path, sizeof text - 400);
    recorder_add_string_(&say, ": ");
    recorder_add_string_(&say, wrong);
    if (then) {
        recorder_add_string_(&say, "; records into ");
        recorder_add_name_(&say, then, 120);
        recorder_add_string_(&say, "\n");
    } else {
        recorder_add_string_(&say, "; records into memory\n");
    }
    if (!RECORDER_PRELOADED_) /* descriptor 2 may be any file there */
        recorder_say_(&say);
}

/* Says why a call failed: in words if a user can do something about it, else by
 * the call's name and the error number. */
RECORDER_SELDOM_ void recorder_open_fail_(const char *path, const char *call,
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
    struct recorder_string_ say;
    char text[60];
    size_t i;
    for (i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].error == -error) {
            recorder_open_say_(path, words[i].text, NULL);
            return;
        }
    say = recorder_string_at_(text, sizeof text - 1);
    recorder_add_string_(&say, call);
    recorder_add_string_(&say, ": error ");
    recorder_add_number_(&say, (uint64_t)-error, 10, 1);
    recorder_add_text_(&say, "", 1);
    recorder_open_say_(path, text, NULL);
}

/* The first contents of a file, in one write(): an ELF head and one note that
 * names the owner, so that a half-made file is recognised. Later writes keep
 * the head and its first note valid at every step. */
struct recorder_open_claim_ {
    struct recorder_elf_ elf;
    struct recorder_elf_header_ header;
    uint32_t head[3];
    char name[12];
    uintptr_t words[RECORDER_NOTE_WORDS_];
};
RECORDER_SELDOM_ void
recorder_open_claim_make_(struct recorder_open_claim_ *claim)
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
    claim->header.offset = offsetof(struct recorder_open_claim_, head);
    claim->header.file_bytes = sizeof *claim - claim->header.offset;
    claim->header.align = 4;
    note = (char *)claim + claim->header.offset;
    recorder_core_note_(&note, "RECORDER", 9, 1, sizeof claim->words);
    recorder_core_owner_(claim->words, 0);
}

/* Reads the claim of a file, wherever its first note is. Returns false if the
 * file is no recording of ours. */
RECORDER_SELDOM_ bool recorder_open_claim_read_(int fd,
                                                struct recorder_open_claim_ *to)
{
    if (recorder_os_read_(fd, &to->elf, sizeof to->elf) !=
            (long)sizeof to->elf ||
        __builtin_memcmp(to->elf.ident, "\177ELF", 4) != 0 ||
        to->elf.type != RECORDER_ELF_CORE_ ||
        to->elf.headers != sizeof to->elf ||
        to->elf.header_bytes != sizeof to->header ||
        recorder_os_read_(fd, &to->header, sizeof to->header) !=
            (long)sizeof to->header ||
        to->header.type != RECORDER_ELF_NOTE_ ||
        !recorder_os_seek_(fd, to->header.offset))
        return false;
    return recorder_os_read_(fd, to->head, sizeof to->head) ==
               (long)sizeof to->head &&
           recorder_os_read_(fd, to->name, sizeof to->name) ==
               (long)sizeof to->name &&
           recorder_os_read_(fd, to->words, sizeof to->words) ==
               (long)sizeof to->words &&
           to->head[0] == 9 && to->head[1] == sizeof to->words &&
           to->head[2] == 1 && __builtin_memcmp(to->name, "RECORDER", 9) == 0;
}

/* True if the owner of a recording may be alive. On the same boot, in the same
 * pid namespace, its pid tells. Otherwise a lease tells whether anybody has the
 * file mapped for writing; for another pid namespace of this boot that counts
 * only if the owner saw leases work (on an overlay they do not). */
RECORDER_SELDOM_ bool
recorder_open_is_alive_(int fd, const struct recorder_open_claim_ *claim)
{
    const intptr_t pid = (intptr_t)claim->words[RECORDER_OWNER_PID_];
    uintptr_t me[RECORDER_NOTE_WORDS_];
    long writer = recorder_os_has_writer_(fd);
    recorder_core_owner_(me, 0);
    if (writer == 1)
        return true;
    if (me[RECORDER_OWNER_BOOT_] && me[RECORDER_OWNER_NAMESPACE_] &&
        claim->words[RECORDER_OWNER_BOOT_] == me[RECORDER_OWNER_BOOT_] &&
        claim->words[RECORDER_OWNER_NAMESPACE_] ==
            me[RECORDER_OWNER_NAMESPACE_])
        return pid > 0 && pid != recorder_os_process_() &&
               recorder_os_process_exists_(pid) &&
               recorder_os_process_start_(pid) ==
                   claim->words[RECORDER_OWNER_START_];
    if (writer < 0)
        return true;
    return claim->words[RECORDER_OWNER_BOOT_] == me[RECORDER_OWNER_BOOT_] &&
           !claim->words[RECORDER_OWNER_TELLS_];
}

/* Results of a look at a path. */
enum recorder_open_found_ {
    RECORDER_ABSENT_,
    RECORDER_FOREIGN_, /* no recording, or unknown */
    RECORDER_IN_USE_,
    RECORDER_LEFT_,
    RECORDER_BEGUN_ /* its process ended before the first record */
};
RECORDER_SELDOM_ enum recorder_open_found_ recorder_open_look_(int fd)
{
    struct recorder_statx_ stat;
    struct recorder_open_claim_ claim;
    if (recorder_os_statx_(fd, "", &stat) < 0 || !recorder_os_is_own_(&stat))
        return RECORDER_FOREIGN_;
    if (stat.bytes == 0 && (stat.mode & 0777) == 0600) /* without a claim until
                                                        * now */
        return recorder_clock_ns_(RECORDER_REALTIME_) / 1000000000u <
                       stat.times[6] + 2 /* ctime, in s */
                   ? RECORDER_IN_USE_
                   : RECORDER_BEGUN_;
    if (!recorder_open_claim_read_(fd, &claim))
        return RECORDER_FOREIGN_;
    if (recorder_open_is_alive_(fd, &claim))
        return RECORDER_IN_USE_;
    return claim.header.offset == offsetof(struct recorder_open_claim_, head)
               ? RECORDER_BEGUN_
               : RECORDER_LEFT_;
}

/* Renames an abandoned recording PATH.old. Returns false, with a message, if
 * PATH.old is no recording of ours. */
RECORDER_APART_ bool recorder_open_keep_(const char *path)
{
    enum recorder_open_found_ found = RECORDER_ABSENT_;
    struct recorder_string_ name;
    char old[(int)RECORDER_PATH_MAX_ + (int)RECORDER_OPEN_SUFFIX_];
    long fd;
    name = recorder_string_at_(old, sizeof old - 1);
    recorder_add_string_(&name, path);
    recorder_add_text_(&name, ".old", RECORDER_OPEN_SUFFIX_);
    fd = recorder_os_open_(old, RECORDER_O_NONBLOCK_);
    if (fd >= 0) {
        found = recorder_open_look_((int)fd);
        recorder_os_close_((int)fd);
    } else if (fd != -RECORDER_ENOENT_) {
        found = RECORDER_FOREIGN_;
    }
    if (fd == -RECORDER_EACCES_) {
        recorder_open_fail_(old, "open", fd);
        return false;
    }
    if (found == RECORDER_FOREIGN_ || found == RECORDER_IN_USE_) {
        recorder_open_say_(old, "exists, and is no recording that was left",
                           NULL);
        return false;
    }
    if (recorder_os_rename_(path, old) != 0) {
        recorder_open_fail_(path, "rename", -(long)*recorder_os_errno_());
        return false;
    }
    return true;
}

/* Frees the path. Returns RECORDER_ABSENT_ if it is free, RECORDER_IN_USE_ if
 * another name is needed; RECORDER_FOREIGN_, and says why, if neither helps. */
RECORDER_SELDOM_ enum recorder_open_found_
recorder_open_clear_(const char *path)
{
    struct recorder_statx_ at, of;
    enum recorder_open_found_ found;
    long fd = recorder_os_open_(path, RECORDER_O_NONBLOCK_);
    if (fd == -RECORDER_ENOENT_)
        return RECORDER_ABSENT_;
    if (fd == -RECORDER_EACCES_ ||
        (fd < 0 && recorder_os_statx_(-1, path, &at) < 0)) {
        recorder_open_fail_(path, "open", fd);
        return RECORDER_FOREIGN_;
    }
    found = fd < 0 ? RECORDER_FOREIGN_ : recorder_open_look_((int)fd);
    if (found == RECORDER_FOREIGN_)
        recorder_open_say_(path, "exists, and is no recording of ours", NULL);
    /* Another process may find the same file. The holder of the lock removes it
     * if it still exists: the path may already be the other's file. */
    if (found == RECORDER_LEFT_ || found == RECORDER_BEGUN_) {
        if (recorder_os_lock_((int)fd) == -RECORDER_EAGAIN_ ||
            recorder_os_statx_(-1, path, &at) < 0 ||
            recorder_os_statx_((int)fd, "", &of) < 0 || at.inode != of.inode)
            found = RECORDER_IN_USE_;
        else if (found == RECORDER_BEGUN_)
            found = recorder_os_unlink_(path) == 0 ? RECORDER_ABSENT_
                                                   : RECORDER_IN_USE_;
        else
            found = recorder_open_keep_(path) ? RECORDER_ABSENT_
                                              : RECORDER_FOREIGN_;
    }
    if (fd >= 0)
        recorder_os_close_((int)fd);
    return found;
}

/* Makes the path from the pattern, the folder in which the program started to
 * record, and a number. Returns false if it is too long. */
RECORDER_SELDOM_ bool recorder_open_path_(struct recorder_recording_ *file,
                                          unsigned number)
{
    struct recorder_string_ to;
    char host[66];
    size_t size;
    to = recorder_string_at_(file->path, sizeof file->path - 1);
    if (!recorder_os_is_absolute_(file->pattern)) {
        recorder_add_string_(&to, file->folder);
        recorder_add_string_(&to, "/");
    }
    size = recorder_os_host_(host, sizeof host - 1);
    if (size && host[size - 1] == '\n')
        size--;
    host[size] = '\0';
    recorder_add_path_(&to, file->pattern, (uint64_t)recorder_os_process_(),
                       recorder_path_basename_(file->program), host);
    if (number) {
        recorder_add_string_(&to, ".");
        recorder_add_number_(&to, number, 10, 1);
    }
    file->path[to.size < to.max ? to.size : to.max] = '\0';
    return to.size < to.max - RECORDER_OPEN_SUFFIX_;
}

/* Creates the file at a free path. Returns its descriptor, or minus errno, and
 * says why unless that is EEXIST. */
RECORDER_SELDOM_ long recorder_open_at_(const char *path, uintptr_t bytes)
{
    struct recorder_open_claim_ claim;
    const char *call = "write";
    long fd, error;
    recorder_open_claim_make_(&claim); /* before the file exists */
    fd = recorder_os_open_(path, RECORDER_O_NEW_);
    if (fd < 0) {
        if (fd != -RECORDER_EEXIST_)
            recorder_open_fail_(path, "open", fd);
        return fd;
    }
    error =
        recorder_os_result_(recorder_os_write_((int)fd, &claim, sizeof claim));
    if (error >= 0 && error != (long)sizeof claim) {
        error = -RECORDER_ENOSPC_;
    } else if (error >= 0) {
        error =
            recorder_os_allocate_((int)fd, sizeof claim, bytes - sizeof claim);
        call = "fallocate";
    }
    if (error >= 0)
        return fd;
    recorder_os_unlink_(path);
    recorder_os_close_((int)fd);
    recorder_open_fail_(path, call, error);
    return error;
}

/* Makes the file, of `bytes`. Returns its descriptor; a negative number, and
 * says why, if it cannot. */
RECORDER_SELDOM_ int recorder_open_new_(struct recorder_recording_ *file,
                                        uintptr_t bytes)
{
    enum recorder_open_found_ found = RECORDER_IN_USE_;
    struct recorder_statx_ stat;
    unsigned number;
    long fd = -1;
    for (number = 0; found == RECORDER_IN_USE_; number++) {
        if (number > RECORDER_OPEN_NUMBERS_) {
            recorder_open_path_(file, 0);
            recorder_open_say_(
                file->path, "in use by a process, as .1 to .9 of it are", NULL);
            return -1;
        }
        if (!recorder_open_path_(file, number)) {
            recorder_open_say_(file->pattern, "File name too long", NULL);
            return -1;
        }
        found = recorder_open_clear_(file->path);
        if (found == RECORDER_ABSENT_) {
            fd = recorder_open_at_(file->path, bytes);
            if (fd == -RECORDER_EEXIST_)
                found = RECORDER_IN_USE_;
        }
    }
    if (fd < 0)
        return -1;
    if (number > 1) {
        char path[RECORDER_PATH_MAX_];
        __builtin_memcpy(path, file->path, sizeof path);
        path[recorder_length_(path, sizeof path) - 2] = '\0';
        recorder_open_say_(path, "in use by a process",
                           recorder_path_basename_(file->path));
    }
    __builtin_memset(&stat, 0, sizeof stat);
    recorder_os_statx_((int)fd, "", &stat);
    file->inode = stat.inode;
    file->device[0] = stat.device[0];
    file->device[1] = stat.device[1];
    return (int)fd;
}

/* Adds a part if the last one has no room for `low` and `high` bytes. Returns
 * false if that fails, or if the path now has another file. A part that no
 * header shows would hide every recorder after the first one in it. */
RECORDER_SELDOM_ bool recorder_open_room_(struct recorder_recording_ *file,
                                          uintptr_t low, uintptr_t high)
{
    struct recorder_part_ *part = &file->parts[file->parts_count - 1];
    uintptr_t bytes =
        recorder_round_up_(low + high + 4096, RECORDER_PART_PAGE_);
    uintptr_t offset = part->offset + part->bytes;
    struct recorder_statx_ stat;
    long fd, error;
    if (low + high <= part->high - part->low)
        return true;
    if (file->parts_count == RECORDER_PARTS_ ||
        file->elf->headers_count == file->headers_max)
        return false;
    if (bytes < RECORDER_PART_BYTES_)
        bytes = RECORDER_PART_BYTES_;
    fd = recorder_os_open_(file->path, 2 /* RDWR */ | RECORDER_O_NONBLOCK_);
    if (fd < 0)
        return false;
    error = recorder_os_statx_((int)fd, "", &stat);
    if (error == 0 && (stat.inode != file->inode || stat.bytes != offset ||
                       stat.device[0] != file->device[0] ||
                       stat.device[1] != file->device[1]))
        error = -1;
    if (error == 0 && !recorder_os_seek_((int)fd, offset))
        error = -1;
    if (error == 0) {
        error = recorder_os_allocate_((int)fd, offset, bytes);
        if (error < 0 || !recorder_core_map_(file, (int)fd, offset, bytes)) {
            recorder_os_truncate_((int)fd, offset);
            error = -1;
        }
    }
    recorder_os_close_((int)fd);
    if (error < 0)
        return false;
    part = &file->parts[file->parts_count - 1];
    return recorder_core_add_header_(
        file, RECORDER_ELF_LOAD_, (uintptr_t)part->memory, part->memory,
        part->bytes, RECORDER_ELF_R_ | RECORDER_ELF_W_);
}

RECORDER_C_END_
#endif
