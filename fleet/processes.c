/* processes.c - which processes of this host have recorders. */
/* SPDX-License-Identifier: MIT */
#include "fleet.h"
#include "watch.h"

#include <sys/uio.h>

#include "recorder/regex.h"

enum { WRITES_MAX = 256 };

/* True if a process belongs to the service: --match fits it; without that, it
 * is our user's. */
static bool is_ours(int pid, char executable[PATH_MAX])
{
    char path[32];
    struct stat is;
    if (options.match)
        return program_path(pid, executable) &&
               recorder_regex_match_(options.match, executable);
    snprintf(path, sizeof path, "/proc/%d", pid);
    return stat(path, &is) == 0 && is.st_uid == geteuid() &&
           program_path(pid, executable);
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
        p->file = recording_of(p->pid);
    p->by_file = !read && p->file >= 0;
    p->recorders |= p->by_file;
    if (p->recorders) {
        name_of(program, program_name(p->pid, name) ? name : "program");
        snprintf(p->program, sizeof p->program, "%.32s", program);
        p->watched = watched_new(p->pid);
        p->fd = p->watched ? p->watched->pidfd : -1;
    }
    if (p->recorders && read)
        triggers_of(p, &source);
    source_close(&source);
    if (p->by_file)
        say("%s.%d may not be read: its recording is saved%s", p->program,
            p->pid, options.trigger ? ", and its triggers are not seen" : "");
}

static void process_drop(struct process *p)
{
    if (p->watched)
        watched_free(p->watched);
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

/* Finds a process, or adds it; null: it has ended. After exec() it is a new
 * one, although its id and start are the same. While its end is not handled, no
 * look at its start is needed: that text is the system's most expensive one. */
static struct process *process_of(struct processes *in, int pid,
                                  const char *executable)
{
    char text[2048];
    struct process *p = in->all, *end = p + in->count;
    uint64_t start;
    while (p < end && p->pid != pid)
        p++;
    if (p < end && p->fd >= 0 && strcmp(p->executable, executable) == 0)
        return p;
    start = strtoull(proc_stat(pid, 0, 22, text), NULL, 10);
    if (!start)
        return NULL;
    while (p < end && (p->pid != pid || p->start != start))
        p++;
    if (p == end)
        return process_begin(ADD(in), pid, start, executable);
    if (strcmp(p->executable, executable) == 0)
        return p;
    process_drop(p);
    return process_begin(p, pid, start, executable);
}

void processes_scan(struct processes *in)
{
    char executable[PATH_MAX];
    size_t count, kept = 0, i;
    int *pids, own = getpid();
    for (i = 0; i < in->count; i++)
        in->all[i].alive = false;
    count = proc_ids("/proc", &pids);
    for (i = 0; i < count; i++) {
        struct process *p = NULL;
        if (pids[i] != own && is_ours(pids[i], executable))
            p = process_of(in, pids[i], executable);
        if (!p)
            continue;
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
