/* trigger.c: the price of a record with triggers, and of other records. */
/* SPDX-License-Identifier: MIT */
#include "../recorder_trigger.h"
#include "shim.h"

RECORDER(watched, 1024, "Watched by triggers");
RECORDER(beside, 1024, "Beside a recorder that is watched");

/* They compare an argument, and never act. `count` of the eight are in use: no
 * interface takes a trigger away. */
static void use(unsigned count)
{
    static unsigned set;
    for (; set < 8; set++)
        recorder_trigger("watched: 1<0: freeze");
    recorder_triggers_.used = count;
}
static void use_one(int thread)
{
    (void)thread;
    use(8);
    use(1);
}
static void use_eight(int thread)
{
    (void)thread;
    use(8);
}

BENCH_LOOP(record_beside, BENCH_RECORD(beside),
           "trigger/another recorder is watched", .setup = use_one)

BENCH_LOOP(record_watched, BENCH_RECORD(watched), "trigger/watched by one",
           .setup = use_one)

BENCH_LOOP(record_watched_8, BENCH_RECORD(watched), "trigger/watched by eight",
           .setup = use_eight)
