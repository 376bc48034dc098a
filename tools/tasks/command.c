/* command.c - a program as tasks.c needs it: libdwfl's view, and its
 * threads. */
/* SPDX-License-Identifier: MIT */

#include "array.h"
#include "file.h"
#include "proc.h"
#include "show.h"
#include "stacks.h"

/* --------------------------------------------------------------- symbols -- */

/* Notes the addresses of the wanted names, in one pass over all symbols.
 * Libraries of the system have none of them. */
static void symbols_find(struct tasks_command *command, Dwfl_Module *module)
{
    int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address,
                                                   NULL, NULL, NULL);
        for (size_t k = 0; name && k < command->symbols_count; k++) {
            struct tasks_symbol *to = &command->symbols[k];
            if (*name == *to->name && symbol.st_shndx != SHN_UNDEF &&
                strncmp(name, to->name, strlen(to->name)) == 0 &&
                strchr("@", name[strlen(to->name)])) {
                to->address = address;
                to->size = symbol.st_size;
            }
        }
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
    bool is_first = !command->symbols;
    const char *known;
    while (is_first && (known = library_name(command->symbols_count))) {
        struct tasks_symbol *to = array_add(
            command->symbols, command->symbols_count, command->symbols_max);
        to->name = known;
    }
    if (is_first && dwfl)
        dwfl_getmodules(dwfl, module_look, command, 0);
    for (size_t k = 0; k < command->symbols_count; k++)
        if (strcmp(command->symbols[k].name, name) == 0) {
            *size = command->symbols[k].size;
            return command->symbols[k].address;
        }
    return 0;
}

static bool command_member(void *of, const char *type, const char *member,
                           uint64_t *offset, unsigned *bytes)
{
    struct tasks_command *command = of;
    return type_member(command->source, &command->type, type, member, offset,
                       bytes);
}

/* ---------------------------------------------------------- the program -- */

static bool command_variable(void *of, uint64_t address, char *to, size_t size)
{
    struct tasks_command *command = of;
    return place_variable(command->threads.unwind.dwfl, address, to, size);
}

static bool command_is_code(void *of, uint64_t address)
{
    struct source *source = ((struct tasks_command *)of)->source;
    Dwfl *dwfl = source_dwfl(source);
    Dwfl_Module *module = dwfl ? dwfl_addrmodule(dwfl, address) : NULL;
    GElf_Off offset;
    GElf_Sym symbol;
    /* A firmware's file reaches from its code to its data. */
    return module && (!source->program ||
                      (dwfl_module_addrinfo(module, address, &offset, &symbol,
                                            NULL, NULL, NULL) &&
                       GELF_ST_TYPE(symbol.st_info) == STT_FUNC));
}

/* Finds the mapping of a process that holds an address; without that, the i-th
 * writable one without a file. */
static bool mapping_find(int pid, const uint64_t *address, size_t i,
                         uint64_t *start, uint64_t *end)
{
    struct proc_mapping m;
    bool found = false;
    FILE *maps = proc_open(pid, "maps");
    while (!found && proc_mapping_next(maps, &m))
        found = address ? m.start <= *address && *address < m.end
                        : m.mode[1] == 'w' && *m.path != '/' &&
                              strncmp(m.path, "[stack", 6) != 0 && i-- == 0;
    if (maps)
        fclose(maps);
    *start = found ? m.start : *start;
    *end = found ? m.end : *end;
    return found;
}

/* Returns the i-th range to search. Of a running process: writable mappings. Of
 * a core file: segments; the read-only ones are empty. False: there are no
 * more. */
static bool command_writable(void *of, size_t i, uint64_t *start, uint64_t *end)
{
    const struct source *source = ((struct tasks_command *)of)->source;
    const struct file *file;
    if (source->pid)
        return mapping_find(source->pid, NULL, i, start, end);
    /* A memory that keeps the bytes it reads is not a file's. */
    file = source->memory->map ? (const struct file *)source->memory : NULL;
    if (!file || i >= file->segments.count)
        return false;
    *start = file->segments.all[i].start;
    *end = *start +
           (file->segments.all[i].writable ? file->segments.all[i].size : 0);
    return true;
}

/* Finds the mapping of a process, or the segment of a core file, that holds an
 * address. */
