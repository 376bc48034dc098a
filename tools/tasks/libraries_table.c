/* libraries_table.c - tables of known libraries with tasks. */
/* SPDX-License-Identifier: MIT */
/*
   A library is a table: the symbols that identify it, the lists that hold its
   tasks, and the offsets of their members. docs/tasks.md explains how to add
   one. Offsets hold for one version of the library on one processor: its
   symbols, or the name of its shared library, must identify that version.
*/
#include "bytes.h"
#include "tasks.h"

/* --------------------------------------------------------------- tables -- */

struct library_list {
    enum list_kind kind;
    const char *symbol; /* of a variable; null ends the lists */
    unsigned offset;    /* in it */
    const char *state;  /* of all tasks in it, or null */
    bool optional;      /* not all versions and configurations have it */
};
struct library_row {
    enum recorder_task_what_ what; /* 0 ends the rows */
    unsigned offset, bytes;        /* 0: as many as debug information says */
    /* Debug information decides between versions and configurations: the first
     * existing member of several, with | between them. */
    const char *type, *member;
    bool optional;
};
struct library {
    const char *name;
    const char *library; /* the start of its file's name; null: the symbols
                          * suffice */
    unsigned machine, word_bytes; /* 0: all */
    /* Objects without a name are found by their pointer to a class table; they
     * contain the lists. */
    const char *class_table;
    unsigned class_at; /* in the table */
    /* The word at out_at must point to a block whose word at back_at points
     * back. A stale object fails this test. */
    unsigned out_at, back_at;
    struct library_list lists[8];
    struct library_row rows[16];
    const char *states; /* of values from 0 up; "" ends them */
    const char *words;  /* as of RECORDER_TASK_WORDS */
    unsigned words_count;
    bool is_freertos;
    struct task_traits traits;
};

/* FreeRTOS, as its ports save a task. Cortex-M: r4 to r11, with a
 * floating-point unit EXC_RETURN and its registers, and above them the words
 * that the processor pushed. RISC-V: pc, ra, from t0 on all of 32 or 16
 * registers, the nesting of critical sections (not in early releases), and
 * mstatus. PIC32MX: two free words, lo, hi, at, s0 to s7, v0, v1, a0 to a3, t0
 * to t9, s8, ra, pc and Status. */
static const struct task_form freertos_forms[] = {
    {EM_ARM, "\4\5\6\7\10\11\12\13\375\0\1\2\3\14\16\17\376", 17},
    {EM_ARM, "\4\5\6\7\10\11\12\13\0\1\2\3\14\16\17\376", 16},
    {EM_RISCV,
     "\100\1\5\6\7\10\11\12\13\14\15\16\17\20\21\22\23\24\25\26\27\30\31"
     "\32\33\34\35\36\37\377\374",
     31},
    {EM_RISCV,
     "\100\1\5\6\7\10\11\12\13\14\15\16\17\20\21\22\23\24\25\26\27\30\31"
     "\32\33\34\35\36\37\374",
     30},
    {EM_RISCV, "\100\1\5\6\7\10\11\12\13\14\15\16\17\377\374", 15},
    {EM_MIPS,
     "\377\377\377\377\1\20\21\22\23\24\25\26\27\2\3\4\5\6\7\10\11\12\13"
     "\14\15\16\17\30\31\36\37\100\377",
     33},
    {0, NULL, 0}};
#define FREERTOS(what, bytes, type, member)                                    \
    {                                                                          \
        RECORDER_TASK_##what##_, 0, bytes, "struct " type, member              \
    }

/* Cortex-M: the registers that ThreadX's port pushes below the processor's
 * own. */
#define THREADX_WORDS "\375\4\5\6\7\10\11\12\13\0\1\2\3\14\16\17\376"
#define THREADX(what, bytes, member)                                           \
    {                                                                          \
        RECORDER_TASK_##what##_, 0, bytes, "TX_THREAD", "tx_thread_" member    \
    }

/* GNU Pth 2.0: a thread waits for a ring of events. Their types are in its
 * interface (pth.h), as bits beside others. */
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

/* Boost.Fiber 1.74: wait_hook_ of a context is a link in the ring of a
 * wait_queue. The queue follows the spinlock in an object; a context has one,
 * too. */
static const struct task_ring boost_ring = {
    .head_at = 8, .owner_at = 24, .end_at = 32, .timed_at = 128};

