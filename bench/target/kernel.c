/* kernel.c - what the kernel's rings cost: a switch, a poured record. */
/* SPDX-License-Identifier: MIT */
/*
    ./kernel switch     us of CPU time that a switch costs more with the rings
                        than without: medians of rounds that alternate
    ./kernel pour       ns of a record that is poured: the median, and of a pour
                        that finds nothing
*/
#define _GNU_SOURCE
#define RECORDER_KERNEL_SLOTS 65536
#include "recorder_kernel.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 21, ROUNDTRIPS = 20000 };

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}
static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}
static double median(double *all, size_t count)
{
    qsort(all, count, sizeof *all, compare);
    return all[count / 2];
}

/* Two threads of a program, on one processor, hand a byte to and fro: a round
 * has two switches, of one to the other and back. Returns the CPU time in ns of
 * a switch, with all that the two do for it. */
static int there[2], back[2];
static void *answer(void *of)
{
    char byte;
    for (int i = 0; i < ROUNDTRIPS; i++)
        if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
            exit(1);
    return of;
}
static double ping(bool rings)
{
    char byte = 'x';
    cpu_set_t one;
    double began;
    pthread_t other;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0 || pipe(there) != 0 ||
        pipe(back) != 0 || (rings && recorder_kernel(64, 0) != 0) ||
        pthread_create(&other, NULL, answer, NULL) != 0)
        exit(1);
    began = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < ROUNDTRIPS; i++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            exit(1);
    return (now(CLOCK_PROCESS_CPUTIME_ID) - began) / (2 * ROUNDTRIPS);
}
/* The same in a child, so that each round begins alike. */
static double ping_apart(bool rings)
{
    int result[2];
    double ns = 0;
    pid_t child;
    if (pipe(result) != 0)
        exit(1);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        ns = ping(rings);
        _exit(write(result[1], &ns, sizeof ns) != sizeof ns);
    }
    close(result[1]);
    if (read(result[0], &ns, sizeof ns) != sizeof ns)
        exit(1);
    close(result[0]);
    waitpid(child, NULL, 0);
    return ns;
}

static void pour(void)
{
    double cost[ROUNDS], nothing[ROUNDS];
    struct timespec nap = {0, 1000};
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t before;
        double began;
        for (int k = 0; k < 1000; k++)
            nanosleep(&nap, NULL);
        before = recorder_kernel_.shown.poured;
        began = now(CLOCK_THREAD_CPUTIME_ID);
        recorder_kernel_pour();
        cost[i] = (now(CLOCK_THREAD_CPUTIME_ID) - began) /
                  (double)(recorder_kernel_.shown.poured - before);
        began = now(CLOCK_THREAD_CPUTIME_ID);
        for (int k = 0; k < 1000; k++)
            recorder_kernel_pour();
        nothing[i] = (now(CLOCK_THREAD_CPUTIME_ID) - began) / 1000;
    }
    printf("%.0f ns, and %.0f where nothing is new\n", median(cost, ROUNDS),
           median(nothing, ROUNDS));
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "pour") == 0) {
        if (recorder_kernel(256, 0) != 0)
            return 1;
        pour();
        return 0;
    }
    double with[ROUNDS], without[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        without[i] = ping_apart(false);
        with[i] = ping_apart(true);
    }
    printf("%.3f us: %.2f with the rings, %.2f without\n",
           (median(with, ROUNDS) - median(without, ROUNDS)) / 1000,
           median(with, ROUNDS) / 1000, median(without, ROUNDS) / 1000);
    return 0;
}
