/* cleared.c - threads that number their records, until they are told to end. */
/* SPDX-License-Identifier: MIT */
/*
    ./cleared [MS]  says "PID n"; ends its threads when there is a file `go`,
                    makes a file `done` and waits

    No record is overwritten. Threads are often stopped for 20 ms inside a record,
    and seldom for MS, 200 ms; but not after W1, without a position.
*/
static void stop_sometimes(const char *label);
#define RECORDER_STEP_(label) stop_sometimes(#label)
#include "recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

RECORDER(numbers, 1 << 20, "Of all threads");

static int ends;
static unsigned long_ms = 200;
static __thread unsigned steps;

static void stop_sometimes(const char *label)
{
    static __thread unsigned stops;
    if (++steps < 1009 || strcmp(label, "W1") == 0)
        return;
    steps = 0;
    usleep(++stops % 40 == 0 ? long_ms * 1000 : 20000);
}

static void *work(void *thread)
{
    for (int i = 0; i < 200000 && !__atomic_load_n(&ends, __ATOMIC_RELAXED);
         i++) {
        record(numbers, "thread %d number %d", *(int *)thread, i);
        if (i % 100 == 99)
            usleep(1000);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int names[THREADS];
    if (argc > 1)
        long_ms = (unsigned)atoi(argv[1]);
    for (int i = 0; i < THREADS; i++) {
        names[i] = i;
        pthread_create(&threads[i], NULL, work, &names[i]);
    }
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    while (access("go", F_OK) != 0)
        usleep(1000);
    __atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    unlink("go");
    close(open("done", O_WRONLY | O_CREAT, 0600));
    pause();
    return 0;
}
