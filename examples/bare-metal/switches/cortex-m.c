/* cortex-m.c - the scheduler on a Cortex-M: PendSV switches, SysTick ticks. */
/* SPDX-License-Identifier: MIT */
#include "scheduler.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

const uint32_t board_microsecond = 1; /* the counter of port.h */
uint32_t board_ticks(void)
{
    return REGISTER(0x40028018);
}

uintptr_t board_mask(void)
{
    uintptr_t was;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(was) : : "memory");
    return was;
}
void board_unmask(uintptr_t was)
{
    __asm__ volatile("msr primask, %0\n\tisb" : : "r"(was) : "memory");
}

/* ---------------------------------------------------------------- switch -- */

/* A task's stack has r4 to r11 and the value that an exception returns to, then
 * the frame that the processor made: r0 to r3, r12, lr, pc, psr. */
uintptr_t *board_stack(uintptr_t *end)
{
    uintptr_t *stack = (uintptr_t *)((uintptr_t)end & ~(uintptr_t)7);
    unsigned i;
    for (i = 0; i < 17; i++)
        *--stack = 0;
    stack[16] = 1u << 24; /* Thumb */
    stack[15] = (uintptr_t)scheduler_begin & ~(uintptr_t)1;
    stack[8] = 0xfffffffdu; /* a task, with a private stack */
    return stack;
}

void board_switch(void)
{
    REGISTER(0xe000ed04) = 1u << 28; /* PendSV, the least urgent */
}

uintptr_t *board_swap(uintptr_t *stack);
uintptr_t *board_swap(uintptr_t *stack)
{
    uintptr_t was = board_mask();
    static bool named;
    if (!named)
        recorder_thread_name("scheduler");
    named = true;
    scheduler_current->stack = stack;
    stack = scheduler_next()->stack;
    board_unmask(was);
    return stack;
}

#ifdef __ARM_ARCH_6M__
__attribute__((naked)) void PendSV_Handler(void)
{
    __asm__ volatile(".syntax unified\n\t"
                     "mrs r0, psp\n\t"
                     "subs r0, #36\n\t"
                     "mov r1, r0\n\t"
                     "stmia r1!, {r4-r7}\n\t"
                     "mov r4, r8\n\t"
                     "mov r5, r9\n\t"
                     "mov r6, r10\n\t"
                     "mov r7, r11\n\t"
                     "stmia r1!, {r4-r7}\n\t"
                     "mov r4, lr\n\t"
                     "str r4, [r1]\n\t"
                     "bl board_swap\n\t"
                     "mov r1, r0\n\t"
                     "adds r1, #16\n\t"
                     "ldmia r1!, {r4-r7}\n\t"
                     "mov r8, r4\n\t"
                     "mov r9, r5\n\t"
                     "mov r10, r6\n\t"
                     "mov r11, r7\n\t"
                     "ldmia r1!, {r2}\n\t"
                     "msr psp, r1\n\t"
                     "ldmia r0!, {r4-r7}\n\t"
                     "bx r2");
}
#else
#ifdef __ARM_FP /* the upper half of its registers, where a task used them */
#define FP_SAVE "tst lr, #16\n\tit eq\n\tvstmdbeq r0!, {s16-s31}\n\t"
#define FP_LOAD "tst lr, #16\n\tit eq\n\tvldmiaeq r0!, {s16-s31}\n\t"
#else
#define FP_SAVE
#define FP_LOAD
#endif
__attribute__((naked)) void PendSV_Handler(void)
{
    __asm__ volatile("mrs r0, psp\n\t" FP_SAVE "stmdb r0!, {r4-r11, lr}\n\t"
                     "bl board_swap\n\t"
                     "ldmia r0!, {r4-r11, lr}\n\t" FP_LOAD "msr psp, r0\n\t"
                     "bx lr");
}
#endif

/* ------------------------------------------------------------ interrupts -- */

/* The frame of the interrupted code: 8 words, the seventh is its pc. */
void board_tick(const uintptr_t *frame);
void board_tick(const uintptr_t *frame)
{
    scheduler_on_tick(frame[6]);
}
void board_lined(const uintptr_t *frame);
void board_lined(const uintptr_t *frame)
{
    scheduler_on_line(frame[6]);
}
#define HANDLER(name, function)                                                \
    __attribute__((naked)) void name(void)                                     \
    {                                                                          \
        __asm__ volatile(".syntax unified\n\t"                                 \
                         "mov r0, lr\n\t"                                      \
                         "lsrs r0, #3\n\t" /* bit 2: which stack it is on */   \
                         "bcs 1f\n\t"                                          \
                         "mrs r0, msp\n\t"                                     \
                         "b 2f\n"                                              \
                         "1:\tmrs r0, psp\n"                                   \
                         "2:\tldr r1, =" #function "\n\t"                      \
                         "bx r1");                                             \
    }
HANDLER(SysTick_Handler, board_tick)
HANDLER(Interrupt0_Handler, board_lined)

void board_line(void)
{
    REGISTER(0xe000e200) = 1; /* pends interrupt 0 */
    __asm__ volatile("dsb\n\tisb" : : : "memory");
}

/* QEMU's time jumps where a processor sleeps: not with SCHEDULER_AWAKE. */
void board_sleep(void)
{
#ifdef SCHEDULER_AWAKE
    const volatile unsigned *ticks = &scheduler_tick.count;
    unsigned seen = *ticks;
    while (*ticks == seen)
        ;
#else
    __asm__ volatile("wfi" : : : "memory");
#endif
}

/* From here on main has the stack that it had, as a task, and interrupts have
 * another. */
void board_run(void)
{
    static uintptr_t stack[1024] __attribute__((aligned(8)));
    REGISTER(0xe000ed20) = 0x80c00000u; /* urgency: SysTick, then PendSV */
    REGISTER(0xe000e400) = 0x40;        /* interrupt 0 above both */
    REGISTER(0xe000e100) = 1;
    __asm__ volatile("mrs r0, msp\n\tmsr psp, r0\n\t"
                     "movs r0, #2\n\tmsr control, r0\n\tisb\n\t"
                     "msr msp, %0"
                     :
                     : "r"(stack + 1024)
                     : "r0", "memory");
    port_every(SCHEDULER_TICK);
}
