/* rthw.h - a stand-in: interrupts off and on. */
/* SPDX-License-Identifier: MIT */
#ifndef RTHW_H
#define RTHW_H

rt_base_t rt_hw_interrupt_disable(void);
void rt_hw_interrupt_enable(rt_base_t level);

#endif
