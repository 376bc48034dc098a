/* kernel.c - a stand-in for a kernel: it chooses tasks, and counts. */
/* SPDX-License-Identifier: MIT */
#include <nuttx/sched.h>
#include <nuttx/sched_note.h>

#include "../standin.h"

enum { TASKS = 5 };
static struct tcb_s tasks[TASKS], *current = &tasks[0];

struct tcb_s *nxsched_self(void)
{
    return current;
}

/* The first task that is ready, from one by chance on; idle always is. */
static struct tcb_s *choose(void)
{
    unsigned first = random_below(TASKS), i;
    for (i = 0; i < TASKS; i++) {
        struct tcb_s *task = &tasks[(first + i) % TASKS];
        if (task != &tasks[0] && (task->task_state == TSTATE_TASK_READYTORUN ||
                                  task->task_state == TSTATE_TASK_RUNNING))
            return task;
    }
    return &tasks[0];
}

/* As there: also to the same task, and an end is reported after its switch. */
static void schedule(void)
{
    struct tcb_s *from = current, *to = choose();
    if (to != from && from->task_state == TSTATE_TASK_RUNNING)
        from->task_state = TSTATE_TASK_READYTORUN;
    sched_note_suspend(from);
    sched_note_resume(to);
    if (to != from) {
        from->preempted += from->task_state == TSTATE_TASK_READYTORUN;
        from->blocked += from->task_state > TSTATE_TASK_INACTIVE;
        to->runs++;
    }
    current = to;
    to->task_state = TSTATE_TASK_RUNNING;
    if (from->task_state == TSTATE_TASK_INACTIVE)
        sched_note_stop(from);
}

static void start(void)
{
    unsigned i;
    for (i = 0; i < TASKS; i++) {
        snprintf(tasks[i].name, sizeof tasks[i].name, "task %u", i);
        tasks[i].task_state = i ? TSTATE_TASK_READYTORUN : TSTATE_TASK_RUNNING;
        sched_note_start(&tasks[i]);
    }
    tasks[0].runs = 1;
}

static void interrupt(void)
{
    unsigned i;
    sched_note_irqhandler(15, NULL, true);
    for (i = 0; i < TASKS; i++)
        if (tasks[i].task_state > TSTATE_TASK_INACTIVE && random_below(4) == 0)
            tasks[i].task_state = TSTATE_TASK_READYTORUN;
    sched_note_irqhandler(15, NULL, false);
}

int main(int argc, char **argv)
{
    unsigned i, ticks = 0, ended = 0;
    start();
    for (i = 0; i < 3000; i++) {
        if (random_below(2) == 0) {
            interrupt();
            ticks++;
        } else if (i >= 2500 && ended == 1 && current != &tasks[1] &&
                   tasks[1].task_state > TSTATE_TASK_INACTIVE) {
            tasks[1].task_state =
                TSTATE_TASK_INACTIVE; /* by the current task */
            sched_note_stop(&tasks[1]);
            ended++;
        } else if (current != &tasks[0]) {
            current->task_state = TSTATE_WAIT_SEM + random_below(2);
            if (i >= 2000 && ended == 0 && current != &tasks[1]) {
                current->task_state = TSTATE_TASK_INACTIVE;
                ended++;
            }
        }
        schedule();
    }
    for (i = 0; i < TASKS; i++)
        printf("%s %u %u %u\n", tasks[i].name, tasks[i].runs, tasks[i].blocked,
               tasks[i].preempted);
    printf("tick %u\n", ticks);
    return ask(argc, argv);
}
