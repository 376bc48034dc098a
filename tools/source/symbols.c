/* symbols.c - finds the function at an address, by libdwfl. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "source.h"

#include <elfutils/libdwfl.h>

/* A line of the note of functions; its name ends with the line. */
struct kept_name {
    uint64_t address;
    const char *name;
};

struct symbols {
    struct kept_name *kept; /* sorted by address */
    size_t kept_count, kept_max;
    struct known {
        uint64_t address;
        char text[256];
    } known[256]; /* the last answers, by a hash of the address */
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = NULL};

/* True if a file is the recording that the program has mapped: its segments are
 * other modules'. */
static bool is_core(int fd)
{
    Elf64_Half type;
    return pread(fd, &type, sizeof type, offsetof(Elf64_Ehdr, e_type)) ==
               sizeof type &&
           (type == ET_CORE || type == ET_CORE << 8);
}

static void module_report(struct source *source, struct module *m)
{
    int fd = m->offset == 0 ? module_open(source, m) : -1;
    if (fd >= 0 && is_core(fd))
        close(fd);
    else if (fd >= 0 && !dwfl_report_elf(source->dwfl, m->path, m->path, fd,
                                         m->start, false))
        close(fd);
}

static void modules_report(struct source *source)
{
    Dwfl *dwfl;
    elf_version(EV_CURRENT);
    dwfl = source->dwfl = dwfl_begin(&callbacks);
    if (!dwfl)
        return;
    dwfl_report_begin(dwfl);
    for (size_t i = 0; i < source->modules_count; i++)
        module_report(source, &source->modules[i]);
    if (source->program && !source->modules_count)
        dwfl_report_elf(source->dwfl, source->program, source->program, -1, 0,
                        true);
    dwfl_report_end(dwfl, NULL, NULL);
}

void source_dwfl_add(struct source *source, struct module *m)
{
    if (!source->dwfl)
        return;
    dwfl_report_begin_add(source->dwfl);
    module_report(source, m);
    dwfl_report_end(source->dwfl, NULL, NULL);
}

Dwfl *source_dwfl(struct source *source)
{
    if (!source->dwfl)
        modules_report(source);
    return source->dwfl;
}

void source_dwfl_end(struct source *source)
{
    if (source->dwfl)
        dwfl_end(source->dwfl);
    source->dwfl = NULL;
    if (source->symbols)
        free(source->symbols->kept);
    free(source->symbols);
    source->symbols = NULL;
}

/* Finds the lines in the note's text. */
static void kept_read(struct symbols *symbols, const char *text)
{
    const char *next;
    for (; text && (next = strchr(text, '\n')); text = next + 1) {
        char *end;
        uint64_t address = strtoull(text, &end, 16);
        ARRAY_NEED(symbols->kept, symbols->kept_count + 1, symbols->kept_max);
        if (end != text && *end == ' ')
            symbols->kept[symbols->kept_count++] =
                (struct kept_name){address, end + 1};
    }
    array_sort(symbols->kept, symbols->kept_count, array_compare);
}

/* Returns the name that the note of functions has, or null. */
static const char *kept_find(const struct symbols *symbols, uint64_t address)
{
    size_t count = array_count_to(symbols->kept, symbols->kept_count,
                                  sizeof *symbols->kept, address);
    return count && symbols->kept[count - 1].address == address
               ? symbols->kept[count - 1].name
               : NULL;
}

const char *source_function(struct source *source, uint64_t address)
{
    enum { SHOWN_MAX = 230 };
    struct known *known;
    char plain[DEMANGLED_MAX];
    const char *name;
    Dwfl_Module *module;
    Dwfl *dwfl;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    if (!source->symbols) {
        source->symbols = need(calloc(1, sizeof *source->symbols));
        kept_read(source->symbols, source->functions);
    }
    known = &source->symbols->known[(address ^ address >> 8) & 255];
    if (known->address == address && address)
        return *known->text ? known->text : NULL;
    known->address = address;
    *known->text = '\0';
    name = kept_find(source->symbols, address);
    if (name) {
        snprintf(known->text, sizeof known->text, "%.*s",
                 (int)strcspn(name, "\n"), name);
        return known->text;
    }
    dwfl = source_dwfl(source);
    /* The call precedes the return address. */
    module = dwfl ? dwfl_addrmodule(dwfl, address - 1) : NULL;
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
    if (source_demangle(name, plain))
        name = plain;
    snprintf(known->text, sizeof known->text, "%.*s%s+0x%" PRIx64, SHOWN_MAX,
             name, strlen(name) > SHOWN_MAX ? "..." : "", offset + 1);
    return known->text;
}
