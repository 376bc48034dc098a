/* processes.c - which processes of this host have recorders. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "fleet.h"
#include "proc.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/regex.h"

enum { WRITES_MAX = 256 };

/* Returns when a process started, in ticks since boot; 0: it is gone. */
static uint64_t start_of(int pid)
{
    char text[2048];
    return strtoull(proc_stat(pid, 0, 22, text), NULL, 10);
}

/* True if a process belongs to the service: --match fits it; without that, it
 * is our user's. */
static bool is_ours(int pid, char executable[PATH_MAX])
{
    char path[32];
    struct stat is;
    snprintf(path, sizeof path, "/proc/%d", pid);
    if (stat(path, &is) != 0 || (!options.match && is.st_uid != geteuid()))
        return false;
    return program_path(pid, executable) &&
           (!options.match || recorder_regex_match_(options.match, executable));
}

/* A line of /proc/PID/maps of a shared, writable file. */
struct mapping {
    uint64_t from, to;
    unsigned major, minor;
    unsigned long inode;
    char path[PATH_MAX];
};

/* Finds the next shared mapping; `writable`: only a writable one. */
static bool mapping_next(FILE *maps, struct mapping *m, bool writable)
{
    char line[PATH_MAX + 256], mode[5];
    int at;
    while (maps && fgets(line, sizeof line, maps)) {
        at = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %lu %n",
                   &m->from, &m->to, mode, &m->major, &m->minor, &m->inode,
                   &at) < 6 ||
            mode[3] != 's' || (writable && mode[1] != 'w') || line[at] != '/')
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(m->path, sizeof m->path, "%s", line + at);
        return true;
    }
    return false;
}

/* True if a file is the one of a mapping. stat() is not enough: some file
 * systems tell another device there than in /proc/PID/maps, so the file is
 * mapped here, and our own line compared. */
static bool is_mapped(int fd, const struct mapping *m)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    FILE *maps = at == MAP_FAILED ? NULL : fopen("/proc/self/maps", "re");
    struct mapping own;
    bool same = false;
    while (maps && !same && mapping_next(maps, &own, false))
        same = own.from == (uintptr_t)at && own.inode == m->inode &&
               own.major == m->major && own.minor == m->minor;
    if (maps)
        fclose(maps);
    if (at != MAP_FAILED)
        munmap(at, size);
    return same;
}

/* Opens the file of a mapping, which is a recording; -1: it is something else.
 * Its path is of the process's mount namespace, where another file may
 * have it since, or none. */
static int recording_open(int pid, const struct mapping *m)
{
    char path[PATH_MAX + 64];
    struct stat is;
    for (int i = 0; i < 2; i++) {
        int fd;
        if (i == 0)
            snprintf(path, sizeof path,
                     "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, m->from,
                     m->to);
        else
            snprintf(path, sizeof path, "/proc/%d/root%s", pid, m->path);
        fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &is) == 0 && S_ISREG(is.st_mode) &&
            is_mapped(fd, m) && note_is_recording(fd))
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

/* Opens the recording that a process maps; -1: there is none. It stays open: it
 * can be read when the process, or its container, is gone. */
static int file_of(int pid)
{
    struct mapping m;
    int fd = -1;
    FILE *maps = proc_open(pid, "maps");
    while (fd < 0 && mapping_next(maps, &m, true))
        fd = recording_open(pid, &m);
    if (maps)
        fclose(maps);
    return fd;
}

/* Notes the write words of the rings that --trigger names. */
static void triggers_of(struct process *p, struct source *source)
{
    struct reader reader;
    if (!options.trigger ||
        reader_open(&reader, source->memory, source->registry))
        return;
    for (size_t i = 0; i < reader.recorders_count; i++) {
        const struct reader_recorder *r = reader.recorders[i];
        uint64_t lanes = r->figures.lanes ? r->figures.lanes : 1;
        if (!recorder_regex_match_(options.trigger, r->name))
            continue;
        for (uint64_t k = 0; k < lanes && p->writes.count < WRITES_MAX; k++)
            *ADD(&p->writes) = (struct process_write){
                r->rings + k * r->ring_bytes, UINT64_MAX};
    }
    reader_close(&reader);
    process_triggered(p); /* older records trigger nothing */
}

