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

/* The newest of all records; RECORDER_TIME_UNKNOWN_: there is none, or their
 * times are not known. */
static int64_t newest_ns(const struct reader *reader)
{
    int64_t newest = RECORDER_TIME_UNKNOWN_;
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (reader->recorders[i]->newest_ns > newest)
            newest = reader->recorders[i]->newest_ns;
    return newest;
}

/* `now` is a date where the program goes on, else the time of its newest
 * record: a machine without a calendar has no dates. */
static void last_set(struct task_last *last, struct reader *reader,
                     const struct reader_event *event, bool live, int64_t now)
{
    int64_t then = live ? (int64_t)event->realtime_ns : event->ns;
    size_t size;
    const char *message = reader_message(reader, event, &size);
    const char *name = event->recorder->name;
    last->text = malloc(strlen(name) + size + 3);
    if (last->text)
        sprintf(last->text, "%s: %s", name, message);
    last->has_age =
        (live ? then > 0 : then != RECORDER_TIME_UNKNOWN_) && now >= then;
    if (last->has_age)
        last->age_ns = now - then;
}

const char *lasts_read(struct tasks *tasks, struct reader *reader)
{
    struct newest *newest = NULL;
    bool *numbers = calloc(NUMBERS_MAX, sizeof *numbers);
    struct reader_event event;
    const char *wrong = numbers ? reader_take(reader) : "no memory";
    bool live = tasks->program.live;
    int64_t now;
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
    now = live ? (int64_t)reader_realtime(reader) : newest_ns(reader);
    for (size_t i = 0; newest && i < tasks->lasts_count; i++)
        if (newest[i].is_set)
            last_set(&tasks->lasts[i], reader, &newest[i].event, live, now);
    free(newest);
    free(numbers);
    return wrong;
}
