/* logs.c - recorder log of several programs, over restarts: a log of each. */
/* SPDX-License-Identifier: MIT */
/*
    DIR/20261124-140305-NAME-PID/000001.rec ...

   A child logs each process. The newest LOGS_KEPT folders stay.
*/
#include "watch.h"

#include <sys/wait.h>

enum { LOGS_KEPT = 32, SCAN_MS = 500 };

static pid_t log_start(struct call *call, int pid, int (*one)(struct call *))
{
    char id[16], own[17] = "", name[64], *arguments[] = {id, NULL};
    pid_t child = fork();
    if (child != 0)
        return child > 0 ? child : 0;
    snprintf(id, sizeof id, "%d", pid);
    proc_name(pid, 0, own);
    incident_name(name, own, pid);
    for (int i = 0; i < call->options_count; i++)
        if (call->options[i].key == 'o')
            call->options[i].value = name;
    call->arguments = arguments;
    call->arguments_count = 1;
    exit(one(call));
}

/* Starts the log of a process, true, as soon as it has recorders. */
static bool log_look(struct watcher *w, struct watched *p,
                     int (*one)(struct call *))
{
    bool first = !p->due_ns;
    if (p->child || !watched_due(p))
        return false;
    if (program_records(p->pid))
        p->child = log_start(w->call, p->pid, one);
    else if (first)
        warn(w->call, "%d: %s has no recorders yet", p->pid, p->name);
    return p->child != 0;
}

/* Forgets processes that have ended, and so have their logs: an id may come
 * again. Returns the number of logs. */
static size_t logs_count(struct watcher *w)
{
    size_t count = 0;
    for (size_t i = w->count; i-- > 0;) {
        struct watched *p = w->all[i];
        count += p->child != 0;
        if (p->child || kill(p->pid, 0) == 0)
            continue;
        watched_free(p);
        w->all[i] = w->all[--w->count];
    }
    return count;
}

int logs_follow(struct call *call, int unit_option, int (*one)(struct call *))
{
    static struct watcher w;
    const char *folder = call_option(call, 'o');
    size_t count = 1;
    bool any = false;
    w.call = call;
    targets_read(&w, unit_option);
    if ((mkdir(folder, 0700) != 0 && errno != EEXIST) || chdir(folder) != 0)
        fail(call, "%s: %s", folder, strerror(errno));
    command_stops();
    while (!command_stopped && (count || watch_names(&w))) {
        targets_scan(&w);
        for (size_t i = 0; i < w.count; i++)
            any |= log_look(&w, w.all[i], one);
        usleep(SCAN_MS * 1000);
        children_reap(&w);
        count = logs_count(&w);
        incidents_forget(LOGS_KEPT + count, UINT64_MAX);
    }
    watcher_end(&w);
    return !any && !watch_names(&w);
}
