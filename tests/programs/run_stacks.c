/* run_stacks N [fixed|alloca] - waits 2 N times at the ends of many call chains
 * and says who called each wait. Built with -rdynamic, it counts how often
 * others unwind a stack. Frames have many sizes only with `alloca`. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

enum { FRAMES = 40 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static const struct timespec past = {1, 0};
static volatile unsigned kept;
static int has_alloca;
static unsigned path, sizes; /* two bits for each call; a number at random */

typedef _Unwind_Reason_Code unwinder(_Unwind_Trace_Fn, void *);
static unwinder *unwind;
static unsigned unwound;
_Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn each, void *of)
{
    unwound++;
    if (!unwind)
        *(void **)&unwind = dlsym(RTLD_NEXT, "_Unwind_Backtrace");
    return unwind(each, of);
}

struct stack {
    uintptr_t pcs[FRAMES];
    int count;
};
static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *of)
{
    struct stack *stack = of;
    if (stack->count == FRAMES)
        return _URC_END_OF_STACK;
    stack->pcs[stack->count++] = (uintptr_t)_Unwind_GetIP(context);
    return _URC_NO_REASON;
}

/* The first is this call's own, in place of the wait's. */
__attribute__((noinline)) static void wait_here(int callers)
{
    struct stack stack = {.count = 0};
    unwind(step, &stack);
    for (int i = 1; i <= callers && i < stack.count; i++)
        printf("%#zx%s", (size_t)stack.pcs[i], i < callers ? " " : "\n");
    pthread_cond_timedwait(&never, &mutex, &past);
    kept++; /* no call is the last thing that a function does */
}

static void descend(int depth, int callers);

__attribute__((noinline)) static void small(int depth, int callers)
{
    descend(depth, callers);
    kept++;
}
__attribute__((noinline)) static void large(int depth, int callers)
{
    volatile char room[700];
    room[kept % 700] = 1;
    descend(depth, callers);
    kept += (unsigned)room[kept % 700];
}
/* Its frames are of four sizes. */
__attribute__((noinline)) static void grows(int depth, int callers)
{
    size_t bytes = 64 << (sizes & 3);
    volatile char *room = __builtin_alloca(bytes);
    room[kept % bytes] = 1;
    descend(depth, callers);
    kept += (unsigned)room[kept % bytes];
}
/* Its saved registers are in use below. */
__attribute__((noinline)) static void keeps(int depth, int callers)
{
    unsigned a = kept * 3, b = a ^ 5, c = b * 7, d = c ^ a, e = d * 9;
    descend(depth, callers);
    kept += a + b + c + d + e;
}

__attribute__((noinline)) static void descend(int depth, int callers)
{
    unsigned which = path >> 2 * depth & 3;
    if (depth == 0)
        wait_here(callers);
    else if (which == 0)
        small(depth - 1, callers + 2);
    else if (which == 1)
        large(depth - 1, callers + 2);
    else if (which == 2 && has_alloca)
        grows(depth - 1, callers + 2);
    else
        keeps(depth - 1, callers + 2);
    kept++;
}

static void *waits(void *count)
{
    unsigned seed = 1;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < *(int *)count; i++) {
        seed = seed * 1103515245 + 12345;
        path = seed >> 16;
        sizes = seed >> 12;
        descend((int)(seed >> 28) % 5, 2); /* descend() and this */
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    pthread_t thread;
    has_alloca = argc > 2 && argv[2][0] == 'a';
    *(void **)&unwind = dlsym(RTLD_NEXT, "_Unwind_Backtrace");
    if (pthread_create(&thread, NULL, waits, &count) != 0)
        return 1;
    pthread_join(thread, NULL);
    waits(&count);
    fprintf(stderr, "%u\n", unwound);
    return 0;
}
