/* kernel.h - switches of programs that record none, and counts of the
 * system. */
/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_H
#define KERNEL_H

#include "command.h"

/* Opens the call's argument 0 as a source with a recorder `switches`, of rings
 * of the command's own, copies switches for so long, or until the
 * process has ended, and takes them. False: it cannot be, which is said. */
bool kernel_record(struct call *, int pid, uint64_t ns);

/* Shows, instead, how often the threads of a process ran, blocked and were
 * preempted meanwhile, as /proc counts it, without times of switches. */
void kernel_counts(struct call *, int pid, uint64_t ns, bool as_json);

#endif
