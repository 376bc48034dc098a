/* task_snapshot.c - tasks in a recording: notes like those for threads, and their
 * stacks. */
/* SPDX-License-Identifier: MIT */
#include "recording.h"
#include "stacks.h"

enum {
    SAVED_MAX = 16384, /* tasks whose stacks are kept */
    STACK_MAX = 65536, /* bytes of one that other debuggers can read */
    PAGE = 4096,
    TRIES = 3,
    STATUS_MAX = 1024
};

static void status_add(struct notes *notes, const struct machine *machine,
                       const struct memory *m, int32_t id,
                       const struct registers *registers)
{
    unsigned char bytes[STATUS_MAX];
    size_t size = core_status(machine, m, id, registers, bytes, sizeof bytes);
    if (!size)
        return;
    notes->status_bytes = size;
    notes->statuses = need(array_room(notes->statuses, &notes->statuses_max,
                                      notes->statuses_count + 1, size));
    memcpy(notes->statuses + notes->statuses_count++ * size, bytes, size);
}

/* Notes the registers of all threads first, as threads keep running. */
static void threads_note(struct notes *notes, const struct threads *threads,
                         const struct memory *m)
{
    for (size_t i = 0; i < threads->count; i++) {
        const struct thread *thread = &threads->all[i];
        struct registers none = {0};
        status_add(notes, threads->machine, m, thread->inside,
                   thread->has_registers && !thread->moved ? &thread->registers
                                                           : &none);
    }
}

/* The recording that gets the memory on which a walk of the program depends. */
static struct {
    struct memory *keeper;
    tasks_put *put;
} kept_by;

/* The `needs` of struct memory, for tasks read from the program. */
static void direct_needs(struct memory *memory, uint64_t address, size_t size,
                         bool zeros)
{
    unsigned char bytes[256];
    struct memory *keeper = kept_by.keeper;
    while (!zeros && size) {
        size_t piece = size < sizeof bytes ? size : sizeof bytes;
        if (memory->read(memory, address, bytes, piece) != piece)
            return;
        kept_by.put(keeper, address, bytes, piece);
        address += piece;
        size -= piece;
    }
    if (zeros)
        keeper->needs(keeper, address, size, true);
}

/* Fills the unread bytes of a stack's pages with zeros: elfutils reads no part
 * of a page. */
static void pages_fill(uint64_t sp, uint64_t end)
{
    struct memory *keeper = kept_by.keeper;
    uint64_t from = sp / PAGE * PAGE;
    if (end < sp || end - sp > STACK_MAX)
        end = sp;
    keeper->needs(keeper, from, (end / PAGE + 1) * PAGE - from, true);
}

/* Keeps the context and stack words of one moment: the context is the same
 * before and after the read. `direct` reads the program itself. False: the task
 * runs. */
static bool task_keep(struct tasks *direct, struct task_stacks *stacks,
                      const struct task *task, struct registers *context)
{
    struct task now;
    uint64_t frames[FRAMES_MAX], walked;
    size_t noted;
    bool whole;
    cache_renew(&direct->cache);
    if (!task_again(direct, task, &now) || now.running || now.dead ||
        !stack_walk(stacks, direct, &now, context, frames, &whole, &walked))
        return false;
    noted = stack_note(stacks, direct, context, walked);
    pages_fill(context->value[stacks->unwind.machine->sp], walked);
    return stack_stood(stacks, direct, &now, context, walked, noted);
}

static void tasks_note(struct call *call, struct tasks *kept,
                       struct tasks *direct, struct memory *keeper,
                       struct notes *notes)
{
    const struct machine *machine = machine_of(call->source.memory);
    static struct task_stacks stacks;
    struct task_context context;
    size_t count = 0;
    if (stacks_open(&stacks, direct, &call->source))
        return;
    for (size_t i = 0; i < kept->count && count < SAVED_MAX; i++) {
        const struct task *task = &kept->all[kept->order[i]];
        bool stood = false;
        if (task->dead || task->layout >= direct->layouts_count)
            continue;
        /* Reading a context stored outside the stack also keeps it. */
        task_registers(kept, keeper, task, &context);
        for (int k = 0; k < TRIES && !stood && !task->running; k++)
            stood = task_keep(direct, &stacks, task, &context.registers);
        if (!stood)
            continue;
        status_add(notes, machine, call->source.memory,
                   task->number ? NOTE_NUMBER + (int32_t)task->number
                                : NOTE_PLACE + (int32_t)i,
                   &context.registers);
        count++;
    }
    if (count == SAVED_MAX)
        warn(call,
             "it has more than %d tasks: the stacks of the others are "
             "left out",
             SAVED_MAX);
    stacks_close(&stacks);
}

void tasks_save(struct call *call, struct memory *keeper, tasks_put *put,
                struct notes *notes)
{
    static struct tasks kept, direct;
    static struct tasks_command command, direct_command;
    struct memory *program = call->source.memory;
    if (!machine_of(program) || !command_has_tasks(&call->source))
        return;
    if (command_tasks(&direct, &direct_command, &call->source, NULL))
        return;
    threads_note(notes, &direct_command.threads, program);
    kept_by.keeper = keeper;
    kept_by.put = put;
    direct.cache.memory.needs = direct_needs;
    call->source.memory = keeper;
    if (!command_tasks(&kept, &command, &call->source, program)) {
        call->source.memory = program;
        tasks_note(call, &kept, &direct, keeper, notes);
        if (call->source.pid)
            libraries_keep(call->source.pid, keeper);
        command_close(&kept, &command);
    }
    call->source.memory = program;
    command_close(&direct, &direct_command);
}
