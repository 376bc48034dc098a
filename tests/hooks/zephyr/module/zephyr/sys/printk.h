/* printk.h - a stand-in, also for names of kernel.h in recorder_port.h. */
/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>
#define CONFIG_SYS_CLOCK_HW_CYCLES_PER_SEC 25000000
#define CONFIG_RECORDER_SWITCHES_SIZE 512
void printk(const char *format, ...);
uint32_t k_cycle_get_32(void);
bool k_is_in_isr(void);
unsigned arch_irq_lock(void);
void arch_irq_unlock(unsigned key);
