/* logs.c - recorder log of several programs, over restarts: a log of each. */
/* SPDX-License-Identifier: MIT */
/*
    DIR/20261124-140305-NAME-PID/000001.rec ...

   A child logs each process. The newest LOGS_KEPT folders stay.
*/
#include "array.h"
#include "watch.h"

#include <sys/wait.h>

enum { LOGS_KEPT = 32, SCAN_MS = 500 };

struct logged {
    int pid;
    pid_t child; /* 0: its log has ended */
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static pid_t log_start(struct call *call, int pid, int (*one)(struct call *))
{
    char id[16], own[17] = "", name[64], *arguments[] = {id, NULL};
    pid_t child = fork();
    if (child != 0)
        return child > 0 ? child : 0;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
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

/* Starts logs of processes that have none. */
static void logs_scan(struct call *call, const struct target *targets,
                      size_t count, struct logged **all, size_t *used,
                      size_t *max, int (*one)(struct call *))
{
    int *pids, pid;
    size_t pids_count = programs_all(&pids), k;
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0;
             (pid = target_next(&targets[i], pids, pids_count, &at));) {
            for (k = 0; k < *used && (*all)[k].pid != pid; k++)
                ;
            if (k < *used)
                continue;
            ARRAY_NEED(*all, *used + 1, *max);
            (*all)[(*used)++] = (struct logged){pid, log_start(call, pid, one)};
        }
    for (k = *used; k-- > 0;) /* an id may come again */
        if (!(*all)[k].child && kill((*all)[k].pid, 0) != 0)
            (*all)[k] = (*all)[--*used];
    free(pids);
}

int logs_follow(struct call *call, const struct target *targets, size_t count,
                int (*one)(struct call *))
{
    struct sigaction action = {.sa_handler = stop};
    const char *folder = call_option(call, 'o');
    const struct timespec wait = {0, SCAN_MS * 1000000};
    struct logged *all = NULL;
    size_t used = 0, max = 0, live = 1;
    bool named = false;
    pid_t child;
    for (size_t i = 0; i < count; i++)
        named |= !targets[i].pid;
    if ((mkdir(folder, 0700) != 0 && errno != EEXIST) || chdir(folder) != 0)
        fail(call, "%s: %s", folder, strerror(errno));
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    while (!stopped && (named || live)) {
        logs_scan(call, targets, count, &all, &used, &max, one);
        nanosleep(&wait, NULL);
        while ((child = waitpid(-1, NULL, WNOHANG)) > 0)
            for (size_t i = 0; i < used; i++)
                if (all[i].child == child)
                    all[i].child = 0;
        live = 0;
        for (size_t i = 0; i < used; i++)
            live += all[i].child != 0;
        incidents_forget(LOGS_KEPT + live, UINT64_MAX);
    }
    for (size_t i = 0; i < used; i++)
        if (all[i].child)
            kill(all[i].child, SIGTERM);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    free(all);
    return 0;
}
