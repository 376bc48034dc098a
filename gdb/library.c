/* library.c - the reader as a shared library, for a memory that others read. */
/* SPDX-License-Identifier: MIT */
/* Only the functions of library.h are exported. */
#pragma GCC visibility push(default)
#include "library.h"
#pragma GCC visibility pop

#include "handle.h"
#include "inside.h"
#include "print.h"
#include "settings.h"
#include "show.h"
#include "source.h"
#include "tasks.h"

/* Begins a call: if there is no memory in it, it returns `failed`. */
#define BEGIN(library, failed)                                                 \
    if (call_host = &(library)->host, setjmp((library)->host.end) != 0)        \
    return cut_watch(NULL), failed
static const char no_memory[] = "there is no memory for it\n";

enum { PIECE = 65536 }; /* bytes of a dump at a time, or a little more */

struct recorder_gdb {
    struct memory memory;
    struct recorder_gdb_target target;
    struct call_host host;
    struct source source; /* the registry in it; nothing is opened */
    struct reader reader;
    struct tasks tasks;
    bool has_tasks;
    struct source own; /* of recorder_gdb_threads_open(), with its own memory */
    struct threads threads;
    bool has_own, has_threads;
    bool cut;           /* by cut.c: the source lost pages while it was read */
    char state[24];     /* of recorder_gdb_task() */
    struct shown_name { /* names that it gave, escaped */
        struct shown_name *next;
        char text[];
    } * shown;
    char *text; /* the text that was returned last */
    size_t text_size;
    char why[256];
    char file[4 * 1023 + 1], name[128]; /* of recorder_gdb_at(), as shown */
    bool head_given;
};

/* ------------------------------------------------------------------- new -- */

struct recorder_gdb *recorder_gdb_new(const struct recorder_gdb_target *target)
{
    struct recorder_gdb *library = calloc(1, sizeof *library);
    if (!library)
        return NULL;
    library->target = *target;
    library->memory = (struct memory){.read = target->read,
                                      .write = target->write,
                                      .thread = target->thread,
                                      .constant = target->constant,
                                      .size = target->size,
                                      .word_bytes = target->word_bytes,
                                      .machine = target->machine,
                                      .big_endian = target->big_endian,
                                      .live = target->live,
                                      .native = target->native,
                                      .stale_order = target->stale_order};
    library->source.memory = &library->memory;
    return library;
}

void recorder_gdb_free(struct recorder_gdb *library)
{
    if (!library)
        return;
    reader_close(&library->reader);
    if (library->has_tasks)
        tasks_close(&library->tasks);
    while (library->shown) {
        struct shown_name *next = library->shown->next;
        free(library->shown);
        library->shown = next;
    }
    if (library->has_threads)
        threads_close(&library->threads);
    if (library->has_own) {
        source_close(&library->own);
        cut_end();
    }
    free(library->text);
    free(library);
}

/* ------------------------------------------------------------------ open -- */

size_t recorder_gdb_candidate(struct recorder_gdb *library, uint64_t address)
{
    BEGIN(library, 0);
    source_candidate(&library->source, address);
    return library->source.registries;
}

size_t recorder_gdb_scan(struct recorder_gdb *library, uint64_t start,
                         uint64_t end)
{
    BEGIN(library, 0);
    source_scan(&library->source, start, end);
    return library->source.registries;
}

const char *recorder_gdb_open(struct recorder_gdb *library)
{
    BEGIN(library, no_memory);
    if (!library->source.registry)
        return "no recorder in it";
    source_several(&library->source);
    return reader_open(&library->reader, &library->memory,
                       library->source.registry);
}

const char *recorder_gdb_take(struct recorder_gdb *library, const char *names,
                              uint64_t last)
{
    struct reader_selection selection = {
        .names = names, .last = last, .for_people = true};
    const char *wrong;
    BEGIN(library, no_memory);
    wrong = reader_select(&library->reader, &selection);
    if (!wrong)
        return reader_take(&library->reader);
    snprintf(library->why, sizeof library->why, "%s: %s", names, wrong);
    return library->why;
}