/* Members that a row does not name are null. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
static const struct library libraries[] = {
    {.name = "Boost.Fiber",
     .library = "libboost_fiber.so.1.74.",
     .machine = EM_X86_64,
     .word_bytes = 8,
     .class_table = "_ZTVN5boost6fibers9schedulerE",
     .class_at = 16,
     .out_at = 128,
     .back_at = 72,
     .lists = {{LIST_LINK, "", 80, NULL},
               {LIST_TABLE, "", 120, "dispatcher"},
               {LIST_TABLE, "", 128, NULL}},
     .rows = {{RECORDER_TASK_LINK_, 184, 8},
              {RECORDER_TASK_WAITS_, 48, 8},
              {RECORDER_TASK_FCONTEXT_, 208, 8}},
     .states = "",
     .traits = {.ring = &boost_ring, .runs_without = true}},
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
     .traits = {.event = &pth_event, .on_first = true}},
    {.name = "ThreadX",
     .machine = EM_ARM,
     .word_bytes = 4,
     .lists = {{LIST_TABLE, "_tx_thread_current_ptr", 0, "running"},
               {LIST_NEXT, "_tx_thread_created_ptr", 0, NULL}},
     .rows = {THREADX(NEXT, 4, "created_next"),
              {RECORDER_TASK_PREVIOUS_, 0, 4, "TX_THREAD",
               "tx_thread_created_previous", true},
              THREADX(NAME_AT, 4, "name"),
              THREADX(STATE, 4, "state"),
              THREADX(WORDS, 4, "stack_ptr"),
              THREADX(WAITS, 4, "suspend_control_block"),
              {RECORDER_TASK_TIMED_, 0, 4, "TX_THREAD",
               "tx_thread_timer.tx_timer_internal_list_head", true},
              {RECORDER_TASK_OWNER_, 0, 4, "TX_MUTEX", "tx_mutex_owner"}},
     .states = "ready\0completed\0terminated\0suspended\0sleep\0queue\0"
               "semaphore\0flags\0blocks\0bytes\0device\0file\0tcp\0mutex\0"
               "priority\0",
     .words = THREADX_WORDS,
     .words_count = sizeof THREADX_WORDS - 1,
     /* A thread keeps its last awaited object; and other objects have other
      * threads at the place of a mutex's owner. */
     .traits = {.waits_in =
                    1 << 5 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 13,
                .owned_in = 1 << 13,
                .owners_are_tasks = true}},
    {.name = "FreeRTOS",
     .lists = {{LIST_TABLE, "pxCurrentTCB", 0, "running", true},
               {LIST_TABLE, "pxCurrentTCBs", 0, "running", true},
               {LIST_ITEMS, "pxReadyTasksLists", 0, "ready"},
               {LIST_ITEMS, "xPendingReadyList", 0, "ready", true},
               {LIST_ITEMS, "xDelayedTaskList1", 0, "blocked"},
               {LIST_ITEMS, "xDelayedTaskList2", 0, "blocked"},
               {LIST_ITEMS, "xSuspendedTaskList", 0, "suspended", true},
               {LIST_ITEMS, "xTasksWaitingTermination", 0, "deleted", true}},
     .rows = {FREERTOS(NAME, 0, "tskTaskControlBlock", "pcTaskName"),
              FREERTOS(WORDS, 0, "tskTaskControlBlock", "pxTopOfStack"),
              FREERTOS(WAITS, 0, "tskTaskControlBlock",
                       "xEventListItem.pxContainer|xEventListItem.pvContainer"),
              FREERTOS(OWNER, 0, "QueueDefinition",
                       "u.xSemaphore.xMutexHolder|pcTail"),
              {RECORDER_TASK_ID_, 0, 0, "struct tskTaskControlBlock",
               "uxTCBNumber", true}},
     .states = "",
     .is_freertos = true,
     .traits = {.forms = freertos_forms, .owners_are_tasks = true}}};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

const char *library_name(size_t i)
{
    for (size_t k = 0; k < LIBRARIES; k++) {
        const struct library_list *list = libraries[k].lists;
        if (libraries[k].class_table && i-- == 0)
            return libraries[k].class_table;
        for (; list->symbol; list++)
            if (*list->symbol && i-- == 0)
                return list->symbol;
    }
    return i == 0 ? "xQueueRegistry" : NULL;
}

/* --------------------------------------------------------------- layout -- */

/* Adds the lists whose symbols exist; false: a required one is missing. */
static bool lists_find(struct tasks *tasks, const struct library *k,
                       struct layout *layout)
{
    const struct tasks_program *program = &tasks->program;
    unsigned word = program->memory->word_bytes;
    for (const struct library_list *list = k->lists; list->symbol; list++) {
        uint64_t size, at;
        if (!*list->symbol)
            continue; /* an offset in an object */
        at = program->symbol(program->of, list->symbol, &size);
        if (!at && list->optional)
            continue;
        if (!at)
            return false;
        /* The number of heads is known with their size. */
        if (list->kind != LIST_ITEMS)
            size = list->kind == LIST_TABLE && size > word ? size / word : 1;
        layout->lists[layout->lists_count++] = (struct task_list){
            list->kind, at + list->offset, size, list->state};
    }
    return true;
}

