/* tsc.c - records after it has forbidden itself to read the counter. */
/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifdef COARSE /* as LIMITS of recorder.h says */
#include <stdint.h>
#include <time.h>
static inline uintptr_t coarse(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uintptr_t)now.tv_sec * 1000000000u + (uintptr_t)now.tv_nsec;
}
#define RECORDER_TIME() coarse()
#endif
#include "recorder.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

RECORDER(net, 64, "Network traffic")

int main(int count, char **arguments)
{
    record(net, "before");
    if (arguments[count - 1][0] == 's')
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    else
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    record(net, "after %d", 1);
    syscall(SYS_exit, 7);
}
