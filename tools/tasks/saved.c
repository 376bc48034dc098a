/* saved.c - tasks in a recording: notes as of threads, and their stacks. */
/* SPDX-License-Identifier: MIT */
#include "saved.h"
#include "array.h"
#include "libraries.h"
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

enum {
    SAVED_MAX = 16384, /* tasks whose stacks are kept */
    STACK_MAX = 65536, /* bytes of one that are */
    BELOW = 512,       /* what the saved context may take below its sp */
    ABOVE = 64,        /* of the outermost frame's caller */
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

/* Notes the registers of all threads first, as these go on meanwhile. */
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

/* Reads bytes of a task from the program, and keeps them. */
static void bytes_keep(struct tasks *direct, struct memory *keeper,
                       tasks_put *put, uint64_t at, size_t size)
{
    static unsigned char bytes[STACK_MAX];
    size_t got;
    if (size > sizeof bytes)
        size = sizeof bytes;
    keeper->read(keeper, at, bytes, size); /* so that the page is there */
    got = direct->cache.memory.read(&direct->cache.memory, at, bytes, size);
    put(keeper, at, bytes, got);
}

/* Keeps what tells where a task stands, and its stack, of one moment: the
 * context is the same before and behind. `direct` reads the program itself.
 * False: the task runs. */
static bool task_keep(struct tasks *direct, struct task_stacks *stacks,
                      const struct task *task, struct memory *keeper,
                      tasks_put *put, struct registers *context)
{
    const struct layout *layout = &direct->layouts[task->layout];
    struct task now;
    uint64_t frames[FRAMES_MAX], walked, end, sp;
    size_t noted;
    bool whole;
    cache_renew(&direct->cache);
    if (!task_again(direct, task, &now) || now.running || now.dead ||
        !stack_walk(stacks, direct, &now, context, frames, &whole, &walked))
        return false;
    noted = stack_note(stacks, direct, context, walked);
    sp = context->value[stacks->unwind.machine->sp];
    end = walked >= sp && walked - sp < STACK_MAX - BELOW - ABOVE
              ? walked + ABOVE
              : sp + 4096;
    bytes_keep(direct, keeper, put, sp - BELOW, (size_t)(end - sp) + BELOW);
    bytes_keep(direct, keeper, put, task->address + layout->low,
               (size_t)layout->span);
    return stack_stood(stacks, direct, &now, context, walked, noted);
}

static void tasks_note(struct call *call, struct tasks *kept,
                       struct tasks *direct, struct memory *keeper,
                       tasks_put *put, struct notes *notes)
{
    const struct machine *machine = machine_of(call->source.memory);
    static struct task_stacks stacks;
    struct registers context;
    size_t count = 0;
    bool exact;
    uint64_t xpsr;
    if (stacks_open(&stacks, direct, &call->source))
        return;
    for (size_t i = 0; i < kept->count && count < SAVED_MAX; i++) {
        const struct task *task = &kept->all[kept->order[i]];
        bool stood = false;
        if (task->dead || task->layout >= direct->layouts_count)
            continue;
        /* A context that stands elsewhere is kept by reading it. */
        task_registers(kept, keeper, task, &context, &exact, &xpsr);
        for (int k = 0; k < TRIES && !stood && !task->running; k++)
            stood = task_keep(direct, &stacks, task, keeper, put, &context);
        if (!stood)
            continue;
        status_add(notes, machine, call->source.memory,
                   task->number ? NOTE_NUMBER + (int32_t)task->number
                                : NOTE_PLACE + (int32_t)i,
                   &context);
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
    call->source.memory = keeper;
    if (!command_tasks(&kept, &command, &call->source, program)) {
        call->source.memory = program;
        tasks_note(call, &kept, &direct, keeper, put, notes);
        if (call->source.pid)
            libraries_keep(call->source.pid, keeper);
        command_close(&kept, &command);
    }
    call->source.memory = program;
    command_close(&direct, &direct_command);
}
