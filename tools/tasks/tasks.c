/* tasks.c - finds the layouts in a program, and reads all of their tasks. */
/* SPDX-License-Identifier: MIT */
#include "tasks.h"
#include "array.h"
#include "recorder/regex.h"

enum { CACHE_PAGES = 4096, TASK_BYTES_MIN = 16 /* without a stack */ };

/* --------------------------------------------------------------- threads -- */

struct bounds {
    uint64_t low, bytes;
    size_t task;
};

/* The stacks of tasks without a named worker, by their lowest addresses. */
static struct bounds *stacks_sorted(struct tasks *tasks, size_t *count)
{
    struct bounds *all = need(calloc(tasks->count + 1, sizeof *all));
    *count = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct task *task = &tasks->all[i];
        struct bounds *to = &all[*count];
        to->task = i;
        *count += !task->dead && !task->worker &&
                  task_stack(tasks, task, &to->low, &to->bytes);
    }
    array_sort(all, *count, array_compare);
    return all;
}

/* Links a thread to the task whose stack contains its stack pointer. */
static void thread_link(struct tasks *tasks, const struct bounds *stacks,
                        size_t count, size_t thread, uint64_t sp)
{
    size_t after = array_count_to(stacks, count, sizeof *stacks, sp);
    const struct bounds *stack = after ? &stacks[after - 1] : NULL;
    if (!stack || sp - stack->low >= stack->bytes ||
        tasks->all[stack->task].thread != TASK_NONE)
        return;
    tasks->all[stack->task].thread = thread;
    tasks->all[stack->task].running = true;
}

static void threads_link(struct tasks *tasks)
{
    const struct tasks_program *program = &tasks->program;
    bool by_stack = false;
    struct ids by_id = {0};
    struct bounds *stacks;
    size_t count = 0;
    int32_t id;
    uint64_t sp;
    for (size_t i = 0; i < tasks->layouts_count; i++)
        by_stack |= tasks->layouts[i].rows[RECORDER_TASK_STACK_].is_set;
    stacks = by_stack ? stacks_sorted(tasks, &count) : NULL;
    for (size_t i = 0;
         program->thread &&
         program->thread(program->of, i, &id, by_stack ? &sp : NULL);
         i++) {
        ids_add(&by_id, (uint32_t)id, 0, 0, NULL);
        if (stacks)
            thread_link(tasks, stacks, count, i, sp);
    }
    free(stacks);
    for (size_t i = 0; i < tasks->count; i++) {
        struct task *task = &tasks->all[i];
        size_t thread = task->running && task->worker
                            ? ids_find(&by_id, (uint32_t)task->worker, 0, 0)
                            : IDS_NONE;
        if (task->running && tasks->layouts[task->layout].traits.on_first &&
            by_id.count)
            thread = 0;
        if (thread != IDS_NONE && task->thread == TASK_NONE)
            task->thread = thread;
        if (task->owner == TASK_NONE && task->owner_at &&
            task->owner_at <= INT32_MAX) {
            thread = ids_find(&by_id, task->owner_at, 0, 0);
            task->owner_thread = thread == IDS_NONE ? TASK_NONE : thread;
        }
    }
    ids_free(&by_id);
    runs_link(tasks);
}

/* ------------------------------------------------------------------ open -- */

const char *task_state(const struct tasks *tasks, const struct task *task,
                       char to[24])
{
    const struct layout *layout = &tasks->layouts[task->layout];
    if (task->moved)
        return "moving";
    if (task->running && layout->lists[task->list].state)
        return "running";
    if (task->blocked)
        return "blocked";
    if (layout->rows[RECORDER_TASK_STATE_].is_set &&
        task->state < layout->states_count)
        return layout->states[task->state];
    if (task->running)
        return "running";
    if (layout->lists[task->list].state)
        return layout->lists[task->list].state;
    *to = '\0';
    if (layout->rows[RECORDER_TASK_STATE_].is_set)
        snprintf(to, 24, "%llu", (unsigned long long)task->state);
    else if (task->object || *task->why)
        return "waiting";
    return to;
}

const char *task_group(const struct tasks *tasks, const struct task *task)
{
    return task->group == TASK_NONE ? tasks->layouts[task->layout].name
                                    : tasks->groups[task->group].name;
}

const char *tasks_choose(struct tasks *tasks, const char *group, bool internal)
{
    const char *wrong = group ? recorder_regex_check_(group) : NULL;
    if (wrong)
        return wrong;
    for (size_t i = 0; i < tasks->count; i++) {
        struct task *task = &tasks->all[i];
        task->chosen =
            !task->dead && (internal || !task->internal) &&
            (!group || recorder_regex_match_(group, task_group(tasks, task)));
    }
    return NULL;
}

static const struct tasks *sorted; /* qsort() passes nothing on */
static int order_compare(const void *a, const void *b)
{
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const struct task *left = &sorted->all[i], *right = &sorted->all[k];
    int names =
        left->layout == right->layout && left->group == right->group
            ? 0
            : strcmp(task_group(sorted, left), task_group(sorted, right));
    return names ? names
                 : array_order(left->id, right->id, array_order(i, k, 0));
}

static void tasks_sort(struct tasks *tasks)
{
    tasks->order = need(calloc(tasks->count + 1, sizeof *tasks->order));
    task_rings_read(tasks);
    for (size_t i = 0; i < tasks->count; i++) {
        struct task *task = &tasks->all[i];
        tasks->order[i] = i;
        if (tasks->layouts[task->layout].traits.owners_are_tasks &&
            ids_find(&tasks->ids, task->owner_at, task->layout, 0) == IDS_NONE)
            task->owner_at = 0;
        if (task->owner_at)
            task->owner =
                ids_find(&tasks->ids, task->owner_at, task->layout, 0);
    }
    sorted = tasks;
    array_sort(tasks->order, tasks->count, order_compare);
}

const char *tasks_open(struct tasks *tasks, const struct tasks_program *program)
{
    const char *wrong;
    memset(tasks, 0, sizeof *tasks);
    tasks->program = *program;
    tasks->limit = program->memory->size / TASK_BYTES_MIN < TASKS_MAX
                       ? (size_t)(program->memory->size / TASK_BYTES_MIN)
                       : TASKS_MAX;
    tasks->steps_left = STEPS_LEAST + 4 * (uint64_t)tasks->limit;
    cache_open(&tasks->cache, program->memory, CACHE_PAGES);
    wrong = layouts_read(tasks);
    if (wrong) {
        tasks_close(tasks);
        return wrong;
    }
    libraries_read(tasks);
    for (size_t i = 0; i < tasks->layouts_count; i++)
        lists_read(tasks, i);
    tasks_sort(tasks);
    threads_link(tasks);
    tasks_choose(tasks, NULL, false);
    return NULL;
}

void tasks_close(struct tasks *tasks)
{
    for (size_t i = 0; i < tasks->cycles_count; i++)
        free(tasks->cycles[i].nodes);
    for (size_t i = 0; i < tasks->lasts_count; i++)
        free(tasks->lasts[i].text);
    for (size_t i = 0; i < tasks->layouts_count; i++)
        free(tasks->layouts[i].freertos);
    free(tasks->lasts);
    free(tasks->holders);
    free(tasks->cycles);
    free(tasks->order);
    free(tasks->groups);
    free(tasks->all);
    free(tasks->layouts);
    ids_free(&tasks->ids);
    ids_free(&tasks->group_ids);
    cache_close(&tasks->cache);
}
