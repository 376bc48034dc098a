/* libraries.c - keeps the dynamic linker's list of libraries in a recording. */
/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include "proc.h"

#include <elf.h>

enum { LIBRARIES_MAX = 4096, ENTRIES_MAX = 256 };

/* A value of the auxiliary vector, or 0. */
static uint64_t auxiliary(int pid, const struct memory *m, uint64_t type)
{
    unsigned char entry[16];
    uint64_t value = 0;
    FILE *from = proc_open(pid, "auxv");
    while (from && !value && fread(entry, 2 * m->word_bytes, 1, from) == 1)
        if (bytes_word(m, entry) == type)
            value = bytes_word(m, entry + m->word_bytes);
    if (from)
        fclose(from);
    return value;
}

/* Where the program's dynamic section is, by its program headers; 0: it has
 * none. */
static uint64_t dynamic_of(struct memory *m, uint64_t headers, uint64_t count,
                           uint64_t bytes)
{
    uint64_t type, at, bias = 0, dynamic = 0;
    unsigned address = m->word_bytes == 8 ? offsetof(Elf64_Phdr, p_vaddr)
                                          : offsetof(Elf32_Phdr, p_vaddr);
    for (uint64_t i = 0; i < count && i < ENTRIES_MAX; i++) {
        uint64_t header = headers + i * bytes;
        if (!bytes_read_number(m, header, 4, &type) ||
            !bytes_read_word(m, header + address, &at))
            return 0;
        if (type == PT_PHDR)
            bias = headers - at;
        if (type == PT_DYNAMIC)
            dynamic = at;
    }
    return dynamic ? dynamic + bias : 0;
}

void libraries_keep(int pid, struct memory *m)
{
    unsigned word = m->word_bytes;
    uint64_t at = 0, name, unused;
    uint64_t debug = linked_debug(m, dynamic_of(m, auxiliary(pid, m, AT_PHDR),
                                                auxiliary(pid, m, AT_PHNUM),
                                                auxiliary(pid, m, AT_PHENT)));
    if (!debug || !bytes_read_word(m, debug + word, &at))
        return;
    for (unsigned i = 1; i < 5; i++) /* the rest of it */
        bytes_read_word(m, debug + i * word, &unused);
    for (unsigned i = 0; at && i < LIBRARIES_MAX; i++) {
        for (unsigned k = 0; k < 5; k++)
            bytes_read_word(m, at + k * word, &unused);
        if (bytes_read_word(m, at + word, &name) && name)
            free(bytes_string(m, name, PATH_MAX));
        if (!bytes_read_word(m, at + 3 * word, &at))
            return;
    }
}
