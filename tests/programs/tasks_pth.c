/* Threads of GNU Pth: a deadlock, waits of other kinds, and Pth's own list. */
/* SPDX-License-Identifier: MIT */
#include <pth.h>
#include <stdio.h>
#include <unistd.h>

#ifdef RECORDED /* so that `recorder save` takes it */
#include "recorder.h"
RECORDER(work, 64, "What threads do")
__attribute__((constructor)) static void begins(void)
{
    record(work, "begins");
}
#endif

pth_mutex_t A = PTH_MUTEX_INIT, B = PTH_MUTEX_INIT;
pth_mutex_t with_condition = PTH_MUTEX_INIT;
pth_cond_t condition = PTH_COND_INIT;
static pth_t first;

__attribute__((noinline)) static void take(pth_mutex_t *one, pth_mutex_t *other)
{
    pth_mutex_acquire(one, FALSE, NULL);
    pth_yield(NULL);
    pth_mutex_acquire(other, FALSE, NULL);
}
static void *left(void *argument)
{
    take(&A, &B);
    return argument;
}
static void *right(void *argument)
{
    take(&B, &A);
    return argument;
}
pth_mutex_t C = PTH_MUTEX_INIT, D = PTH_MUTEX_INIT;
static void *patient(void *argument)
{
    take(&C, &D);
    return argument;
}
static void *hurried(void *argument)
{
    pth_mutex_acquire(&D, FALSE, NULL);
    pth_yield(NULL);
    pth_mutex_acquire(&C, FALSE,
                      pth_event(PTH_EVENT_TIME, pth_timeout(1000, 0)));
    return argument;
}
static void *sleeps(void *argument)
{
    pth_sleep(1000);
    return argument;
}
static void *joins(void *argument)
{
    pth_join(first, NULL);
    return argument;
}
static void *conditional(void *argument)
{
    pth_mutex_acquire(&with_condition, FALSE, NULL);
    pth_cond_await(&condition, &with_condition, NULL);
    return argument;
}
static void *yields(void *argument)
{
    for (;;)
        pth_yield(NULL);
    return argument;
}

static pth_t start(const char *name, void *(*function)(void *))
{
    pth_attr_t attribute = pth_attr_new();
    pth_t thread;
    pth_attr_set(attribute, PTH_ATTR_NAME, name);
    thread = pth_spawn(attribute, function, NULL);
    pth_attr_destroy(attribute);
    return thread;
}

int main(void)
{
    FILE *list;
    pth_init();
    first = start("left", left);
    start("right", right);
    start("patient", patient);
    start("hurried", hurried);
    start("sleeps", sleeps);
    start("joins", joins);
    start("conditional", conditional);
    start("yields", yields);
    for (int i = 0; i < 20; i++)
        pth_yield(NULL);
    list = fopen("list", "w");
    pth_ctrl(PTH_CTRL_DUMPSTATE, list);
    fclose(list);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (volatile long i = 0;; i++)
        continue;
}
