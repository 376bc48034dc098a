/* Records at a rate: log THREADS RECORDS RATE [LIBRARY]; -DLIBRARY makes
 * that. */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef LIBRARY
RECORDER(part, 256, "Of a library that is closed")
void part_works(int i);
void part_works(int i)
{
    record(part, "the library has %d: %s", i, "a constant of its own");
}
#else

#ifndef SLOTS
#define SLOTS 4096
#endif
RECORDER(few, SLOTS, "Records of one slot")
RECORDER(wide, SLOTS, "Records of two and three slots")
RECORDER(copy, SLOTS, "Copied texts")
RECORDER_LANES(lanes, SLOTS, 4, "Four rings")

static long records, rate;
static const char *library;

/* Waits until a record at this rate is due. */
static void pace(const struct timespec *start, long i)
{
    static const struct timespec wait = {0, 200000};
    struct timespec now;
    double since = 0;
    while (rate && since * (double)rate < (double)i) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        since = (double)(now.tv_sec - start->tv_sec) +
                (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
        if (since * (double)rate < (double)i)
            nanosleep(&wait, NULL);
    }
}

/* Opens the library, lets it record, and closes it. */
static void opened_and_closed(long i)
{
    void *opened = dlopen(library, RTLD_NOW);
    void (*works)(int) = NULL;
    if (opened)
        *(void **)&works = dlsym(opened, "part_works");
    if (works)
        works((int)i);
    usleep(500000); /* so that a look sees it: one may take long */
    if (opened)
        dlclose(opened);
}

static void *thread(void *number)
{
    long id = *(const long *)number;
    struct timespec start;
    char text[128];
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 0; i < records; i++) {
        record(few, "%ld: %ld of %s, %5.2f", id, i, "them", (double)i / 3);
        if (i % 16 == 0) {
            record(wide, "%ld %ld %d %d %d %s %d %d %d %d %s %ld", id, i, 3, 4,
                   5, "six", 7, 8, 9, 10, "eleven", i);
            record(wide, "%ld %ld %d %d %s", id, i, 3, 4, "five");
            snprintf(text, sizeof text, "a text of %ld that is not short: %*ld",
                     id, (int)(i % 90), i);
            record(copy, "%ld, %s!", i, RECORDER_COPY(copy, text));
            record(copy, "%s", RECORDER_COPY_BYTES(copy, "with\0NUL", 9));
            record(lanes, RECORDER_SW2 "%.3s and %.*s", "abcdef", 2, "xyz");
        }
        if (i % 64 == 0)
            pace(&start, i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long threads = argc > 3 ? atol(argv[1]) : 1, numbers[64];
    pthread_t all[64];
    records = argc > 3 ? atol(argv[2]) : 1000;
    rate = argc > 3 ? atol(argv[3]) : 0;
    library = argc > 4 ? argv[4] : NULL;
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    while (access("go", F_OK) != 0)
        usleep(1000);
    for (long i = 0; library && i < 3; i++)
        opened_and_closed(i); /* first: looks are short until threads record */
    for (long i = 0; i < threads; i++) {
        numbers[i] = i;
        pthread_create(&all[i], NULL, thread, &numbers[i]);
    }
    for (long i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    fclose(fopen("done", "w"));
    for (;;)
        pause();
}
#endif
