/* task.c - reads a task of a layout: its state, wait and names. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "bytes.h"
#include "tasks.h"

/* ---------------------------------------------------------------- fields -- */

/* A member in the bytes of a task; false: the layout lacks it. */
static bool field(const struct tasks *tasks, const struct layout *layout,
                  const unsigned char *bytes, unsigned what, uint64_t *value)
{
    const struct layout_row *row = &layout->rows[what];
    if (!row->is_set)
        return false;
    *value =
        row->bytes == 1 || row->bytes == 2 || row->bytes == 4 || row->bytes == 8
            ? bytes_number(&tasks->cache.memory,
                           bytes + (row->offset - layout->low), row->bytes)
            : 0;
    return true;
}

/* A word of the program in another structure, or 0. */
static uint64_t word_in(struct tasks *tasks, const struct layout *layout,
                        uint64_t address, unsigned what)
{
    struct memory *m = &tasks->cache.memory;
    const struct layout_row *row = &layout->rows[what];
    unsigned size = row->bytes > 8 ? m->word_bytes : row->bytes;
    uint64_t word;
    return row->is_set && address &&
                   bytes_read_number(m, address + row->offset, size, &word)
               ? word
               : 0;
}

/* Copies a text of the program, which may end with its memory. */
static void text_in(struct tasks *tasks, uint64_t address, char *to,
                    size_t size)
{
    struct memory *m = &tasks->cache.memory;
    memset(to, 0, size);
    if (address)
        m->read(m, address, to, size - 1);
    to[size - 1] = '\0';
    if (*to)
        bytes_need(m, address, strnlen(to, size - 2) + 1);
}

static void name_read(struct tasks *tasks, const struct layout *layout,
                      const unsigned char *bytes, struct task *task)
{
    const struct layout_row *row = &layout->rows[RECORDER_TASK_NAME_];
    uint64_t at;
    size_t size = row->bytes;
    if (row->is_set) {
        if (size >= sizeof task->name)
            size = sizeof task->name - 1;
        memcpy(task->name, bytes + (row->offset - layout->low), size);
    } else if (field(tasks, layout, bytes, RECORDER_TASK_NAME_AT_, &at)) {
        text_in(tasks, at, task->name, sizeof task->name);
    }
}

static int64_t signed_of(uint64_t value, unsigned bytes)
{
    unsigned shift = 64 - 8 * bytes;
    return bytes == 0 || bytes > 8 ? 0 : (int64_t)(value << shift) >> shift;
}

static size_t group_of(struct tasks *tasks, const struct layout *layout,
                       uint64_t address)
{
    const struct layout_row *name = &layout->rows[RECORDER_TASK_GROUP_NAME_];
    bool is_new;
    struct group *group =
        array_at_key(tasks->groups, &tasks->group_ids, tasks->groups_max,
                     address, (uintptr_t)layout, 0, &is_new);
    if (!is_new)
        return (size_t)(group - tasks->groups);
    tasks->groups_count++;
    group->address = address;
    text_in(tasks,
            name->is_set
                ? address + name->offset
                : word_in(tasks, layout, address, RECORDER_TASK_GROUP_NAME_AT_),
            group->name, sizeof group->name);
    if (!*group->name)
        snprintf(group->name, sizeof group->name, "0x%" PRIx64, address);
    return (size_t)(group - tasks->groups);
}

/* Reads the kind and the object of the awaited event. */
static void event_read(struct tasks *tasks, const struct layout *layout,
                       uint64_t at, struct task *task)
{
    const struct task_event *event = layout->traits.event;
    struct memory *m = &tasks->cache.memory;
    uint64_t number, object, next;
    if (!bytes_read_number(m, at + event->kind_at, event->kind_bytes, &number))
        return;
    for (unsigned i = 0; event->kinds[i].bit; i++) {
        if (!(number & event->kinds[i].bit))
            continue;
        snprintf(task->why, sizeof task->why, "%s", event->kinds[i].why);
        if (event->kinds[i].kind == EVENT_PLAIN ||
            !bytes_read_word(m, at + event->object_at, &object))
            return;
        task->timed =
            bytes_read_word(m, at + event->next_at, &next) && next != at;
        task->object = object;
        if (event->kinds[i].kind == EVENT_TASK)
            task->owner_at = task->object;
        if (event->kinds[i].kind == EVENT_OWNED)
            task->owner_at =
                word_in(tasks, layout, task->object, RECORDER_TASK_OWNER_);
        return;
    }
}

/* True if a state is one of several bits. */
static bool is_state_of(uint64_t bits, uint64_t state)
{
    return !bits || (state < 64 && bits >> state & 1);
}

