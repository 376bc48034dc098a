/* namespaces.c - ids of threads whose program is in a pid namespace. */
/* SPDX-License-Identifier: MIT */
#include "namespaces.h"
#include "array.h"

#include <dirent.h>

/* The innermost of "NSpid: 4711 12 1" in a thread's status; 0: unknown. */
static int32_t id_inside(int pid, int32_t id)
{
    char path[64], text[8192], *at;
    size_t size;
    FILE *status;
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, id);
    status = fopen(path, "re");
    if (!status)
        return 0;
    size = fread(text, 1, sizeof text - 1, status);
    fclose(status);
    text[size] = '\0';
    at = strstr(text, "\nNSpid:");
    if (!at)
        return 0;
    at += 7;
    at[strcspn(at, "\n")] = '\0';
    at = strrchr(at, '\t');
    return at ? (int32_t)atoi(at + 1) : 0;
}

static void threads_read(struct namespace *namespace)
{
    char path[32];
    struct namespace_thread *threads;
    struct dirent *entry;
    DIR *tasks;
    snprintf(path, sizeof path, "/proc/%d/task", namespace->pid);
    tasks = opendir(path);
    namespace->threads_count = 0;
    while (tasks && (entry = readdir(tasks))) {
        struct namespace_thread thread = {.ours = (int32_t)atoi(entry->d_name)};
        if (thread.ours <= 0)
            continue;
        thread.id = id_inside(namespace->pid, thread.ours);
        threads = array_room(namespace->threads, &namespace->threads_max,
                             namespace->threads_count + 1, sizeof *threads);
        if (!threads)
            break;
        namespace->threads = threads;
        namespace->threads[namespace->threads_count++] = thread;
    }
    if (tasks)
        closedir(tasks);
}

int32_t namespace_id(struct namespace *namespace, int32_t id)
{
    struct timespec now;
    uint64_t ns;
    if (!namespace->differs)
        return id;
    clock_gettime(CLOCK_MONOTONIC, &now);
    ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (!namespace->read_ns || ns - namespace->read_ns > 100000000) {
        threads_read(namespace);
        namespace->read_ns = ns;
    }
    for (size_t i = 0; i < namespace->threads_count; i++)
        if (namespace->threads[i].id == id)
            return namespace->threads[i].ours;
    return 0;
}

/* True if a process is in another pid namespace than this command. */
static bool is_inside(int pid)
{
    char path[32], its[64] = "", ours[64] = "";
    snprintf(path, sizeof path, "/proc/%d/ns/pid", pid);
    return readlink(path, its, sizeof its - 1) > 0 &&
           readlink("/proc/self/ns/pid", ours, sizeof ours - 1) > 0 &&
           strcmp(its, ours) != 0;
}

void namespace_open(struct namespace *namespace, int pid)
{
    namespace->pid = pid;
    namespace->differs = is_inside(pid);
}

void namespace_close(struct namespace *namespace)
{
    free(namespace->threads);
}
