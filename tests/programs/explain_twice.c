/* explain_twice.c - frees a block twice, after the cache of the thread is full. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <stdlib.h>

RECORDER(job, 64)

enum { JOBS = 14, TWICE = 9 }; /* a cache has seven blocks of a size */
struct job {
    struct job *next;
    long number;
    char text[24];
};

int main(void)
{
    struct job *jobs = NULL;
    recorder_dump_on_common_signals(0, 0);
    for (long i = JOBS - 1; i >= 0; i--) {
        struct job *job = malloc(sizeof *job);
        *job = (struct job){.next = jobs, .number = i};
        record(job, "take job=%p number=%ld", (void *)job, i);
        jobs = job;
    }
    while (jobs) {
        struct job *next = jobs->next;
        long number = jobs->number;
        record(job, "drop job=%p number=%ld", (void *)jobs, number);
        free(jobs);
        if (number == TWICE)
            free(jobs);
        jobs = next;
    }
    return 0;
}