/* Reads the awaited object, its kind and its owner. */
static void wait_read(struct tasks *tasks, const struct layout *layout,
                      const unsigned char *bytes, struct task *task)
{
    uint64_t at;
    if (!field(tasks, layout, bytes, RECORDER_TASK_WAITS_, &task->object))
        return;
    if (!is_state_of(layout->traits.waits_in, task->state))
        task->object = 0;
    if (field(tasks, layout, bytes, RECORDER_TASK_TIMED_, &at))
        task->timed = at != 0;
    if (layout->freertos) {
        at = task->object;
        task->object = 0;
        freertos_wait(tasks, layout, at, task);
        return;
    }
    if (!task->object)
        return;
    if (layout->traits
            .ring) { /* ring_read() finds it when all tasks are known */
        task->object = 0;
        return;
    }
    if (layout->traits.event) {
        at = task->object;
        task->object = 0;
        event_read(tasks, layout, at, task);
        return;
    }
    if (is_state_of(layout->traits.owned_in, task->state))
        task->owner_at =
            word_in(tasks, layout, task->object, RECORDER_TASK_OWNER_);
    if (field(tasks, layout, bytes, RECORDER_TASK_WHY_AT_, &at))
        text_in(tasks, at, task->why, sizeof task->why);
}

/* A task runs if its state says "running". It also runs while it has a worker:
 * its state may be the next one before the worker has saved its context. */
static void state_read(struct tasks *tasks, const struct layout *layout,
                       const unsigned char *bytes, struct task *task)
{
    uint64_t value = 0;
    bool says = false;
    const char *text = layout->lists[task->list].state;
    if (field(tasks, layout, bytes, RECORDER_TASK_WORKER_, &value))
        task->worker = (int32_t)value;
    else if (field(tasks, layout, bytes, RECORDER_TASK_WORKER_AT_, &value))
        task->worker =
            (int32_t)word_in(tasks, layout, value, RECORDER_TASK_WORKER_ID_);
    if (field(tasks, layout, bytes, RECORDER_TASK_STATE_, &task->state)) {
        for (unsigned i = 0; i < layout->states_count; i++)
            says |= strcmp(layout->states[i], "running") == 0;
        if (task->state < layout->states_count)
            text = layout->states[task->state];
    }
    task->dead = text && strcmp(text, "dead") == 0;
    task->running =
        task->worker != 0 || (says && text && strcmp(text, "running") == 0);
    if (layout->traits.runs_without &&
        field(tasks, layout, bytes, RECORDER_TASK_FCONTEXT_, &value))
        task->running = value == 0;
    text = layout->lists[task->list].state;
    task->running |= text && strcmp(text, "running") == 0;
}

/* Reads a task of a layout. False: its memory cannot be read. */
static bool task_read(struct tasks *tasks, struct task *task)
{
    const struct layout *layout = &tasks->layouts[task->layout];
    struct memory *m = &tasks->cache.memory;
    unsigned char bytes[TASK_SPAN_MAX];
    uint64_t value;
    if (m->read(m, task->address + layout->low, bytes, (size_t)layout->span) !=
        layout->span)
        return false;
    layout_need(layout, m, task->address);
    task->since_ns = -1;
    field(tasks, layout, bytes, RECORDER_TASK_SINCE_, &task->since);
    task->owner_thread = TASK_NONE;
    task->owner = task->group = task->thread = task->stack = TASK_NONE;
    if (field(tasks, layout, bytes, RECORDER_TASK_ID_, &value))
        task->id = signed_of(value, layout->rows[RECORDER_TASK_ID_].bytes);
    if (field(tasks, layout, bytes, RECORDER_TASK_NUMBER_, &value) &&
        value < 65536)
        task->number = (uint32_t)value;
    task->internal =
        task->id < 0 ||
        (field(tasks, layout, bytes, RECORDER_TASK_INTERNAL_, &value) && value);
    name_read(tasks, layout, bytes, task);
    state_read(tasks, layout, bytes, task);
    wait_read(tasks, layout, bytes, task);
    if (field(tasks, layout, bytes, RECORDER_TASK_GROUP_, &value) && value)
        task->group = group_of(tasks, layout, value);
    return true;
}

bool task_add(struct tasks *tasks, size_t layout, size_t list, uint64_t address,
              bool *is_new)
{
    struct task task = {
        .address = address, .layout = (uint32_t)layout, .list = (uint32_t)list};
    struct task *to;
    *is_new = ids_find(&tasks->ids, address, layout, 0) == IDS_NONE;
    if (!*is_new)
        return true;
    if (tasks->count == tasks->limit || !task_read(tasks, &task))
        return false;
    to = array_at_key(tasks->all, &tasks->ids, tasks->max, address, layout, 0,
                      is_new);
    *to = task;
    tasks->count++;
    return true;
}

/* ----------------------------------------------------------------- rings -- */

/* Where the links of waiting tasks lead from a task's own: to the object that
 * the ring goes through, or to a task in `ends`, which is the same for all on
 * the way. 0: nowhere, or in a circle of tasks alone. */
