/* last.c - the newest record of each task and thread. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "tasks.h"

enum { NUMBERS_MAX = 65536 };

/* The newest of all records; RECORDER_TIME_UNKNOWN_: no record, or no known
 * times. */
static int64_t newest_ns(const struct reader *reader)
{
    int64_t newest = RECORDER_TIME_UNKNOWN_;
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (reader->recorders[i]->newest_ns > newest)
            newest = reader->recorders[i]->newest_ns;
    return newest;
}

/* `now` is a date if the program still runs, else the time of its newest
 * record: a machine without a calendar has no dates. */
static void last_set(struct task_last *last, struct reader *reader,
                     const struct reader_event *event, bool live, int64_t now)
{
    int64_t then = live ? (int64_t)event->realtime_ns : event->ns;
    size_t size;
    const char *message = reader_message(reader, event, &size);
    const char *name = event->recorder->name;
    last->text = need(malloc(strlen(name) + size + 3));
    sprintf(last->text, "%s: %s", name, message);
    last->has_age =
        (live ? then > 0 : then != RECORDER_TIME_UNKNOWN_) && now >= then;
    if (last->has_age)
        last->age_ns = now - then;
}

/* ------------------------------------------------------------- whose own -- */

/* The rows of the thread table with one name: the last of them, how many they
 * are, and how many tasks have the name. */
struct namesakes {
    size_t row, rows, tasks;
};
struct names {
    struct ids ids;
    struct namesakes *all;
    size_t max;
};

/* The rows of a name; null: there are none. `adds`: makes them; null: out of
 * memory. Names in the table have less than 16 bytes. */
static struct namesakes *namesakes_of(struct names *names, const char *name,
                                      bool adds)
{
    uint64_t key[2] = {0};
    size_t at, size = strlen(name);
    bool is_new;
    if (!size || size > sizeof key)
        return NULL;
    memcpy(key, name, size);
    if (adds)
        return array_at_key(names->all, &names->ids, names->max, key[0], key[1],
                            0, &is_new);
    at = ids_find(&names->ids, key[0], key[1], 0);
    return at == IDS_NONE ? NULL : &names->all[at];
}

/* A task without a number has the records of the row of its name, if that is
 * the row of a scheduler's task or of a machine without a system, and if no
 * other row and no other task has the name. */
static void records_by_name(struct tasks *tasks, const struct reader *reader)
{
    struct names names = {0};
    struct namesakes *same;
    for (size_t i = 0; i < reader->threads_count; i++) {
        same = reader->threads[i].id
                   ? NULL
                   : namesakes_of(&names, reader->threads[i].name, true);
        if (same) {
            same->row = i;
            same->rows++;
        }
    }
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < tasks->count; i++) {
            struct task *task = &tasks->all[i];
            same = task->number || task->dead
                       ? NULL
                       : namesakes_of(&names, task->name, false);
            if (same && pass == 0)
                same->tasks++;
            else if (same && same->rows == 1 && same->tasks == 1)
                task->records = reader->threads[same->row].number;
        }
    free(names.all);
    ids_free(&names.ids);
}

/* A running task without a number gets the records of its worker. */
static void records_by_worker(struct tasks *tasks, const struct reader *reader)
{
    const struct tasks_program *program = &tasks->program;
    struct ids ids = {0};
    size_t *rows = need(calloc(reader->threads_count + 1, sizeof *rows));
    size_t number;
    for (size_t i = 0; i < reader->threads_count; i++) {
        const struct reader_thread *thread = &reader->threads[i];
        if (thread->id && thread->alive)
            rows[ids_add(&ids, (uint32_t)thread->id, 0, 0, NULL)] = i;
    }
    for (size_t i = 0; i < tasks->count; i++) {
        struct task *task = &tasks->all[i];
        int32_t id = task->worker;
        if (!task->running || task->number || task->records)
            continue;
        if (task->thread != TASK_NONE && program->thread)
            program->thread(program->of, task->thread, &id, NULL);
        number = ids_find(&ids, (uint32_t)id, 0, 0);
        if (id && number != IDS_NONE)
            task->records = reader->threads[rows[number]].number;
    }
    ids_free(&ids);
    free(rows);
}

