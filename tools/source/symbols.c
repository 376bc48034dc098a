/* symbols.c - which function an address lies in, by libdwfl. */
/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One for the process: a command has one source. */
static Dwfl *dwfl;
static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = NULL};

/* Is a file of the build that the program has mapped at `address`? Where either
 * has no build-id, it is `unknown`. */
static bool is_build(const struct source *source, uint64_t address, int fd,
                     bool unknown)
{
    unsigned char page[4096], is[64], was[64];
    size_t size =
        source->memory->read(source->memory, address, page, sizeof page);
    Elf *mapped = elf_memory((char *)page, size);
    Elf *file = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    size_t is_size = file ? source_build_id(file, is) : 0;
    size_t was_size = mapped ? source_build_id(mapped, was) : 0;
    elf_end(mapped);
    elf_end(file);
    if (!is_size || !was_size)
        return file && unknown;
    return is_size == was_size && memcmp(is, was, is_size) == 0;
}

/* Opens the file of a module. A process may see other mounts; and its program
 * may have been replaced, which is another build, or removed. -1: it is not
 * there. */
static int module_open(const struct source *source, const struct module *m)
{
    const char *name = m->place ? m->place : m->path;
    char places[3][PATH_MAX + 32];
    struct stat is;
    snprintf(places[0], sizeof *places, "%s", name);
    snprintf(places[1], sizeof *places, "/proc/%d/root%s", source->pid, name);
    snprintf(places[2], sizeof *places, "/proc/%d/exe", source->pid);
    for (size_t i = 0; i < (source->pid ? 3 : 1); i++) {
        const char *path = places[i];
        int fd;
        if (stat(path, &is) != 0 || !S_ISREG(is.st_mode))
            continue;
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0 && is_build(source, m->start, fd, i < 2))
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

static void modules_report(const struct source *source)
{
    elf_version(EV_CURRENT);
    dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        return;
    dwfl_report_begin(dwfl);
    for (size_t i = 0; i < source->modules_count; i++) {
        const struct module *m = &source->modules[i];
        int fd = m->offset == 0 ? module_open(source, m) : -1;
        if (fd >= 0 &&
            !dwfl_report_elf(dwfl, m->path, m->path, fd, m->start, false))
            close(fd);
    }
    dwfl_report_end(dwfl, NULL, NULL);
}

const char *source_function(struct source *source, uint64_t address)
{
    static struct {
        uint64_t address;
        char text[256];
    } cache[256], *known;
    const char *name;
    Dwfl_Module *module;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    known = &cache[(address ^ address >> 8) & 255];
    if (known->address == address && address)
        return *known->text ? known->text : NULL;
    if (!dwfl)
        modules_report(source);
    known->address = address;
    *known->text = '\0';
    /* The call stands in front of where it returns to. */
    module = dwfl ? dwfl_addrmodule(dwfl, address - 1) : NULL;
    name = module ? dwfl_module_addrinfo(module, address - 1, &offset, &symbol,
                                         NULL, NULL, NULL)
                  : NULL;
    if (!name)
        return NULL;
    snprintf(known->text, sizeof known->text, "%s+0x%llx", name,
             (unsigned long long)offset + 1);
    return known->text;
}
