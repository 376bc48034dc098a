/* bare-tasks.c - tasks that stand, for `recorder tasks` on their memory. */
/* SPDX-License-Identifier: MIT */
#include "scheduler.h"

RECORDER(said, 64, "What tasks say");
static struct task reader, last, fresh;
static struct queue words = QUEUE(2);

__attribute__((noinline)) static uintptr_t deep(unsigned depth)
{
    uintptr_t word = depth ? deep(depth - 1) : queue_get(&words);
    __asm__ volatile("");
    return word + 1;
}
static void read_words(void)
{
    record(said, "reads %d words", 3);
    deep(3);
    __asm__ volatile("");
}

/* A debugger stops here, while all others stand. */
void image_done(void);
__attribute__((noinline)) void image_done(void)
{
    __asm__ volatile("");
}
static void stop(void)
{
    record(said, "the last stops");
    image_done();
    for (;;)
        board_sleep();
}

int main(void)
{
    scheduler_add(&reader, "reader", read_words);
    scheduler_add(&last, "last", stop);
    scheduler_add(&fresh, "fresh", stop);
    scheduler_run();
    return 1;
}
