/* A program with recorders of its own, one of them named as the library's. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <pthread.h>
#include <stdio.h>

RECORDER(lock_wait, 64, "The program's")
RECORDER(own, 64)

int early_begun(void);
static void *runs(void *of)
{
    record(own, "in a thread");
    return of;
}

int main(void)
{
    pthread_t thread;
    record(lock_wait, "the program's own %d", early_begun());
    pthread_create(&thread, NULL, runs, NULL);
    pthread_join(thread, NULL);
    record(own, "done");
    recorder_dump_for("own|lock_wait");
    puts("done");
    return 4;
}
