/* overwritten.c - writes over what a dump reads, and crashes. */
/* SPDX-License-Identifier: MIT */
/*
    ./overwritten FROM COUNT [MOST]

    For each seed a child overwrites random words of the registry, recorders,
    rings, tables of threads, tasks and libraries, triggers and the recording's
    registry, and crashes. RECORDER_FILE=PATTERN.%p gives children recordings.
    Exit status 1, and a line for each seed, where a child did not die of its own
    signal, or its dump took more than MOST milliseconds of the processor (2,000).
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "recorder_tasks.h"
#include "recorder_trigger.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

RECORDER(net, 1024, "Network traffic")
RECORDER(disk, 64, "Disk operations")
RECORDER_LANES(many, 32, 8, "Of several threads")
RECORDER(last, 4)

struct job {
    int id;
};
RECORDER_TASKS_TABLE(jobs, "Jobs", 16, RECORDER_TASK(ID, struct job, id))

static uint64_t state;
static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x9e3779b97f4a7c15u % below;
}

static void work(int count)
{
    char text[100];
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "text %d that is longer than a slot", i);
        record(net, "%d bytes of %s", i, "example.org");
        record(disk, "%s %s", text, text);
        record(many, "%d %d %d %d %d %d", i, i, i, i, i, i);
        record(last, "%*d %-20s|%f", 5, i, "constant", 0.5 * i);
    }
}
static void *thread(void *none)
{
    work(20);
    return none;
}

/* What is overwritten; the program's own words are not. */
struct place {
    void *start;
    size_t bytes;
};
static struct recorder *const recorders[] = {
    &recorder_for_net, &recorder_for_disk, &recorder_for_many,
    &recorder_for_last};
enum { RECORDERS = sizeof recorders / sizeof *recorders };

static struct place place(void)
{
    struct recorder_registry *registry = recorder_home_.registry;
    struct recorder *r = recorders[draw(RECORDERS)];
    struct place at = {registry, sizeof *registry};
    switch (draw(12)) {
    case 0:
    case 1: break;
    case 8:
        if (registry->image)
            at.start = registry->image;
        break;
    case 9:
        at.start = &recorder_triggers_;
        at.bytes = sizeof recorder_triggers_;
        break;
    case 10:
        at.start = registry->lives;
        at.bytes = RECORDER_LIVES_ * sizeof *registry->lives;
        break;
    case 11:
        at.start = &recorder_tasks_jobs;
        at.bytes = sizeof recorder_tasks_jobs;
        break;
    case 2:
    case 3:
    case 4:
        at.start = r;
        at.bytes = sizeof *r;
        break;
    case 5:
        at.start = recorder_home_.registry->threads;
        at.bytes = 40 * sizeof(struct recorder_thread_row);
        break;
    case 6:
        at.start = recorder_home_.registry->owners;
        at.bytes = 16 * sizeof(struct recorder_owner);
        break;
    default:
        at.start = r->rings;
        at.bytes = r->ring_bytes * (r->lanes_mask + 1);
    }
    return at;
}

static void *large; /* zeros, as large as a program's heap */
enum { LARGE = 1 << 30 };

static uint64_t value(void)
{
    struct recorder *r = recorders[draw(RECORDERS)];
    switch (draw(12)) {
    case 0: return draw(64);
    case 1: return ((uint64_t)1 << draw(64)) - 1;
    case 2: return (uint64_t)1 << draw(64);
    case 3: return (uintptr_t)r;
    case 4: return (uintptr_t)r->rings + draw(4096) * 8;
    case 5: return (uintptr_t)recorder_home_.registry;
    case 6: return (uintptr_t)large + draw(LARGE / 8) * 8;
    case 7: return (uintptr_t)&large + draw(512); /* the stack's like */
    case 8: return 0xeeeeeeeeeeeeeeeeu;
    case 9: return (uintptr_t)gettid() + draw(2);
    case 10: return 0;
    default: return draw(UINT64_MAX);
    }
}

static void overwrite(void)
{
    static struct {
        struct place at;
        uint64_t value;
    } all[64];
    unsigned count = 1 + (unsigned)draw(draw(2) ? 3 : 60);
    for (unsigned i = 0; i < count; i++) { /* drawn while it is whole */
        all[i].at = place();
        all[i].value = value();
    }
    for (unsigned i = 0; i < count; i++) {
        size_t size = draw(3) ? sizeof(uintptr_t) : draw(2) ? 4 : 64;
        size_t at = draw(all[i].at.bytes / 8) * 8;
        if (!all[i].at.start || at + size > all[i].at.bytes)
            continue;
        for (size_t done = 0; done < size; done += 4)
            memcpy((char *)all[i].at.start + at + done,
                   (char *)&all[i].value + done % 8, 4);
    }
}

static int *volatile nowhere;
static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL,
                              SIGQUIT, SIGTRAP};
enum { SIGNALS = sizeof signals / sizeof *signals };

static void child(uint64_t seed)
{
    static struct job job = {1};
    struct rlimit none = {0, 0};
    pthread_t threads[3];
    int sig = signals[seed % SIGNALS], out = open("/dev/null", O_WRONLY);
    setrlimit(RLIMIT_CORE, &none);
    if (!getenv("OVERWRITTEN_SAYS"))
        dup2(out, 2);
    state = seed * 0x2545f4914f6cdd1du + 1;
    large = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    signal(sig, SIG_DFL); /* programs in the background ignore SIGQUIT */
    recorder_dump_on_common_signals(0, 0);
    if (recorder_recording_)
        unlink(recorder_recording_->path);
    if (draw(2)) {
        if (!recorder_trigger("disk: 1>250: signal=23, again") ||
            !recorder_trigger("net: 10x1s: signal=23, again"))
            _exit(4); /* 23 is SIGURG, which is ignored */
        recorder_task_enter(&recorder_tasks_jobs, &job);
        recorder_task_switch(recorder_task_begin("a job"));
    }
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    work(300);
    overwrite();
    if (sig == SIGSEGV)
        *nowhere = 1;
    if (sig == SIGABRT)
        abort();
    raise(sig);
    _exit(3); /* it goes on */
}

static double seconds(const struct rusage *use)
{
    return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
           (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) / 1e6;
}

int main(int count, char **arguments)
{
    uint64_t from = count > 1 ? strtoull(arguments[1], NULL, 0) : 1;
    uint64_t end = from + (count > 2 ? strtoull(arguments[2], NULL, 0) : 1);
    double most = count > 3 ? atof(arguments[3]) / 1000 : 2, longest = 0;
    bool wrong = false;
    for (uint64_t seed = from; seed < end; seed++) {
        struct rusage use;
        int status, waited = 0;
        pid_t pid = fork();
        if (pid == 0)
            child(seed);
        while (wait4(pid, &status, WNOHANG, &use) == 0 && ++waited < 30000)
            usleep(waited < 1000 ? 300 : 1000);
        if (waited == 30000) {
            kill(pid, SIGKILL);
            wait4(pid, &status, 0, &use);
        }
        longest = seconds(&use) > longest ? seconds(&use) : longest;
        if (waited < 30000 && seconds(&use) <= most && WIFSIGNALED(status) &&
            WTERMSIG(status) == signals[seed % SIGNALS])
            continue;
        printf("seed %llu: status %#x, not of signal %d, %.2f s of the "
               "processor%s\n",
               (unsigned long long)seed, (unsigned)status,
               signals[seed % SIGNALS], seconds(&use),
               waited == 30000 ? ", hung" : "");
        wrong = true;
    }
    printf("longest: %.2f s\n", longest);
    return wrong;
}
