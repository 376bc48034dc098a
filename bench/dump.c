/* dump.c: how fast a full ring becomes text. */
/* SPDX-License-Identifier: MIT */
#include "../recorder_dump.h"
#include "shim.h"

#include <fcntl.h>
#include <unistd.h>

enum { MILLION = 1000000 };

/* run.sh runs this in a separate process: a dump prints every ring, and the
 * rings of the other benchmarks must be empty. */
RECORDER(dumped, MILLION, "A million records");

static int null = -1;

static void fill(int thread)
{
    if (null >= 0)
        return;
    null = open("/dev/null", O_WRONLY);
    for (long i = 0; i < MILLION; i++)
        record(dumped, "%ld of %d bytes from %s:%d", i, MILLION, "localhost",
               thread);
}
static void dump(long n, int thread)
{
    (void)thread;
    for (long i = 0; i < n; i += MILLION)
        recorder_dump_fd(null);
}
BENCH(dump, "dump/a record of a million", .setup = fill, .batch = MILLION)
