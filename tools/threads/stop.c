/* stop.c - a process stopped for the registers of its threads: ptrace. */
/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include "recorder/clock.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* The time to wait for all threads. An uninterruptible one, for example a
 * parent in vfork(), stops later or never. */
enum { STOP_NS = 500000000 };

/* Waits until a thread has stopped as requested; false: it has ended, or the
 * time is over. A signal on its way stops it, too: *signal. */
static bool thread_stopped(int32_t id, uint64_t until_ns, int *signal)
{
    int status, got;
    while ((got = waitpid(id, &status, __WALL | WNOHANG)) == 0) {
        if (recorder_clock_ns_(RECORDER_MONOTONIC_) > until_ns)
            return false;
        sleep_ns(200000);
    }
    if (got != id || !WIFSTOPPED(status))
        return false;
    *signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
    return true;
}

static void thread_registers(struct threads *threads, struct thread *thread)
{
    unsigned char bytes[1024];
    struct iovec to = {bytes, sizeof bytes};
    if (ptrace(PTRACE_GETREGSET, thread->id, (void *)(intptr_t)NT_PRSTATUS,
               &to) == 0)
        core_registers(threads, thread, bytes, to.iov_len);
}

/* All requests are sent before the first wait, so that all threads stop at
 * nearly the same moment. */
const char *stop_all(struct threads *threads)
{
    size_t stopped = 0;
    int error = 0;
    threads->stopped_ns = recorder_clock_ns_(RECORDER_MONOTONIC_);
    for (size_t i = 0; i < threads->count; i++) {
        struct thread *t = &threads->all[i];
        t->stopped = ptrace(PTRACE_SEIZE, t->id, NULL, NULL) == 0;
        if (!t->stopped)
            error = errno;
        else
            ptrace(PTRACE_INTERRUPT, t->id, NULL, NULL);
    }
    for (size_t i = 0; i < threads->count; i++) {
        struct thread *t = &threads->all[i];
        t->stopped =
            t->stopped &&
            thread_stopped(t->id, threads->stopped_ns + STOP_NS, &t->signal);
        if (t->stopped)
            thread_registers(threads, t);
        stopped += t->stopped;
    }
    if (stopped)
        return NULL;
    return threads_wrong(threads, "cannot be stopped: %s",
                         error == EPERM
                             ? "a debugger has it, or this user may not"
                             : strerror(error));
}

void stop_end(struct threads *threads)
{
    for (size_t i = 0; i < threads->count; i++) {
        struct thread *t = &threads->all[i];
        if (t->stopped) /* t->signal: one that came since the stop */
            ptrace(PTRACE_DETACH, t->id, NULL, (void *)(intptr_t)t->signal);
        t->stopped = false;
    }
    threads->stopped_ns =
        recorder_clock_ns_(RECORDER_MONOTONIC_) - threads->stopped_ns;
}
