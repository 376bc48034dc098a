/* proc.c - files of /proc: of processes and their threads. */
/* SPDX-License-Identifier: MIT */
#include "proc.h"
#include "array.h"

#include <dirent.h>

FILE *proc_open(int pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return fopen(path, "re");
}

size_t proc_text(int pid, int thread, const char *name, char *to, size_t size)
{
    char path[64];
    ssize_t got = -1;
    int fd;
    if (thread)
        snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, thread, name);
    else
        snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, to, size - 1);
        close(fd);
    }
    to[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

bool proc_name(int pid, int thread, char to[17])
{
    size_t size = proc_text(pid, thread, "comm", to, 17);
    if (size && to[size - 1] == '\n')
        to[size - 1] = '\0';
    return size != 0;
}

size_t proc_threads(int pid, int32_t **ids)
{
    char path[32];
    struct dirent *entry;
    size_t count = 0, max = 0;
    DIR *tasks;
    *ids = NULL;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks))) {
        int32_t id = (int32_t)atoi(entry->d_name);
        int32_t *to = id > 0 ? array_add(*ids, count, max) : NULL;
        if (to)
            *to = id;
    }
    if (tasks)
        closedir(tasks);
    return count;
}
