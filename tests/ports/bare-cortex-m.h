/* bare-cortex-m.h - interrupts for bare-stress.c: SysTick, and PendSV in it. */
/* SPDX-License-Identifier: MIT */
#include "port.h"

#define STRESS_CONTEXTS 1, 16, 15
#define STRESS_REAL
#define STRESS_SHORTEST 20u /* ticks: out of the handler */
#define STRESS_RECORD ((uintptr_t)recorder_record_few_ & ~(uintptr_t)1)
#define STRESS_RECORD_BYTES 200u /* below the size of either */
#define STRESS_SPREAD 400u       /* ticks: more than a record takes */
#define STRESS_REGISTER(address) (*(volatile uint32_t *)(address))

static inline void stress_timer(uintptr_t ticks)
{
    STRESS_REGISTER(0xe000e014) = STRESS_SHORTEST + ticks;
    STRESS_REGISTER(0xe000e018) = 0;
    STRESS_REGISTER(0xe000e010) = 7;
}
static inline void stress_inner(void)
{
    STRESS_REGISTER(0xe000ed04) = 1u << 28; /* PendSV, the more urgent one */
    __asm__ volatile("dsb\n\tisb" : : : "memory");
}
static inline void stress_begin(void)
{
    STRESS_REGISTER(0xe000ed20) = 0x80000000u; /* priorities */
}
static inline void stress_end(void)
{
    STRESS_REGISTER(0xe000e010) = 0;
}

/* The frame that the processor pushes: r0 to r3, r12, lr, pc. */
void PendSV_Handler(void);
void stress_on_timer(const uintptr_t *frame);
#define STRESS_HANDLERS                                                        \
    void stress_on_timer(const uintptr_t *frame)                               \
    {                                                                          \
        STRESS_REGISTER(0xe000e010) = 0;                                       \
        on_timer(frame[6]);                                                    \
    }                                                                          \
    __attribute__((naked)) void SysTick_Handler(void)                          \
    {                                                                          \
        __asm__ volatile("mov r0, sp\n\tldr r1, =stress_on_timer\n\tbx r1");   \
    }                                                                          \
    void PendSV_Handler(void)                                                  \
    {                                                                          \
        on_inner();                                                            \
    }
