/* gdb.c - records in threads and libraries, then waits, or aborts, for gdb. */
/* SPDX-License-Identifier: MIT */
/*
    gdb wait|abort|COUNT [LIBRARY...]

    COUNT: records that many more, then waits. A library is opened; it records
    in its constructor, and so does one that is linked. `ready` is made when all
    is recorded. -DALONE: opens none.
*/
#include "recorder_dump.h"
#include "recorder_set.h"

#ifndef ALONE
#include <dlfcn.h>
#endif
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

RECORDER(net, 64, "Bytes on the wire")
#ifndef SLOTS
#define SLOTS 128
#endif
RECORDER(io, SLOTS, "Reads and writes")

RECORDER_TWEAK_DEFINE(retries, 3, "How often to try again")

static sem_t recorded;

static void nothing(void *context, const char *text, size_t size)
{
    (void)context, (void)text, (void)size;
}

static void *work(void *name)
{
    recorder_thread_name(name);
    record(net, "%s sends %d bytes", RECORDER_ADDRESS((char *)name), 1500);
    record(io, "load %.2f, %d %d %d %d %s", 0.25, 1, 2, 3, 4,
           "\xe2\x82\xac and \xff");
    record(net, "text %s", RECORDER_COPY(net, "of a stack that is gone"));
    sem_post(&recorded);
    if (strcmp(name, "short") != 0)
        pause();
    return NULL;
}

static void begin(char *name)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, name) != 0)
        exit(1);
    sem_wait(&recorded);
    if (strcmp(name, "short") == 0)
        pthread_join(thread, NULL);
}

/* Notes how fast ticks run, so that all readers agree on every digit. */
static void note_ticks(void)
{
    struct timespec time = {0, 100000000};
    nanosleep(&time, NULL);
    recorder_dump_to(nothing, NULL);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    FILE *ready;
    alarm(300); /* where the test that would end it has failed */
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    sem_init(&recorded, 0, 0);
    record(io, "begins");
    begin("short");
    begin("reader");
    begin("writer");
#ifndef ALONE
    for (int i = 2; i < argc; i++)
        if (!dlopen(argv[i], RTLD_NOW))
            return puts(dlerror()), 1;
#endif
    for (long i = 0; i < count; i++)
        record(io, "record %ld of %ld", i, count);
    record(net, "all is recorded");
    note_ticks();
    ready = fopen("ready", "w");
    if (!ready || fclose(ready) != 0)
        return 1;
    if (argc > 1 && strcmp(argv[1], "abort") == 0)
        abort();
    pause();
}