/* Adds the lists of an object that points to its class, if the object is
 * live. */
static void object_add(struct tasks *tasks, const struct library *k,
                       struct layout *layout, uint64_t object)
{
    struct memory *m = tasks->program.memory;
    uint64_t class, out, back;
    if (!bytes_read_word(m, object, &class) ||
        !bytes_read_word(m, object + k->out_at, &out) ||
        !bytes_read_word(m, out + k->back_at, &back) || back != object)
        return;
    for (const struct library_list *list = k->lists; list->symbol; list++) {
        if (layout->lists_count == LISTS_MAX) {
            tasks_warn(tasks, "it has more than %d schedulers of %s",
                       LISTS_MAX / 3, k->name);
            return;
        }
        layout->lists[layout->lists_count++] = (struct task_list){
            list->kind, object + list->offset, 1, list->state};
    }
}

/* Looks for objects of a class in all writable memory of the program. */
static void objects_find(struct tasks *tasks, const struct library *k,
                         struct layout *layout, uint64_t table)
{
    enum { PIECE = 1 << 20 };
    const struct tasks_program *program = &tasks->program;
    struct memory *m = program->searched ? program->searched : program->memory;
    unsigned char *piece = need(malloc(PIECE)), word[8];
    uint64_t start, end, left = (uint64_t)1 << 30;
    bytes_put_word(m, word, table);
    for (size_t i = 0; program->writable(program->of, i, &start, &end); i++)
        while (start < end && left) {
            size_t got,
                size = end - start < PIECE ? (size_t)(end - start) : PIECE;
            got = m->read(m, start, piece, size);
            for (size_t at = 0; at + 8 <= got; at += 8)
                if (memcmp(piece + at, word, sizeof word) == 0)
                    object_add(tasks, k, layout, start + at);
            left = left > size ? left - size : 0;
            start += size;
        }
    if (!left)
        tasks_warn(tasks, "only its first GiB was searched for %s", k->name);
    free(piece);
}

/* True if the table is for this version. */
static bool is_version(struct tasks *tasks, const struct library *k)
{
    const struct tasks_program *program = &tasks->program;
    if (!k->library ||
        (program->library && program->library(program->of, k->library)))
        return true;
    tasks_warn(tasks,
               "its tasks of %s are not shown: the known version is "
               "%s*",
               k->name, k->library);
    return false;
}

/* Adds the rows; false: debug information lacks one. */
static bool rows_find(struct tasks *tasks, const struct library *k,
                      struct layout *layout)
{
    for (const struct library_row *row = k->rows; row->what; row++) {
        struct layout_row *to = &layout->rows[row->what];
        unsigned bytes;
        *to = (struct layout_row){true, row->offset, row->bytes};
        if (!row->member)
            continue;
        to->is_set =
            layout_member(tasks, row->type, row->member, &to->offset, &bytes);
        if (to->is_set && !to->bytes)
            to->bytes = bytes;
        if (!to->is_set && !row->optional) {
            tasks_warn(tasks, "it has %s, but no debug information of %s.%s",
                       k->name, row->type, row->member);
            return false;
        }
    }
    return true;
}

static void library_add(struct tasks *tasks, const struct library *k)
{
    const struct tasks_program *program = &tasks->program;
    struct layout *layout = layout_add(tasks);
    size_t size = 0;
    uint64_t table = 0, bytes;
    if (!layout)
        return;
    snprintf(layout->name, sizeof layout->name, "%s", k->name);
    if (k->class_table)
        table = program->symbol(program->of, k->class_table, &bytes);
    if (!lists_find(tasks, k, layout) || (k->class_table && !table) ||
        (table && !program->writable) || !is_version(tasks, k) ||
        !rows_find(tasks, k, layout) ||
        (k->is_freertos && !freertos_open(tasks, layout)) ||
        !layout_span(layout)) {
        free(layout->freertos);
        tasks->layouts_count--;
        return;
    }
    if (table)
        objects_find(tasks, k, layout, table + k->class_at);
    while (k->states && k->states[size])
        size += strlen(k->states + size) + 1;
    layout_states(layout, k->states, size);
    layout->traits = k->traits;
    layout->words_count = k->words_count;
    if (k->words_count)
        memcpy(layout->words, k->words, k->words_count);
}

void libraries_read(struct tasks *tasks)
{
    const struct memory *m = tasks->program.memory;
    for (size_t i = 0; tasks->program.symbol && i < LIBRARIES; i++)
        if ((!libraries[i].machine || libraries[i].machine == m->machine) &&
            (!libraries[i].word_bytes ||
             libraries[i].word_bytes == m->word_bytes))
            library_add(tasks, &libraries[i]);
}
