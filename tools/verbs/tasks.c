/* tasks.c - recorder tasks: the tasks of schedulers inside a program. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "recorder/regex.h"
#include "show.h"
#include "stacks.h"

enum { OPTION_STACKS = OPTION_OWN, OPTION_GROUP, OPTION_TREE, OPTION_ALL };

struct view {
    struct tasks tasks;
    struct tasks_command command;
    struct task_stacks stacks;
    bool has_stacks;
};

/* ------------------------------------------------------------------ text -- */

/* A word, and a name as the table has it. */
static void title_text(const char *before, const struct tasks *tasks, size_t i)
{
    char title[64];
    task_title(tasks, &tasks->all[i], title);
    text_put(stdout, "%s%s", before, title);
}

/* "yield fibers.c:62 < f fibers.c:122", with inlined functions. */
static void frames_text(struct view *view, const struct task_stack *stack)
{
    struct threads *threads = &view->command.threads;
    const char *between = "";
    for (unsigned i = 0; i < stack->count; i++)
        for (const struct place *place = place_of(threads, stack->frames[i]);
             place; place = place->outer) {
            fputs(between, stdout);
            between = " < ";
            show_place(stdout, place);
        }
    if (!stack->whole)
        fputs(" < ...", stdout);
}

/* "waits for mutex B of 4713 worker1", or of the task that holds it. */
static void thread_text(struct view *view, size_t i)
{
    struct threads *threads = &view->command.threads;
    size_t holder = view->tasks.holders[i];
    struct thread thread = threads->all[i];
    char text[1024];
    if (holder != TASK_NONE) {
        thread.wait.holder = THREAD_NONE;
        thread.wait.holder_id = 0;
        thread.wait.holders_count = thread.wait.readers = 0;
    }
    show_wait(threads, &thread, text);
    text_put(stdout, "%s", text);
    if (holder == TASK_NONE)
        return;
    title_text(" of task ", &view->tasks, holder);
}

/* Prints the wait of a node in a cycle, and the place of the wait. */
static void node_text(struct view *view, size_t node)
{
    struct tasks *tasks = &view->tasks;
    struct threads *threads = &view->command.threads;
    char text[1024];
    fputs("  ", stdout);
    if (node >= tasks->count) {
        const struct thread *thread = &threads->all[node - tasks->count];
        fputs("thread ", stdout);
        node -= tasks->count;
        show_threads(stdout, threads, &node, 1);
        putchar(' ');
        thread_text(view, node);
        show_site(stdout, threads, thread);
        putchar('\n');
        return;
    }
    title_text("task ", tasks, node);
    if (tasks->all[node].running) {
        task_waits(tasks, &tasks->all[node], text);
        text_put(stdout, " runs on %s", text);
    } else {
        task_object(tasks, &tasks->all[node], text);
        text_put(stdout, " waits for %s", text);
        if (tasks->all[node].owner == TASK_NONE) {
            task_thread(tasks, tasks->all[node].owner_thread, 0, text);
            text_put(stdout, " of %s", text);
        } else if (tasks->all[node].owner_at != tasks->all[node].object) {
            title_text(" of task ", tasks, tasks->all[node].owner);
        }
    }
    if (tasks->all[node].stack != TASK_NONE) {
        fputs(", at ", stdout);
        frames_text(view, &view->stacks.all[tasks->all[node].stack]);
    }
    putchar('\n');
}

static void deadlocks_text(struct view *view)
{
    const struct tasks *tasks = &view->tasks;
    for (size_t i = 0; i < tasks->cycles_count; i++) {
        const struct task_cycle *cycle = &tasks->cycles[i];
        size_t threads = 0;
        for (size_t k = 0; k < cycle->count; k++)
            threads += cycle->nodes[k] >= tasks->count;
        printf("DEADLOCK of %zu task%s", cycle->count - threads,
               cycle->count - threads == 1 ? "" : "s");
        if (threads)
            printf(" and %zu thread%s", threads, threads == 1 ? "" : "s");
        printf(cycle->count == 1 ? ": it waits for itself\n"
                                 : ": each waits for the next%s\n",
               cycle->count > 2 ? ", the last for the first" : "");
        for (size_t k = 0; k < cycle->count; k++)
            node_text(view, cycle->nodes[k]);
        putchar('\n');
    }
}

