/* main.c - a recorder on a machine without an operating system, whole. */
/* SPDX-License-Identifier: MIT */
/*
 * Main and a timer's interrupt record; then the machine is reset. The second
 * start dumps the records of the first, and faults; the fault dumps, too.
 */
#include "port.h"

#include "recorder_dump.h"

RECORDER(timer, 8, "Records of the timer's interrupt");
RECORDER_AT(flight, 16, PORT_KEPT, "What survives a reset");

static volatile unsigned samples;

void SysTick_Handler(void)
{
    unsigned n = samples + 1;
    record(timer, "sample %u: %.2f V", n, 3.3f - 0.05f * (float)n);
    samples = n;
}

void HardFault_Handler(void)
{
    record(flight, "hard fault: status 0x%08x, address 0x%08x",
           *(const volatile unsigned *)0xe000ed28,
           *(const volatile unsigned *)0xe000ed38);
    recorder_dump();
    port_exit(0);
}

int main(void)
{
    bool again = recorder_for_flight.rings->write != 0;
    unsigned seen = 0;
    record(flight, "start: the recorder is %s", again ? "kept" : "new");
    port_every(1000);
    while (seen < 10)
        if (samples != seen) {
            seen = samples;
            record(flight, "sample %u of 10", seen);
        }
    port_every(0);
    if (!again) {
        record(flight, "reset");
        port_reset();
    }
    recorder_dump();
    *(volatile int *)0xdeadbee0 = 1; /* there is nothing */
    return 1;
}
