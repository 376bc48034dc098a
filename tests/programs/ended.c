/* Ends in the way of its argument. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

RECORDER(net, 16, "Network")

static void *thread(void *unused)
{
    return unused;
}

static void late(void)
{
    _exit(6);
}

/* A filter that allows the end of the process, and no other call. */
static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0 /* the call's number */),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL)};
static struct sock_fprog program = {4, filter};

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";
    pthread_t id;
    pthread_create(&id, NULL, thread, NULL); /* recorder run makes a file now */
    pthread_join(id, NULL);
    if (strcmp(how, "SIGSEGV") == 0 || strcmp(how, "filters") == 0)
        recorder_dump_on_common_signals(0, 2);
    record(net, "ends by %s", how);
    if (strcmp(how, "filters") == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    }
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(5);
    if (strcmp(how, "late") == 0)
        exit(atexit(late));
    if (strcmp(how, "SIGKILL") == 0)
        raise(SIGKILL);
    if (strcmp(how, "SIGSEGV") == 0)
        *(volatile int *)0 = 1;
    if (strcmp(how, "exec") == 0 || strcmp(how, "waits") == 0) {
        printf("PID %d\n", (int)getpid());
        fflush(stdout);
    }
    if (strcmp(how, "exec") == 0)
        execlp("sleep", "sleep", "100", (char *)NULL);
    if (strcmp(how, "waits") == 0)
        pause();
    if (strcmp(how, "fork") == 0 || strcmp(how, "vfork") == 0) {
        if (how[0] == 'f' && fork() == 0)
            exit(9);
        if (how[0] == 'v' && vfork() == 0)
            _exit(9);
        wait(NULL);
        raise(SIGKILL);
    }
    return 7;
}
