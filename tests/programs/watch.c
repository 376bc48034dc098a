/* watch.c - records every millisecond, for triggers inside and outside. */
/* SPDX-License-Identifier: MIT */
#include "recorder_trigger.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

RECORDER(disk, 1024, "Latencies")
RECORDER(net, 1024, "Severities")
RECORDER(many, 1024, "12 arguments")

/* Ends after so many rounds, if that is said. */
int main(int count, char **arguments)
{
    const struct timespec wait = {0, 1000000};
    int rounds = 0, i;
    if (count > 1)
        sscanf(arguments[1], "%d", &rounds);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (i = 0; i != rounds || !rounds; i++) {
        record(disk, "latency %d ms", i % 100);
        if (i % 10 == 0)
            record(net, RECORDER_SW2 "late %d", i);
        else
            record(net, RECORDER_HW1 "%d bytes", -i);
        record(many, "%d %d %d %d %d %d %d %d %d %d %d %d", i, i + 1, i + 2,
               i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10,
               i % 3 - 1);
        nanosleep(&wait, NULL);
    }
    return 0;
}
