/* recorder_port.h - the recorder's port to Zephyr, and the recorder. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_PORT_H
#define RECORDER_PORT_H

#include <zephyr/kernel.h>
#include <zephyr/linker/linker-defs.h>
#include <zephyr/sys/printk.h>

#define RECORDER_TIME() k_cycle_get_32()
#define RECORDER_TIME_HZ CONFIG_SYS_CLOCK_HW_CYCLES_PER_SEC
#define RECORDER_THREAD() (k_is_in_isr() ? 2u : 1u)

/* Zephyr chooses these where the processor has no atomic instructions. */
#ifdef CONFIG_ATOMIC_OPERATIONS_C
#define RECORDER_ENTER() (uintptr_t) arch_irq_lock()
#define RECORDER_LEAVE(was) arch_irq_unlock((unsigned)(was))
#endif

#define RECORDER_READABLE(address)                                             \
    ((address) - (uintptr_t)__rom_region_start <                               \
         (uintptr_t)__rom_region_end - (uintptr_t)__rom_region_start ||        \
     (address) - (uintptr_t)_image_ram_start <                                 \
         (uintptr_t)_image_ram_end - (uintptr_t)_image_ram_start)
#define RECORDER_WRITE(text, size) printk("%.*s", (int)(size), text)

#include "recorder_dump.h"

#endif
