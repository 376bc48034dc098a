/* main.c - records from main, an interrupt and a fault, big-endian. */
/* SPDX-License-Identifier: MIT */
#include "port.h"

#include "recorder_dump.h"

RECORDER(demo, 16, "Main, the timer, a fault");

static volatile unsigned samples;
static volatile int *volatile nowhere = (volatile int *)2;

void port_on_timer(uintptr_t pc)
{
    unsigned n = samples + 1;
    record(demo, "sample %u came at %p", n, (void *)pc);
    samples = n;
    port_timer(RECORDER_TIME_HZ / 1000);
}

void port_on_fault(uintptr_t pc)
{
    record(demo, "fault at %p", (void *)pc);
    recorder_dump();
}

int main(void)
{
    record(demo, "start: %s %f", "pi is near", 3.14159);
    port_timer(RECORDER_TIME_HZ / 1000);
    while (samples < 3)
        ;
    record(demo, "%u samples", samples);
    recorder_dump();
    *nowhere = 1;
    return 0;
}