/* ----------------------------------------------------------------- texts -- */

/* Begins the next text to return. */
static FILE *text_begin(struct recorder_gdb *library)
{
    free(library->text);
    library->text = NULL;
    return need(open_memstream(&library->text, &library->text_size));
}
static const char *text_end(struct recorder_gdb *library, FILE *text)
{
    return need(fclose(text) == 0 ? library->text : NULL);
}

const char *recorder_gdb_list(struct recorder_gdb *library)
{
    FILE *text;
    BEGIN(library, no_memory);
    text = text_begin(library);
    reader_count(&library->reader);
    tables(text, &library->reader, false);
    return text_end(library, text);
}

const char *recorder_gdb_threads(struct recorder_gdb *library)
{
    FILE *text;
    BEGIN(library, no_memory);
    text = text_begin(library);
    table_threads(text, &library->reader);
    return text_end(library, text);
}

const char *recorder_gdb_dump(struct recorder_gdb *library)
{
    struct reader *reader = &library->reader;
    struct reader_event event;
    const char *piece;
    size_t size, all;
    FILE *text;
    BEGIN(library, no_memory);
    text = text_begin(library);
    all = 0;
    if (!library->head_given) {
        piece = reader_head(reader, &size);
        fwrite(piece, 1, size, text);
    }
    library->head_given = true;
    while (all < PIECE && reader_next(reader, &event)) {
        piece = reader_line(reader, &event, NULL, &size);
        fwrite(piece, 1, size, text);
        all += size;
    }
    return text_end(library, text);
}

const char *recorder_gdb_several(struct recorder_gdb *library)
{
    FILE *text;
    BEGIN(library, no_memory);
    text = text_begin(library);
    if (*library->source.warning)
        fprintf(text, "%s\n", library->source.warning);
    return text_end(library, text);
}

const char *recorder_gdb_warnings(struct recorder_gdb *library)
{
    const struct reader *reader = &library->reader;
    FILE *text;
    BEGIN(library, no_memory);
    text = text_begin(library);
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (reader->recorders[i]->wrong)
            text_put(text, "recorder %s: %s\n", reader->recorders[i]->name,
                     reader->recorders[i]->wrong);
    return text_end(library, text);
}

const char *recorder_gdb_at(struct recorder_gdb *library, uint64_t order,
                            struct recorder_gdb_event *to)
{
    struct reader *reader = &library->reader;
    struct reader_selection one = {.since_order = order, .until_order = order};
    struct reader_event event;
    const char *wrong = recorder_gdb_take(library, NULL, 0);
    const char *location;
    bool given;
    size_t size;
    if (wrong)
        return wrong;
    BEGIN(library, no_memory);
    given = order <= word_max(&library->memory) &&
            word_signed(&library->memory, reader->end - order) > 0;
    reader_select(reader, &one);
    reader_rewind(reader);
    if (order == 0 || !given || !reader_next(reader, &event)) {
        snprintf(library->why, sizeof library->why,
                 "no record has order %" PRIu64 ": %s", order,
                 given ? "it was overwritten or cleared, or is part of the one "
                         "before it"
                       : "none was given it yet");
        return library->why;
    }
    reader_format(reader, &event.event, &location);
    to->file_line = reader_location(location, &size);
    if (!to->file_line)
        size = strlen(location);
    if (size > 1023)
        size = 1023;
    snprintf(library->file, sizeof library->file, "%s",
             text_shown(location, &size));
    to->file = library->file;
    to->caller = event.event.caller;
    to->thread = event.thread ? event.thread->id : 0;
    to->alive = event.thread && event.thread->alive;
    to->is_task = event.thread && event.thread->is_task;
    size = event.thread ? strlen(event.thread->name) : 0;
    snprintf(library->name, sizeof library->name, "%s",
             size ? text_shown(event.thread->name, &size) : "");
    to->name = library->name;
    to->line = reader_line(reader, &event, NULL, NULL);
    return NULL;
}

