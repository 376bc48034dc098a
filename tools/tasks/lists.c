/* lists.c - finds the tasks of a layout in its lists. */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "tasks.h"

/* True while steps are left: a walk ends, even in hostile memory. */
static bool step(struct tasks *tasks)
{
    if (tasks->steps_left && tasks->count < tasks->limit) {
        tasks->steps_left--;
        return true;
    }
    tasks_warn(tasks,
               "it has too many tasks: after %zu the others are left out",
               tasks->count);
    return false;
}

static void warn_end(struct tasks *tasks, size_t layout, uint64_t address)
{
    tasks_warn(
        tasks, "a list of %s ends at a bad address, 0x%llx, after %zu tasks",
        tasks->layouts[layout].name, (unsigned long long)address, tasks->count);
}

/* Reads the word at `at` + `offset`. False, and a warning: that is not
 * possible. */
static bool word_read(struct tasks *tasks, size_t layout, uint64_t at,
                      uint64_t offset, uint64_t *to)
{
    if (bytes_read_word(&tasks->cache.memory, at + offset, to))
        return true;
    warn_end(tasks, layout, at);
    return false;
}

/* Adds a task of a list; a warning names the place `at`. False: the task cannot
 * be read. */
static bool task_at(struct tasks *tasks, size_t layout, size_t list,
                    uint64_t at, uint64_t task)
{
    bool is_new;
    if (task_add(tasks, layout, list, task, &is_new))
        return true;
    warn_end(tasks, layout, at);
    return false;
}

/* True, and a warning, if a walk has come back to an earlier place, by comparing
 * with the place at the last power of 2 (Brent). */
struct circle {
    uint64_t at, steps;
};
static bool circle_closes(struct tasks *tasks, size_t layout,
                          struct circle *circle, uint64_t at)
{
    if (at == circle->at && circle->steps) {
        tasks_warn(tasks, "a list of %s goes in a circle, at 0x%llx",
                   tasks->layouts[layout].name, (unsigned long long)at);
        return true;
    }
    if ((circle->steps & (circle->steps - 1)) == 0)
        circle->at = at;
    circle->steps++;
    return false;
}

/* Walks a damaged ring backwards from its first task, down to a known task. */
static void list_previous(struct tasks *tasks, size_t layout, size_t list,
                          uint64_t first)
{
    const struct layout_row *row =
        &tasks->layouts[layout].rows[RECORDER_TASK_PREVIOUS_];
    uint64_t at = first;
    bool is_new = true;
    while (row->is_set && is_new && step(tasks))
        if (!bytes_read_word(&tasks->cache.memory, at + row->offset, &at) ||
            !at || at == first || !task_add(tasks, layout, list, at, &is_new))
            return;
}

/* Each task has the address of the next; the last has none, or the first's. */
static void list_next(struct tasks *tasks, size_t layout, size_t list)
{
    const struct layout *l = &tasks->layouts[layout];
    uint64_t next = l->rows[RECORDER_TASK_NEXT_].offset, first, at;
    struct circle circle = {0};
    if (!word_read(tasks, layout, l->lists[list].at, 0, &first))
        return;
    at = first;
    while (at && step(tasks)) {
        if (circle.steps && at == first)
            return;
        if (circle_closes(tasks, layout, &circle, at) ||
            !task_at(tasks, layout, list, at, at)) {
            list_previous(tasks, layout, list, first);
            return;
        }
        if (!l->rows[RECORDER_TASK_NEXT_].is_set ||
            !word_read(tasks, layout, at, next, &at))
            return;
    }
}

/* Each link has the address of the next one; the last has the head's or, in a
 * ring of tasks alone, the first's. Items also have the addresses of their
 * tasks. */
static void list_ring(struct tasks *tasks, size_t layout, size_t list,
                      uint64_t head)
{
    const struct layout *l = &tasks->layouts[layout];
    const struct freertos *items =
        l->lists[list].kind == LIST_ITEMS ? l->freertos : NULL;
    bool is_ring = l->lists[list].kind == LIST_RING;
    uint64_t next = items ? items->next : 0, at = head, task;
    uint64_t link =
        l->rows[is_ring ? RECORDER_TASK_RING_ : RECORDER_TASK_LINK_].offset;
    struct circle circle = {0};
    while (step(tasks)) {
        if (!word_read(tasks, layout, at, next, &at) || at == head || !at)
            return;
        if (is_ring && head == l->lists[list].at)
            head = at;
        task = at - link;
        if (circle_closes(tasks, layout, &circle, at) ||
            (items && !word_read(tasks, layout, at, items->task, &task)) ||
            !task_at(tasks, layout, list, at, task))
            return;
    }
}

/* An array of lists of items; one that was never set up is zeros. */
static void list_items(struct tasks *tasks, size_t layout, size_t list)
{
    const struct task_list *l = &tasks->layouts[layout].lists[list];
    const struct freertos *items = tasks->layouts[layout].freertos;
    for (uint64_t i = 0; i < l->count; i++)
        list_ring(tasks, layout, list,
                  l->at + i * items->list_bytes + items->end);
}

static void list_table(struct tasks *tasks, size_t layout, size_t list)
{
    const struct task_list *l = &tasks->layouts[layout].lists[list];
    uint64_t task, at = l->at;
    unsigned word = tasks->cache.memory.word_bytes;
    bool is_new;
    for (uint64_t i = 0; i < l->count && step(tasks); i++, at += word) {
        if (!word_read(tasks, layout, at, 0, &task))
            return;
        if (task && !task_add(tasks, layout, list, task, &is_new))
            tasks_warn(tasks, "a task of %s, at 0x%llx, cannot be read",
                       tasks->layouts[layout].name, (unsigned long long)task);
    }
}

void lists_read(struct tasks *tasks, size_t layout)
{
    for (size_t i = 0; i < tasks->layouts[layout].lists_count; i++)
        switch (tasks->layouts[layout].lists[i].kind) {
        case LIST_NEXT: list_next(tasks, layout, i); break;
        case LIST_TABLE: list_table(tasks, layout, i); break;
        case LIST_LINK:
        case LIST_RING:
            list_ring(tasks, layout, i, tasks->layouts[layout].lists[i].at);
            break;
        case LIST_ITEMS: list_items(tasks, layout, i); break;
        }
}
