/* kernel.h - switches of programs that record none, and counts of the
 * system. */
/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_H
#define KERNEL_H

#include "command.h"

/* Opens the call's argument 0 as a source with a recorder `switches`, of rings
 * of the command's own, copies switches for so long, or until the
 * process has ended or stop_wait() says so, and takes them. False: it cannot be, which is said. */
bool kernel_record(struct call *, int pid, uint64_t ns);

/* Shows, instead, how often the threads of a process ran, blocked and were
 * preempted meanwhile, as /proc counts it, without times of switches. */
void kernel_counts(struct call *, int pid, uint64_t ns, bool as_json);

/* Waits for so long. True: Ctrl-C came, or another signal that asks to end;
 * then at its exit the command ends by that. Such signals are blocked until
 * stop_over(): then the next one ends the command at once. */
bool stop_wait(uint64_t ns);
void stop_over(void);

#endif