/* The threads that wait for something of each other, and all of a few. */
static void threads_text(struct view *view)
{
    struct threads *threads = &view->command.threads;
    enum { FEW = 32 };
    for (size_t i = 0; i < threads->count; i++) {
        const struct thread *thread = &threads->all[i];
        if (threads->count > FEW && thread->wait.holder == THREAD_NONE &&
            view->tasks.holders[i] == TASK_NONE)
            continue;
        if (i == 0)
            putchar('\n');
        fputs("thread ", stdout);
        show_threads(stdout, threads, &i, 1);
        putchar(' ');
        thread_text(view, i);
        putchar('\n');
    }
    if (threads->count > FEW)
        printf("%zu threads; recorder threads shows all.\n", threads->count);
}

/* Each stack once, with the tasks that have it; of many, the first few. */
static void stacks_text(struct view *view)
{
    enum { NAMED = 8 };
    const struct tasks *tasks = &view->tasks;
    struct task_stacks *stacks = &view->stacks;
    uint64_t *order = need(calloc(stacks->count + 1, sizeof *order));
    size_t none = 0;
    size_t *named = need(calloc(stacks->count + 1, NAMED * sizeof *named));
    size_t *count = need(calloc(stacks->count + 1, sizeof *count));
    for (size_t i = 0; i < tasks->count; i++) {
        size_t which = tasks->order[i], stack = tasks->all[which].stack;
        if (!tasks->all[which].chosen)
            continue;
        none += stack == TASK_NONE;
        if (stack != TASK_NONE && count[stack]++ < NAMED)
            named[stack * NAMED + count[stack] - 1] = which;
    }
    for (size_t i = 0; i < stacks->count; i++) /* most tasks first */
        order[i] = (uint64_t)(UINT32_MAX - stacks->all[i].tasks) << 32 | i;
    array_sort(order, stacks->count, array_compare);
    for (size_t i = 0; i < stacks->count; i++) {
        size_t stack = (uint32_t)order[i];
        printf("\n%zu task%s: ", count[stack], count[stack] == 1 ? "" : "s");
        for (size_t k = 0; k < count[stack] && k < NAMED; k++)
            title_text(k ? ", " : "", tasks, named[stack * NAMED + k]);
        fputs(count[stack] > NAMED ? ", ...\n    " : "\n    ", stdout);
        frames_text(view, &stacks->all[stack]);
        putchar('\n');
    }
    if (none)
        printf("\n%zu task%s without a stack here: running, moving, or its "
               "context cannot be read\n",
               none, none == 1 ? "" : "s");
    free(order);
    free(named);
    free(count);
}

/* ------------------------------------------------------------------ tree -- */

/* A tree of waits: below each task the tasks that wait for it. */
struct tree {
    struct view *view;
    size_t *first, *next; /* 1 + the first that waits for it, and its sibling */
    bool *shown;
};

static void branch_text(struct tree *tree, size_t task, int depth)
{
    const struct tasks *tasks = &tree->view->tasks;
    char object[192];
    enum { DEEP = 64 };
    printf("%*s", 4 * (depth < DEEP ? depth : DEEP), "");
    title_text("", tasks, task);
    if (tasks->all[task].object && depth) {
        task_object(tasks, &tasks->all[task], object);
        text_put(stdout, " waits for %s", object);
    }
    if (tasks->all[task].in_deadlock)
        fputs("  (deadlock)", stdout);
    if (tree->shown[task]) {
        puts(tree->first[task] ? "  (see above)" : "");
        return;
    }
    putchar('\n');
    tree->shown[task] = true;
    for (size_t at = tree->first[task]; at && depth < 1000;
         at = tree->next[at - 1])
        branch_text(tree, at - 1, depth + 1);
}

