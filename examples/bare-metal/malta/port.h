/* port.h - the recorder's port to a MIPS32 (the board is a Malta). */
/* SPDX-License-Identifier: MIT */
#ifndef PORT_H
#define PORT_H

#include <stddef.h>
#include <stdint.h>

/* Coprocessor 0 counts at half the speed of the processor, 320 MHz. */
#define RECORDER_TIME() port_count()
#define RECORDER_TIME_HZ 160000000
static inline uintptr_t port_count(void)
{
    uintptr_t count;
    __asm__ volatile("mfc0 %0, $9" : "=r"(count));
    return count;
}

/* 1 is main, 2 an interrupt, 3 an interrupt in that. */
#define RECORDER_THREAD() port_context
extern volatile unsigned port_context;

/* The board has one processor, and nothing else reads while it records. */
#define RECORDER_ONE_PROCESSOR

/* The first 128 MB of memory, cached. */
#define RECORDER_READABLE(address) ((address)-0x80000000u < 0x8000000u)

#define RECORDER_WRITE(text, size) port_write(text, size)
void port_write(const char *text, size_t size); /* to the serial port */

/* The rest of start.c and of vectors.S. */
void port_timer(uint32_t ticks);  /* calls port_on_timer once */
void port_software(void);         /* calls port_on_software at once */
void port_on_timer(uintptr_t pc); /* may be interrupted by that */
void port_on_software(void);
void port_on_fault(uintptr_t pc);
void port_on_return(void); /* from all interrupts, which are masked */
void port_reset(void);
int main(void);

#endif
