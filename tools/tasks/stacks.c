/* stacks.c - the callers in each task; equal stacks are kept once. */
/* SPDX-License-Identifier: MIT */
#include "stacks.h"
#include "array.h"

enum {
    STACK_TRIES = 8,      /* reads of a stack whose task runs in between */
    SPAN_MAX = 256 * 1024 /* bytes of a stack that are compared */
};

/* True if a function begins at an address. A task that has not begun continues
 * there, all others after a call. */
static bool is_start(struct task_stacks *stacks, uint64_t address)
{
    struct function function;
    return function_find(&stacks->unwind, address, &function) &&
           function.start == address;
}

/* Keeps a stack; returns its number, or TASK_NONE. */
static size_t stack_keep(struct task_stacks *stacks, const uint64_t *frames,
                         unsigned count, bool whole, size_t task)
{
    uint64_t hash[2] = {count + whole * 256u, 0};
    struct task_stack *stack;
    bool is_new;
    for (unsigned i = 0; i < count; i++) {
        hash[0] = (hash[0] ^ frames[i]) * 0x9e3779b97f4a7c15u;
        hash[0] ^= hash[0] >> 29;
        hash[1] = (hash[1] + frames[i]) * 0xbf58476d1ce4e5b9u;
        hash[1] ^= hash[1] >> 32;
    }
    stack = array_at_key(stacks->all, &stacks->ids, stacks->max, hash[0],
                         hash[1], count, &is_new);
    if (is_new) {
        stacks->count++;
        *stack = (struct task_stack){
            .count = count,
            .whole = whole,
            .first = task,
            .frames = need(calloc(count + 1u, sizeof *frames))};
        memcpy(stack->frames, frames, count * sizeof *frames);
    }
    stack->tasks++;
    return (size_t)(stack - stacks->all);
}

unsigned stack_walk(struct task_stacks *stacks, struct tasks *tasks,
                    const struct task *task, struct registers *registers,
                    uint64_t frames[FRAMES_MAX], bool *whole, uint64_t *end)
{
    const struct unwind_machine *machine = stacks->unwind.machine;
    struct task_context context;
    struct registers walked;
    unsigned count;
    bool known = task_registers(tasks, &tasks->cache.memory, task, &context);
    *whole = false;
    walked = *registers = context.registers;
    if (!known)
        return 0;
    if (!dwfl_addrmodule(stacks->unwind.dwfl, walked.value[machine->pc]))
        return 0;
    if (!context.exact && !is_start(stacks, walked.value[machine->pc]))
        walked.value[machine->pc]--;
    count = (unsigned)unwind(&stacks->unwind, &walked, frames, whole);
    /* Schedulers put 0 in the place of the outermost function's return
     * address. */
    *whole |= walked.value[machine->pc] == 0;
    *end = walked.value[machine->sp];
    return count;
}

/* Copies the bytes from the saved stack pointer to the outermost frame, and the
 * words that end it, into half 0 or 1 of the span. */
static size_t span_read(struct task_stacks *stacks, struct tasks *tasks,
                        unsigned half, const struct registers *registers,
                        uint64_t end)
{
    struct memory *m = &tasks->cache.memory;
    uint64_t sp = registers->value[stacks->unwind.machine->sp];
    uint64_t size = end - sp + 8 * m->word_bytes;
    if (!stacks->span)
        stacks->span = need(malloc((size_t)2 * SPAN_MAX));
    return m->read(m, sp, stacks->span + half * (size_t)SPAN_MAX,
                   size < SPAN_MAX ? (size_t)size : SPAN_MAX);
}

size_t stack_note(struct task_stacks *stacks, struct tasks *tasks,
                  const struct registers *registers, uint64_t end)
{
    return span_read(stacks, tasks, 0, registers, end);
}

/* True if a task still has the same state, and the same context or none. */
static bool context_stood(struct tasks *tasks, const struct task *then,
                          const struct registers *registers)
{
    struct task_context after;
    struct task now;
    cache_renew(&tasks->cache);
    if (!task_again(tasks, then, &now))
        return false;
    task_registers(tasks, &tasks->cache.memory, &now, &after);
    return now.running == then->running && now.state == then->state &&
           now.dead == then->dead &&
           memcmp(registers, &after.registers, sizeof *registers) == 0;
}

