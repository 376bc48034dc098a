/* symbols.c - finds the function that an address lies in, by libdwfl. */
/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <unistd.h>

/* There is one for the process, as a command has one source. */
static Dwfl *dwfl;
static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = NULL};

static void modules_report(struct source *source)
{
    elf_version(EV_CURRENT);
    dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        return;
    dwfl_report_begin(dwfl);
    for (size_t i = 0; i < source->modules_count; i++) {
        struct module *m = &source->modules[i];
        int fd = m->offset == 0 ? module_open(source, m) : -1;
        if (fd >= 0 &&
            !dwfl_report_elf(dwfl, m->path, m->path, fd, m->start, false))
            close(fd);
    }
    if (source->program && !source->modules_count)
        dwfl_report_elf(dwfl, source->program, source->program, -1, 0, true);
    dwfl_report_end(dwfl, NULL, NULL);
}

Dwfl *source_dwfl(struct source *source)
{
    if (!dwfl)
        modules_report(source);
    return dwfl;
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
    known->address = address;
    *known->text = '\0';
    /* The call precedes the return address. */
    module = source_dwfl(source) ? dwfl_addrmodule(dwfl, address - 1) : NULL;
    name = module ? dwfl_module_addrinfo(module, address - 1, &offset, &symbol,
                                         NULL, NULL, NULL)
                  : NULL;
    if (!name) {
        const struct module *m = module_at(source, address - 1);
        m = m ? module_first(source, m->path) : NULL;
        if (m)
            module_unopened(source, m);
        return NULL;
    }
    snprintf(known->text, sizeof known->text, "%s+0x%llx", name,
             (unsigned long long)offset + 1);
    return known->text;
}
