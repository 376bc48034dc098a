/* file_locks.c - the holders of the lock of a file. */
/* SPDX-License-Identifier: MIT */
/*
   /proc/locks lists the locks of all files, and the waits for each below it.
   The lock of an open file (flock, OFD locks) belongs to all processes that
   have the file open, by fork() for example: /proc/PID/fdinfo/FD lists them.
*/
#include "threads.h"

#include <sys/file.h>

#include "bytes.h"
#include "proc.h"

/* A line of /proc/locks or of fdinfo. */
struct line {
    unsigned long long number; /* of the lock; its waits, below it, have the
                                * same */
    bool is_wait;
    char kind[16]; /* FLOCK, POSIX, OFDLCK */
    int pid;       /* of the process; of an OFD lock, -1 */
    unsigned major, minor; /* UINT_MAX: any */
    unsigned long long inode, start;
};

static bool line_read(const char *text, struct line *line)
{
    int at = 0;
    memset(line, 0, sizeof *line);
    if (strncmp(text, "lock:", 5) == 0)
        text += 5;
    if (sscanf(text, "%llu: %n", &line->number, &at) != 1 || !at)
        return false;
    text += at;
    line->is_wait = strncmp(text, "->", 2) == 0;
    text += line->is_wait ? 2 : 0;
    return sscanf(text, "%15s %*s %*s %d %x:%x:%llu %llu", line->kind,
                  &line->pid, &line->major, &line->minor, &line->inode,
                  &line->start) == 6;
}

/* Finds the first line in a list of locks with the same kind and inode as
 * another line, and with the same values where `like` has values. Of a wait,
 * finds the lock above it: both are of one reading, as the numbers and places
 * of all lines change when any lock of the machine comes or goes. */
static bool line_find(const char *path, const struct line *like,
                      struct line *found)
{
    char text[512];
    struct line line;
    bool is_found = false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (!is_found && fgets(text, sizeof text, file)) {
        if (!line_read(text, &line))
            continue;
        if (!line.is_wait)
            *found = line;
        is_found = line.is_wait == like->is_wait &&
                   strcmp(line.kind, like->kind) == 0 &&
                   line.inode == like->inode &&
                   (like->major == UINT_MAX || (line.major == like->major &&
                                                line.minor == like->minor)) &&
                   (like->pid <= 0 || line.pid == like->pid) &&
                   (like->start == ULLONG_MAX || line.start == like->start);
    }
    fclose(file);
    return is_found && found->number == line.number;
}

static void holder_add(struct wait *wait, int32_t process)
{
    if (wait->processes_count < PROCESSES_MAX)
        wait->processes[wait->processes_count] = process;
    wait->processes_count++;
}

/* True if a process has a lock like this on an open file; -1: not readable. */
static int process_has_lock(int32_t process, const struct line *like)
{
    char path[64];
    struct line found;
    int32_t *files;
    size_t count;
    int has = 0;
    snprintf(path, sizeof path, "/proc/%d/fdinfo", process);
    count = proc_ids(path, &files);
    if (!files)
        return errno == EACCES || errno == EPERM ? -1 : 0;
    for (size_t i = 0; i < count && !has; i++) {
        snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", process, files[i]);
        has = line_find(path, like, &found);
    }
    free(files);
    return has;
}

/* Adds all processes that have the locked file open. */
static void holders_find(struct wait *wait, const struct line *lock)
{
    struct line like = *lock;
    char name[17];
    int *all, has;
    size_t count;
    like.pid = 0;
    count = proc_ids("/proc", &all);
    for (size_t i = 0; i < count; i++) {
        has = process_has_lock(all[i], &like);
        wait->unread |= has < 0;
        if (has > 0)
            holder_add(wait, all[i]);
    }
    if (!wait->processes_count && lock->pid > 0 &&
        proc_name(lock->pid, 0, name)) /* the process that took it may have
                                        * ended */
        holder_add(wait, lock->pid);
    wait->unread &= !wait->processes_count;
    free(all);
}

/* The kind of lock that a call waits for; null: no lock. */
static const char *kind_of(const struct thread *thread, enum wait_kind *kind)
{
    const char *call = thread->wait.call;
    uint64_t command = thread->arguments[1];
    if (!call || thread->argument_lost)
        return NULL;
    if (strcmp(call, "flock") == 0) {
        *kind = WAIT_FLOCK;
        return "FLOCK";
    }
    if (strcmp(call, "fcntl") != 0 && strcmp(call, "fcntl64") != 0)
        return NULL;
    *kind = WAIT_RECORD;
    if (command == F_OFD_SETLKW)
        return "OFDLCK";
    return command == F_SETLKW || command == 14 /* F_SETLKW64 */ ? "POSIX"
                                                                 : NULL;
}

/* The start of the range that fcntl() waits for, if its arguments have it. */
static unsigned long long range_start(struct threads *threads,
                                      const struct thread *thread)
{
    struct memory *m = threads->source->memory;
    unsigned char bytes[16];
    if (thread->wait.kind == WAIT_FLOCK)
        return 0;
    if (m->word_bytes != 8 ||
        !bytes_read(m, thread->arguments[2], bytes, sizeof bytes) ||
        bytes_number(m, bytes + 2, 2) != SEEK_SET)
        return ULLONG_MAX;
    return bytes_number(m, bytes + 8, 8);
}

/* A list of more than a page is read in several parts, between which a line may
 * be passed over. */
enum { LOOKS = 4 };

void file_lock_find(struct threads *threads, struct thread *thread)
{
    struct wait *wait = &thread->wait;
    enum wait_kind kind = WAIT_NONE;
    const char *name = kind_of(thread, &kind);
    struct line like = {
        .is_wait = true, .pid = threads->source->pid, .major = UINT_MAX};
    struct line lock;
    struct stat file;
    char path[64];
    wait->processes_count = 0;
    wait->unread = false;
    if (!name || !threads->source->pid)
        return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", threads->source->pid,
             wait->fd);
    if (stat(path, &file) != 0)
        return;
    wait->kind = kind;
    wait->object = file.st_ino;
    snprintf(like.kind, sizeof like.kind, "%s", name);
    like.inode = file.st_ino;
    like.start = range_start(threads, thread);
    if (strcmp(name, "OFDLCK") == 0)
        like.pid = 0;
    for (int i = 1; !line_find("/proc/locks", &like, &lock); i++)
        if (i == LOOKS)
            return;
    if (strcmp(lock.kind, "POSIX") == 0)
        holder_add(wait, lock.pid);
    else
        holders_find(wait, &lock);
}