bool stack_stood(struct task_stacks *stacks, struct tasks *tasks,
                 const struct task *then, const struct registers *registers,
                 uint64_t end, size_t noted)
{
    return context_stood(tasks, then, registers) &&
           span_read(stacks, tasks, 1, registers, end) == noted &&
           (!noted ||
            memcmp(stacks->span, stacks->span + SPAN_MAX, noted) == 0);
}

/* Reads the stack of a task that may continue during the read. */
static bool stack_read_live(struct task_stacks *stacks, struct tasks *tasks,
                            struct task *task, uint64_t *frames,
                            unsigned *count, bool *whole)
{
    struct registers registers;
    struct task now;
    uint64_t end;
    size_t noted;
    cache_renew(&tasks->cache);
    if (!task_again(tasks, task, &now))
        return false;
    if (now.running || now.dead) {
        task->running = now.running;
        task->dead = now.dead;
        task->state = now.state;
        *count = 0;
        return true;
    }
    *count = stack_walk(stacks, tasks, &now, &registers, frames, whole, &end);
    if (!*count) /* it has no known context, or none at all */
        return context_stood(tasks, &now, &registers);
    noted = stack_note(stacks, tasks, &registers, end);
    return stack_stood(stacks, tasks, &now, &registers, end, noted);
}

/* True if a recording has a note of a task with this context. It has none of
 * tasks that ran while they were saved; a core file has none. */
static bool is_noted(struct tasks_command *command,
                     const struct registers *registers)
{
    const struct unwind_machine *machine;
    if (!command->has_notes)
        return true;
    machine = &machine_of(command->source->memory)->unwind;
    return ids_find(&command->notes, registers->value[machine->sp],
                    registers->value[machine->pc], 0) != IDS_NONE;
}

static void stack_read(struct task_stacks *stacks, struct tasks *tasks,
                       struct tasks_command *command, size_t i)
{
    struct task *task = &tasks->all[i];
    uint64_t frames[FRAMES_MAX];
    struct registers registers;
    unsigned count = 0;
    uint64_t end;
    bool whole = false, live = tasks->program.live;
    bool stood = false;
    if (task->running) {
        const struct thread *thread = task->thread < command->threads.count
                                          ? &command->threads.all[task->thread]
                                          : NULL;
        if (thread && thread->frames_count && !thread->moved)
            task->stack = stack_keep(stacks, thread->frames,
                                     thread->frames_count, thread->whole, i);
        return;
    }
    if (!live)
        count =
            stack_walk(stacks, tasks, task, &registers, frames, &whole, &end);
    stood |= !live && is_noted(command, &registers);
    for (int k = 0; live && k < STACK_TRIES && !stood; k++)
        stood = stack_read_live(stacks, tasks, task, frames, &count, &whole);
    task->moved = !stood;
    if (stood && count)
        task->stack = stack_keep(stacks, frames, count, whole, i);
}

const char *stacks_open(struct task_stacks *stacks, struct tasks *tasks,
                        struct source *source)
{
    const struct machine *machine = machine_of(tasks->program.memory);
    memset(stacks, 0, sizeof *stacks);
    if (!machine)
        return "is of a processor whose stacks are not known here";
    stacks->unwind.memory = &tasks->cache.memory;
    stacks->unwind.machine = &machine->unwind;
    stacks->unwind.dwfl = source_dwfl(source);
    return stacks->unwind.dwfl ? NULL : "there is no memory for it";
}

const char *stacks_read(struct task_stacks *stacks, struct tasks *tasks,
                        struct tasks_command *command, bool all)
{
    const char *wrong = stacks_open(stacks, tasks, command->source);
    if (wrong)
        return wrong;
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->all[i].in_deadlock || (all && tasks->all[i].chosen))
            stack_read(stacks, tasks, command, i);
    return NULL;
}

void stacks_close(struct task_stacks *stacks)
{
    for (size_t i = 0; i < stacks->count; i++)
        free(stacks->all[i].frames);
    free(stacks->all);
    free(stacks->span);
    ids_free(&stacks->ids);
    unwind_close(&stacks->unwind);
}
