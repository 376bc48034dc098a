/* modules.c - a source's modules, its kind of machine, its error text. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "source.h"

#include <elf.h>

const char *source_wrong(struct source *source, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(source->why, sizeof source->why, format, arguments);
    va_end(arguments);
    return source->why;
}

void source_module(struct source *source, uint64_t start, uint64_t end,
                   uint64_t offset, const char *path, size_t path_size,
                   bool writable)
{
    *array_add(source->modules, source->modules_count, source->modules_max) =
        (struct module){.start = start,
                        .end = end,
                        .offset = offset,
                        .path = need(strndup(path, path_size)),
                        .writable = writable};
}

/* True if its ticks are of this machine's kind. */
static bool is_native(const unsigned char ident[16], unsigned machine)
{
    Elf64_Ehdr own; /* of 32 bits, it is as far the same */
    FILE *self = fopen("/proc/self/exe", "re");
    bool whole = self && fread(&own, sizeof own, 1, self) == 1;
    if (self)
        fclose(self);
    if (!whole || ident[EI_DATA] != own.e_ident[EI_DATA])
        return false;
    if (own.e_machine == EM_X86_64 && ident[EI_CLASS] == ELFCLASS32)
        return machine == EM_386 || machine == EM_X86_64;
    return machine == own.e_machine && ident[EI_CLASS] == own.e_ident[EI_CLASS];
}

void source_kind(struct memory *memory, const unsigned char ident[16],
                 unsigned machine)
{
    memory->machine = machine;
    memory->word_bytes = ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
    memory->big_endian = ident[EI_DATA] == ELFDATA2MSB;
    memory->native = is_native(ident, machine);
}

void source_module_late(struct source *source, uint64_t start, uint64_t end,
                        const char *path, const unsigned char *id,
                        unsigned id_size)
{
    size_t at = array_count_to(source->modules, source->modules_count,
                               sizeof *source->modules, start);
    struct module *m, late;
    if (start >= end || (at && source->modules[at - 1].end > start) ||
        (at < source->modules_count && source->modules[at].start < end))
        return;
    source_module(source, start, end, 0, path, strlen(path), false);
    m = &source->modules[at];
    late = source->modules[source->modules_count - 1];
    memmove(m + 1, m, (source->modules_count - 1 - at) * sizeof *m);
    *m = late;
    m->id_size = id_size < sizeof m->id ? id_size : sizeof m->id;
    memcpy(m->id, id, m->id_size);
    source_dwfl_add(source, m);
}

size_t module_build_id(struct source *source, const struct module *m,
                       unsigned char to[64])
{
    if (m->id_size == 0)
        return source->build_id(source, m->start, to);
    memcpy(to, m->id, m->id_size);
    return m->id_size;
}

struct module *module_first(const struct source *source, const char *path)
{
    for (size_t i = 0; i < source->modules_count; i++)
        if (source->modules[i].offset == 0 &&
            strcmp(source->modules[i].path, path) == 0)
            return &source->modules[i];
    return NULL;
}

struct module *module_at(const struct source *source, uint64_t address)
{
    size_t low = array_count_to(source->modules, source->modules_count,
                                sizeof *source->modules, address);
    return low && address < source->modules[low - 1].end
               ? &source->modules[low - 1]
               : NULL;
}