static void tree_text(struct view *view)
{
    const struct tasks *tasks = &view->tasks;
    struct tree tree = {.view = view};
    size_t waiting = 0;
    tree.first = need(calloc(tasks->count + 1, sizeof *tree.first));
    tree.next = need(calloc(tasks->count + 1, sizeof *tree.next));
    tree.shown = need(calloc(tasks->count + 1, sizeof *tree.shown));
    for (size_t i = tasks->count; i-- > 0;) {
        size_t which = tasks->order[i], owner = tasks->all[which].owner;
        if (owner == TASK_NONE || !tasks->all[which].chosen)
            continue;
        tree.next[which] = tree.first[owner];
        tree.first[owner] = which + 1;
        waiting++;
    }
    for (int circles = 0; circles < 2; circles++) /* then the tasks without a
                                                   * root */
        for (size_t i = 0; i < tasks->count; i++) {
            size_t which = tasks->order[i];
            if (tree.first[which] && !tree.shown[which] &&
                (circles || tasks->all[which].owner == TASK_NONE))
                branch_text(&tree, which, 0);
        }
    printf("%zu task%s for another.\n", waiting,
           waiting == 1 ? " waits" : "s wait");
    free(tree.first);
    free(tree.next);
    free(tree.shown);
}

/* ------------------------------------------------------------------ JSON -- */

static void stack_json(struct view *view, const struct task *task)
{
    const struct task_stack *stack;
    if (task->stack == TASK_NONE) {
        fputs(",\"stack\":null", stdout);
        return;
    }
    stack = &view->stacks.all[task->stack];
    json_put(stdout, ",'whole':%hhd,'stack':[", stack->whole);
    show_frames_json(&view->command.threads, stack->frames, 0, stack->count);
    putchar(']');
}

static void task_json(struct view *view, const struct task *task)
{
    static const struct task_last none;
    const struct tasks *tasks = &view->tasks;
    char text[256];
    const struct task_last *last = task->records < tasks->lasts_count
                                       ? &tasks->lasts[task->records]
                                       : &none;
    json_put(stdout,
             "{'task':'0x%llx','scheduler':%s,'group':%s,'id':%lld,"
             "'name':%s,'state':%s",
             (unsigned long long)task->address,
             tasks->layouts[task->layout].name, task_group(tasks, task),
             (long long)task->id, task->name, task_state(tasks, task, text));
    if (task->since_ns >= 0)
        printf(",\"state_ns\":%lld", (long long)task->since_ns);
    json_put(stdout, ",'internal':%hhd,'running':%hhd", task->internal,
             task->running);
    json_count("worker", (uint64_t)task->worker, task->worker);
    fputs(",\"waits\":", stdout);
    if (task->object && !task->running) {
        task_object(tasks, task, text);
        json_put(stdout, "{'object':'0x%llx','text':%s,'owner':",
                 (unsigned long long)task->object, text);
        json_put(stdout, task->owner_at ? "'0x%llx'" : "null",
                 (unsigned long long)task->owner_at);
        json_put(stdout, ",'timed':%hhd}", task->timed);
    } else {
        fputs("null", stdout);
    }
    json_put(stdout, ",'number':%u,'in_deadlock':%hhd,'last':%s", task->number,
             task->in_deadlock, last->text);
    if (last->text && last->has_age)
        printf(",\"age_ns\":%lld", (long long)last->age_ns);
    if (view->has_stacks || task->in_deadlock)
        stack_json(view, task);
    puts("}");
}

static void all_json(struct view *view)
{
    const struct tasks *tasks = &view->tasks;
    for (size_t i = 0; i < tasks->cycles_count; i++) {
        const struct task_cycle *cycle = &tasks->cycles[i];
        fputs("{\"deadlock\":[", stdout);
        for (size_t k = 0; k < cycle->count; k++) {
            size_t node = cycle->nodes[k];
            if (node < tasks->count)
                printf("%s{\"task\":\"0x%llx\"}", k ? "," : "",
                       (unsigned long long)tasks->all[node].address);
            else
                printf("%s{\"thread\":%d}", k ? "," : "",
                       (int)view->command.threads.all[node - tasks->count].id);
        }
        fputs("]}\n", stdout);
    }
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->all[tasks->order[i]].chosen)
            task_json(view, &tasks->all[tasks->order[i]]);
}

