/* bare-malta.h - interrupts for bare-stress.c: a timer, and software in it. */
/* SPDX-License-Identifier: MIT */
#include "port.h"

#define STRESS_CONTEXTS 1, 2, 3
#define STRESS_RECORD ((uintptr_t)recorder_record_few_)
#define STRESS_RECORD_BYTES 300u /* below its size */
#define STRESS_SHORTEST 400u     /* ticks: out of the handler */
#define STRESS_SPREAD 3000u      /* ticks: more than a record takes */

static inline void stress_timer(uintptr_t ticks)
{
    port_timer(STRESS_SHORTEST + ticks);
}
static inline void stress_inner(void)
{
    port_software();
}
static inline void stress_begin(void)
{
}
static inline void stress_end(void)
{
}

#define STRESS_HANDLERS                                                        \
    void port_on_timer(uintptr_t pc)                                           \
    {                                                                          \
        on_timer(pc);                                                          \
    }                                                                          \
    void port_on_software(void)                                                \
    {                                                                          \
        on_inner();                                                            \
    }
