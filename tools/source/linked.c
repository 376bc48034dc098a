/* linked.c - the files of a core file that has no list of them. */
/* SPDX-License-Identifier: MIT */
/*
   An emulator's core file has no NT_FILE. The program's auxiliary vector says
   where its program headers were, its file (--executable) where these were to
   be, and the dynamic linker's own list, which the memory holds, which
   libraries it mapped and where.
*/
#include "array.h"
#include "bytes.h"
#include "file.h"

#include <gelf.h>

enum { LIBRARIES_MAX = 4096 };

/* Notes all that a file's segments map, moved by `bias`; *dynamic: where its
 * dynamic section is. */
static bool segments_note(struct file *file, Elf *elf, uint64_t bias,
                          const char *path, uint64_t *dynamic)
{
    GElf_Phdr p;
    if (elf_kind(elf) != ELF_K_ELF)
        return false;
    for (int i = 0; gelf_getphdr(elf, i, &p); i++) {
        uint64_t page = p.p_vaddr & 4095;
        if (p.p_type == PT_DYNAMIC)
            *dynamic = p.p_vaddr + bias;
        if (p.p_type != PT_LOAD || p.p_offset < page || p.p_filesz == 0)
            continue;
        source_module(file->source, p.p_vaddr - page + bias,
                      p.p_vaddr + p.p_filesz + bias, p.p_offset - page, path,
                      strlen(path), p.p_flags & PF_W);
    }
    return true;
}

/* How far the program was moved from where its file has it. */
static bool bias_of(const struct file *file, Elf *elf, uint64_t *bias)
{
    GElf_Ehdr header;
    GElf_Phdr p;
    if (!gelf_getehdr(elf, &header))
        return false;
    for (int i = 0; gelf_getphdr(elf, i, &p); i++)
        if (p.p_type == PT_LOAD && header.e_phoff - p.p_offset < p.p_filesz) {
            *bias = file->headers - (p.p_vaddr + header.e_phoff - p.p_offset);
            return true;
        }
    return false;
}

static void program_note(struct file *file, uint64_t *dynamic)
{
    const struct mapped *mapped = mapped_open(file, file->how.executable);
    Elf *elf = mapped && mapped->size
                   ? elf_memory((char *)mapped->bytes, mapped->size)
                   : NULL;
    GElf_Ehdr header;
    uint64_t bias;
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
        header.e_machine == file->memory.machine && bias_of(file, elf, &bias))
        segments_note(file, elf, bias, file->how.executable, dynamic);
    elf_end(elf);
    for (size_t i = 0; i < file->source->modules_count; i++)
        file->source->modules[i].place = file->how.executable;
}

/* Sorts again after each library: memory is read from modules, too. */
static void modules_sort(struct source *source)
{
    array_sort(source->modules, source->modules_count, array_compare);
}

/* A library: its file is opened like any module's. If that fails, it is noted
 * up to its dynamic section. */
static void library_note(struct file *file, uint64_t bias, uint64_t end,
                         const char *path)
{
    struct module m = {.start = bias, .path = (char *)(uintptr_t)path};
    uint64_t dynamic = 0;
    int fd = module_open(file->source, &m);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    if (!elf || !segments_note(file, elf, bias, path, &dynamic))
        source_module(file->source, bias, end > bias ? end : bias + 4096, 0,
                      path, strlen(path), false);
    elf_end(elf);
    if (fd >= 0)
        close(fd);
}

uint64_t linked_debug(struct memory *m, uint64_t dynamic)
{
    unsigned word = m->word_bytes;
    uint64_t tag, value;
    for (unsigned i = 0; dynamic && i < 256; i++, dynamic += 2 * word) {
        if (!bytes_read_word(m, dynamic, &tag) || tag == DT_NULL ||
            !bytes_read_word(m, dynamic + word, &value))
            return 0;
        if (tag == DT_DEBUG ||
            (m->machine == EM_MIPS && tag == DT_MIPS_RLD_MAP_REL &&
             bytes_read_word(m, dynamic + value, &value)))
            return value;
    }
    return 0;
}

void linked_read(struct file *file)
{
    unsigned word = file->memory.word_bytes;
    uint64_t dynamic = 0, debug, at = 0, bias, name, end;
    program_note(file, &dynamic);
    modules_sort(file->source);
    debug = linked_debug(file->source->memory, dynamic);
    if (debug)
        bytes_read_word(file->source->memory, debug + word, &at);
    for (unsigned i = 0; at && i < LIBRARIES_MAX; i++) {
        char path[PATH_MAX] = "";
        if (!bytes_read_word(file->source->memory, at, &bias) ||
            !bytes_read_word(file->source->memory, at + word, &name) ||
            !bytes_read_word(file->source->memory, at + 2 * word, &end))
            break;
        file->memory.read(&file->memory, name, path, sizeof path - 1);
        if (i > 0 && *path == '/') /* the first is the program */
            library_note(file, bias, end, path);
        modules_sort(file->source);
        if (!bytes_read_word(file->source->memory, at + 3 * word, &at))
            break;
    }
    file->source->linked = file->source->modules_count;
}