/* --------------------------------------------------------------- changes -- */

const char *recorder_gdb_set(struct recorder_gdb *library, const char *items)
{
    struct settings settings = {0};
    const char *wrong;
    BEGIN(library, no_memory);
    wrong = settings_add(&settings, &library->reader, items);
    if (wrong) {
        snprintf(library->why, sizeof library->why, "%s", wrong);
        return library->why;
    }
    return settings_write(&settings, &library->reader) ? NULL
                                                       : "cannot be written";
}

/* ----------------------------------------------------------------- tasks -- */

const char *recorder_gdb_tasks_open(struct recorder_gdb *library)
{
    const struct recorder_gdb_target *target = &library->target;
    const struct tasks_program program = {.memory = &library->memory,
                                          .registry = library->source.registry,
                                          .symbol = target->symbol,
                                          .member = target->member,
                                          .variable = target->variable,
                                          .is_code = target->is_code,
                                          .writable = target->writable,
                                          .library = target->has_library,
                                          .thread = target->kernel_thread,
                                          .thread_name = target->thread_name};
    const char *wrong;
    BEGIN(library, no_memory);
    wrong = tasks_open(&library->tasks, &program);
    library->has_tasks = !wrong;
    if (wrong || library->tasks.layouts_count)
        return wrong;
    return "no tasks in it: its program describes none by recorder_tasks.h, "
           "and uses no library that is known here";
}

const char *recorder_gdb_tasks_warnings(struct recorder_gdb *library)
{
    return library->tasks.warnings;
}

const char *recorder_gdb_groups(struct recorder_gdb *library)
{
    FILE *text;
    BEGIN(library, no_memory);
    text = text_begin(library);
    tasks_groups(text, &library->tasks);
    return text_end(library, text);
}

const char *recorder_gdb_tasks(struct recorder_gdb *library, const char *group,
                               bool internal, uint64_t here)
{
    const struct task_columns columns = {
        .address = true, .marks = true, .here = here};
    FILE *text;
    BEGIN(library, no_memory);
    if (tasks_choose(&library->tasks, group, internal))
        return NULL;
    text = text_begin(library);
    tasks_table(text, &library->tasks, &columns);
    return text_end(library, text);
}

/* A name as it is shown, until recorder_gdb_free(). */
static const char *name_shown(struct recorder_gdb *library, const char *name)
{
    size_t size = strlen(name);
    const char *text = text_shown(name, &size);
    struct shown_name *shown = need(malloc(sizeof *shown + size + 1));
    memcpy(shown->text, text, size + 1);
    shown->next = library->shown;
    library->shown = shown;
    return shown->text;
}

bool recorder_gdb_task(struct recorder_gdb *library, size_t i,
                       struct recorder_gdb_task *to)
{
    const struct tasks *tasks = &library->tasks;
    const struct task *task;
    BEGIN(library, false);
    if (i >= tasks->count)
        return false;
    task = &tasks->all[tasks->order[i]];
    *to = (struct recorder_gdb_task){
        .name = name_shown(library, task->name),
        .group = name_shown(library, task_group(tasks, task)),
        .state = name_shown(library, task_state(tasks, task, library->state)),
        .address = task->address,
        .id = task->id,
        .thread = task->thread == TASK_NONE ? -1 : (int64_t)task->thread,
        .running = task->running,
        .dead = task->dead,
        .internal = task->internal};
    return true;
}

