/* Spans that nest, cross, are forgotten or were never begun, as chance has it.
 *
 *     spans_random FILE SEED      leaves a recording
 */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <pthread.h>
#include <stdlib.h>

RECORDER(net, 4096, "")
RECORDER(disk, 4096, "")

static uint64_t seed;

static void step(uint64_t r)
{
    unsigned id = (unsigned)(r >> 8) % 7;
    switch (r % 14) {
    case 0: record(net, "> a %u", id); break;
    case 1: record(net, "< a %u", id); break;
    case 2: record(net, "> b"); break;
    case 3: record(net, "< b: %u", id); break;
    case 4: record(disk, "> read block=%u", id); break;
    case 5: record(disk, "< read, %u bytes", id); break;
    case 6: record(disk, "> b"); break;
    case 7: record(disk, "< b"); break;
    case 8: record(net, ">> request %u", id); break;
    case 9: record(net, "<< request %u: %u", id, id); break;
    case 10: record(disk, ">> request of %s", id % 2 ? "one" : "two"); break;
    case 11: record(disk, "<< request of %s", id % 2 ? "one" : "two"); break;
    case 12: record(disk, "< nobody's"); break;
    default: record(net, "=> request %u", id);
    }
}

static void nowhere(void *context, const char *text, size_t length)
{
    (void)context, (void)text, (void)length;
}

static void *steps(void *of)
{
    uint64_t r = seed + (uint64_t)(uintptr_t)of;
    for (int i = 0; i < 700; i++) {
        r = r * 6364136223846793005u + 1442695040888963407u;
        step(r >> 33);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[3];
    if (argc != 3 || !recorder_file(argv[1]))
        return 1;
    seed = strtoull(argv[2], NULL, 10);
    for (uintptr_t i = 0; i < 3; i++)
        if (pthread_create(&thread[i], NULL, steps, (void *)(i + 1)) != 0)
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    /* The recording has its rate of the clock to the end: each reader would
     * measure it, and two would differ by a nanosecond now and then. */
    recorder_dump_to(nowhere, NULL);
    return 0;
}
