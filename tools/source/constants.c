/* constants.c - finds memory of a program that cannot have changed. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "file.h"

#include <gelf.h>

/* ---------------------------------------------------------------- ranges -- */

void range_add(struct ranges *to, uint64_t start, uint64_t end)
{
    *array_add(to->all, to->count, to->max) = (struct range){start, end};
}

static void ranges_sort(struct ranges *ranges)
{
    array_sort(ranges->all, ranges->count, array_compare);
}

/* Where ranges overlap, the one that starts last counts. */
bool range_has(const struct ranges *ranges, uint64_t address)
{
    size_t low = array_count_to(ranges->all, ranges->count, sizeof *ranges->all,
                                address);
    return low > 0 && address < ranges->all[low - 1].end;
}

/* ----------------------------------------------------------------- files -- */

void constants_of(struct file *file, Elf *elf)
{
    GElf_Phdr p;
    for (int i = 0; i < 1000000 && gelf_getphdr(elf, i, &p); i++) {
        uint64_t end =
            p.p_vaddr + (p.p_memsz > p.p_filesz ? p.p_memsz : p.p_filesz);
        if (p.p_type != PT_LOAD || end <= p.p_vaddr)
            continue;
        range_add(&file->loads, p.p_vaddr, end);
        if (!(p.p_flags & PF_W))
            range_add(&file->constants, p.p_vaddr, end);
    }
    ranges_sort(&file->loads);
    ranges_sort(&file->constants);
}

void constants_of_bare(struct file *file, Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr h;
    while ((section = elf_nextscn(elf, section)) != NULL)
        if (gelf_getshdr(section, &h) && (h.sh_flags & SHF_ALLOC) &&
            !(h.sh_flags & SHF_WRITE) && h.sh_addr + h.sh_size > h.sh_addr)
            range_add(&file->fixed, h.sh_addr, h.sh_addr + h.sh_size);
    ranges_sort(&file->fixed);
}

/* True if an address of a module is not in the file's segments, but in a
 * read-only segment of the module's own file. */
static bool module_constant(struct file *file, uint64_t address)
{
    const struct module *module = module_at(file->source, address);
    const struct binary *binary;
    uint64_t size, offset;
    bool constant = false;
    GElf_Phdr p;
    Elf *elf;
    if (!module_bytes(file, address, &size))
        return false;
    binary = module->binary;
    elf = elf_memory((char *)binary->file->bytes, binary->file->size);
    offset = module->offset + (address - module->start);
    for (int i = 0; i < 256 && gelf_getphdr(elf, i, &p); i++)
        constant |= p.p_type == PT_LOAD && !(p.p_flags & PF_W) &&
                    offset >= p.p_offset && offset - p.p_offset < p.p_filesz;
    elf_end(elf);
    return constant;
}

bool file_constant(struct memory *memory, uint64_t address)
{
    struct file *file = (struct file *)memory_base(memory);
    const struct source *source = file->source;
    const struct segment *s;
    uint64_t most = UINT64_MAX;
    if (range_has(&file->fixed, address))
        return true;
    if (segment_at(&file->images, address, &most))
        return false;
    if (range_has(&file->loads, address))
        return range_has(&file->constants, address) &&
               (!source->modules_count || module_at(source, address));
    s = segment_at(&file->program, address, &most);
    return s ? !s->writable : module_constant(file, address);
}
