/* process.c - the library in a process: its start, its file, fork(). */
/* SPDX-License-Identifier: MIT */
#include "real_functions.h"

#include <sys/mman.h>

#include "recorder_dump.h"
RECORDER_ASSERT_(RECORDER_PRELOADED_, "defined before the first header");

static char pattern[RECORDER_PATH_MAX_];

#define ADDRESS(name) &recorder_for_##name,
static const struct recorder *const recorders[] = {RUN_RECORDERS(ADDRESS)};
enum { RECORDERS = sizeof recorders / sizeof *recorders };

/* Gives back the pages where the rings were before they moved into the file.
 * The move has read all of them, and each fork() would copy their entries in
 * the page table. */
static void rings_leave(struct recorder_ring *const was[RECORDERS])
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (unsigned i = 0; i < RECORDERS; i++) {
        uintptr_t start = (uintptr_t)was[i], end;
        end = (start + (recorders[i]->lanes_mask + 1) *
                           recorders[i]->ring_bytes) & ~(page - 1);
        start = (start + page - 1) & ~(page - 1);
        if (recorders[i]->rings != was[i] && start < end)
            madvise((void *)start, end - start, MADV_DONTNEED);
    }
}

void run_file(void)
{
    struct recorder_registry *registry = recorder_home_.registry;
    struct recorder_ring *was[RECORDERS];
    if (!*pattern || registry->image ||
        recorder_os_process_stat_(recorder_os_process_(),
                                  RECORDER_STAT_THREADS_) > 1)
        return;
    for (unsigned i = 0; i < RECORDERS; i++)
        was[i] = recorders[i]->rings;
    if (recorder_file(pattern)) {
        recorder_file_forget_in_child_();
        recorder_exit_begin_(true);
        rings_leave(was);
    } else
        *pattern = '\0'; /* said once */
}

static bool always, is_due;

void run_file_due(void)
{
    if (is_due && !recorder_get_(&run_sandboxed) &&
        recorder_home_.registry->pid == recorder_os_process_()) {
        is_due = false;
        run_file();
    }
}

/* exit() knows nothing of these ends. A child of vfork() has its parent's
 * memory. */
#define EXIT(name)                                                             \
    RUN_EXPORT void name(int status)                                           \
    {                                                                          \
        run_bind();                                                            \
        if (!run_sandboxed &&                                                  \
            recorder_home_.registry->pid == recorder_os_process_())            \
            recorder_exit_note_(status, NULL);                                 \
        run_real.name(status);                                                 \
    }
EXIT(_exit)
EXIT(_Exit)
EXIT(quick_exit)

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
    RUN_INSIDE(&run_self);
    run_sandbox_begin();
    if (rings_are_new)
        run_stacks_forked();
    run_order_forked();
    run_objects_forked(rings_are_new);
    run_threads_forked(rings_are_new);
    is_due = always;
}

/* The environment: RECORDER_RUN is options, and the pattern of the file's path:
 * "all,count,always:/tmp/%e.%p.rec". */
static bool has(const char *options, const char *option)
{
    const char *at = strstr(options, option), *end = strchr(options, ':');
    return at && end && at < end;
}

/* Returns the number after "slow=", else 50. */
static uintptr_t calls_least(const char *options)
{
    const char *at = strstr(options, "slow=");
    uintptr_t us = 0;
    if (!at || at > strchr(options, ':'))
        return 50;
    for (at += 5; *at >= '0' && *at <= '9'; at++)
        us = us * 10 + (uintptr_t)(*at - '0');
    return us;
}

void run_process_begin(void)
{
    const char *text = getenv("RECORDER_RUN");
    const char *path = text ? strchr(text, ':') : NULL;
    pthread_atfork(forks, NULL, forked);
    run_sandbox_begin();
    if (!path)
        return;
    run_each_begin(has(text, "all"), has(text, "count"));
    run_calls_begin(calls_least(text));
    if (strlen(path + 1) < sizeof pattern)
        strcpy(pattern, path + 1);
    always = run_spans_begin(getenv("RECORDER_RUN_SPANS")) ||
             has(text, "always");
    if (always)
        run_file();
}

__attribute__((constructor(104))) static void begin(void)
{
    run_begin();
}
