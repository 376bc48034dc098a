/* process.c - the library in a process: its start, its file, fork(). */
/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <stdlib.h>
#include <string.h>

/* RECORDER_FILE, and what descriptor 2 leads to, are the program's. */
#define RECORDER_FILE_PRELOADED
#include "recorder_dump.h"

static char pattern[RECORDER_PATH_MAX_];

void run_file(void)
{
    struct recorder_registry *registry = recorder_home_.registry;
    if (!*pattern || registry->image ||
        recorder_os_process_stat_(recorder_os_process_(),
                                  RECORDER_STAT_THREADS_) > 1)
        return;
    if (recorder_file(pattern))
        recorder_file_forget_in_child_();
    else
        *pattern = '\0'; /* said once */
}

/* The child of a process with a file of ours has new memory for all rings, of
 * which each page that is touched is a page fault. */
static bool rings_are_new;

static void forks(void)
{
    rings_are_new = recorder_recording_ && recorder_recording_->forgets;
    run_threads_fork();
}

static void forked(void)
{
    run_self.inside++;
    run_stacks_forked();
    run_order_forked();
    run_objects_forked(rings_are_new);
    run_threads_forked(rings_are_new);
    run_self.inside--;
}

/* The environment: RECORDER_RUN is the pattern of the file's path, in front of
 * which options may stand: "all,count,always:/tmp/%e.%p.rec". */
static bool has(const char *options, const char *option)
{
    const char *at = strstr(options, option), *end = strchr(options, ':');
    return at && end && at < end;
}

void run_process_begin(void)
{
    const char *text = getenv("RECORDER_RUN");
    const char *path = text ? strchr(text, ':') : NULL;
    pthread_atfork(forks, NULL, forked);
    if (!path)
        return;
    run_each_begin(has(text, "all"), has(text, "count"));
    if (strlen(path + 1) < sizeof pattern)
        strcpy(pattern, path + 1);
    if (has(text, "always"))
        run_file();
}

__attribute__((constructor(104))) static void begin(void)
{
    run_begin();
}
