/* targets.c - which processes are watched: by PID, by name, of a unit. */
/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <sys/syscall.h>

static bool is_of_unit(int pid, const char *unit)
{
    char text[4096], part[256];
    snprintf(part, sizeof part, "/%s%s", unit,
             strchr(unit, '.') ? "" : ".service");
    if (!proc_text(pid, 0, "cgroup", text, sizeof text))
        return false;
    for (char *at = text; (at = strstr(at, part)); at++)
        if (at[strlen(part)] == '\n' || at[strlen(part)] == '/')
            return true;
    return false;
}

static bool is_of_target(const struct target *t, int pid)
{
    if (t->pid || pid == getpid())
        return t->pid == pid;
    return t->is_unit ? is_of_unit(pid, t->text) : program_is(pid, t->text);
}

void targets_read(struct watcher *w, int unit_option)
{
    const struct call *call = w->call;
    for (int i = 0; i < call->arguments_count + call->options_count; i++) {
        int k = i - call->arguments_count;
        struct target t = {0};
        char *end;
        if (k >= 0 && call->options[k].key != unit_option)
            continue;
        t.is_unit = k >= 0;
        t.text = k >= 0 ? call->options[k].value : call->arguments[i];
        t.pid = (int)strtol(t.text, &end, 10);
        if (t.is_unit || *end || t.pid <= 0)
            t.pid = 0;
        if (!*t.text || w->targets_count == TARGETS_MAX)
            misuse(call,
                   *t.text ? "%s: more than 64 targets"
                           : "%s: no process has an empty name",
                   t.text);
        if (t.pid && kill(t.pid, 0) != 0 && errno == ESRCH)
            warn(call, "%d: no such process", t.pid);
        w->targets[w->targets_count++] = t;
    }
}

/* Reads a process's name, command and folder; they stay if it has ended. */
static void watched_describe(struct watched *p)
{
    char text[4096], link[32];
    size_t size;
    if (proc_name(p->pid, 0, text))
        strcpy(p->name, text);
    size = proc_text(p->pid, 0, "cmdline", text, sizeof p->command);
    for (size_t i = 0; i < size; i++)
        if (text[i] < ' ')
            text[i] = ' ';
    while (size && text[size - 1] == ' ')
        text[--size] = '\0';
    if (size)
        memcpy(p->command, text, size + 1);
    snprintf(link, sizeof link, "/proc/%d/cwd", p->pid);
    size = (size_t)(readlink(link, text, sizeof text - 1) + 1);
    if (size) {
        free(p->core);
        p->core = need(strndup(text, size - 1));
    }
}

/* The start of the stack, which differs between two programs of a process; 0: not
 * known. */
static uint64_t stack_of(int pid)
{
    char text[2048];
    return strtoull(proc_stat(pid, 0, 28, text), NULL, 10);
}

bool watched_due(struct watched *p)
{
    int64_t now = watch_now();
    uint64_t stack = stack_of(p->pid);
    if (stack && stack != p->stack) { /* exec() */
        p->stack = stack;
        p->due_ns = p->program_ns = now;
        if (p->recording >= 0)
            close(p->recording);
        p->recording = -1;
    }
    if (now < p->due_ns)
        return false;
    p->due_ns = now + (now - p->program_ns);
    watched_describe(p);
    if (p->recording < 0)
        p->recording = recording_of(p->pid);
    return true;
}

struct watched *watched_new(int pid)
{
    struct watched *p = need(calloc(1, sizeof *p));
    char text[4096], *at;
    *p = (struct watched){
        .pid = pid, .begun_ns = watch_now(), .recording = -1, .conditions = -1};
    snprintf(p->id, sizeof p->id, "%d", pid);
    p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    p->started = strtoull(proc_stat(pid, 0, 22, text), NULL, 10);
    if (p->pidfd < 0 || !proc_name(pid, 0, p->name) ||
        *proc_stat(pid, 0, 3, text) == 'Z') {
        watched_free(p);
        return NULL;
    }
    if (proc_text(pid, 0, "cgroup", text, sizeof text) &&
        (at = strstr(text, ".service"))) {
        at[8] = '\0';
        snprintf(p->unit, sizeof p->unit, "%.127s", strrchr(text, '/') + 1);
    }
    watched_describe(p);
    p->program_ns = p->begun_ns;
    p->stack = stack_of(pid);
    p->oom_kills = death_ooms(pid);
    p->look_ns = p->begun_ns;
    return p;
}

static void process_add(struct watcher *w, size_t target, int pid)
{
    struct watched *p = watched_new(pid);
    char text[2048];
    int parent;
    bool again = false;
    if (!p)
        return;
    p->target = target;
    p->recording = recording_of(pid);
    parent = atoi(proc_stat(pid, 0, 4, text));
    for (size_t i = 0; i < w->count; i++) {
        again |= w->all[i]->target == target;
        p->is_child |= w->all[i]->pid == parent;
    }
    *array_add(w->all, w->count, w->max) = p;
    if (w->conditions && (!again || !w->scan_ns))
        watch_say(p, "is watched%s%s", *p->unit ? ", of " : "", p->unit);
}

void watched_free(struct watched *p)
{
    if (p->pidfd >= 0)
        close(p->pidfd);
    if (p->recording >= 0)
        close(p->recording);
    if (p->child)
        kill(p->child, SIGTERM);
    if (p->conditions >= 0)
        close(p->conditions);
    free(p->core);
    free(p->tasks);
    free(p->queues);
    free(p);
}

void targets_scan(struct watcher *w)
{
    int *pids;
    size_t count = proc_ids("/proc", &pids);
    for (size_t i = 0; i < w->targets_count; i++)
        for (size_t n = 0; n < count; n++) {
            bool known = !is_of_target(&w->targets[i], pids[n]);
            for (size_t k = 0; k < w->count && !known; k++)
                known = w->all[k]->pid == pids[n];
            if (!known)
                process_add(w, i, pids[n]);
        }
    free(pids);
}
