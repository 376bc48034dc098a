/* meanwhile.c - faults of a dump, and of another thread while it runs. */
/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "recorder_dump.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

RECORDER(net, 64, "Network traffic")
RECORDER(disk, 64, "Disk operations")

static char *page;
static volatile unsigned long mended;
static volatile bool done;

/* The program's own handler, as that of a garbage collector: mends the fault. */
static void mend(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    if ((char *)info->si_addr < page || (char *)info->si_addr >= page + 4096)
        _exit(3);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    mended++;
}

static void *faults(void *none)
{
    while (!done) {
        mprotect(page, 4096, PROT_NONE);
        *(volatile char *)page = 1;
    }
    return none;
}

int main(int count, char **arguments)
{
    int times = count > 1 ? atoi(arguments[1]) : 10;
    struct recorder_ring *rings = recorder_for_disk.rings;
    struct sigaction action = {0};
    unsigned long before;
    pthread_t thread;
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    action.sa_sigaction = mend;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    recorder_dump_on_signal(SIGUSR1);
    record(net, "a record");
    pthread_create(&thread, NULL, faults, NULL);
    for (int i = 0; i < times; i++) {
        recorder_for_disk.rings = (struct recorder_ring *)4096;
        raise(SIGUSR1);
        recorder_for_disk.rings = rings;
        raise(SIGUSR1);
    }
    before = mended;
    for (int i = 0; i < 10000 && mended == before; i++)
        usleep(1000);
    done = true;
    pthread_join(thread, NULL);
    sigaction(SIGSEGV, NULL, &action);
    return mended == before || action.sa_sigaction != mend;
}