/* ------------------------------------------------------------------ read -- */

/* Computes how long states have lasted: until now, or, in a stopped program,
 * until the newest record or state. A 32-bit time is extended to the one
 * nearest to the newest record's ticks. */
static void since_set(struct tasks *tasks, const struct reader *reader,
                      uint64_t newest, int64_t now)
{
    int64_t *times = need(calloc(tasks->count + 1, sizeof *times));
    for (size_t i = 0; i < tasks->count; i++) {
        const struct task *task = &tasks->all[i];
        const struct layout *layout = &tasks->layouts[task->layout];
        uint64_t ticks = task->since;
        if (layout->rows[RECORDER_TASK_SINCE_].bytes == 4)
            ticks = newest + (uint64_t)(int32_t)(ticks - newest);
        times[i] = task->since ? recorder_clock_time_(&reader->clock, ticks)
                               : RECORDER_TIME_UNKNOWN_;
        if (!tasks->program.live && times[i] > now)
            now = times[i];
    }
    for (size_t i = 0; i < tasks->count; i++)
        if (times[i] != RECORDER_TIME_UNKNOWN_ && times[i] <= now)
            tasks->all[i].since_ns = now - times[i];
    free(times);
}

static bool has_short_ticks(const struct tasks *tasks)
{
    for (size_t i = 0; i < tasks->layouts_count; i++) {
        const struct layout_row *row =
            &tasks->layouts[i].rows[RECORDER_TASK_SINCE_];
        if (row->is_set && row->bytes == 4)
            return true;
    }
    return false;
}

/* The newest event of all tasks' numbers; the ticks of the newest event of
 * all. */
static uint64_t events_read(struct tasks *tasks, struct reader *reader,
                            struct reader_event *newest, const bool *numbers)
{
    struct reader_event event;
    uint64_t ticks = 0;
    while (reader_next(reader, &event)) {
        size_t number = event.thread ? event.thread->number : 0;
        if (event.event.time > ticks)
            ticks = event.event.time;
        if (number < tasks->lasts_count && numbers[number])
            newest[number] = event;
    }
    return ticks;
}

/* Finds the number of each task's records. Returns the highest; numbers[]
 * becomes true for each. */
static size_t records_find(struct tasks *tasks, const struct reader *reader,
                           bool numbers[NUMBERS_MAX])
{
    size_t highest = 0;
    records_by_name(tasks, reader);
    records_by_worker(tasks, reader);
    for (size_t i = 0; i < tasks->count; i++) {
        struct task *task = &tasks->all[i];
        if (task->number)
            task->records = task->number;
        if (task->records >= NUMBERS_MAX)
            task->records = 0;
        if (task->records > highest)
            highest = task->records;
        numbers[task->records] = task->records != 0;
    }
    return highest;
}

const char *lasts_read(struct tasks *tasks, struct reader *reader)
{
    struct reader_event *newest = NULL; /* of each number */
    bool *numbers = need(calloc(NUMBERS_MAX, sizeof *numbers));
    const char *wrong = reader_take(reader);
    size_t highest = wrong ? 0 : records_find(tasks, reader, numbers);
    bool live = tasks->program.live;
    uint64_t ticks = 0;
    int64_t now, ns;
    if (highest) {
        newest = need(calloc(highest + 1, sizeof *newest));
        tasks->lasts = need(calloc(highest + 1, sizeof *tasks->lasts));
        tasks->lasts_count = highest + 1;
    }
    if (!wrong && (newest || has_short_ticks(tasks)))
        ticks = events_read(tasks, reader, newest, numbers);
    reader_count(reader);
    now = live ? (int64_t)reader_realtime(reader) : newest_ns(reader);
    for (size_t i = 0; i < tasks->lasts_count; i++)
        if (newest[i].recorder)
            last_set(&tasks->lasts[i], reader, &newest[i], live, now);
    ns = !live ? now
         : now && reader->clock.start.realtime_ns
             ? now - (int64_t)reader->clock.start.realtime_ns
             : RECORDER_TIME_UNKNOWN_;
    if (!wrong)
        since_set(tasks, reader, ticks, ns);
    free(newest);
    free(numbers);
    return wrong;
}
