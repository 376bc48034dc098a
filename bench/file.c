/* file.c: the price of a record with its ring in a file, and in memory. */
/* SPDX-License-Identifier: MIT */
/* Both in one run, each in a separate ring: one was in the list when the file
 * came, the other is not in it. The file is deleted at once; its memory
 * remains. */
#include "../recorder_dump.h"
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

RECORDER(kept, 1024, "In a file");
RECORDER(plain, 1024, "In memory");

/* Moves the one ring; all the others of the program stay where they are. */
static void move(int thread)
{
    struct recorder *first = recorder_registry.first, *next;
    char folder[] = "/tmp/recorder-bench-XXXXXX", path[64];
    (void)thread;
    if (recorder_registry.image)
        return;
    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof path, "%s/ring", folder);
    next = recorder_for_kept.next;
    recorder_registry.first = &recorder_for_kept;
    recorder_for_kept.next = NULL;
    if (!recorder_file(path))
        abort();
    recorder_for_kept.next = next;
    recorder_registry.first = first;
    if (unlink(path) != 0 || rmdir(folder) != 0)
        abort();
}

BENCH_LOOP(record_plain, BENCH_RECORD(plain),
           "record/4 arguments; ring in memory", .setup = move)

BENCH_LOOP(record_kept, BENCH_RECORD(kept),
           "record/4 arguments; ring in a file", .setup = move)
