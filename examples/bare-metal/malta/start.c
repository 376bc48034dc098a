/* start.c - startup, interrupts and serial port of a Malta without a libc. */
/* SPDX-License-Identifier: MIT */
#include "port.h"

typedef void port_function(void);
extern uint32_t port_bss[], port_bss_end[]; /* malta.ld */
extern port_function *const port_constructors[], *const port_constructors_end[];

volatile unsigned port_context;

void port_begin(void);
void port_begin(void)
{
    port_function *const *call;
    uint32_t *to;
    for (to = port_bss; to < port_bss_end; to++)
        *to = 0;
    port_context = 1;
    for (call = port_constructors; call < port_constructors_end; call++)
        (*call)(); /* the recorders enter their list */
    main();
    port_reset();
}

#define MOVE_FROM(number, to) __asm__ volatile("mfc0 %0, " number : "=r"(to))
#define MOVE_TO(number, from)                                                  \
    __asm__ volatile("mtc0 %0, " number "\n\tehb" : : "r"(from) : "memory")
enum { ON = 1, SOFTWARE = 1 << 8, TIMER = 1 << 15 }; /* in Status, in Cause */

/* Again if the counter has passed it already (here, QEMU was kept waiting): it
 * would reach it again only after a wrap, most of a minute. */
void port_timer(uint32_t ticks)
{
    uint32_t status, now, then;
    MOVE_FROM("$12", status);
    MOVE_TO("$12", status & ~(uint32_t)ON); /* nothing in between */
    do {
        MOVE_FROM("$9", now);
        MOVE_TO("$11", now + ticks);
        MOVE_FROM("$9", then);
    } while (then - now >= ticks);
    if (port_context == 1)
        status |= TIMER | SOFTWARE | ON;
    MOVE_TO("$12", status);
}

void port_software(void)
{
    uint32_t cause;
    MOVE_FROM("$13", cause);
    MOVE_TO("$13", cause | SOFTWARE);
}

void __attribute__((weak)) port_on_timer(uintptr_t pc)
{
    (void)pc;
}
void __attribute__((weak)) port_on_software(void)
{
}
void __attribute__((weak)) port_on_fault(uintptr_t pc)
{
    (void)pc;
}
void __attribute__((weak)) port_on_return(void)
{
}

void port_on_exception(uint32_t cause, uintptr_t pc, uint32_t status);
void port_on_exception(uint32_t cause, uintptr_t pc, uint32_t status)
{
    port_context++;
    if (cause >> 2 & 31) {
        port_on_fault(pc);
        port_reset();
    } else if (cause & status & SOFTWARE) {
        MOVE_TO("$13", cause & ~(uint32_t)SOFTWARE);
        port_on_software();
    } else if (cause & status & TIMER) {
        MOVE_TO("$11", 0);             /* it has been seen */
        MOVE_TO("$12", SOFTWARE | ON); /* that may interrupt */
        port_on_timer(pc);
        MOVE_TO("$12", 2 /* EXL, as it was */);
    }
    if (--port_context == 1)
        port_on_return();
}

/* The board's own reset; QEMU with -no-reboot ends. */
void port_reset(void)
{
    *(volatile uint32_t *)0xbf000500 = 0x42;
    for (;;)
        ;
}

void port_write(const char *text, size_t size)
{
    volatile uint8_t *serial = (volatile uint8_t *)0xb80003f8;
    for (; size; size--) {
        while (!(serial[5] & 0x20))
            ;
        *serial = (uint8_t)*text++;
    }
}

/* Functions that a compiler may call unasked. */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
void *memcpy(void *to, const void *from, size_t size)
{
    size_t i;
    for (i = 0; i < size; i++) {
        __asm__("" : "+r"(i)); /* or it calls itself */
        ((char *)to)[i] = ((const char *)from)[i];
    }
    return to;
}
void *memset(void *to, int value, size_t size)
{
    size_t i;
    for (i = 0; i < size; i++) {
        __asm__("" : "+r"(i));
        ((char *)to)[i] = (char)value;
    }
    return to;
}
