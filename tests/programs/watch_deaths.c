/* watch_deaths.c - ends in the way that its argument says, on SIGUSR2. */
/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "recorder_dump.h"

RECORDER(work, 64, "Work")

static void *in_thread(void *of)
{
    *(volatile int *)(long)(of != NULL) = 1;
    return of;
}
__attribute__((noinline)) static long deep(volatile long *more)
{
    volatile long here[512] = {more ? *more : 0};
    return deep(here) + here[1];
}

static void ends(const char *how)
{
    static volatile int zero;
    pthread_t thread;
    int number = atoi(how + 1);
    if (*how == 'e') /* e42 */
        exit(number);
    if (*how == 's') /* s11 */
        raise(number);
    if (strcmp(how, "null") == 0)
        in_thread(NULL);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "divide") == 0)
        zero = 100 / zero;
    if (strcmp(how, "thread") == 0) {
        pthread_create(&thread, NULL, in_thread, NULL);
        pthread_join(thread, NULL);
    }
    if (strcmp(how, "stack") == 0)
        deep(NULL);
    if (strcmp(how, "cpu") == 0) {
        struct rlimit second = {1, 1};
        setrlimit(RLIMIT_CPU, &second);
        while (!zero)
            ;
    }
    if (strcmp(how, "memory") == 0) /* until the group's limit */
        for (;;)
            memset(malloc(1 << 20), 1, 1 << 20);
    pause(); /* another process kills this one */
}

int main(int argc, char **argv)
{
    struct rlimit none = {0, 0};
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (argc > 2)
        setrlimit(RLIMIT_CORE, &none);
    for (int i = 0; i < 100; i++)
        record(work, "step %d", i);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    sigwait(&set, &number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    ends(argv[1]);
}
