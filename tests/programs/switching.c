/* switching.c - threads that spin, sleep and yield, and the kernel's switches. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "recorder_dump.h"
#include "recorder_kernel.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

RECORDER(app, 16, "The program");

static const char *const names[] = {"spins", "spins2", "sleeps", "yields"};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *work(void *number)
{
    size_t i = (size_t)number;
    double end = now() + 0.5;
    pthread_setname_np(pthread_self(), names[i]);
    record(app, "%s", names[i]);
    for (unsigned k = 0; i == 2 ? k < 100 : now() < end; k++)
        if (i == 2)
            usleep(3000);
        else if (i == 3)
            sched_yield();
    return number;
}

int main(void)
{
    pthread_t threads[4];
    if (recorder_kernel(256, 0))
        return 77;
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
