/* table.c - tasks and groups, as text in columns. */
/* SPDX-License-Identifier: MIT */
#include "print.h"
#include "tasks.h"

enum { TEXT_WIDTH = 44 }; /* of a last record */

void task_title(const struct tasks *tasks, const struct task *task, char to[64])
{
    if (*task->name)
        snprintf(to, 64, "%s", task->name);
    else if (tasks->layouts[task->layout].rows[RECORDER_TASK_ID_].is_set)
        snprintf(to, 64, "#%lld", (long long)task->id);
    else
        snprintf(to, 64, "0x%" PRIx64, task->address);
}

/* The name, or other properties of a task without name and number. */
static void name_shown(const struct tasks *tasks, const struct task *task,
                       char to[64])
{
    *to = '\0';
    if (*task->name ||
        !tasks->layouts[task->layout].rows[RECORDER_TASK_ID_].is_set)
        task_title(tasks, task, to);
}

void task_object(const struct tasks *tasks, const struct task *task,
                 char to[192])
{
    const struct tasks_program *program = &tasks->program;
    const struct layout *layout = &tasks->layouts[task->layout];
    char name[128];
    if (task->owner != TASK_NONE && task->owner_at == task->object)
        task_title(tasks, &tasks->all[task->owner], name);
    else if (freertos_name(layout, task->object))
        snprintf(name, sizeof name, "%s", freertos_name(layout, task->object));
    else if (!program->variable ||
             !program->variable(program->of, task->object, name, sizeof name))
        snprintf(name, sizeof name, "0x%" PRIx64, task->object);
    snprintf(to, 192, "%s%s%s", task->why, *task->why ? " " : "", name);
}

void task_thread(const struct tasks *tasks, size_t thread, int32_t id,
                 char to[80])
{
    const struct tasks_program *program = &tasks->program;
    char name[64] = "";
    if (thread != TASK_NONE && program->thread_name)
        program->thread_name(program->of, thread, name);
    if (*name)
        snprintf(to, 80, "thread %s", name);
    else
        snprintf(to, 80, "thread %d", (int)id);
}

void task_waits(const struct tasks *tasks, const struct task *task,
                char to[256])
{
    char object[192], holder[80] = "";
    *to = '\0';
    if (task->running) {
        if (task->thread != TASK_NONE || task->worker)
            task_thread(tasks, task->thread, task->worker, to);
        return;
    }
    if (!task->object) {
        snprintf(to, 256, "%s", task->why);
        return;
    }
    task_object(tasks, task, object);
    if (task->owner_at == task->object) /* it waits for that task's end */
        *holder = '\0';
    else if (task->owner != TASK_NONE)
        task_title(tasks, &tasks->all[task->owner], holder);
    else if (task->owner_thread != TASK_NONE)
        task_thread(tasks, task->owner_thread, (int32_t)task->owner_at, holder);
    else if (task->owner_at)
        snprintf(holder, sizeof holder, "0x%" PRIx64, task->owner_at);
    snprintf(to, 256, "%s%s%s%s", object, *holder ? ", held by " : "", holder,
             task->timed ? ", for a time" : "");
}

static void last_print(FILE *to, const struct tasks *tasks,
                       const struct task *task)
{
    const struct task_last *last = task->records < tasks->lasts_count
                                       ? &tasks->lasts[task->records]
                                       : NULL;
    char age[32] = "";
    size_t size = last && last->text ? strlen(last->text) : 0;
    const char *text = size ? text_shown(last->text, &size) : "";
    if (last && last->has_age)
        table_time((uint64_t)last->age_ns, age);
    if (size > TEXT_WIDTH) {
        size = text_cut(text, size, TEXT_WIDTH - 3);
        fprintf(to, "%.*s...%*s", (int)size, text, (int)(TEXT_WIDTH - 3 - size),
                "");
    } else {
        fprintf(to, "%-*s", TEXT_WIDTH, text);
    }
    fprintf(to, " %9s", age);
}

/* The widths of columns, so that all fit. */
struct widths {
    int group, name, state, since, waits; /* of `since`, 0: none is known */
};

