/* Fibers by swapcontext(): the program of recorder_tasks.h, whole. */
/* SPDX-License-Identifier: MIT */
#include "recorder_tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

struct fiber {
    struct fiber *next;
    char name[16];
    int id, state; /* 0: ready, 1: running, 2: waiting */
    ucontext_t context;
} * all_fibers;

#ifdef POINTERS /* the context is elsewhere */
struct outer {
    struct outer *next;
    const char *name;
    ucontext_t *context;
} * all_outer;
RECORDER_TASKS(outer, "Fibers with pointers", &all_outer,
               RECORDER_TASK(NEXT, struct outer, next),
               RECORDER_TASK(NAME_AT, struct outer, name),
               RECORDER_TASK(UCONTEXT_AT, struct outer, context))
#else
RECORDER_TASKS(fibers, "Fibers of the server", &all_fibers,
               RECORDER_TASK(NEXT, struct fiber, next),
               RECORDER_TASK(ID, struct fiber, id),
               RECORDER_TASK(NAME, struct fiber, name),
               RECORDER_TASK_STATES(struct fiber, state,
                                    "ready\0running\0waiting\0"),
               RECORDER_TASK(UCONTEXT, struct fiber, context))
#endif

static ucontext_t scheduler;

__attribute__((noinline)) void f(struct fiber *fiber, int depth)
{
    volatile int x = depth;
    if (depth)
        f(fiber, depth - 1);
    else
        swapcontext(&fiber->context, &scheduler);
    (void)x;
}
static void stand(void)
{
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (;;)
        pause();
}
static void run(unsigned high, unsigned low)
{
    struct fiber *fiber =
        (struct fiber *)(uintptr_t)((uint64_t)high << 32 | low);
    if (strcmp(fiber->name, "runs") == 0)
        stand();
    f(fiber, 3);
}
static void start(const char *name, int id, bool runs)
{
    struct fiber *fiber = calloc(1, sizeof *fiber);
    uint64_t at = (uint64_t)(uintptr_t)fiber;
    strcpy(fiber->name, name);
    fiber->id = id;
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_size = 65536;
    fiber->context.uc_stack.ss_sp = malloc(65536);
    fiber->next = all_fibers;
    all_fibers = fiber;
    makecontext(&fiber->context, (void (*)(void))run, 2, (unsigned)(at >> 32),
                (unsigned)at);
    if (!runs)
        return;
    fiber->state = 1;
    swapcontext(&scheduler, &fiber->context);
    fiber->state = 2;
}

int main(void)
{
    start("one", 1, true);
    start("two", 2, true);
    start("fresh", 3, false);
#ifdef POINTERS
    for (struct fiber *fiber = all_fibers; fiber; fiber = fiber->next) {
        struct outer *outer = malloc(sizeof *outer);
        outer->next = all_outer;
        outer->name = fiber->name;
        outer->context = &fiber->context;
        all_outer = outer;
    }
    stand();
#else
    start("runs", 4, true);
#endif
}