/* ------------------------------------------------------------------ verb -- */

static void warnings_say(struct call *call, const struct tasks *tasks)
{
    const char *line = tasks->warnings;
    for (size_t size; *line; line += size + 1) {
        size = strcspn(line, "\n");
        warn(call, "%.*s", (int)size, line);
    }
}

static void view_text(struct call *call, struct view *view)
{
    struct tasks *tasks = &view->tasks;
    size_t shown;
    deadlocks_text(view);
    if (call_option(call, OPTION_TREE)) {
        tree_text(view);
        return;
    }
    shown = tasks_table(stdout, tasks, &(struct task_columns){.last = true});
    if (view->has_stacks)
        stacks_text(view);
    threads_text(view);
    printf("%s%zu task%s%s. %s\n", shown ? "\n" : "", shown,
           shown == 1 ? "" : "s",
           shown == tasks->count || call_option(call, OPTION_ALL)
               ? ""
               : "; --all shows the scheduler's tasks, too",
           call->source.pid ? "Read while the process ran; nothing was stopped."
                            : "As the file has them.");
}

static int tasks_run(struct call *call)
{
    static char buffer[1 << 16];
    static struct view view;
    const char *group = call_option(call, OPTION_GROUP), *wrong;
    call_open(call, 0);
    wrong = command_tasks(&view.tasks, &view.command, &call->source, NULL);
    if (wrong)
        fail(call, "%s", wrong);
    wrong = tasks_choose(&view.tasks, group, call_option(call, OPTION_ALL));
    if (wrong)
        misuse(call, "--group %s: %s", group, wrong);
    if (!view.tasks.layouts_count) {
        warnings_say(call, &view.tasks);
        fail(call, "no tasks in it: its program describes none by "
                   "recorder_tasks.h, and uses no library that is known here; "
                   "recorder threads shows its threads");
    }
    if (call->source.registry)
        wrong = lasts_read(&view.tasks, &call->reader);
    if (wrong)
        warn(call, "%s", wrong);
    view.has_stacks = call_option(call, OPTION_STACKS);
    wrong =
        stacks_read(&view.stacks, &view.tasks, &view.command, view.has_stacks);
    if (wrong && view.has_stacks)
        warn(call, "%s", wrong);
    warnings_say(call, &view.tasks);
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (call_option(call, 'j'))
        all_json(&view);
    else
        view_text(call, &view);
    stacks_close(&view.stacks);
    command_close(&view.tasks, &view.command);
    return 0;
}

static const struct option_row rows[] = {
    {'j', "json", NULL, "one JSON object a line: deadlocks, then tasks"},
    {OPTION_STACKS, "stacks", NULL, "their stacks, too; equal ones once"},
    {OPTION_GROUP, "group", "REGEX",
     "only groups whose whole name matches: extended syntax, any case"},
    {OPTION_TREE, "tree", NULL, "the waits as a tree, instead of a table"},
    {OPTION_ALL, "all", NULL, "with the scheduler's own tasks"},
    {0, NULL, NULL, NULL}};

const struct verb verb_tasks = {
    .name = "tasks",
    .arguments = "SOURCE",
    .summary = "shows the tasks of a scheduler inside a program",
    .help =
        "Reads a running process, which is not stopped, a core file, or a "
        "memory image: fibers, coroutines or green threads, if the program "
        "describes them by recorder_tasks.h, or uses a known library or "
        "kernel, for example FreeRTOS or ThreadX. Tasks and threads that wait "
        "for each other in a circle come first, as a DEADLOCK; in a running "
        "process, only if the circle lasted for 20 looks in 60 ms. A task "
        "that ran while its stack was read is marked \"~\". The last record "
        "of a task is found by its number in the thread table, or by its name "
        "there, or by the worker that runs it.",
    .rows = rows,
    .unprepared = true,
    .run = tasks_run};
