#!/bin/bash
# diff_waits.sh - recorder diff shows the waits of recorder run in words.
# SPDX-License-Identifier: MIT
. "${0%/*}/../harness/cases.sh"

## waits_in_words
# Goal: a difference between two recordings of recorder run, and the records
# around it, are in words; a wait's end is no second difference. Method: a
# program sleeps in one of two runs.
cat >naps.c <<END
#include <pthread.h>
#include <unistd.h>

static void *worker(void *naps)
{
    for (int i = 0; i < 20; i++)
        if (naps)
            usleep(2000);
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, count > 1 ? arguments : NULL);
    return pthread_join(thread, NULL);
}
END
gcc -O1 -g -o naps naps.c -lpthread
recorder run -q -o good.rec ./naps
recorder run -q -o bad.rec ./naps naps
must recorder diff good.rec bad.rec
has '. new: slow_call: waits in usleep: 20 times in BAD, never in GOOD' \
    'with it, new: slow_call: waited in usleep: 20 times in BAD' \
    'slow_call: waits in usleep'
lacks 'call_stack' 'lock_total' '%' 'stack 1'
must -1 recorder diff --any good.rec bad.rec
must recorder diff bad.rec good.rec
has '. gone: slow_call: wait' ' in usleep: never in BAD, 20 times in GOOD'
