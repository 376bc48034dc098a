/* proc.h - files of /proc: of processes, their threads and pid namespaces. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "libc.h"

/* Opens "/proc/PID/NAME"; null: the process has ended, or it may not be read. */
FILE *proc_open(int pid, const char *name);
/* Reads a file's beginning, ended by a NUL. Returns its size; 0: it has none.
 * proc_text(): of a process or, unless `thread` is 0, of one of its threads. */
size_t file_text(const char *path, char *to, size_t size);
size_t proc_text(int pid, int thread, const char *name, char *to, size_t size);
/* The name of a thread, or of a process; false: there is none. */
bool proc_name(int pid, int thread, char to[17]);
/* Reads /proc/PID/stat, of a thread unless that is 0, and returns the text from
 * a field on, which are counted from 1; "": it has ended. */
const char *proc_stat(int pid, int thread, int field, char text[2048]);
/* The number after a name in a text of lines "Name: 12"; 0: none. */
uint64_t proc_number(const char *text, const char *name);
/* The innermost id of "NSpid: 4711 12 1" in a thread's status; 0: unknown. */
int32_t proc_inside(const char *status);
/* Reads the wait status of an ended process, whose parent may wait for it
 * at the same time, and whether it wrote a core file. `may_read`: its stat has
 * no 0 in place of a secret. False: unknown. */
bool proc_status(int pid, int pidfd, bool may_read, int *status, bool *core);
/* A line of /proc/PID/maps; without a path, "". */
struct proc_mapping {
    uint64_t start, end, offset;
    char mode[5], device[16];
    unsigned long inode;
    char path[PATH_MAX];
};
/* Reads the next of a file of proc_open(), which may be null. */
bool proc_mapping_next(FILE *maps, struct proc_mapping *);
/* Lists the names of a folder that are numbers, ascending: of "/proc", the ids of
 * all processes. The caller frees the list; null: the folder cannot be read. */
size_t proc_ids(const char *path, int32_t **ids);
/* The ids of a process's threads; none if it has ended. */
size_t proc_threads(int pid, int32_t **ids);

/* ---------------------------------------------------------- namespaces.c -- */

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