static uint64_t ring_end(struct tasks *tasks, const struct task *task,
                         const uint64_t *ends)
{
    const struct layout *layout = &tasks->layouts[task->layout];
    uint64_t link = layout->rows[RECORDER_TASK_WAITS_].offset;
    uint64_t at = word_in(tasks, layout, task->address, RECORDER_TASK_WAITS_);
    for (size_t steps = 0; at && steps <= tasks->count; steps++) {
        size_t i = ids_find(&tasks->ids, at - link, task->layout, 0);
        if (i == IDS_NONE)
            return at;
        if (ends && ends[i])
            return ends[i];
        if (!bytes_read_word(&tasks->cache.memory, at, &at))
            return 0;
    }
    return 0;
}

/* Notes the end of a ring for all tasks on the way; 1: no end. */
static uint64_t ring_note(struct tasks *tasks, size_t task, uint64_t *ends)
{
    uint32_t layout = tasks->all[task].layout;
    const struct layout *l = &tasks->layouts[layout];
    uint64_t link = l->rows[RECORDER_TASK_WAITS_].offset;
    uint64_t end = ring_end(tasks, &tasks->all[task], ends);
    for (size_t i = task; i != IDS_NONE && !ends[i];) {
        uint64_t at =
            word_in(tasks, l, tasks->all[i].address, RECORDER_TASK_WAITS_);
        ends[i] = end ? end : 1;
        i = ids_find(&tasks->ids, at - link, layout, 0);
    }
    return end == 1 ? 0 : end;
}

/* Sets the awaited object of a task: `end` is an address in that object, or
 * 0. */
static void ring_wait(struct tasks *tasks, struct task *task, uint64_t end)
{
    const struct task_ring *ring = tasks->layouts[task->layout].traits.ring;
    struct memory *m = &tasks->cache.memory;
    uint64_t timed;
    if (!end || task->running)
        return;
    task->timed = ring->timed_at &&
                  bytes_read_word(m, task->address + ring->timed_at, &timed) &&
                  timed;
    if (ids_find(&tasks->ids, end - ring->end_at, task->layout, 0) !=
        IDS_NONE) {
        task->object = task->owner_at = end - ring->end_at;
        strcpy(task->why, "end of");
        return;
    }
    task->object = end - ring->head_at;
    bytes_read_word(m, task->object + ring->owner_at, &task->owner_at);
    if (ids_find(&tasks->ids, task->owner_at, task->layout, 0) == IDS_NONE)
        task->owner_at = 0; /* the object has no owner there */
}

/* Each step of a ring is taken once. */
void task_rings_read(struct tasks *tasks)
{
    uint64_t *ends = NULL;
    for (size_t i = 0; i < tasks->count; i++) {
        struct task *task = &tasks->all[i];
        if (!tasks->layouts[task->layout].traits.ring)
            continue;
        if (!ends)
            ends = need(calloc(tasks->count, sizeof *ends));
        ring_wait(tasks, task, ring_note(tasks, i, ends));
    }
    free(ends);
}

bool task_again(struct tasks *tasks, const struct task *task, struct task *now)
{
    *now = (struct task){
        .address = task->address, .layout = task->layout, .list = task->list};
    return task_read(tasks, now);
}
void task_again_waits(struct tasks *tasks, struct task *now)
{
    if (tasks->layouts[now->layout].traits.ring)
        ring_wait(tasks, now, ring_end(tasks, now, NULL));
}

/* ------------------------------------------------------------ structures -- */

bool task_stack(struct tasks *tasks, const struct task *task, uint64_t *low,
                uint64_t *bytes)
{
    const struct layout *layout = &tasks->layouts[task->layout];
    if (!layout->rows[RECORDER_TASK_STACK_].is_set ||
        !layout->rows[RECORDER_TASK_STACK_BYTES_].is_set)
        return false;
    *low = word_in(tasks, layout, task->address, RECORDER_TASK_STACK_);
    *bytes = word_in(tasks, layout, task->address, RECORDER_TASK_STACK_BYTES_);
    return *low && *bytes;
}

size_t task_of_futex(struct tasks *tasks, uint64_t address)
{
    for (size_t i = 0; address && i < tasks->layouts_count; i++) {
        const struct layout *layout = &tasks->layouts[i];
        const struct layout_row *futex = &layout->rows[RECORDER_TASK_FUTEX_];
        size_t owner;
        if (!futex->is_set)
            continue;
        owner = ids_find(&tasks->ids,
                         word_in(tasks, layout, address - futex->offset,
                                 RECORDER_TASK_OWNER_),
                         i, 0);
        if (owner != IDS_NONE && !tasks->all[owner].dead)
            return owner;
    }
    return TASK_NONE;
}
