/* proc.c - files of /proc: of processes and their threads. */
/* SPDX-License-Identifier: MIT */
#include "proc.h"
#include "array.h"

#include <dirent.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

FILE *proc_open(int pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return fopen(path, "re");
}

size_t file_text(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, to, size - 1);
    if (fd >= 0)
        close(fd);
    to[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

size_t proc_text(int pid, int thread, const char *name, char *to, size_t size)
{
    char path[64];
    if (thread)
        snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, thread, name);
    else
        snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return file_text(path, to, size);
}

bool proc_name(int pid, int thread, char to[17])
{
    size_t size = proc_text(pid, thread, "comm", to, 17);
    if (size && to[size - 1] == '\n')
        to[size - 1] = '\0';
    return size != 0;
}

const char *proc_stat(int pid, int thread, int field, char text[2048])
{
    const char *at =
        proc_text(pid, thread, "stat", text, 2048) ? strrchr(text, ')') : NULL;
    for (int i = 2; i < field && at; i++)
        at = strchr(at + 1, ' ');
    return at ? at + 1 : "";
}

uint64_t proc_number(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

int32_t proc_inside(const char *status)
{
    const char *line = strstr(status, "\nNSpid:"), *end;
    if (!line)
        return 0;
    end = line + 1 + strcspn(line + 1, "\n");
    while (isdigit((unsigned char)end[-1]))
        end--;
    return (int32_t)strtol(end, NULL, 10);
}

/* The pidfd has the status after the parent has it, since Linux 6.15. */
static bool status_after(int pidfd, int *status, bool *core)
{
    struct { /* struct pidfd_info of the kernel, as of Linux 6.16 */
        uint64_t mask, group;
        uint32_t ids[11];
        int32_t exit_code;
        uint32_t core, more;
    } info;
    enum { INFO_EXIT = 1 << 3, INFO_CORE = 1 << 4, CORE_WRITTEN = 1 };
    memset(&info, 0, sizeof info);
    info.mask = INFO_EXIT | INFO_CORE;
    if (ioctl(pidfd, _IOWR(0xff, 11, info), &info) != 0 ||
        !(info.mask & INFO_EXIT))
        return false;
    *status = info.exit_code;
    *core = WCOREDUMP(*status) ||
            ((info.mask & INFO_CORE) && (info.core & CORE_WRITTEN));
    return true;
}

/* The stat has it before that; its state and status are of one look. */
static bool status_before(int pid, bool may_read, int *status, bool *core)
{
    char text[2048];
    const char *code = proc_stat(pid, 0, 52, text);
    if (!*code || strrchr(text, ')')[2] != 'Z')
        return false;
    *status = atoi(code);
    *core = WCOREDUMP(*status);
    return *status || may_read;
}

bool proc_status(int pid, int pidfd, bool may_read, int *status, bool *core)
{
    *core = false;
    return status_after(pidfd, status, core) ||
           status_before(pid, may_read, status, core) ||
           status_after(pidfd, status, core);
}

static int by_number(const void *a, const void *b)
{
    return array_order(*(const int32_t *)a, *(const int32_t *)b, 0);
}

size_t proc_ids(const char *path, int32_t **ids)
{
    size_t count = 0, max = 0;
    struct dirent *entry;
    DIR *folder = opendir(path);
    *ids = NULL;
    if (!folder)
        return 0;
    ARRAY_NEED(*ids, 1, max);
    while ((entry = readdir(folder)))
        if (isdigit((unsigned char)*entry->d_name))
            *array_add(*ids, count, max) = atoi(entry->d_name);
    closedir(folder);
    array_sort(*ids, count, by_number);
    return count;
}

size_t proc_threads(int pid, int32_t **ids)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    return proc_ids(path, ids);
}

bool proc_mapping_next(FILE *maps, struct proc_mapping *m)
{
    char line[PATH_MAX + 256];
    while (maps && fgets(line, sizeof line, maps)) {
        int at = 0;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %15s %lu %n",
                   &m->start, &m->end, m->mode, &m->offset, m->device,
                   &m->inode, &at) < 6)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(m->path, sizeof m->path, "%s", line + at);
        return true;
    }
    return false;
}
