/* namespaces.h - ids of threads whose program is in a pid namespace. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "libc.h"

/* A program in another namespace records its threads' ids of there; the system
 * tells us others. */
struct namespace
{
    int pid;
    bool differs; /* from this command's own */
    struct namespace_thread {
        int32_t id, ours;
    } * threads;
    size_t threads_count, threads_max;
    uint64_t read_ns; /* when they were looked up */
};

void namespace_open(struct namespace *, int pid);
void namespace_close(struct namespace *);
/* Returns the id that a thread has for us; 0: none. A thread that came in the
 * last tenth of a second may not be known yet. */
int32_t namespace_id(struct namespace *, int32_t id);