static struct widths widths_of(const struct tasks *tasks)
{
    struct widths w = {5, 4, 5, 0, 8};
    char text[256], age[32];
    for (size_t i = 0; i < tasks->count; i++) {
        const struct task *task = &tasks->all[i];
        if (!task->chosen)
            continue;
        if (task->group == TASK_NONE || i < 4096)
            w.group = table_width(task_group(tasks, task), w.group);
        if (i < 65536 || task->object || task->running) {
            name_shown(tasks, task, text);
            w.name = table_width(text, w.name);
            w.state = table_width(task_state(tasks, task, text), w.state);
            if (task->since_ns >= 0)
                w.since = table_width(table_time((uint64_t)task->since_ns, age),
                                      w.since ? w.since : 3);
            task_waits(tasks, task, text);
            w.waits = table_width(text, w.waits);
        }
    }
    for (size_t i = 0; i < tasks->groups_count; i++)
        w.group = table_width(tasks->groups[i].name, w.group);
    return w;
}

static void head_print(FILE *to, const struct task_columns *columns,
                       const struct widths *w, bool lasts)
{
    fprintf(to, "%s%-*s %6s  %-*s  %s%-*s  ", columns->marks ? "  " : "",
            w->group, "GROUP", "ID", w->name, "NAME",
            columns->address ? "ADDRESS             " : "", w->state, "STATE");
    if (w->since)
        fprintf(to, "%*s  ", w->since, "FOR");
    if (lasts)
        fprintf(to, "%-*s  %-*s %9s\n", w->waits, "WAITS ON", TEXT_WIDTH,
                "LAST RECORD", "AGE");
    else
        fputs("WAITS ON\n", to);
}

static void row_print(FILE *to, const struct tasks *tasks,
                      const struct task *task,
                      const struct task_columns *columns,
                      const struct widths *w, bool lasts)
{
    char text[256];
    if (columns->marks)
        fputs(task->address == columns->here ? "* " : "  ", to);
    text_put(to, "%-*s", w->group, task_group(tasks, task));
    if (tasks->layouts[task->layout].rows[RECORDER_TASK_ID_].is_set)
        fprintf(to, " %6lld  ", (long long)task->id);
    else
        fprintf(to, " %6s  ", "");
    name_shown(tasks, task, text);
    text_put(to, "%-*s", w->name, text);
    if (columns->address)
        fprintf(to, "  0x%-16" PRIx64, task->address);
    text_put(to, "  %-*s", w->state, task_state(tasks, task, text));
    *text = '\0';
    if (task->since_ns >= 0)
        table_time((uint64_t)task->since_ns, text);
    if (w->since)
        fprintf(to, "  %*s", w->since, text);
    task_waits(tasks, task, text);
    if (*text || lasts)
        text_put(to, "  %-*s", lasts ? w->waits : 0, text);
    if (lasts) {
        fputs("  ", to);
        last_print(to, tasks, task);
    }
    putc('\n', to);
}

size_t tasks_table(FILE *to, const struct tasks *tasks,
                   const struct task_columns *columns)
{
    struct widths w = widths_of(tasks);
    bool lasts = columns->last && tasks->lasts_count;
    size_t shown = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct task *task = &tasks->all[tasks->order[i]];
        if (!task->chosen)
            continue;
        if (!shown++)
            head_print(to, columns, &w, lasts);
        row_print(to, tasks, task, columns, &w, lasts);
    }
    return shown;
}

void tasks_groups(FILE *to, const struct tasks *tasks)
{
    size_t *seen =
        need(calloc(tasks->groups_count + LAYOUTS_MAX + 1, sizeof *seen));
    int width = 5;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct task *task = &tasks->all[i];
        size_t group = task->group == TASK_NONE
                           ? tasks->groups_count + task->layout
                           : task->group;
        if (task->dead)
            continue;
        seen[group]++;
        width = table_width(task_group(tasks, task), width);
    }
    fprintf(to, "%-*s %8s  ADDRESS\n", width, "GROUP", "TASKS");
    for (size_t i = 0; i < tasks->groups_count + tasks->layouts_count; i++) {
        bool named = i < tasks->groups_count;
        if (!seen[i])
            continue;
        text_put(to, "%-*s %8zu", width,
                 named ? tasks->groups[i].name
                       : tasks->layouts[i - tasks->groups_count].name,
                 seen[i]);
        if (named)
            fprintf(to, "  0x%" PRIx64, tasks->groups[i].address);
        putc('\n', to);
    }
    free(seen);
}
