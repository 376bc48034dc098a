/* main.c - a sensor, a filter and an encoder, with a queue between each two. */
/* SPDX-License-Identifier: MIT */
#include "scheduler.h"

#ifndef FRAMES
#define FRAMES 100
#endif

static struct task sensor, filter, encoder;
static struct queue raw = QUEUE(8), filtered = QUEUE(8);

/* Works for `rounds` rounds; an interrupt comes in between now and then. */
static void work_on(unsigned rounds)
{
    static unsigned random = 1;
    unsigned i, line;
    random = random * 1103515245 + 12345;
    rounds += (random >> 16) % rounds;
    line = random % 5 ? rounds : rounds / 2;
    for (i = 0; i < rounds; i++) {
        __asm__ volatile("");
        if (i == line)
            board_line();
    }
}

/* The last word of all, which no task may miss. */
static void end(struct queue *queue)
{
    while (!queue_put(queue, 0))
        scheduler_wait_for_tick();
}

static void sense(void)
{
    unsigned frame;
    for (frame = 1; frame <= FRAMES; frame++) {
        scheduler_wait_for_tick();
        work_on(500);
        queue_put(&raw, frame);
    }
    end(&raw);
}
static void pass_on(void)
{
    uintptr_t frame;
    while ((frame = queue_get(&raw)) != 0) {
        work_on(4000);
        queue_put(&filtered, frame);
    }
    end(&filtered);
}
static void encode(void)
{
    uintptr_t frame;
    while ((frame = queue_get(&filtered)) != 0)
        work_on(frame % 10 ? 6000 : 25000);
    { /* a mask in a mask, for long */
        uintptr_t outer = scheduler_mask(), inner = scheduler_mask();
        work_on(20000);
        scheduler_unmask(inner);
        scheduler_unmask(outer);
    }
}

/* ---------------------------------------------------------------- counts -- */

static void put_text(const char *text)
{
    size_t size = 0;
    while (text[size])
        size++;
    port_write(text, size);
}
static void put_number(const char *what, uint64_t n)
{
    char text[24], *to = text + sizeof text;
    *--to = '\0';
    do
        *--to = (char)('0' + n % 10);
    while (n /= 10);
    put_text(what);
    put_text(to);
}

static void put_counts(void)
{
    const struct interrupt_counts *interrupts[] = {&scheduler_tick,
                                                   &scheduler_line};
    const struct task *task;
    unsigned i;
    for (task = scheduler_tasks; task; task = task->next) {
        const struct task_counts *counts = &task->counts;
        put_text("thread ");
        put_text(task->name);
        put_number(" runs=", counts->runs);
        put_number(" blocked=", counts->blocked);
        put_number(" preempted=", counts->preempted);
        put_number(" running_us=", counts->spent[TASK_RUNS]);
        put_number(" ready_us=", counts->spent[TASK_READY]);
        put_number(" blocked_us=", counts->spent[TASK_BLOCKED]);
        put_number(" ended_us=", counts->spent[TASK_ENDED]);
        put_number(" unknown_us=", counts->spent[TASK_NEW]);
        put_number(" longest_run_us=", counts->longest_run);
        put_number(" longest_wait_us=", counts->longest_wait);
        put_number(" longest_wake_us=", counts->longest_wake);
        put_text("\n");
    }
    for (i = 0; i < 2; i++) {
        put_text("interrupt ");
        put_text(interrupts[i]->name);
        put_number(" count=", interrupts[i]->count);
        put_number(" us=", interrupts[i]->spent);
        put_number(" longest_us=", interrupts[i]->longest);
        put_text("\n");
    }
    put_number("processor span_us=",
               scheduler_counts.end - scheduler_counts.begin);
    put_number(" idle_us=", scheduler_counts.idle);
    put_number(" interrupts_us=", scheduler_counts.interrupts);
    put_number(" off=", scheduler_counts.off_count);
    put_number(" off_us=", scheduler_counts.off);
    put_number(" off_longest_us=", scheduler_counts.off_longest);
    put_text("\n");
}

/* A debugger may stop here, and save the memory for `recorder sched`. */
void image_done(void);
__attribute__((noinline)) void image_done(void)
{
    __asm__ volatile("");
}

int main(void)
{
    scheduler_add(&sensor, "sensor", sense);
    scheduler_add(&filter, "filter", pass_on);
    scheduler_add(&encoder, "encoder", encode);
    scheduler_run();
    put_counts();
    image_done();
    return 0;
}
