/* tasks.h - descriptions of tasks enter the registry; tasks get numbers. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_TASKS_PART_H_
#define RECORDER_TASKS_PART_H_

#include "registry.h"
#include "tasks_layout.h"

RECORDER_C_BEGIN_

/* ------------------------------------------------------------------ list -- */

RECORDER_CALLED_SELDOM_ void recorder_tasks_enter(struct recorder_tasks *tasks)
{
    struct recorder_tasks **link;
    recorder_start_();
    link = &recorder_home_.registry->tasks;
    for (; *link; link = &(*link)->next)
        if (*link == tasks)
            return;
    tasks->next = NULL;
    __atomic_store_n(link, tasks, __ATOMIC_RELEASE);
}

RECORDER_CALLED_SELDOM_ void recorder_tasks_leave_(struct recorder_tasks *tasks)
{
    struct recorder_tasks **link = &recorder_home_.registry->tasks;
    while (*link && *link != tasks)
        link = &(*link)->next;
    if (*link)
        __atomic_store_n(link, tasks->next, __ATOMIC_SEQ_CST);
}

/* ----------------------------------------------------------------- table --
 *
 * Open addressing without a key: a task is at the place that its address
 * hashes to, or at a later one. Readers look at all places, so that an entry is
 * one compare-and-swap and a leave is one store.
 */

/* The n-th place to try for a task. */
RECORDER_INLINE_ void **recorder_task_place_(const struct recorder_tasks *tasks,
                                             const void *task, uintptr_t n)
{
    uintptr_t hash = ((uintptr_t)task >> 4) * (uintptr_t)0x9e3779b97f4a7c15u;
    return &tasks->table[((hash >> 8) + n) % tasks->table_max];
}

RECORDER_CALLED_SELDOM_ bool recorder_task_enter(struct recorder_tasks *tasks,
                                                 void *task)
{
    uintptr_t n;
    for (n = 0; n < tasks->table_max; n++) {
        void **place = recorder_task_place_(tasks, task, n), *none = NULL;
        if (!__atomic_load_n(place, __ATOMIC_RELAXED) &&
            __atomic_compare_exchange_n(place, &none, task, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

RECORDER_CALLED_SELDOM_ void recorder_task_leave(struct recorder_tasks *tasks,
                                                 const void *task)
{
    uintptr_t n;
    for (n = 0; n < tasks->table_max; n++) {
        void **place = recorder_task_place_(tasks, task, n);
        if (__atomic_load_n(place, __ATOMIC_RELAXED) != task)
            continue;
        __atomic_store_n(place, (void *)NULL, __ATOMIC_RELEASE);
        return;
    }
}

/* --------------------------------------------------------------- numbers -- */

RECORDER_CALLED_SELDOM_ unsigned recorder_task_begin(const char *name)
{
#ifdef RECORDER_HOSTED_
    struct recorder_registry *registry = recorder_home_.registry;
    unsigned number = recorder_row_claim_(registry);
    if (number == RECORDER_THREAD_SHARED)
        return 0;
    recorder_row_fill_(registry, number, 0, name, 1, RECORDER_ROW_TASK_);
    return number;
#else
    (void)name;
    return 0;
#endif
}

RECORDER_CALLED_SELDOM_ void recorder_task_end(unsigned number)
{
    struct recorder_registry *registry = recorder_home_.registry;
    struct recorder_thread_row *row;
    if (number == 0 || number > recorder_get_(&registry->threads_max))
        return;
    row = &recorder_thread_rows_()[number - 1];
    if (__atomic_load_n(&row->state, __ATOMIC_RELAXED) == RECORDER_ROW_TASK_)
        __atomic_store_n(&row->state, RECORDER_ROW_DEAD_, __ATOMIC_RELEASE);
}

RECORDER_CALLED_SELDOM_ unsigned recorder_task_worker(void)
{
    return RECORDER_THREAD();
}

#ifdef RECORDER_COMPILE_ONCE
RECORDER_CALLED_
#else
RECORDER_INLINE_
#endif
void recorder_task_switch(unsigned number)
{
#ifdef RECORDER_HOSTED_
    unsigned self = recorder_thread_self_; /* its lane stays */
    if (number)
        recorder_thread_self_ = self - recorder_writer_thread_(self) + number;
#else
    (void)number;
#endif
}

RECORDER_C_END_
#endif
