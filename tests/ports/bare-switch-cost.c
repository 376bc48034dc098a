/* bare-switch-cost.c - a switch, on and off, and a mask, between labels. */
/* SPDX-License-Identifier: MIT */
#include "port.h"
#undef RECORDER_WRITE /* a program that only records */
#include "recorder.h"
#include "recorder_switch.h"

RECORDER(switches, 64, "What it costs");
RECORDER(interrupts, 16, "and this");
RECORDER(other, 16, "So that no code is made for these alone");

/* As a scheduler has it: two control blocks, a name in one of them. */
struct task {
    const char *name;
} tasks[2] = {{"sensor"}, {"encoder"}};

#define BEGIN(what)                                                            \
    __asm__ volatile(".globl " #what "_begin\n" #what "_begin:" : : : "memor"  \
                                                                      "y")
#define END(what)                                                              \
    __asm__ volatile(".globl " #what "_end\n" #what "_end:" : : : "memory")

int main(void)
{
    struct task *from = &tasks[0], *to = &tasks[1];
    uintptr_t was = 0;
    unsigned i;
    for (i = 0; i < 2; i++) { /* the second time nothing is new */
        RECORDER_TRACE(switches) = 0;
        __asm__ volatile("" : "+r"(from), "+r"(to), "+r"(was));
        BEGIN(on);
        recorder_switch(to, to->name, from, RECORDER_PREEMPTED);
        END(on);
        RECORDER_TRACE(switches) = -1;
        BEGIN(off);
        recorder_switch(to, to->name, from, RECORDER_PREEMPTED);
        END(off);
        BEGIN(mask);
        recorder_switch_off(was);
        recorder_switch_on(was);
        END(mask);
        record(other, "%u %p %p %p", i, (void *)from, (void *)to, (void *)was);
    }
    return 0;
}
