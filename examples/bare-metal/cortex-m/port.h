/* port.h - the recorder's port to a Cortex-M, on an MPS2 board. */
/* SPDX-License-Identifier: MIT */
/*
 * Each file that records includes this first. Another board needs its own
 * counter, its own memory map, and a way to get text out.
 */
#ifndef PORT_H
#define PORT_H

#include <stddef.h>
#include <stdint.h>

/* A counter that runs all the time; port_start() divides its clock. It wraps in
 * 71 minutes: define RECORDER_TIME_HIGH() where records are kept for longer. */
#define RECORDER_TIME() (*(const volatile uint32_t *)0x40028018)
#define RECORDER_TIME_HZ 1000000

/* Each context has a number: 1 is main, 16 SysTick, 17 the first interrupt.
 * Above RECORDER_THREAD_SHARED, 127, they would have to share. */
#define RECORDER_THREAD() port_context()
static inline unsigned port_context(void)
{
    unsigned exception;
    __asm__("mrs %0, ipsr" : "=r"(exception));
    return exception + 1;
}

/* ARMv6-M (Cortex-M0) has no exclusive instructions. */
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
#ifdef __ARM_ARCH_6M__
#define RECORDER_ENTER() port_mask()
#define RECORDER_LEAVE(was) port_unmask(was)
#endif
#define RECORDER_FUNCTIONS_ENTER() port_mask()
#define RECORDER_FUNCTIONS_LEAVE(was) port_unmask(was)

/* The board has one processor, and nothing else reads while it records. */
#define RECORDER_ONE_PROCESSOR

/* Code and constants, RAM, the board's RAM: a load from elsewhere faults. */
#define RECORDER_READABLE(address)                                             \
    ((address) < 0x400000u || (address)-0x20000000u < 0x400000u ||             \
     (address)-0x21000000u < 0x1000000u)

#define RECORDER_WRITE(text, size) port_write(text, size)
void port_write(const char *text, size_t size); /* to the debugger's terminal */

/* The rest of start.c. */
#define PORT_KEPT                                                              \
    0x21000000u /* RAM that no startup code and no reset touches */
void port_every(uint32_t microseconds); /* calls SysTick_Handler */
void port_save(const char *name, const void *from, size_t size); /* to a file */
_Noreturn void port_reset(void);
_Noreturn void port_exit(int status);

int main(void);
void SysTick_Handler(void);
void PendSV_Handler(void);
void HardFault_Handler(void);
void Interrupt0_Handler(void);

#endif
