/* bound.c - records whose instructions and stack bound.py measures. */
/* SPDX-License-Identifier: MIT */
/*
 * Between each pair of labels is one record of 4 arguments: `usual` finds its
 * slot free; `worst` finds a thread stopped in every slot, and gives up after
 * RECORDER_TICKETS tickets. Prints the bytes of stack that each took.
 */
#if defined(__arm__)
#include "port.h"
#undef RECORDER_WRITE /* a program that only records */
#else /* a processor of its own, under qemu's user mode */
#include <stdint.h>
#define RECORDER_THREAD() 1u
#define RECORDER_TIME() bound_time()
#define RECORDER_ONE_PROCESSOR
static inline uintptr_t bound_time(void)
{
    uintptr_t time;
#ifdef __riscv
    __asm__ volatile("rdcycle %0" : "=r"(time));
#else
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(time));
#endif
    return time;
}
#endif
#include "recorder.h"

RECORDER(usual, 4, "Slots are free")
RECORDER(worst, 4, "A thread is stopped in each slot")

enum { DEEP = 512, UNTOUCHED = 0x5a };

/* Fills what is below the stack pointer, or returns how much of that was changed.
 * Inline: a call would change it. */
static inline __attribute__((always_inline)) unsigned below(uintptr_t sp,
                                                            int fills)
{
    volatile unsigned char *bytes = (volatile unsigned char *)(sp - DEEP);
    unsigned i;
    for (i = 0; i < DEEP; i++)
        if (fills)
            bytes[i] = UNTOUCHED;
        else if (bytes[i] != UNTOUCHED)
            break;
    return DEEP - i;
}
#ifdef __riscv
#define MOVE "mv"
#else
#define MOVE "mov"
#endif
#define MEASURED(name)                                                         \
    do {                                                                       \
        uintptr_t sp;                                                          \
        __asm__ volatile(MOVE " %0, sp" : "=r"(sp));                           \
        below(sp, 1);                                                          \
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));             \
        __asm__ volatile(".globl " #name "_begin\n" #name "_begin:" ::         \
                             : "memory");                                      \
        record(name, "%u %u %u %u", a, b, c, d);                               \
        __asm__ volatile(".globl " #name "_end\n" #name "_end:" ::: "memory"); \
        __asm__ volatile(MOVE " %0, sp" : "=r"(sp));                           \
        say(#name, below(sp, 0));                                              \
    } while (0)

#ifndef __arm__
static void port_write(const char *text, size_t size)
{
#ifdef __riscv
    register uintptr_t fd __asm__("a0") = 2, at __asm__("a1") = (uintptr_t)text,
                          bytes __asm__("a2") = size, call __asm__("a7") = 64;
    __asm__ volatile("ecall" : "+r"(fd) : "r"(at), "r"(bytes), "r"(call) : "memory");
#else
    register uintptr_t fd __asm__("x0") = 2, at __asm__("x1") = (uintptr_t)text,
                          bytes __asm__("x2") = size, call __asm__("x8") = 64;
    __asm__ volatile("svc 0" : "+r"(fd) : "r"(at), "r"(bytes), "r"(call) : "memory");
#endif
}
#endif
/* A line: the name, and bytes of stack. */
static void say(const char *name, unsigned bytes)
{
    char text[] = "       000\n";
    unsigned i;
    for (i = 0; i < 5; i++)
        text[i] = name[i];
    for (i = 9; i > 6; i--, bytes /= 10)
        text[i] = (char)('0' + bytes % 10);
    port_write(text, sizeof text - 1);
}

int main(void)
{
    unsigned a = 1, b = 2, c = 3, d = 4, i;
    struct recorder_ring *ring = (struct recorder_ring *)recorder_for_worst.rings;
    for (i = 0; i < 8; i++) { /* no slot is empty */
        record(usual, "%u", i);
        record(worst, "%u", i);
    }
    for (i = 0; i < 4; i++)
        recorder_commits_(ring, 3)[i] |= 1;
    MEASURED(usual);
    MEASURED(worst);
    return ring->lost == 1 ? 0 : 1;
}

#ifndef __arm__
void _start(void);
void _start(void)
{
    register long status __asm__(
#ifdef __riscv
        "a0") = main();
    register long call __asm__("a7") = 93; /* exit() */
    __asm__ volatile("ecall" : : "r"(status), "r"(call));
#else
        "x0") = main();
    register long call __asm__("x8") = 93;
    __asm__ volatile("svc 0" : : "r"(status), "r"(call));
#endif
    for (;;)
        ;
}
#endif