bool process_triggered(struct process *p)
{
    bool any = false;
    for (size_t i = 0; i < p->writes.count; i++) {
        struct process_write *write = &p->writes.all[i];
        uint64_t word = 0;
        struct iovec to = {&word, sizeof word},
                     from = {(void *)(uintptr_t)write->address, sizeof word};
        if (process_vm_readv(p->pid, &to, 1, &from, 1, 0) != sizeof word)
            continue;
        any |= write->seen != UINT64_MAX && word != write->seen;
        write->seen = word;
    }
    return any;
}

/* Looks for recorders in a process. One without them is looked at again after 5
 * s, 10 s, up to 10 minutes, as it may open a library that has some. Of one
 * that may not be read, the recording may be readable. */
static void process_look(struct process *p)
{
    struct source source;
    char program[65], name[PROGRAM_NAME_MAX];
    bool read;
    p->retry_ns = now_ns() + (5 * SECOND << p->retries);
    p->retries += p->retries < 7;
    memset(&source, 0, sizeof source);
    read = !source_open_process(&source, p->pid);
    p->recorders = read && source.registries;
    if ((p->recorders || !read) && p->file < 0)
        p->file = file_of(p->pid);
    p->by_file = !read && p->file >= 0;
    p->recorders |= p->by_file;
    if (p->recorders) {
        name_of(program, program_name(p->pid, name) ? name : "program");
        snprintf(p->program, sizeof p->program, "%.32s", program);
        p->fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    }
    if (p->recorders && read)
        triggers_of(p, &source);
    source_close(&source);
    if (p->by_file)
        say("%s.%d may not be read: its recording is saved%s", p->program,
            p->pid, options.trigger ? ", and its triggers are not seen" : "");
}

bool process_ended_well(const struct process *p)
{
    int status, signal;
    bool core;
    if (!proc_status(p->pid, p->fd, !p->by_file, &status, &core))
        return false;
    signal = WTERMSIG(status);
    return WIFEXITED(status)
               ? WEXITSTATUS(status) == 0
               : signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

static void process_drop(struct process *p)
{
    if (p->fd >= 0)
        close(p->fd);
    if (p->file >= 0)
        close(p->file);
    free(p->executable);
    free(p->writes.all);
}

static struct process *process_begin(struct process *p, int pid, uint64_t start,
                                     const char *executable)
{
    *p = (struct process){.pid = pid, .fd = -1, .file = -1, .start = start};
    p->executable = need(strdup(executable));
    return p;
}

/* Finds a process, or adds it. After exec() it is a new one, although its id
 * and start are the same. */
static struct process *process_of(struct processes *in, int pid, uint64_t start,
                                  const char *executable)
{
    struct process *p;
    for (size_t i = 0; i < in->count; i++) {
        p = &in->all[i];
        if (p->pid != pid || p->start != start)
            continue;
        if (strcmp(p->executable, executable) == 0)
            return p;
        process_drop(p);
        return process_begin(p, pid, start, executable);
    }
    return process_begin(ADD(in), pid, start, executable);
}

void processes_scan(struct processes *in)
{
    char executable[PATH_MAX];
    size_t count, kept = 0, i;
    int *pids;
    for (i = 0; i < in->count; i++)
        in->all[i].alive = false;
    count = programs_all(&pids);
    for (i = 0; i < count; i++) {
        uint64_t start;
        struct process *p;
        if (pids[i] == getpid() || !is_ours(pids[i], executable) ||
            !(start = start_of(pids[i])))
            continue;
        p = process_of(in, pids[i], start, executable);
        p->alive = true;
        if (!p->recorders && now_ns() >= p->retry_ns)
            process_look(p);
    }
    free(pids);
    for (i = 0; i < in->count; i++) /* the end of one with fd is not handled */
        if (in->all[i].alive || in->all[i].fd >= 0)
            in->all[kept++] = in->all[i];
        else
            process_drop(&in->all[i]);
    in->count = kept;
}

size_t processes_recording(const struct processes *in)
{
    size_t count = 0;
    for (size_t i = 0; i < in->count; i++)
        count += in->all[i].recorders;
    return count;
}
