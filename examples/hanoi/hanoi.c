/* hanoi.c - the Towers of Hanoi, printed and recorded: the price of each. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

RECORDER(Moves, 128, "Moves between the towers");
RECORDER(Recursion, 128, "Where the algorithm recurses");
RECORDER(Calls, 128, "Calls to the function");
RECORDER(Timing, 128, "Begin and end of each way");

enum post { LEFT, MIDDLE, RIGHT };
static const char *const name[] = {"LEFT", "MIDDLE", "RIGHT"};

static void hanoi_print(int n, enum post left, enum post right,
                        enum post middle)
{
    if (n == 1) {
        printf("Move disk from %s to %s\n", name[left], name[right]);
        return;
    }
    hanoi_print(n - 1, left, middle, right);
    hanoi_print(1, left, right, middle);
    hanoi_print(n - 1, middle, right, left);
}

static void hanoi_record(int n, enum post left, enum post right,
                         enum post middle)
{
    record(Calls, "n=%d, left=%-6s, right=%-6s, middle=%-6s", n, name[left],
           name[right], name[middle]);
    if (n == 1) {
        record(Moves, "Move disk from %s to %s", name[left], name[right]);
        return;
    }
    record(Recursion, "Recurse #1 n=%d", n);
    hanoi_record(n - 1, left, middle, right);
    record(Recursion, "Recurse #2 n=%d", n);
    hanoi_record(1, left, right, middle);
    record(Recursion, "Recurse #3 n=%d", n);
    hanoi_record(n - 1, middle, right, left);
}

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
    char *end = NULL;
    long disks = argc == 2 ? strtol(argv[1], &end, 10) : 6;
    double start, printed, recorded;
    if (argc > 2 || (end && (*end || end == argv[1])) || disks < 1 ||
        disks > 30) {
        fprintf(stderr, "usage: hanoi [DISKS]   1 to 30, default 6\n");
        return 2;
    }
    /* A line that a crash must not swallow has to be out at once. */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    start = microseconds();
    record(Timing, "Begin printing Hanoi with %ld", disks);
    hanoi_print((int)disks, LEFT, RIGHT, MIDDLE);
    record(Timing, "End printing Hanoi with %ld", disks);
    printed = microseconds() - start;

    start = microseconds();
    record(Timing, "Begin recording Hanoi with %ld", disks);
    hanoi_record((int)disks, LEFT, RIGHT, MIDDLE);
    record(Timing, "End recording Hanoi with %ld", disks);
    recorded = microseconds() - start;

    recorder_dump();
    printf("printing   %12.1f us, %ld lines\n", printed, (1L << disks) - 1);
    printf("recording  %12.1f us, %lu records\n", recorded,
           (unsigned long)(recorder_order - 3));
    printf("printing took %.1f times as long as recording\n",
           printed / recorded);
    return 0;
}
