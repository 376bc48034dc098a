/* kernel.c - the price of the kernel's rings: of a switch, of a poured
 * record. */
/* SPDX-License-Identifier: MIT */
/*
    ./kernel switch     additional us of a switch with the rings, and with an
                        unread event of the kernel: the least of many turns,
                        which alternate
    ./kernel pour       ns of a poured record: the median; and ns of a pour
                        without records
*/
#define _GNU_SOURCE
#define RECORDER_KERNEL_SLOTS 65536
#include "recorder_kernel.h"
#include "median.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 21, TURNS = 2000, ROUNDTRIPS = 100 };

/* The observers of switches: none; an event of the kernel, as recorder_kernel()
 * opens it; recorder_kernel(). */
enum { NOBODY, EVENT, RINGS, WAYS };

static void event_open(void)
{
    const long page = sysconf(_SC_PAGESIZE);
    for (int cpu = 0; cpu < (int)sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
        struct perf_event_attr event = {
            .type = PERF_TYPE_SOFTWARE,
            .size = sizeof event,
            .config = PERF_COUNT_SW_DUMMY,
            .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
            .inherit = 1,
            .exclude_kernel = 1,
            .exclude_hv = 1,
            .sample_id_all = 1,
            .use_clockid = 1,
            .context_switch = 1,
            .write_backward = 1,
            .inherit_thread = 1,
            .clockid = CLOCK_MONOTONIC_RAW};
        int fd = (int)syscall(SYS_perf_event_open, &event, 0, cpu, -1,
                              PERF_FLAG_FD_CLOEXEC);
        if (fd < 0 || mmap(NULL, (size_t)page + 65536, PROT_READ, MAP_SHARED,
                           fd, 0) == MAP_FAILED)
            exit(1);
    }
}

/* Two threads of a program, on one processor, hand a byte to and fro: a round
 * trip has two switches, of one to the other and back. */
static int there[2], back[2];
static void *answer(void *of)
{
    char byte;
    while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
        ;
    return of;
}
/* Waits for a byte, and answers it with the ns that a switch took. */
static void child(int way, int asks, int answers)
{
    char byte;
    cpu_set_t one;
    pthread_t other;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0 || pipe(there) != 0 ||
        pipe(back) != 0 || (way == RINGS && recorder_kernel(64, 0) != 0))
        exit(1);
    if (way == EVENT)
        event_open();
    if (pthread_create(&other, NULL, answer, NULL) != 0)
        exit(1);
    while (read(asks, &byte, 1) == 1) {
        double began = now(CLOCK_MONOTONIC), ns;
        for (int i = 0; i < ROUNDTRIPS; i++)
            if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
                exit(1);
        ns = (now(CLOCK_MONOTONIC) - began) / (2 * ROUNDTRIPS);
        if (write(answers, &ns, sizeof ns) != sizeof ns)
            exit(1);
    }
    exit(0);
}
/* The three take turns, each for so short that other programs leave some of
 * their turns alone: the least of each is without them. */
static int ping(void)
{
    int asks[WAYS][2], answers[WAYS][2], way, i;
    double least[WAYS], ns;
    for (way = 0; way < WAYS; way++) {
        least[way] = 1e9;
        if (pipe(asks[way]) != 0 || pipe(answers[way]) != 0)
            return 1;
        fflush(NULL);
        if (fork() == 0) {
            close(asks[way][1]);
            close(answers[way][0]);
            child(way, asks[way][0], answers[way][1]);
        }
        close(answers[way][1]);
    }
    for (i = 0; i < TURNS; i++)
        for (way = 0; way < WAYS; way++) {
            if (write(asks[way][1], "x", 1) != 1 ||
                read(answers[way][0], &ns, sizeof ns) != sizeof ns)
                return 1;
            if (ns < least[way])
                least[way] = ns;
        }
    printf("%.3f %.3f us more than %.2f us: with the rings, with an event of "
           "the kernel alone\n",
           (least[RINGS] - least[NOBODY]) / 1000,
           (least[EVENT] - least[NOBODY]) / 1000, least[NOBODY] / 1000);
    return 0;
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
    return ping();
}
