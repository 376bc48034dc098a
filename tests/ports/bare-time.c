/* bare-time.c - a counter of 32 bits that wraps while records are kept. */
/* SPDX-License-Identifier: MIT */
#include "port.h"

/* What a port keeps of its counter's wraps. */
static volatile uint32_t turns;
#define RECORDER_TIME_HIGH() ((uintptr_t)turns)
#include "recorder_dump.h"

RECORDER(clock, 16);

#define COUNTER (*(volatile uint32_t *)0x40028018)

int main(void)
{
    COUNTER = 100;
    record(clock, "at the start");
    COUNTER = 0x7ffffff0u;
    record(clock, "before half a wrap");
    while (COUNTER < 0x80000000u)
        ;
    record(clock, "after half a wrap");
    COUNTER = 0xffffff00u;
    record(clock, "before a wrap");
    while (COUNTER > 0x80000000u)
        ;
    turns = 1;
    record(clock, "after a wrap");
    turns = 5;
    record(clock, "after five");
    recorder_dump();
    return 0;
}
