/* Two threads that share requests; each of some requests makes a key. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

RECORDER(store, 4096, "Keys");
static int requests, keys; /* how many keys the requests make */

static void *work(void *seed)
{
    unsigned random = *(unsigned *)seed;
    for (int i; (i = __atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED)) < 400;) {
        record(store, "request");
        if (i * keys / 400 != (i + 1) * keys / 400)
            record(store, "new key");
        usleep((unsigned)rand_r(&random) % 300);
        record(store, "answer");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    unsigned seeds[2] = {1, 2};
    if (argc != 2)
        return 2;
    keys = atoi(argv[1]);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &seeds[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