bool recorder_gdb_task_registers(struct recorder_gdb *library, size_t i,
                                 struct recorder_gdb_registers *to)
{
    struct tasks *tasks = &library->tasks;
    const struct machine *machine = machine_of(&library->memory);
    struct task_context context;
    unsigned pc;
    BEGIN(library, false);
    if (!machine || i >= tasks->count ||
        !task_registers(tasks, &tasks->cache.memory,
                        &tasks->all[tasks->order[i]], &context))
        return false;
    to->xpsr = context.xpsr;
    pc = machine->unwind.pc;
    to->sp = machine->unwind.sp;
    to->pc = pc < 63 ? pc : 63; /* MIPS: 64 here */
    to->known = 0;
    for (unsigned k = 0; k < 64; k++) {
        unsigned which = k == to->pc ? pc : k;
        to->value[k] = context.registers.value[which];
        to->known |= (uint64_t)context.registers.known[which] << k;
    }
    return true;
}

/* --------------------------------------------------------------- threads -- */

static const char cut_off[] = "was cut off while it was read";

static const char *threads_of(struct recorder_gdb *library, const char *name,
                              const struct source_how *how)
{
    struct source *source = &library->own;
    struct reader *reader = &library->reader;
    const char *wrong = source_open(source, name, how);
    library->has_own = !wrong;
    if (wrong)
        cut_end();
    if (!wrong && source->registry)
        wrong = reader_open(reader, source->memory, source->registry);
    if (!wrong)
        wrong = threads_open(&library->threads, source,
                             source->registry ? reader : NULL, false);
    library->has_threads = !wrong;
    if (!wrong && source->registry && !source->memory->stale_order &&
        !library->threads.recorded)
        show_numbers(&library->threads, reader);
    return wrong;
}

const char *recorder_gdb_threads_open(struct recorder_gdb *library,
                                      const char *name, const char *executable,
                                      const char *sysroot)
{
    const struct source_how how = {.executable = executable,
                                   .sysroot = sysroot,
                                   .unprepared = true,
                                   .in_library = true};
    const char *wrong;
    BEGIN(library, no_memory);
    cut_begin();
    cut_watch(&library->cut);
    wrong = threads_of(library, name, &how);
    cut_watch(NULL);
    if (library->cut)
        wrong = cut_off;
    if (wrong)
        snprintf(library->why, sizeof library->why, "%s", wrong);
    return wrong ? library->why : NULL;
}

/* Begin and end a text of the threads, for which a truncated file may be
 * read. */
static FILE *threads_text_begin(struct recorder_gdb *library)
{
    cut_watch(&library->cut);
    return text_begin(library);
}
static const char *threads_text_end(struct recorder_gdb *library, FILE *text)
{
    cut_watch(NULL);
    if (library->cut)
        fprintf(text, "The file %s: not all of it is shown.\n", cut_off);
    return text_end(library, text);
}

const char *recorder_gdb_waits(struct recorder_gdb *library, const char *wanted)
{
    struct threads *threads = &library->threads;
    bool has;
    FILE *text;
    BEGIN(library, no_memory);
    text = threads_text_begin(library);
    has = !wanted;
    for (size_t i = 0; i < threads->count && !has; i++)
        has = show_chosen(&threads->all[i], wanted);
    if (has)
        show_list(text, threads, wanted);
    return threads_text_end(library, text);
}

const char *recorder_gdb_locks(struct recorder_gdb *library)
{
    struct threads *threads = &library->threads;
    struct contentions locks;
    struct order order = {0};
    FILE *text;
    BEGIN(library, no_memory);
    text = threads_text_begin(library);
    if (threads->recorded) {
        order_find(&order, threads->recorded);
        show_locks_recorded(text, threads, &order, BY_OBJECT, 0);
        order_free(&order);
    } else {
        contention_find(&locks, threads, BY_NONE);
        show_locks(text, threads, &locks);
        contention_free(&locks);
    }
    return threads_text_end(library, text);
}

const char *recorder_gdb_name(struct recorder_gdb *library, size_t i)
{
    const struct reader *reader = &library->reader;
    if (i < reader->recorders_count)
        return reader->recorders[i]->name;
    i -= reader->recorders_count;
    if (i >= reader->tweaks_count)
        return NULL;
    return reader->tweaks[i].name ? reader->tweaks[i].name : "";
}
