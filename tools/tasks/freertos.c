/* freertos.c - FreeRTOS: its lists of items, and the objects that tasks wait
 * for. */
/* SPDX-License-Identifier: MIT */
/*
   A task has one item for its state and one for events. The list of the event
   item is a member of the awaited object: of a queue (mutexes and semaphores
   are queues, too) or of a group of events. Offsets depend on the kernel's
   version and configuration: debug information has them.
*/
#include "bytes.h"
#include "tasks.h"

enum {
    LISTS_OF_STATE_MAX = 1024, /* one for each priority */
    PLACES_MAX = 1024          /* of names of queues */
};

/* ------------------------------------------------------------------ open -- */

/* Reads the names that the program gave queues. */
static void names_read(struct tasks *tasks, struct freertos *of)
{
    const struct tasks_program *program = &tasks->program;
    struct memory *m = &tasks->cache.memory;
    uint64_t size, object, name, text, handle, whole;
    uint64_t at = program->symbol(program->of, "xQueueRegistry", &size);
    const char *type = "struct QUEUE_REGISTRY_ITEM";
    unsigned bytes, item;
    if (!at || !layout_member(tasks, type, "pcQueueName", &text, &bytes) ||
        !layout_member(tasks, type, "xHandle", &handle, &bytes) ||
        !layout_member(tasks, type, "", &whole, &item) || !item)
        return;
    if (size > (uint64_t)PLACES_MAX * item)
        size = (uint64_t)PLACES_MAX * item;
    for (;
         size >= item && of->names_count < sizeof of->names / sizeof *of->names;
         size -= item, at += item) {
        struct freertos_name *to = &of->names[of->names_count];
        if (!bytes_read_word(m, at + handle, &object) || !object ||
            !bytes_read_word(m, at + text, &name) || !name)
            continue;
        to->object = object;
        m->read(m, name, to->name, sizeof to->name - 1);
        if (*to->name)
            bytes_need(m, name, strnlen(to->name, sizeof to->name - 2) + 1);
        of->names_count++;
    }
}

bool freertos_open(struct tasks *tasks, struct layout *layout)
{
    const struct tasks_program *program = &tasks->program;
    struct freertos *of = need(calloc(1, sizeof *of));
    static const char list[] = "struct xLIST", item[] = "struct xLIST_ITEM",
                      queue[] = "struct QueueDefinition";
    unsigned bytes, list_bytes;
    uint64_t at;
    layout->freertos = of;
    const struct {
        const char *type, *members;
        uint64_t *offset;
        unsigned *bytes;
    } needed[] = {{list, "", &at, &list_bytes},
                  {list, "xListEnd", &of->end, &bytes},
                  {item, "pxNext", &of->next, &bytes},
                  {item, "pvOwner", &of->task, &bytes},
                  {item, "pxContainer|pvContainer", &of->inside, &bytes},
                  {item, "xItemValue", &of->value, &of->value_bytes},
                  {queue, "xTasksWaitingToReceive", &of->receive, &bytes},
                  {queue, "xTasksWaitingToSend", &of->send, &bytes},
                  {queue, "pcHead", &of->first, &bytes},
                  {queue, "uxMessagesWaiting", &of->held, &bytes},
                  {queue, "uxLength", &of->most, &bytes},
                  {queue, "uxItemSize", &of->item, &of->count_bytes}};
    bool has = true;
    for (size_t i = 0; has && i < sizeof needed / sizeof *needed; i++)
        has = layout_member(tasks, needed[i].type, needed[i].members,
                            needed[i].offset, needed[i].bytes);
    if (!has) {
        tasks_warn(tasks,
                   "it has %s, but no debug information of its lists and "
                   "queues",
                   layout->name);
        return false;
    }
    of->list_bytes = list_bytes;
    of->has_bits = layout_member(tasks, "EventGroup_t", "xTasksWaitingForBits",
                                 &of->bits, &bytes);
    if (!layout_member(tasks, "struct tskTaskControlBlock", "ucNotifyState",
                       &of->notified, &of->notified_bytes))
        of->notified_bytes = 0;
    of->pending = program->symbol(program->of, "xPendingReadyList", &at);
    for (size_t i = 0; i < layout->lists_count; i++) {
        struct task_list *lists = &layout->lists[i];
        if (lists->kind != LIST_ITEMS)
            continue;
        lists->count = list_bytes ? lists->count / list_bytes : 0;
        if (lists->count > LISTS_OF_STATE_MAX)
            lists->count = LISTS_OF_STATE_MAX;
        if (!lists->count)
            lists->count = 1;
    }
    names_read(tasks, of);
    return true;
}

