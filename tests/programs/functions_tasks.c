/* functions_tasks.c - two coroutines whose calls nest apart: outside/functions.c */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"
#include "recorder_functions.h"
#include "recorder_tasks.h"

#include <stdlib.h>
#include <ucontext.h>

#define BARE __attribute__((no_instrument_function))

static ucontext_t all, one[2];

BARE static void yield(int task)
{
    recorder_task_switch(0);
    swapcontext(&one[task], &all);
}

__attribute__((noinline)) static void inner(int task)
{
    yield(task);
}

__attribute__((noinline)) static void outer(int task)
{
    inner(task);
    yield(task);
    inner(task);
}

BARE static void body(int task)
{
    for (int i = 0; i < 2; i++)
        outer(task);
}

BARE int main(void)
{
    unsigned numbers[2] = {recorder_task_begin("left"),
                           recorder_task_begin("right")};
    for (int i = 0; i < 2; i++) {
        getcontext(&one[i]);
        one[i].uc_stack.ss_sp = malloc(1 << 16);
        one[i].uc_stack.ss_size = 1 << 16;
        one[i].uc_link = &all;
        makecontext(&one[i], (void (*)(void))body, 1, i);
    }
    for (int k = 0; k < 7; k++)
        for (int i = 0; i < 2; i++) {
            recorder_task_switch(numbers[i]);
            swapcontext(&all, &one[i]);
            recorder_task_switch(0);
        }
    return 0;
}
