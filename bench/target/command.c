/* The target of bench/command.sh: many records, and their price while it
 * reads. */
/* SPDX-License-Identifier: MIT */
/*
    command million           records a million, says its process id, and waits
    command switches          the same of switches, of 16 tasks
    command big               with -DBIG: fills 2 GiB, and ends
    command follow RECORDER   ns per record: alone, and while RECORDER follows
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "recorder_dump.h"
#include "recorder_switch.h"
#include "median.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef BIG
RECORDER(big, 1 << 24);
RECORDER(less, 1 << 23);
#else
RECORDER(net, 1 << 18);
RECORDER(io, 1 << 18);
RECORDER(task, 1 << 19);
RECORDER(often, 4096);
RECORDER(switches, 1 << 20);
#endif

#ifdef BIG
static void big(void)
{
    unsigned long i;
    for (i = 0; i < 1 << 24; i++)
        record(big, "block %lu at %p, %lu bytes", i, (void *)(i * 64), i * 3);
    for (i = 0; i < 1 << 23; i++)
        record(less, "%s %lu", "less", i);
}
#else
static void million(void)
{
    int i;
    for (i = 0; i < 1000000; i++)
        if (i % 4 == 0)
            record(net, "packet %d from %s, %d bytes", i, "peer", i * 3);
        else if (i % 4 == 1)
            record(io, "read %d at %#x: %s", i, i * 2, "done");
        else
            record(task, "%d runs for %d us", i, i % 1000);
}

static void million_switches(void)
{
    unsigned i, from = 0, to;
    for (i = 0; i < 1000000; i++, from = to) {
        to = (from + 1 + i * 7 % 15) % 16;
        recorder_switch(1 + to, "a task", 1 + from,
                        i % 3 ? RECORDER_BLOCKED : RECORDER_PREEMPTED);
    }
}

/* CPU time of a record, over a tenth of a second. */
static double cost(void)
{
    double end = now(CLOCK_MONOTONIC) + 1e8;
    double start = now(CLOCK_THREAD_CPUTIME_ID);
    long count = 0, i;
    do {
        for (i = 0; i < 1000; i++, count++)
            record(often, "%ld of %ld, %ld and %ld", i, count, i, i);
    } while (now(CLOCK_MONOTONIC) < end);
    return (now(CLOCK_THREAD_CPUTIME_ID) - start) / (double)count;
}

enum { ROUNDS = 31 };

/* Alternates, so that a disturbance hits both alike. */
static void follow(char *recorder)
{
    static double alone[ROUNDS], followed[ROUNDS], ratio[ROUNDS];
    char pid[32];
    int i;
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    for (i = 0; i < ROUNDS; i++) {
        struct timespec wait = {0, 30000000};
        pid_t child;
        alone[i] = cost();
        child = fork();
        if (child == 0) {
            int null = open("/dev/null", O_WRONLY);
            dup2(null, 1);
            dup2(null, 2);
            execl(recorder, recorder, "follow", pid, (char *)NULL);
            _exit(127);
        }
        nanosleep(&wait, NULL);
        followed[i] = cost();
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        ratio[i] = followed[i] / alone[i];
    }
    printf("%.1f %.1f %.3f\n", median(alone, ROUNDS),
           median(followed, ROUNDS), median(ratio, ROUNDS));
}
#endif

int main(int argc, char **argv)
{
    (void)argv;
#ifdef BIG
    if (argc > 1)
        big();
#else
    if (argc > 2) {
        follow(argv[2]);
    } else {
        if (argc > 1 && strcmp(argv[1], "switches") == 0)
            million_switches();
        else
            million();
        printf("%d\n", (int)getpid());
        fflush(stdout);
        pause();
    }
#endif
    return 0;
}
