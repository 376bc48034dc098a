/* namespaces.c - ids of threads whose program is in a pid namespace. */
/* SPDX-License-Identifier: MIT */
#include "namespaces.h"
#include "array.h"
#include "proc.h"
#include "reader.h"

/* The innermost of "NSpid: 4711 12 1" in a thread's status; 0: unknown. */
static int32_t id_inside(int pid, int32_t id)
{
    char text[8192], *at;
    proc_text(pid, id, "status", text, sizeof text);
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
    int32_t *ids;
    size_t count = proc_threads(namespace->pid, &ids);
    namespace->threads_count = 0;
    for (size_t i = 0; i < count; i++) {
        *array_add(namespace->threads, namespace->threads_count,
                   namespace->threads_max) = (struct namespace_thread){
            .ours = ids[i], .id = id_inside(namespace->pid, ids[i])};
    }
    free(ids);
}

int32_t namespace_id(struct namespace *namespace, int32_t id)
{
    uint64_t ns;
    if (!namespace->differs)
        return id;
    ns = recorder_clock_ns_(RECORDER_MONOTONIC_);
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
