/* runs.c - finds the threads of running tasks that name none. */
/* SPDX-License-Identifier: MIT */
#include "tasks.h"
#include "threads.h"

enum { RUNS_MAX = 64 }; /* tasks that are looked at */

/* The saved stack pointer of a task, which is outdated but in its stack; 0:
 * none. */
static uint64_t saved_sp(struct tasks *tasks, const struct task *task)
{
    const struct machine *machine = machine_of(&tasks->cache.memory);
    struct task_context context;
    return machine &&
                   task_registers(tasks, &tasks->cache.memory, task, &context)
               ? context.registers.value[machine->unwind.sp]
               : 0;
}

/* The only thread whose stack pointer is in the range, or TASK_NONE. */
static size_t thread_between(const struct tasks *tasks, uint64_t start,
                             uint64_t end)
{
    const struct tasks_program *program = &tasks->program;
    size_t found = TASK_NONE;
    uint64_t sp;
    int32_t id;
    for (size_t i = 0; program->thread(program->of, i, &id, &sp); i++) {
        if (sp < start || sp >= end)
            continue;
        if (found != TASK_NONE)
            return TASK_NONE;
        found = i;
    }
    return found;
}

/* Unlinks a thread from its tasks if several claim it. */
static void doubles_drop(struct task *const *runs, const size_t *threads,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        for (size_t k = 0; k < count; k++)
            same += threads[k] == threads[i];
        if (same == 1)
            runs[i]->thread = threads[i];
    }
}

void runs_link(struct tasks *tasks)
{
    const struct tasks_program *program = &tasks->program;
    struct task *runs[RUNS_MAX];
    size_t threads[RUNS_MAX], count = 0;
    uint64_t start, end, sp;
    int32_t id;
    for (size_t i = 0; i < tasks->count; i++) {
        struct task *task = &tasks->all[i];
        if (!task->running || task->worker || task->thread != TASK_NONE)
            continue;
        if (count == RUNS_MAX)
            return;
        runs[count++] = task;
    }
    if (!count || !program->thread ||
        !program->thread(program->of, 0, &id, NULL))
        return;
    if (count == 1 && !program->thread(program->of, 1, &id, NULL)) {
        runs[0]->thread = 0;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        threads[i] = TASK_NONE;
        sp = program->mapping ? saved_sp(tasks, runs[i]) : 0;
        if (sp && program->mapping(program->of, sp, &start, &end))
            threads[i] = thread_between(tasks, start, end);
    }
    doubles_drop(runs, threads, count);
}