static bool command_mapping(void *of, uint64_t address, uint64_t *start,
                            uint64_t *end)
{
    const struct source *source = ((struct tasks_command *)of)->source;
    if (source->pid)
        return mapping_find(source->pid, &address, 0, start, end);
    for (size_t i = 0; command_writable(of, i, start, end); i++)
        if (address >= *start && address < *end)
            return true;
    return false;
}

static bool command_library(void *of, const char *name)
{
    const struct source *source = ((struct tasks_command *)of)->source;
    for (size_t i = 0; i < source->modules_count; i++)
        if (strncmp(basename(source->modules[i].path), name, strlen(name)) == 0)
            return true;
    return false;
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
    show_name(&((struct tasks_command *)of)->threads, i, to);
}

static uint64_t command_waits_on(void *of, size_t i)
{
    const struct threads *threads = &((struct tasks_command *)of)->threads;
    const struct wait *wait = &threads->all[i].wait;
    return wait->timed || wait->kind == WAIT_THREAD ? 0 : wait->object;
}

static bool command_waits_still(void *of, size_t i, size_t holder)
{
    struct threads *threads = &((struct tasks_command *)of)->threads;
    (void)holder;
    return thread_waits_still(threads, i);
}

bool command_has_tasks(struct source *source)
{
    struct tasks_command command = {.source = source};
    struct tasks_program program = {.memory = source->memory,
                                    .registry = source->registry,
                                    .of = &command,
                                    .symbol = command_symbol,
                                    .member = command_member,
                                    .writable = command_writable,
                                    .library = command_library};
    struct tasks tasks;
    bool has = false;
    if (!tasks_open(&tasks, &program)) {
        has = tasks.count != 0;
        tasks_close(&tasks);
    }
    free(command.symbols);
    return has;
}

/* ------------------------------------------------------------------ open -- */

/* Reads the threads if they are known, else only the addresses that places
 * need. */
static void threads_try(struct tasks_command *command, struct source *source)
{
    struct threads *threads = &command->threads;
    const char *wrong = threads_open(threads, source, NULL, false);
    if (!wrong)
        return;
    memset(threads, 0, sizeof *threads);
    threads->source = source;
    threads->unwind.memory = source->memory;
    threads->unwind.dwfl = source_dwfl(source);
}

static void notes_find(struct tasks_command *command)
{
    const struct source *source = command->source;
    const struct machine *machine = machine_of(source->memory);
    struct threads notes = {.source = command->source, .machine = machine};
    if (!source->memory->stale_order || !machine)
        return;
    core_threads(&notes);
    for (size_t i = 0; i < notes.count; i++) {
        const struct thread *note = &notes.all[i];
        if (note->id < NOTE_NUMBER)
            continue;
        ids_add(&command->notes, note->registers.value[machine->unwind.sp],
                note->registers.value[machine->unwind.pc], 0, NULL);
        command->has_notes = true;
    }
    free(notes.all);
}

const char *command_tasks(struct tasks *tasks, struct tasks_command *command,
                          struct source *source, struct memory *searched)
{
    struct tasks_program program = {.memory = source->memory,
                                    .searched = searched,
                                    .registry = source->registry,
                                    .live = source->pid != 0,
                                    .of = command,
                                    .symbol = command_symbol,
                                    .member = command_member,
                                    .variable = command_variable,
                                    .is_code = command_is_code,
                                    .writable = command_writable,
                                    .library = command_library,
                                    .mapping = command_mapping,
                                    .thread = command_thread,
                                    .thread_name = command_thread_name,
                                    .waits_on = command_waits_on,
                                    .waits_still = command_waits_still};
    const char *wrong;
    memset(command, 0, sizeof *command);
    command->source = source;
    threads_try(command, source);
    notes_find(command);
    wrong = tasks_open(tasks, &program);
    if (wrong)
        return wrong;
    command->waits =
        need(calloc(command->threads.count + 1, sizeof *command->waits));
    for (size_t i = 0; i < command->threads.count; i++) {
        const struct wait *wait = &command->threads.all[i].wait;
        command->waits[i] = wait->timed ? TASK_NONE : wait->holder;
    }
    task_cycles_find(tasks, command->waits, command->threads.count);
    return NULL;
}

void command_close(struct tasks *tasks, struct tasks_command *command)
{
    tasks_close(tasks);
    threads_close(&command->threads);
    ids_free(&command->notes);
    free(command->waits);
    free(command->symbols);
}
