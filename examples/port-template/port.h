/* port.h - template of a port: the five macros, here for a Cortex-M. */
/* SPDX-License-Identifier: MIT */
/*
 * Each file that records includes this header first. Copy the header, and
 * change the five macros that have numbers.
 */
#ifndef PORT_H
#define PORT_H

#include <stddef.h>
#include <stdint.h>

/* 1. The clock: a counter of 32 bits that always runs up, and its ticks in a
 * second. This one is a timer of the MPS2 board, which board.c starts. */
#define RECORDER_TIME() (*(const volatile uint32_t *)0x40028018)
#define RECORDER_TIME_HZ 1000000

/* 2. The thread: a number of the context that records, from 1 to 127.
 * On a Cortex-M each exception has a number: main 1, SysTick 16, interrupts
 * from 17. With an RTOS: a number of the task where ipsr is 0. */
#define RECORDER_THREAD() port_context()
static inline unsigned port_context(void)
{
    unsigned exception;
    __asm__("mrs %0, ipsr" : "=r"(exception));
    return exception + 1;
}

/* 3. The lock: only for a processor without atomic instructions (Cortex-M0),
 * which masks interrupts while a record is made. Others leave it out. */
#ifdef __ARM_ARCH_6M__
#define RECORDER_ENTER() port_mask()
#define RECORDER_LEAVE(was) port_unmask(was)
static inline uintptr_t port_mask(void)
{
    uintptr_t was;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(was) : : "memory");
    return was;
}
static inline void port_unmask(uintptr_t was)
{
    __asm__ volatile("msr primask, %0" : : "r"(was) : "memory");
}
#endif

/* 4. The memory that a dump may read: code with its constants, and RAM. A load
 * from an address elsewhere would fault. */
#define RECORDER_READABLE(address)                                             \
    ((address) < 0x400000u || (address)-0x20000000u < 0x400000u)

/* 5. Where dumps go: any function that sends bytes, and waits until they are
 * sent. The fault handler calls it, too. */
#define RECORDER_WRITE(text, size) board_send(text, size)
void board_send(const char *text, size_t size);

#endif
