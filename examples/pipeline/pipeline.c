/* pipeline.c - a camera: sensor, filter and encoder, 60 images a second. */
/* SPDX-License-Identifier: MIT */
/*
 * An image that is not encoded 16.6 ms after it left the sensor is late, and of
 * three that are under way the newest is dropped. Now and then one is, as there
 * is a bug in here: docs/pipeline.md finds it.
 *
 *     make pipeline                    on Linux
 *     sh tests/ports/bare-switches.sh  on a Cortex-M3, by the scheduler of
 *                                      examples/bare-metal/switches
 */
#ifdef __linux__
#include "linux.h"
#else
#include "scheduler.h"
#endif

#ifndef FRAMES
#define FRAMES 300
#endif

RECORDER(frames, 4096, "Images on their way");
RECORDER(statistics, 256, "Their counts");

static struct task sensor, filter, encoder, statistician;
static struct queue raw = QUEUE(2), filtered = QUEUE(2), summaries = QUEUE(8);
static struct queue table = QUEUE(1); /* full while the slot is free */
static volatile unsigned encoded;     /* how many have left the pipeline */

static void sense(void)
{
    unsigned frame, taken = 0, dropped = 0;
    for (frame = 1; frame <= FRAMES; frame++) {
        scheduler_wait_for_tick();
        if (taken - encoded >= 2) {
            record(frames, RECORDER_SW2 "frame %u dropped", frame);
            dropped++;
            continue;
        }
        record(frames, "frame %u from the sensor", frame);
        taken++;
        work(300);
        queue_put(&raw, frame);
    }
    record(frames, "%u of %u frames dropped", dropped, frame - 1);
    queue_put(&raw, 0);
}

static void pass_on(void)
{
    uintptr_t frame;
    while ((frame = queue_get(&raw)) != 0) {
        record(frames, "> filter frame %u", (unsigned)frame);
        work(3000);
        record(frames, "< filter frame %u", (unsigned)frame);
        queue_put(&filtered, frame);
    }
    queue_put(&filtered, 0);
}

static void encode(void)
{
    uintptr_t frame;
    while ((frame = queue_get(&filtered)) != 0) {
        record(frames, "> encode frame %u", (unsigned)frame);
        work(5000);
        queue_get(&table); /* its size goes into the table */
        work(100);
        queue_put(&table, 1);
        record(frames, "< encode frame %u", (unsigned)frame);
        encoded = encoded + 1;
        if (frame % 7 == 0)
            queue_put(&summaries, frame);
    }
    queue_put(&summaries, 0);
}

/* Sums the table up, and makes it smaller each fifth time: that takes 30 ms. */
static void count(void)
{
    uintptr_t frame;
    unsigned times = 0;
    while ((frame = queue_get(&summaries)) != 0) {
        unsigned takes = ++times % 5 ? 500 : 30000;
        record(statistics, "> sum up to frame %u", (unsigned)frame);
#ifdef PIPELINE_MENDED
        work(takes - 100); /* of a copy */
        takes = 100;
#endif
        queue_get(&table);
        work(takes);
        queue_put(&table, 1);
        record(statistics, "< sum up to frame %u", (unsigned)frame);
    }
}

#ifndef __linux__
/* A debugger stops here, and saves the memory for `recorder`. */
void image_done(void);
__attribute__((noinline)) void image_done(void)
{
    __asm__ volatile("");
}
#endif

int main(void)
{
    queue_put(&table, 1);
    scheduler_add(&sensor, "sensor", sense);
    scheduler_add(&filter, "filter", pass_on);
    scheduler_add(&encoder, "encoder", encode);
    scheduler_add(&statistician, "statistics", count);
    scheduler_run();
#ifndef __linux__
    image_done();
#endif
    return 0;
}
