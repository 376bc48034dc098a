/* layouts.c - the descriptions of tasks that a program holds. */
/* SPDX-License-Identifier: MIT */
#include "inside.h"
#include "print.h"
#include "tasks.h"

/* The words of struct recorder_tasks and of struct recorder_task_row. */
enum {
    TASKS_NAME,
    TASKS_DESCRIPTION,
    TASKS_ROWS,
    TASKS_ROWS_COUNT,
    TASKS_HEAD,
    TASKS_TABLE,
    TASKS_TABLE_MAX,
    TASKS_NEXT,
    TASKS_WORDS
};
enum { ROW_WHAT, ROW_OFFSET, ROW_BYTES, ROW_MORE, ROW_WORDS };
enum { LAYOUT_ROWS_MAX = 256 };

void tasks_warn(struct tasks *tasks, const char *format, ...)
{
    char text[256], line[4 * sizeof text + 1];
    size_t at = strlen(tasks->warnings), size;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size = strlen(text); /* names in it are the program's */
    snprintf(line, sizeof line, "%s\n", text_shown(text, &size));
    if (!strstr(tasks->warnings, line) &&
        at + strlen(line) < sizeof tasks->warnings)
        strcpy(tasks->warnings + at, line);
}

struct layout *layout_add(struct tasks *tasks)
{
    struct layout *layout;
    if (!tasks->layouts)
        tasks->layouts = need(calloc(LAYOUTS_MAX, sizeof *tasks->layouts));
    if (tasks->layouts_count == LAYOUTS_MAX)
        return NULL;
    layout = &tasks->layouts[tasks->layouts_count++];
    memset(layout, 0, sizeof *layout);
    return layout;
}

/* True for members of a task's structure, which is read in one piece. */
static bool is_of_task(unsigned what)
{
    return what < RECORDER_TASK_OWNER_ || what >= RECORDER_TASK_TIMED_;
}

bool layout_span(struct layout *layout)
{
    uint64_t high = 0;
    layout->low = UINT64_MAX;
    for (unsigned what = 1; what < RECORDER_TASK_WHATS_; what++) {
        const struct layout_row *row = &layout->rows[what];
        if (!row->is_set || !is_of_task(what) ||
            what == RECORDER_TASK_UCONTEXT_)
            continue;
        if (row->offset < layout->low)
            layout->low = row->offset;
        if (row->offset + row->bytes > high)
            high = row->offset + row->bytes;
    }
    if (high == 0)
        layout->low = 0;
    layout->span = high - layout->low;
    return layout->span <= TASK_SPAN_MAX;
}

void layout_need(const struct layout *layout, struct memory *m,
                 uint64_t address)
{
    if (!m->needs)
        return;
    m->needs(m, address + layout->low, (size_t)layout->span, true);
    for (unsigned what = 1; what < RECORDER_TASK_WHATS_; what++)
        if (layout->rows[what].is_set && is_of_task(what) &&
            what != RECORDER_TASK_UCONTEXT_)
            bytes_need(m, address + layout->rows[what].offset,
                       layout->rows[what].bytes);
}

bool layout_member(struct tasks *tasks, const char *type, const char *members,
                   uint64_t *offset, unsigned *bytes)
{
    const struct tasks_program *program = &tasks->program;
    char member[64];
    size_t size;
    do {
        size = strcspn(members, "|");
        snprintf(member, sizeof member, "%.*s", (int)size, members);
        members += size + (members[size] == '|');
        if (program->member &&
            program->member(program->of, type, member, offset, bytes))
            return true;
    } while (*members);
    return false;
}

void layout_states(struct layout *layout, const char *texts, size_t size)
{
    size_t at = 0, length;
    if (size >= sizeof layout->states_text)
        size = sizeof layout->states_text - 1;
    memcpy(layout->states_text, texts, size);
    layout->states_text[size] = '\0';
    while (at < size && layout->states_text[at] &&
           layout->states_count < STATES_MAX) {
        length = strlen(layout->states_text + at);
        layout->states[layout->states_count++] = layout->states_text + at;
        at += length + 1;
    }
}

/* ------------------------------------------------------------------ rows -- */

/* The texts of states end with an empty one. */
static void states_read(struct memory *m, struct layout *layout, uint64_t at)
{
    char texts[sizeof layout->states_text] = "";
    size_t got = m->read(m, at, texts, sizeof texts - 1), size = 0;
    while (size < got && texts[size])
        size += strnlen(texts + size, got - size) + 1;
    layout_states(layout, texts, size < got ? size : got);
    bytes_need(m, at, size < got ? size + 1 : got);
}

