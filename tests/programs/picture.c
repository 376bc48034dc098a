/* picture.c - a small server at work, for docs/view.png. */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

RECORDER(http, 512, "Requests, as spans")
RECORDER(disk, 256, "Reads, as spans, and what the cache holds")
RECORDER(lock, 256, "Who waits for the table")
RECORDER(net, 32, "Bytes on the wire")
RECORDER(pool, 128, "Memory in use")

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static int used_kb = 512;

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 16) % below;
}
static void pass(unsigned us)
{
    struct timespec time = {0, (long)us * 1000};
    nanosleep(&time, NULL);
}

static void serve(unsigned *seed, unsigned i)
{
    static const char *const paths[] = {"/", "/index.html", "/api/orders",
                                        "/api/stock", "/style.css"};
    const char *path = paths[draw(seed, 5)];
    unsigned bytes = 200 + draw(seed, 9000);
    record(http, "> GET %s", path);
    record(net, "request %u, %u bytes in", i, 80 + draw(seed, 400));
    pass(50 + draw(seed, 150));
    if (draw(seed, 3) == 0) {
        record(disk, "> read block %u", draw(seed, 5000));
        pass(200 + draw(seed, 700));
        record(disk, "< read, %u KiB cached", 64 + draw(seed, 64));
    }
    record(lock, "> wait for table");
    pthread_mutex_lock(&table);
    record(lock, "< wait for table");
    used_kb += (int)draw(seed, 48) - (used_kb > 900 ? 80 : 12);
    record(pool, "%d KiB in use, %.1f%% of all", used_kb, used_kb / 10.24);
    pass(100 + draw(seed, 200));
    pthread_mutex_unlock(&table);
    record(net, "request %u, %u bytes out", i, bytes);
    record(http, "< %d, %u bytes", draw(seed, 12) ? 200 : 503, bytes);
}

static void *worker(void *name)
{
    unsigned seed = (unsigned)((char *)name)[7] * 7919;
    recorder_thread_name(name);
    for (unsigned i = 0; i < 12; i++) {
        pass(100 + draw(&seed, 900));
        serve(&seed, i);
    }
    return NULL;
}

int main(void)
{
    static char names[3][16] = {"worker-1", "worker-2", "worker-3"};
    pthread_t threads[3];
    recorder_thread_name("main");
    record(http, "listen on port %d", 8080);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, names[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    record(http, "%s", "all served");
    puts("ready");
    fflush(stdout);
    getchar();
    return 0;
}
