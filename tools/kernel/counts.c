/* counts.c - how often threads ran and waited, as /proc counts: without
 * times. */
/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include "print.h"
#include "proc.h"

struct thread_counts {
    int id;
    char name[17];
    bool timed; /* the kernel has schedstat */
    uint64_t blocked, preempted, runs, run_ns, wait_ns;
};
struct counts {
    struct thread_counts *all;
    size_t count, max;
};

/* Reads the counts of a thread from /proc; false: the thread has ended. */
static bool thread_counts_read(int pid, struct thread_counts *to)
{
    char text[8192];
    if (!proc_name(pid, to->id, to->name) ||
        !proc_text(pid, to->id, "status", text, sizeof text))
        return false;
    to->blocked = proc_number(text, "\nvoluntary_ctxt_switches:");
    to->preempted = proc_number(text, "\nnonvoluntary_ctxt_switches:");
    proc_text(pid, to->id, "schedstat", text, sizeof text);
    to->timed = sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &to->run_ns,
                       &to->wait_ns, &to->runs) == 3;
    return true;
}

static void counts_read(int pid, struct counts *counts)
{
    int32_t *ids;
    size_t count = proc_threads(pid, &ids);
    for (size_t i = 0; i < count; i++) {
        struct thread_counts one = {.id = ids[i]}, *to;
        if (!thread_counts_read(pid, &one))
            continue;
        to = array_add(counts->all, counts->count, counts->max);
        *to = one;
    }
    free(ids);
}

/* Subtracts the earlier counts of the same thread. */
static void thread_counts_since(struct thread_counts *now,
                                const struct counts *before)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct thread_counts *was = &before->all[i];
        if (was->id != now->id || was->blocked > now->blocked)
            continue;
        now->blocked -= was->blocked;
        now->preempted -= was->preempted;
        now->runs -= was->runs;
        now->run_ns -= was->run_ns;
        now->wait_ns -= was->wait_ns;
    }
}

static void thread_counts_show(const struct thread_counts *t, bool as_json,
                               int width)
{
    char text[32];
    if (as_json) {
        json_put(stdout, "{'thread':%s,'id':%d,'blocked':%llu,'preempted':%llu",
                 t->name, t->id, (unsigned long long)t->blocked,
                 (unsigned long long)t->preempted);
        json_count("runs", t->runs, t->timed);
        json_count("running_ns", t->run_ns, t->timed);
        json_count("ready_ns", t->wait_ns, t->timed);
        puts("}");
        return;
    }
    text_put(stdout, "%-*s %8d", width, t->name, t->id);
    if (t->timed)
        printf(" %8" PRIu64 " %10s", t->runs, table_time(t->run_ns, text));
    else
        printf(" %8s %10s", "-", "-");
    printf(" %8" PRIu64 " %9" PRIu64 " %10s\n", t->blocked, t->preempted,
           t->timed ? table_time(t->wait_ns, text) : "-");
}

void kernel_counts(struct call *call, int pid, uint64_t ns, bool as_json)
{
    struct counts before = {0}, now = {0};
    int width = 10;
    counts_read(pid, &before);
    if (!before.count)
        fail(call, "no such process");
    stop_wait(ns);
    stop_over();
    counts_read(pid, &now);
    if (!now.count)
        fail(call, "has ended, and its counts with it");
    for (size_t i = 0; i < now.count; i++)
        width = table_width(now.all[i].name, width);
    if (!as_json)
        printf("%-*s %8s %8s %10s %8s %9s %10s\n", width, "THREAD", "ID",
               "RUNS", "RUNNING", "BLOCKED", "PREEMPTED", "WAITED");
    for (size_t i = 0; i < now.count; i++) {
        thread_counts_since(&now.all[i], &before);
        thread_counts_show(&now.all[i], as_json, width);
    }
    free(before.all);
    free(now.all);
}
