/* board.c - startup, UART and timers of the MPS2 board; yours replace them. */
/* SPDX-License-Identifier: MIT */
#include "board.h"
#include "port.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

typedef void board_function(void);
extern uint32_t board_stack[], board_data[], board_data_end[], board_bss[],
    board_bss_end[]; /* board.ld */
extern const uint32_t board_data_image[];
extern board_function *const recorder_constructors[],
    *const recorder_constructors_end[]; /* recorder.ld */

void board_start(void);
void board_start(void)
{
    const uint32_t *from = board_data_image;
    uint32_t *to;
    board_function *const *call;
    REGISTER(0x4002801c) = 24; /* the timer of RECORDER_TIME: 25 MHz by 25 */
    REGISTER(0x40004010) = 16; /* the UART: baud rate, transmitter on */
    REGISTER(0x40004008) = 1;
    for (to = board_data; to < board_data_end; to++)
        *to = *from++;
    for (to = board_bss; to < board_bss_end; to++)
        *to = 0;
    for (call = recorder_constructors; call < recorder_constructors_end; call++)
        (*call)(); /* recorders enter their list; a libc does it itself */
    board_end(main());
}

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    board_function *handlers[15];
} board_vectors = {
    board_stack,
    {[0] = board_start, [2] = HardFault_Handler, [14] = SysTick_Handler}};

void board_send(const char *text, size_t size)
{
    while (size--) {
        while (REGISTER(0x40004004) & 1)
            ; /* full */
        REGISTER(0x40004000) = (unsigned char)*text++;
    }
}

void board_every(uint32_t microseconds)
{
    REGISTER(0xe000e014) = microseconds * 25 - 1;
    REGISTER(0xe000e018) = 0;
    REGISTER(0xe000e010) = microseconds ? 7 : 0;
}

void board_reset(void)
{
    __asm__ volatile("dsb" : : : "memory");
    REGISTER(0xe000ed0c) = 0x05fa0004;
    for (;;)
        ;
}

/* Semihosting's exit, which ends qemu. */
void board_end(int status)
{
    const uintptr_t block[] = {0x20026, (uintptr_t)status};
    register int r0 __asm__("r0") = 0x20;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    for (;;)
        ;
}

/* Without a libc: functions that compilers call by themselves. */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
void *memcpy(void *to, const void *from, size_t size)
{
    volatile char *bytes = to;
    for (size_t i = 0; i < size; i++)
        bytes[i] = ((const char *)from)[i];
    return to;
}
void *memset(void *to, int value, size_t size)
{
    volatile char *bytes = to;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)value;
    return to;
}
