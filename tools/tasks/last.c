/* last.c - the newest record of each task and thread. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "inside.h"
#include "tasks.h"

enum { NUMBERS_MAX = 65536 };

/* The newest event of a number. */
struct newest {
    struct reader_event event;
    bool is_set;
};

static void last_set(struct task_last *last, struct reader *reader,
                     const struct reader_event *event, uint64_t now)
{
    size_t size;
    const char *message = reader_message(reader, event, &size);
    const char *name = event->recorder->name;
    last->text = malloc(strlen(name) + size + 3);
    if (last->text)
        sprintf(last->text, "%s: %s", name, message);
    last->has_age = event->realtime_ns && now >= event->realtime_ns;
    if (last->has_age)
        last->age_ns = (int64_t)(now - event->realtime_ns);
}

const char *lasts_read(struct tasks *tasks, struct reader *reader)
{
    struct newest *newest = NULL;
    bool *numbers = calloc(NUMBERS_MAX, sizeof *numbers);
    struct reader_event event;
    const char *wrong = numbers ? reader_take(reader) : "no memory";
    uint64_t now, read_ns;
    size_t highest = 0;
    for (size_t i = 0; i < tasks->count && !wrong; i++) {
        if (tasks->all[i].number > highest)
            highest = tasks->all[i].number;
        numbers[tasks->all[i].number] = tasks->all[i].number != 0;
    }
    if (!wrong && highest) {
        newest = calloc(highest + 1, sizeof *newest);
        tasks->lasts = calloc(highest + 1, sizeof *tasks->lasts);
        tasks->lasts_count = tasks->lasts ? highest + 1 : 0;
    }
    while (newest && tasks->lasts && reader_next(reader, &event))
        if (event.thread && event.thread->number <= highest &&
            numbers[event.thread->number]) {
            newest[event.thread->number].event = event;
            newest[event.thread->number].is_set = true;
        }
    reader_count(reader);
    now = tasks->program.live ? reader_realtime(reader)
                              : reader_end_realtime(reader, &read_ns);
    for (size_t i = 0; newest && i < tasks->lasts_count; i++)
        if (newest[i].is_set)
            last_set(&tasks->lasts[i], reader, &newest[i].event, now);
    free(newest);
    free(numbers);
    return wrong;
}
