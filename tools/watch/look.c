/* look.c - which threads of a process ran since the last look. */
/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <seccomp.h>

int64_t watch_now(void)
{
    return (int64_t)recorder_clock_ns_(RECORDER_MONOTONIC_);
}

bool watch_group(int pid, const char *controller, const char *file_1,
                 const char *file_2, char *to, size_t size)
{
    char groups[4096], path[4500], name[32];
    proc_text(pid, 0, "cgroup", groups, sizeof groups);
    snprintf(name, sizeof name, ":%s:", controller);
    for (char *line = strtok(groups, "\n"); line; line = strtok(NULL, "\n")) {
        const char *group = strrchr(line, ':') ? strrchr(line, ':') + 1 : "";
        bool is_2 = strncmp(line, "0::", 3) == 0;
        if (!is_2 && !strstr(line, name))
            continue;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s%s%s/%s", is_2 ? "" : "/",
                 is_2 ? "" : controller, group, is_2 ? file_2 : file_1);
        if (file_text(path, to, size))
            return true;
        snprintf(path, sizeof path, "/sys/fs/cgroup/unified%s/%s", group,
                 file_2);
        if (is_2 && file_text(path, to, size))
            return true;
    }
    return false;
}

static void rest_note(struct watched *p, uint64_t place, int64_t ns)
{
    struct rest *shortest = p->rests;
    for (size_t i = 0; i < p->rests_count; i++) {
        if (p->rests[i].place == place) {
            if (ns > p->rests[i].longest_ns)
                p->rests[i].longest_ns = ns;
            return;
        }
        if (p->rests[i].longest_ns < shortest->longest_ns)
            shortest = &p->rests[i];
    }
    if (p->rests_count < RESTS_MAX)
        shortest = &p->rests[p->rests_count++];
    *shortest = (struct rest){place, ns};
}

static enum rest_call call_class(int64_t number)
{
    static const char idle[] =
        " epoll_wait epoll_pwait epoll_pwait2 poll ppoll select pselect6 accept"
        " accept4 rt_sigtimedwait rt_sigsuspend pause wait4 waitid"
        " io_getevents ";
    static const char writes[] = " write writev sendto sendmsg sendfile ";
    char name[64],
        *call = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)number);
    snprintf(name, sizeof name, " %s ", call ? call : "?");
    free(call);
    return strstr(idle, name)     ? CALL_IDLE
           : strstr(writes, name) ? CALL_WRITE
                                  : CALL_OTHER;
}

/* Finds where a thread rests: its system call, and the lowest bits of program
 * counter and stack, which threads with equal stacks share. */
static void rest_find(struct watcher *w, struct watched *p, struct task *t)
{
    char text[256];
    uint64_t first = 0, sp = 0, pc = 0;
    int64_t number;
    t->rest = 1;
    t->call = CALL_UNKNOWN;
    t->idle = true;
    if (!proc_text(p->pid, t->id, "syscall", text, sizeof text) ||
        sscanf(text,
               "%" SCNd64 " %" SCNx64 " %*x %*x %*x %*x %*x %" SCNx64
               " %" SCNx64,
               &number, &first, &sp, &pc) != 4)
        return;
    t->rest = (uint64_t)(number + 2) << 24 | (sp & 4095) << 12 | (pc & 4095);
    t->call = (int)call_class(number);
    t->fd = (int)first;
    t->idle = t->call == CALL_IDLE;
    for (size_t i = 0; i < p->rests_count; i++)
        t->idle |= p->rests[i].place == t->rest &&
                   p->rests[i].longest_ns >= w->hang_ns;
}

uint64_t look_waits(int pid, int thread)
{
    char text[4096];
    proc_text(pid, thread, "status", text, sizeof text);
    return proc_number(text, "\nvoluntary_ctxt_switches:");
}

/* Notes since when a thread that used the processor runs without a wait. */
static void busy_look(struct watched *p, struct task *t, int64_t now)
{
    char text[2048];
    uint64_t waits = look_waits(p->pid, t->id);
    t->slept |= t->waits && waits != t->waits;
    if (waits != t->waits || !t->busy_ns) {
        t->busy_ns = now;
        t->spun_ns = 0;
        t->busy_system = strtoull(proc_stat(p->pid, t->id, 15, text), NULL, 10);
    }
    t->waits = waits;
}

static void task_look(struct watcher *w, struct watched *p, struct task *t,
                      int64_t now)
{
    char text[4096], *at;
    uint64_t run, wanted = 0;
    int64_t age = now - t->still_ns;
    if (proc_text(p->pid, t->id, "schedstat", text, sizeof text)) {
        run = strtoull(text, &at, 10);
        wanted = run + strtoull(at, NULL, 10); /* it waited for a processor */
    } else if (proc_text(p->pid, t->id, "status", text, sizeof text)) {
        run = proc_number(text, "\nvoluntary_ctxt_switches:") +
              proc_number(text, "\nnonvoluntary_ctxt_switches:");
    } else {
        return;
    }
    if (run == t->run_ns) {
        t->busy_ns = 0;
        if (!t->rest && age >= w->hang_ns / 2)
            rest_find(w, p, t);
        return;
    }
    if (t->rest > 1)
        rest_note(p, t->rest, age);
    wanted -= t->wanted_ns;
    p->ran_ns += t->run_ns ? wanted : 0;
    t->wanted_ns += wanted;
    t->run_ns = run;
    t->still_ns = now;
    t->rest = 0;
    t->looked = false;
    if (wanted > (uint64_t)(now - p->look_ns) / 8)
        busy_look(p, t, now);
    else
        t->busy_ns = 0;
}

/* The thread with this id, from `at` on; another one otherwise. */
static struct task *task_of(struct watched *p, size_t at, int id, int64_t now)
{
    for (size_t i = at; i < p->tasks_count; i++)
        if (p->tasks[i].id == id) {
            struct task found = p->tasks[i];
            p->tasks[i] = p->tasks[at];
            p->tasks[at] = found;
            return &p->tasks[at];
        }
    ARRAY_NEED(p->tasks, p->tasks_count + 1, p->tasks_max);
    p->tasks[p->tasks_count++] = p->tasks[at];
    p->tasks[at] = (struct task){.id = id, .still_ns = now};
    return &p->tasks[at];
}

bool look_take(struct watcher *w, struct watched *p, int64_t now)
{
    char text[2048];
    int32_t *ids;
    size_t count = proc_threads(p->pid, &ids);
    p->state = *proc_stat(p->pid, 0, 3, text);
    if (p->state != 'T' && p->state != 't')
        p->stopped_ns = 0;
    else if (!p->stopped_ns)
        p->stopped_ns = now;
    p->ran_ns = 0;
    for (size_t i = 0; i < count; i++)
        task_look(w, p, task_of(p, i, ids[i], now), now);
    free(ids);
    p->tasks_count = count;
    if (++p->looks == LOOKS_LEARNED)
        for (size_t i = 0; i < count && !p->hung_ns; i++)
            if (p->tasks[i].rest > 1) {
                rest_note(p, p->tasks[i].rest, now - p->tasks[i].still_ns);
                p->tasks[i].idle |= now - p->tasks[i].still_ns >= w->hang_ns;
            }
    p->runs = p->ran_ns > (uint64_t)(now - p->look_ns) / 10;
    p->look_ns = now;
    return count != 0;
}
