/* cycles.c - tasks and threads that wait for each other in a circle. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "tasks.h"

/* Nodes are tasks, then threads. */
struct graph {
    struct tasks *tasks;
    const size_t *next; /* of threads */
    size_t *runs;       /* the task that a thread runs, or TASK_NONE */
    size_t threads;
};

/* The holder of a thread's lock, as a node: the task that the thread runs. */
static size_t holder_node(const struct graph *graph, size_t thread)
{
    if (thread >= graph->threads)
        return TASK_NONE;
    return graph->runs[thread] != TASK_NONE ? graph->runs[thread]
                                            : graph->tasks->count + thread;
}

/* Returns the node that a node waits for. A running task waits for its
 * thread. */
static size_t waits_for(const struct graph *graph, size_t node)
{
    const struct tasks *tasks = graph->tasks;
    if (node < tasks->count) {
        const struct task *task = &tasks->all[node];
        if (task->running)
            return task->thread < graph->threads ? tasks->count + task->thread
                                                 : TASK_NONE;
        if (task->dead || task->timed)
            return TASK_NONE;
        return task->owner != TASK_NONE
                   ? task->owner
                   : holder_node(graph, task->owner_thread);
    }
    if (tasks->holders[node - tasks->count] != TASK_NONE)
        return tasks->holders[node - tasks->count];
    return holder_node(graph, graph->next[node - tasks->count]);
}

static void cycle_keep(const struct graph *graph, size_t first, size_t count)
{
    struct tasks *tasks = graph->tasks;
    size_t *nodes = need(calloc(count, sizeof *nodes));
    struct task_cycle *cycle =
        array_add(tasks->cycles, tasks->cycles_count, tasks->cycles_max);
    cycle->nodes = nodes;
    cycle->count = count;
    for (size_t i = 0; i < count; i++, first = waits_for(graph, first))
        cycle->nodes[i] = first;
}

/* A cycle of threads alone is skipped: `threads` reports it. */
static bool has_task(const struct graph *graph, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++, first = waits_for(graph, first))
        if (first < graph->tasks->count)
            return true;
    return false;
}

/* As in tools/threads: a walk starts at each node and visits each node once. A
 * walk that returns to one of its nodes has found a cycle. */
static void cycles_collect(const struct graph *graph)
{
    size_t all = graph->tasks->count + graph->threads, at, end, count;
    size_t *walk = need(calloc(all + 1, sizeof *walk));
    for (size_t i = 0; i < all; i++) {
        for (at = i; at != TASK_NONE && !walk[at]; at = waits_for(graph, at))
            walk[at] = i + 1;
        if (at == TASK_NONE || walk[at] != i + 1)
            continue;
        count = 1;
        for (end = waits_for(graph, at); end != at && end != TASK_NONE;
             end = waits_for(graph, end))
            count++;
        if (has_task(graph, at, count))
            cycle_keep(graph, at, count);
    }
    free(walk);
}

/* True if each member of the cycle still waits for the next. */
static bool cycle_stands(const struct graph *graph,
                         const struct task_cycle *cycle)
{
    struct tasks *tasks = graph->tasks;
    const struct tasks_program *program = &tasks->program;
    for (size_t i = 0; i < cycle->count; i++) {
        size_t next = cycle->nodes[(i + 1) % cycle->count];
        const struct task *task;
        struct task now;
        if (cycle->nodes[i] >= tasks->count) {
            size_t thread = cycle->nodes[i] - tasks->count;
            if (program->waits_still &&
                !program->waits_still(program->of, thread, graph->next[thread]))
                return false;
            if (tasks->holders[thread] != TASK_NONE &&
                task_of_futex(tasks, program->waits_on(program->of, thread)) !=
                    tasks->holders[thread])
                return false;
            continue;
        }
        task = &tasks->all[cycle->nodes[i]];
        if (!task_again(tasks, task, &now))
            return false;
        task_again_waits(tasks, &now);
        if (now.object != task->object || now.timed ||
            now.running != task->running ||
            (next < tasks->count && now.owner_at != tasks->all[next].address))
            return false;
    }
    return true;
}

/* True if a cycle lasts. One look at a running program may show a cycle that
 * never was; no false cycle lasts for 20 looks in 60 ms. */
static bool cycle_lasts(const struct graph *graph,
                        const struct task_cycle *cycle)
{
    for (int i = 0; i < 20; i++) {
        cache_renew(&graph->tasks->cache);
        if (!cycle_stands(graph, cycle))
            return false;
        sleep_ns(3000000);
    }
    return true;
}

/* Finds the task that each thread waits for. */
static void holders_find(struct tasks *tasks, size_t count)
{
    const struct tasks_program *program = &tasks->program;
    tasks->holders = need(calloc(count + 1, sizeof *tasks->holders));
    for (size_t i = 0; i < count; i++)
        tasks->holders[i] =
            program->waits_on
                ? task_of_futex(tasks, program->waits_on(program->of, i))
                : TASK_NONE;
}

void task_cycles_find(struct tasks *tasks, const size_t *next, size_t count)
{
    struct graph graph = {tasks, next, NULL, count};
    size_t kept = 0;
    graph.runs = need(calloc(count + 1, sizeof *graph.runs));
    for (size_t i = 0; i < count; i++)
        graph.runs[i] = TASK_NONE;
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->all[i].running && tasks->all[i].thread < count)
            graph.runs[tasks->all[i].thread] = i;
    holders_find(tasks, count);
    cycles_collect(&graph);
    for (size_t i = 0; i < tasks->cycles_count; i++) {
        struct task_cycle *cycle = &tasks->cycles[i];
        if (tasks->program.live && !cycle_lasts(&graph, cycle)) {
            free(cycle->nodes);
            continue;
        }
        for (size_t k = 0; k < cycle->count; k++)
            if (cycle->nodes[k] < tasks->count)
                tasks->all[cycle->nodes[k]].in_deadlock = true;
        tasks->cycles[kept++] = *cycle;
    }
    tasks->cycles_count = kept;
    free(graph.runs);
}
