/* namespaces.c - ids of threads whose program is in a pid namespace. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "proc.h"
#include "reader.h"

static void threads_read(struct namespace *namespace)
{
    int32_t *ids;
    size_t count = proc_threads(namespace->pid, &ids);
    namespace->threads_count = 0;
    for (size_t i = 0; i < count; i++) {
        char text[8192];
        proc_text(namespace->pid, ids[i], "status", text, sizeof text);
        *array_add(namespace->threads, namespace->threads_count,
                   namespace->threads_max) =
            (struct namespace_thread){.ours = ids[i], .id = proc_inside(text)};
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
