/* kernel.h - switches of programs that record none, and counts of the
 * system. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"

/* Opens argument 0 of the call as a source with a recorder `switches`, in rings
 * of the command, copies switches for `ns`, or until the process ends or
 * stop_wait() returns true, and takes them. False: a message says why not. */
bool kernel_record(struct call *, int pid, uint64_t ns);

/* In place of switches, shows how often the threads of a process ran, blocked
 * and were preempted during `ns`, as /proc counts. */
void kernel_counts(struct call *, int pid, uint64_t ns, bool as_json);

/* Waits for `ns`. True: Ctrl-C came, or another signal that asks to end; at
 * exit the command then ends by that signal. These signals are blocked until
 * stop_over(): then the next signal ends the command at once. */
bool stop_wait(uint64_t ns);
void stop_over(void);
