/* command.c - what reading tasks asks of a program: libdwfl, and its threads. */
/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "known.h"
#include "stacks.h"

/* --------------------------------------------------------------- symbols -- */

/* Notes the addresses of the names that are asked for, in one pass over all
 * symbols. Libraries of the system have none of them. */
static void symbols_find(struct tasks_command *command, Dwfl_Module *module)
{
    int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address,
                                                   NULL, NULL, NULL);
        for (size_t k = 0; name && known_names[k]; k++)
            if (*name == *known_names[k] && symbol.st_shndx != SHN_UNDEF &&
                strncmp(name, known_names[k], strlen(known_names[k])) == 0 &&
                strchr("@", name[strlen(known_names[k])]))
                command->symbols[k] =
                    (struct tasks_symbol){address, symbol.st_size};
    }
}

static int module_look(Dwfl_Module *module, void **data, const char *name,
                       Dwarf_Addr start, void *of)
{
    (void)data, (void)start;
    if (!place_is_libc(name))
        symbols_find(of, module);
    return DWARF_CB_OK;
}

static uint64_t command_symbol(void *of, const char *name, uint64_t *size)
{
    struct tasks_command *command = of;
    Dwfl *dwfl = source_dwfl(command->source);
    if (!command->symbols) {
        size_t count = 0;
        while (known_names[count])
            count++;
        command->symbols = calloc(count + 1, sizeof *command->symbols);
        if (command->symbols && dwfl)
            dwfl_getmodules(dwfl, module_look, command, 0);
    }
    for (size_t k = 0; command->symbols && known_names[k]; k++)
        if (strcmp(known_names[k], name) == 0) {
            *size = command->symbols[k].size;
            return command->symbols[k].address;
        }
    return 0;
}

/* ------------------------------------------------------------ the program -- */

static bool command_variable(void *of, uint64_t address, char *to, size_t size)
{
    struct tasks_command *command = of;
    return place_variable(&command->threads, address, to, size);
}

static bool command_is_code(void *of, uint64_t address)
{
    struct tasks_command *command = of;
    Dwfl *dwfl = source_dwfl(command->source);
    return dwfl && dwfl_addrmodule(dwfl, address);
}

static bool command_thread(void *of, size_t i, int32_t *id, uint64_t *sp)
{
    const struct threads *threads = &((struct tasks_command *)of)->threads;
    const struct thread *thread = i < threads->count ? &threads->all[i] : NULL;
    if (!thread)
        return false;
    *id = thread->inside;
    if (sp)
        *sp = thread->has_registers
                  ? thread->registers.value[threads->machine->unwind.sp]
                  : 0;
    return true;
}

static void command_thread_name(void *of, size_t i, char to[64])
{
    const struct threads *threads = &((struct tasks_command *)of)->threads;
    const struct thread *thread = &threads->all[i];
    snprintf(to, 64, "%d%s%s", (int)thread->id, *thread->name ? " " : "",
             thread->name);
}

/* ------------------------------------------------------------------ open -- */

/* The threads, where they are known; else only what places need. */
static void threads_try(struct tasks_command *command, struct source *source)
{
    struct threads *threads = &command->threads;
    const char *wrong = threads_open(threads, source, false);
    if (!wrong)
        return;
    memset(threads, 0, sizeof *threads);
    threads->source = source;
    threads->unwind.memory = source->memory;
    threads->unwind.dwfl = source_dwfl(source);
}

const char *command_tasks(struct tasks *tasks, struct tasks_command *command,
                          struct source *source)
{
    struct tasks_program program = {.memory = source->memory,
                                    .registry = source->registry,
                                    .of = command,
                                    .symbol = command_symbol,
                                    .variable = command_variable,
                                    .is_code = command_is_code,
                                    .thread = command_thread,
                                    .thread_name = command_thread_name};
    const char *wrong;
    memset(command, 0, sizeof *command);
    command->source = source;
    threads_try(command, source);
    wrong = tasks_open(tasks, &program);
    if (wrong)
        return wrong;
    command->waits = calloc(command->threads.count + 1, sizeof *command->waits);
    if (!command->waits)
        return "there is no memory for it";
    for (size_t i = 0; i < command->threads.count; i++) {
        const struct wait *wait = &command->threads.all[i].wait;
        command->waits[i] = wait->timed ? TASK_NONE : wait->holder;
    }
    return task_cycles_find(tasks, command->waits, command->threads.count);
}

void command_close(struct tasks *tasks, struct tasks_command *command)
{
    tasks_close(tasks);
    threads_close(&command->threads);
    free(command->waits);
    free(command->symbols);
}
