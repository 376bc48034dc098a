/* task_snapshot.h - tasks in a recording. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core.h"

/* Changes bytes that a memory keeps. */
typedef void tasks_put(struct memory *, uint64_t address,
                       const unsigned char *from, size_t size);

/* Reads the tasks of a call's source, if it has any, through a memory that
 * keeps all read bytes. Notes each thread and task, and lets the memory keep
 * their stacks. A task that ran in between has no note. */
void tasks_save(struct call *, struct memory *keeper, tasks_put *,
                struct notes *);
