/* twice.c - two threads that fill rings as fast as they can; of each record,
 * every argument says which it is. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

RECORDER(small, 4, "Less than a page")
RECORDER(middle, 4096, "Some pages")
RECORDER(texts, 1024, "Copied texts")

static void *fill(void *with)
{
    unsigned long n = (unsigned long)with << 40;
    for (;; n++) {
        char text[40];
        record(small, "%lx %lx %lx %lx", n, n ^ 0x5555, n + 7, ~n);
        record(middle, "%lx %lx %lx %lx", n, n ^ 0x5555, n + 7, ~n);
        if (n % 16)
            continue;
        snprintf(text, sizeof text, "%016lx%016lx", n, n);
        record(texts, "%lx %s", n, RECORDER_COPY(texts, text));
    }
    return NULL;
}

int main(void)
{
    pthread_t other;
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    pthread_create(&other, NULL, fill, (void *)1);
    fill((void *)2);
}
