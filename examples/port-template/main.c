/* main.c - main, an interrupt and a fault record; a reset keeps the records. */
/* SPDX-License-Identifier: MIT */
#include "board.h"
#include "port.h"

#include "recorder_dump.h"

extern char recorder_kept[]; /* recorder.ld */
RECORDER(timer, 8, "Records of the timer's interrupt");
RECORDER_AT(flight, 16, recorder_kept, "What survives a reset");

static volatile unsigned ticks;

void SysTick_Handler(void)
{
    record(timer, "tick %u: %.1f V", ticks + 1, 3.3f);
    ticks = ticks + 1;
}

void HardFault_Handler(void)
{
    record(flight, "fault at address 0x%08x",
           *(const volatile unsigned *)0xe000ed38);
    recorder_dump();
    board_end(0);
}

int main(void)
{
    bool kept = recorder_for_flight.rings->write != 0;
    record(flight, "start: the ring is %s", kept ? "kept" : "new");
    board_every(1000);
    while (ticks < 3)
        ;
    board_every(0);
    record(flight, "%u ticks were seen", ticks);
    if (!kept)
        board_reset();
    *(volatile int *)0xdeadbee0 = 1; /* there is nothing */
    return 1;
}
