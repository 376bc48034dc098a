/* power.c - a ring in memory that keeps its bytes when the power is cut. */
/* SPDX-License-Identifier: MIT */
/*
 * power FILE CUTS SEED: starts itself CUTS times, lets it make a random number
 * of instructions, and kills it. FILE is the memory. Each start continues the
 * ring and checks it: the traced code is a port, its parent is the power.
 */
#include <stddef.h>
#include <stdint.h>

extern uintptr_t power_now;
#define RECORDER_TIME() (++power_now)
#define RECORDER_TIME_HZ 1000000
#define RECORDER_THREAD() 1u
#define MEMORY 0x30000000u
enum { SLOTS = 16, BYTES = 8192, NEAR = 700, FAR = 2500 };
#include "recorder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

uintptr_t power_now;
static volatile uintptr_t *done; /* the last number whose record() returned */

/* Runs before the recorder's own constructor. */
__attribute__((constructor(101))) static void power_on(void)
{
    const char *path = getenv("POWER_MEMORY");
    int fd = path ? open(path, O_RDWR) : -1;
    if (mmap((void *)MEMORY, BYTES, PROT_READ | PROT_WRITE,
             fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
                    : MAP_SHARED | MAP_FIXED,
             fd, 0) == MAP_FAILED)
        abort();
    done = (volatile uintptr_t *)(MEMORY + BYTES / 2);
    if (path)
        raise(SIGTRAP); /* recorder_resume() is next */
}

RECORDER_AT(kept, SLOTS, MEMORY, "Survives");

static void must(bool is, const char *what, uintptr_t n)
{
    if (is)
        return;
    printf("%s: %lu, after %lu\n", what, (unsigned long)n,
           (unsigned long)*done);
    fflush(stdout);
    _exit(1);
}

/* Each whole slot holds a record as it was made; each record that was made is
 * there, unless its slot was handed out again. Returns the newest number. */
static uintptr_t check(void)
{
    const struct recorder_ring *ring = recorder_for_kept.rings;
    uintptr_t slot, n, newest = *done, order = 0, seen[SLOTS] = {0};
    struct recorder_record r;
    for (slot = 0; slot < SLOTS; slot++) {
        if (!recorder_look_(ring, SLOTS - 1, slot, &r))
            continue;
        n = (uintptr_t)r.argument[0];
        must(r.argument[1] == n * n && r.argument[2] == ~n &&
                 r.argument[3] == (n ^ 0x5555) && n <= *done + 1 && r.format,
             "torn", n);
        order = n >= newest ? r.order : order;
        newest = n > newest ? n : newest;
        seen[slot] = n;
    }
    for (n = *done; n && *done - n < SLOTS; n--) {
        uintptr_t position = done[1 + n % 64];
        must(seen[position % SLOTS] == n || ring->write > position + SLOTS,
             "a record is missing", n);
    }
    must(order < recorder_order, "orders do not go on", order);
    return newest;
}

static void steps(pid_t child, uintptr_t count, int *status)
{
    while (count-- && WIFSTOPPED(*status)) {
        ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
        waitpid(child, status, 0);
    }
}

int main(int argc, char **argv)
{
    unsigned cuts = argc > 2 ? (unsigned)atoi(argv[2]) : 0, i, ended = 0;
    uintptr_t n;
    if (getenv("POWER_MEMORY")) {
        n = check();
        if (n > *done) /* its record is whole, and record() had not returned */
            done[1 + n % 64] = recorder_for_kept.rings->write - 1;
        *done = n;
        raise(SIGTRAP); /* records are next */
        for (n++;; n++) {
            record(kept, "%zu %zu %zu %zu", (size_t)n, (size_t)(n * n),
                   (size_t)~n, (size_t)(n ^ 0x5555));
            done[1 + n % 64] = recorder_for_kept.rings->write - 1;
            *done = n;
        }
    }
    srand((unsigned)atoi(argv[3]));
    setenv("POWER_MEMORY", argv[1], 1);
    for (i = 0; i < cuts; i++) {
        pid_t child = fork();
        int status = 0;
        if (child == 0) {
            ptrace(PTRACE_TRACEME, 0, NULL, NULL);
            execl("/proc/self/exe", "power", (char *)NULL);
            _exit(127);
        }
        waitpid(child, &status, 0); /* exec */
        ptrace(PTRACE_CONT, child, NULL, NULL);
        waitpid(child, &status, 0); /* the first mark */
        if (i % 8 == 7) {
            steps(child, (uintptr_t)rand() % FAR, &status);
        } else {
            ptrace(PTRACE_CONT, child, NULL, NULL);
            waitpid(child, &status, 0); /* the second mark */
            steps(child, (uintptr_t)rand() % NEAR, &status);
        }
        if (WIFEXITED(status))
            return printf("cut %u\n", i), 1;
        ended += !WIFSTOPPED(status);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    printf("%u cuts, %lu records, %u ended\n", cuts,
           (unsigned long)((uintptr_t *)mmap(NULL, BYTES, PROT_READ, MAP_SHARED,
                                             open(argv[1], O_RDONLY),
                                             0))[BYTES / 2 / sizeof(uintptr_t)],
           ended);
    return ended != 0;
}
