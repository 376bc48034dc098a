/* source.c - opens what a user names as a SOURCE. */
/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *source_wrong(struct source *source, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(source->why, sizeof source->why, format, arguments);
    va_end(arguments);
    return source->why;
}

bool source_module(struct source *source, uint64_t start, uint64_t end,
                   uint64_t offset, const char *path, size_t path_size,
                   bool writable)
{
    struct module *modules = source->modules;
    size_t count = source->modules_count;
    if ((count & (count + 1)) == 0) { /* room for twice as many */
        modules = realloc(modules, (2 * count + 1) * sizeof *modules);
        if (!modules)
            return false;
        source->modules = modules;
    }
    modules[count] = (struct module){.start = start,
                                     .end = end,
                                     .offset = offset,
                                     .path = strndup(path, path_size),
                                     .writable = writable};
    if (!modules[count].path)
        return false;
    source->modules_count++;
    return true;
}

/* Are its ticks those of this machine? */
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

/* ------------------------------------------------------------------ open -- */

static bool is_number(const char *name)
{
    return *name && strspn(name, "0123456789") == strlen(name);
}

const char *source_open(struct source *source, const char *name,
                        const struct source_how *how)
{
    const char *wrong;
    memset(source, 0, sizeof *source);
    errno = 0;
    if (is_number(name)) {
        unsigned long pid = strtoul(name, NULL, 10);
        wrong = pid == 0 || pid > INT32_MAX || errno
                    ? source_wrong(source, "no such process")
                    : source_open_process(source, (int)pid);
    } else {
        wrong = source_open_file(source, name, how);
    }
    if (!wrong && how->registry) {
        source->registry = strtoull(how->registry, NULL, 0);
        source->registries = 1;
    }
    if (!wrong && !source->registry)
        wrong = source_wrong(source, "no recorder in it");
    if (wrong)
        source_close(source);
    else
        source_several(source);
    return wrong;
}

void source_close(struct source *source)
{
    size_t i;
    if (source->close)
        source->close(source);
    for (i = 0; i < source->modules_count; i++)
        free(source->modules[i].path);
    free(source->modules);
    source->modules = NULL;
    source->modules_count = 0;
    source->close = NULL;
    source->memory = NULL;
}