const char *freertos_name(const struct layout *layout, uint64_t object)
{
    const struct freertos *of = layout->freertos;
    for (size_t i = 0; of && i < of->names_count; i++)
        if (of->names[i].object == object)
            return of->names[i].name;
    return NULL;
}

/* ------------------------------------------------------------------ wait -- */

/* True for a list. Its end marker has a special value, and the next item is in
 * the same list. */
static bool is_list(struct memory *m, const struct freertos *of, uint64_t at)
{
    uint64_t end = at + of->end, next, inside, value;
    return bytes_read_number(m, end + of->value, of->value_bytes, &value) &&
           value == UINT64_MAX >> (64 - 8 * of->value_bytes) &&
           bytes_read_word(m, end + of->next, &next) &&
           (next == end ||
            (bytes_read_word(m, next + of->inside, &inside) && inside == at));
}

/* True for a queue: it has a second list beside the one in which a task waits,
 * and at most as many messages as it has room for. */
static bool is_queue(struct memory *m, const struct freertos *of, uint64_t at,
                     uint64_t other)
{
    uint64_t held, most;
    return is_list(m, of, at + other) &&
           bytes_read_number(m, at + of->held, of->count_bytes, &held) &&
           bytes_read_number(m, at + of->most, of->count_bytes, &most) &&
           most && held <= most;
}

/* Notes that a task waits to receive from a queue or to send to it. A mutex is
 * a queue without a buffer, a semaphore a queue of items without bytes. */
static void queue_wait(struct memory *m, const struct layout *layout,
                       uint64_t queue, bool sends, struct task *task)
{
    const struct freertos *of = layout->freertos;
    const struct layout_row *owner = &layout->rows[RECORDER_TASK_OWNER_];
    uint64_t first = queue, item;
    task->object = queue;
    bytes_read_word(m, queue + of->first, &first);
    if (!first) {
        strcpy(task->why, "mutex");
        bytes_read_word(m, queue + owner->offset, &task->owner_at);
        return;
    }
    if (bytes_read_number(m, queue + of->item, of->count_bytes, &item) && !item)
        strcpy(task->why, "semaphore");
    else
        strcpy(task->why, sends ? "full queue" : "empty queue");
}

/* True if the task waits for a notification, by any of its indexes. */
static bool is_notified(struct memory *m, const struct freertos *of,
                        const struct task *task)
{
    unsigned char bytes[64];
    unsigned count = of->notified_bytes;
    if (count > sizeof bytes)
        count = sizeof bytes;
    if (!count || !bytes_read(m, task->address + of->notified, bytes, count))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (bytes[i] == 1)
            return true;
    return false;
}

void freertos_wait(struct tasks *tasks, const struct layout *layout,
                   uint64_t list, struct task *task)
{
    const struct freertos *of = layout->freertos;
    struct memory *m = &tasks->cache.memory;
    const char *state = layout->lists[task->list].state;
    if (task->running || strcmp(state, "ready") == 0 ||
        strcmp(state, "deleted") == 0 || (list && list == of->pending))
        return;
    if (!list) {
        if (is_notified(m, of, task))
            strcpy(task->why, "notification");
        else if (strcmp(state, "blocked") == 0)
            strcpy(task->why, "time");
    } else if (is_queue(m, of, list - of->receive, of->send)) {
        queue_wait(m, layout, list - of->receive, false, task);
    } else if (is_queue(m, of, list - of->send, of->receive)) {
        queue_wait(m, layout, list - of->send, true, task);
    } else {
        strcpy(task->why, of->has_bits ? "events" : "");
        task->object = list - (of->has_bits ? of->bits : 0);
    }
    /* A task that waits without a time limit is suspended, if tasks can be. */
    for (size_t i = 0; task->object && i < layout->lists_count; i++)
        task->timed |= strcmp(state, "blocked") == 0 &&
                       strcmp(layout->lists[i].state, "suspended") == 0;
    task->blocked = *task->why || task->object;
}