static void row_take(struct tasks *tasks, struct layout *layout,
                     const uint64_t word[ROW_WORDS])
{
    struct memory *m = &tasks->cache.memory;
    struct layout_row *row = &layout->rows[word[ROW_WHAT]];
    row->is_set = true;
    row->offset = word[ROW_OFFSET];
    row->bytes = word[ROW_BYTES] > TASK_SPAN_MAX ? TASK_SPAN_MAX
                                                 : (unsigned)word[ROW_BYTES];
    if (word[ROW_WHAT] == RECORDER_TASK_STATE_)
        states_read(m, layout, word[ROW_MORE]);
    if (word[ROW_WHAT] == RECORDER_TASK_WORDS_ ||
        word[ROW_WHAT] == RECORDER_TASK_WORDS_AT_) {
        if (row->bytes <= WORDS_MAX &&
            bytes_read(m, word[ROW_MORE], layout->words, row->bytes))
            layout->words_count = row->bytes;
        row->bytes = m->word_bytes;
    }
}

/* Reads a description's rows. False: they are damaged. */
static bool rows_read(struct tasks *tasks, struct layout *layout, uint64_t at,
                      uint64_t count)
{
    struct memory *m = &tasks->cache.memory;
    unsigned char bytes[ROW_WORDS * 8];
    uint64_t word[ROW_WORDS];
    if (count > LAYOUT_ROWS_MAX)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        size_t size = ROW_WORDS * m->word_bytes;
        if (!bytes_read(m, at + i * size, bytes, size))
            return false;
        for (unsigned k = 0; k < ROW_WORDS; k++)
            word[k] = bytes_word(m, bytes + k * m->word_bytes);
        if (word[ROW_OFFSET] > UINT32_MAX)
            return false;
        if (word[ROW_WHAT] && word[ROW_WHAT] < RECORDER_TASK_WHATS_)
            row_take(tasks, layout, word);
    }
    return layout_span(layout);
}

/* ---------------------------------------------------------- descriptions -- */

static void list_of(struct layout *layout, const uint64_t word[TASKS_WORDS])
{
    struct task_list *list = &layout->lists[layout->lists_count++];
    list->kind = word[TASKS_TABLE]                          ? LIST_TABLE
                 : layout->rows[RECORDER_TASK_LINK_].is_set ? LIST_LINK
                 : layout->rows[RECORDER_TASK_RING_].is_set ? LIST_RING
                                                            : LIST_NEXT;
    list->at = word[TASKS_TABLE] ? word[TASKS_TABLE] : word[TASKS_HEAD];
    list->count = word[TASKS_TABLE_MAX];
}

/* Reads the description at an address; *next: the following one. False: it
 * cannot be read. */
static bool description_read(struct tasks *tasks, uint64_t at, uint64_t *next)
{
    struct memory *m = &tasks->cache.memory;
    unsigned char bytes[TASKS_WORDS * 8];
    uint64_t word[TASKS_WORDS];
    struct layout *layout;
    char *name;
    if (!bytes_read(m, at, bytes, TASKS_WORDS * m->word_bytes))
        return false;
    for (unsigned i = 0; i < TASKS_WORDS; i++)
        word[i] = bytes_word(m, bytes + i * m->word_bytes);
    *next = word[TASKS_NEXT];
    layout = layout_add(tasks);
    if (!layout)
        return false;
    name = bytes_string(m, word[TASKS_NAME], 1023);
    snprintf(layout->name, sizeof layout->name, "%s", name ? name : "?");
    free(name);
    if (rows_read(tasks, layout, word[TASKS_ROWS], word[TASKS_ROWS_COUNT])) {
        list_of(layout, word);
    } else {
        tasks_warn(tasks, "the description %s at 0x%llx is damaged",
                   layout->name, (unsigned long long)at);
        tasks->layouts_count--;
    }
    return true;
}

const char *layouts_read(struct tasks *tasks)
{
    struct registry registry;
    uint64_t at, next = 0;
    const char *wrong;
    if (!tasks->program.registry)
        return NULL;
    wrong =
        registry_read(&tasks->cache.memory, tasks->program.registry, &registry);
    if (wrong)
        return wrong;
    for (at = registry.tasks; at; at = next) {
        if (tasks->layouts_count < LAYOUTS_MAX &&
            description_read(tasks, at, &next) && next != at)
            continue;
        tasks_warn(tasks,
                   "the list of descriptions ends at a bad one, at "
                   "0x%llx",
                   (unsigned long long)at);
        break;
    }
    return NULL;
}
