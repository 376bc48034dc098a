/* known.c - what is known of libraries with tasks, as tables. */
/* SPDX-License-Identifier: MIT */
/*
   A library is a table: by which symbols it is known, in which lists its tasks
   stand, and where a task has what. docs/tasks.md tells how to add one. Offsets
   are those of one version of the library on one processor: the names of its
   symbols, or of its shared library, must tell that version.
*/
#include "known.h"

#include <elf.h>
#include <string.h>

#include "bytes.h"
#include "tasks.h"

/* ------------------------------------------------------------------ tables -- */

struct known_list {
    enum list_kind kind;
    const char *symbol; /* of a variable; null ends the lists */
    unsigned offset;    /* in it */
    const char *state;  /* of all tasks in it, or null */
};
struct known_row {
    enum recorder_task_what_ what; /* 0 ends the rows */
    unsigned offset, bytes;
};
struct known {
    const char *name;
    unsigned machine, word_bytes;
    struct known_list lists[8];
    struct known_row rows[16];
    const char *states;             /* of values from 0 up; "" ends them */
    const struct task_event *event; /* or null */
    bool on_first;                  /* all run on the process's first thread */
};

/* GNU Pth 2.0: what a thread waits for is a ring of events. Their types are
 * those of its interface (pth.h), bits with others around them. */
static const struct task_event pth_event = {
    .object_at = 32,
    .kind_at = 20,
    .kind_bytes = 4,
    .kinds = {{2, "file", EVENT_PLAIN},
              {4, "select", EVENT_PLAIN},
              {8, "signals", EVENT_PLAIN},
              {16, "time", EVENT_PLAIN},
              {32, "message", EVENT_OBJECT},
              {64, "mutex", EVENT_OWNED},
              {128, "condition", EVENT_OBJECT},
              {256, "end of", EVENT_TASK},
              {512, "function", EVENT_PLAIN}}};

static const struct known known[] = {
    {.name = "Pth",
     .machine = EM_X86_64,
     .word_bytes = 8,
     .lists = {{LIST_NEXT, "__pth_NQ", 0, NULL},
               {LIST_NEXT, "__pth_RQ", 0, NULL},
               {LIST_NEXT, "__pth_WQ", 0, NULL},
               {LIST_NEXT, "__pth_SQ", 0, "suspended"},
               {LIST_NEXT, "__pth_DQ", 0, NULL},
               {LIST_TABLE, "__pth_current", 0, "running"}},
     .rows = {{RECORDER_TASK_NEXT_, 0, 8},
              {RECORDER_TASK_NAME_, 24, 40},
              {RECORDER_TASK_STATE_, 68, 4},
              {RECORDER_TASK_WAITS_, 120, 8},
              {RECORDER_TASK_OWNER_, 24, 8},
              {RECORDER_TASK_UCONTEXT_, 264, 0}},
     .states = "scheduler\0new\0ready\0waiting\0dead\0",
     .event = &pth_event,
     .on_first = true}};
enum { KNOWN = sizeof known / sizeof *known };

const char *const known_names[] = {"__pth_NQ", "__pth_RQ", "__pth_WQ",
                                   "__pth_SQ", "__pth_DQ", "__pth_current",
                                   0};

/* ------------------------------------------------------------------ layout -- */

/* Adds the lists whose symbols are there; false: one is missing. */
static bool lists_find(struct tasks *tasks, const struct known *k,
                       struct layout *layout)
{
    const struct tasks_program *program = &tasks->program;
    for (const struct known_list *list = k->lists; list->symbol; list++) {
        uint64_t size;
        uint64_t at = program->symbol(program->of, list->symbol, &size);
        if (!at)
            return false;
        layout->lists[layout->lists_count++] =
            (struct task_list){list->kind, at + list->offset, 1, list->state};
    }
    return true;
}

static void known_add(struct tasks *tasks, const struct known *k)
{
    struct layout *layout = layout_add(tasks);
    size_t size = 0;
    if (!layout)
        return;
    snprintf(layout->name, sizeof layout->name, "%s", k->name);
    if (!lists_find(tasks, k, layout)) {
        tasks->layouts_count--;
        return;
    }
    for (const struct known_row *row = k->rows; row->what; row++)
        layout->rows[row->what] =
            (struct layout_row){true, row->offset, row->bytes};
    while (k->states && k->states[size])
        size += strlen(k->states + size) + 1;
    layout_states(layout, k->states, size);
    layout->event = k->event;
    layout->on_first = k->on_first;
    layout_span(layout);
}

const char *known_read(struct tasks *tasks)
{
    const struct memory *m = tasks->program.memory;
    if (!tasks->program.symbol)
        return NULL;
    for (size_t i = 0; i < KNOWN; i++)
        if (known[i].machine == m->machine &&
            known[i].word_bytes == m->word_bytes)
            known_add(tasks, &known[i]);
    return NULL;
}
