/* start.c - vectors, startup and semihosting for a Cortex-M without a libc. */
/* SPDX-License-Identifier: MIT */
#include "port.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* --------------------------------------------------------------- startup -- */

typedef void port_function(void);
extern uint32_t port_stack[], port_data[], port_data_end[], port_bss[],
    port_bss_end[]; /* mps2.ld */
extern const uint32_t port_data_image[];
extern port_function *const port_constructors[], *const port_constructors_end[];

static void port_idle(void)
{
    port_exit(3);
}
void port_start(void);
void SysTick_Handler(void) __attribute__((weak, alias("port_idle")));
void PendSV_Handler(void) __attribute__((weak, alias("port_idle")));
void HardFault_Handler(void) __attribute__((weak, alias("port_idle")));
void Interrupt0_Handler(void) __attribute__((weak, alias("port_idle")));

void port_start(void)
{
    const uint32_t *from = port_data_image;
    uint32_t *to;
    port_function *const *call;
#ifdef __ARM_FP
    REGISTER(0xe000ed88) |= 0xf << 20; /* the floating-point unit */
#endif
    REGISTER(0x4002801c) = 24; /* RECORDER_TIME: 25 MHz by 25, from 0 */
    REGISTER(0x40028018) = 0;
    for (to = port_data; to < port_data_end; to++)
        *to = *from++;
    for (to = port_bss; to < port_bss_end; to++)
        *to = 0;
    for (call = port_constructors; call < port_constructors_end; call++)
        (*call)(); /* the recorders enter their list */
    port_exit(main());
}

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    port_function *handlers[16];
} port_vectors = {port_stack,
                  {port_start, port_idle, HardFault_Handler, port_idle,
                   port_idle, port_idle, 0, 0, 0, 0, port_idle, port_idle, 0,
                   PendSV_Handler, SysTick_Handler, Interrupt0_Handler}};

/* --------------------------------------------------------------- machine -- */

void port_every(uint32_t microseconds)
{
    REGISTER(0xe000e014) = microseconds * 25 - 1; /* SysTick: reload */
    REGISTER(0xe000e018) = 0;
    REGISTER(0xe000e010) = microseconds ? 7 : 0;
}

void port_reset(void)
{
    __asm__ volatile("dsb" : : : "memory");
    REGISTER(0xe000ed0c) = 0x05fa0004; /* AIRCR: SYSRESETREQ */
    for (;;)
        ;
}

/* Semihosting: the debugger, or QEMU, serves a breakpoint's request. */
static int port_ask(int what, const void *block)
{
    register int r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void port_put(const char *name, size_t length, const void *from,
                     size_t size)
{
    const uintptr_t open[] = {(uintptr_t)name, 5 /* "wb" */, length};
    uintptr_t file[] = {(uintptr_t)port_ask(1, open), (uintptr_t)from, size};
    port_ask(5, file); /* write */
    port_ask(2, file); /* close */
}
void port_write(const char *text, size_t size)
{
    port_put(":tt", 3, text, size);
}
void port_save(const char *name, const void *from, size_t size)
{
    size_t length = 0;
    while (name[length])
        length++;
    port_put(name, length, from, size);
}

void port_exit(int status)
{
    const uintptr_t block[] = {0x20026 /* an exit */, (uintptr_t)status};
    port_ask(0x20, block);
    for (;;)
        ;
}

/* -------------------------------------------------------------- compiler -- */

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
