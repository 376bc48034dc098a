/* Crashes where a sandbox refuses nearly every system call. */
/* SPDX-License-Identifier: MIT */
/*
    ./sandbox dump WAY      with the handlers
    ./sandbox bare WAY      without any

    WAY: null, call, a fault by a load or by a call; sent, a signal that another
    process sends.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "recorder_dump.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

RECORDER(net, 16, "Network traffic");

/* What another process does: it is in no sandbox. */
static void send_soon(pid_t to)
{
    if (fork() != 0)
        return;
    while (usleep(20000), kill(to, SIGSEGV) == 0)
        ;
    _exit(0);
}

int main(int count, char **arguments)
{
    static const unsigned allowed[] = {SYS_read, SYS_write, SYS_exit_group,
                                       SYS_rt_sigreturn};
    enum { COUNT = sizeof allowed / sizeof *allowed };
    struct sock_filter filter[2 * COUNT + 2], *at = filter;
    struct sock_fprog program = {2 * COUNT + 2, filter};
    volatile int *volatile nowhere = NULL;
    unsigned i;
    if (count != 3)
        return 2;
    if (strcmp(arguments[1], "dump") == 0)
        recorder_dump_on_common_signals(0, 0);
    if (strcmp(arguments[2], "sent") == 0)
        send_soon(getpid());
    record(net, "%d bytes", 4711);
    *at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                         offsetof(struct seccomp_data, nr));
    for (i = 0; i < COUNT; i++) {
        *at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                             allowed[i], 0, 1);
        *at++ =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    *at = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
                                       SECCOMP_RET_ERRNO | EPERM);
    alarm(20);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 77; /* there are none here */
    if (strcmp(arguments[2], "null") == 0)
        *nowhere = 1;
    if (strcmp(arguments[2], "call") == 0)
        ((void (*)(void))(uintptr_t)nowhere)();
    for (;;)
        ;
}
