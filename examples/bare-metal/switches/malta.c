/* malta.c - the scheduler on a MIPS32: stacks are swapped by a function. */
/* SPDX-License-Identifier: MIT */
#include "scheduler.h"

#define STATUS_FROM(to) __asm__ volatile("mfc0 %0, $12" : "=r"(to))
#define STATUS_TO(from)                                                        \
    __asm__ volatile("mtc0 %0, $12\n\tehb" : : "r"(from) : "memory")
enum { ON = 1, LINES = 1 << 8 | 1 << 15 }; /* in Status */

const uint32_t board_microsecond = 160;
uint32_t board_ticks(void)
{
    return (uint32_t)port_count();
}

/* ---------------------------------------------------------------- switch -- */

/* Pushes the registers that a function must keep, and Status, stores the stack
 * pointer into *from, and continues with the registers on another stack. */
void board_swap(uintptr_t **from, uintptr_t *to);
__asm__(".text\n\t.set push\n\t.set noreorder\n\t"
        ".globl board_swap\n\t.type board_swap, @function\n"
        "board_swap:\n\t"
        "addiu $sp, $sp, -48\n\t"
        "sw $16, 0($sp)\n\tsw $17, 4($sp)\n\t"
        "sw $18, 8($sp)\n\tsw $19, 12($sp)\n\t"
        "sw $20, 16($sp)\n\tsw $21, 20($sp)\n\t"
        "sw $22, 24($sp)\n\tsw $23, 28($sp)\n\t"
        "sw $30, 32($sp)\n\tsw $31, 36($sp)\n\t"
        "mfc0 $8, $12\n\tsw $8, 40($sp)\n\t"
        "sw $sp, 0($4)\n\tmove $sp, $5\n\t"
        "lw $16, 0($sp)\n\tlw $17, 4($sp)\n\t"
        "lw $18, 8($sp)\n\tlw $19, 12($sp)\n\t"
        "lw $20, 16($sp)\n\tlw $21, 20($sp)\n\t"
        "lw $22, 24($sp)\n\tlw $23, 28($sp)\n\t"
        "lw $30, 32($sp)\n\tlw $31, 36($sp)\n\t"
        "lw $8, 40($sp)\n\tmtc0 $8, $12\n\tehb\n\t"
        "jr $31\n\taddiu $sp, $sp, 48\n\t.set pop");

uintptr_t *board_stack(uintptr_t *end)
{
    uintptr_t *stack = (uintptr_t *)((uintptr_t)end & ~(uintptr_t)15) - 16;
    unsigned i;
    for (i = 0; i < 12; i++)
        stack[i] = 0;
    stack[9] = (uintptr_t)scheduler_begin;
    stack[10] = LINES; /* Status: interrupts are masked until it begins */
    return stack;
}

static volatile bool switches_soon;

void board_switch(void)
{
    switches_soon = true;
}

/* Nothing is masked, and no interrupt runs, from now on. */
static void switch_now(void)
{
    struct task *from = scheduler_current, *to;
    switches_soon = false;
    to = scheduler_next();
    if (to != from)
        board_swap(&from->stack, to->stack);
}

uintptr_t board_mask(void)
{
    uint32_t status;
    STATUS_FROM(status);
    STATUS_TO(status & ~(uint32_t)ON);
    return !(status & ON);
}
void board_unmask(uintptr_t was)
{
    uint32_t status;
    if (was)
        return;
    if (switches_soon && port_context == 1)
        switch_now();
    STATUS_FROM(status);
    STATUS_TO(status | ON);
}

/* ------------------------------------------------------------ interrupts -- */

void port_on_timer(uintptr_t pc)
{
    scheduler_on_tick(pc);
    port_timer(SCHEDULER_TICK * board_microsecond);
}
void port_on_software(void)
{
    scheduler_on_line(0);
}
void port_on_return(void)
{
    if (switches_soon)
        switch_now();
}

void board_line(void)
{
    port_software();
}
void board_sleep(void)
{
    __asm__ volatile("wait" : : : "memory");
}
void board_run(void)
{
    port_timer(SCHEDULER_TICK * board_microsecond);
}
