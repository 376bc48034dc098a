/* two_copies.c - a recording that was copied twice while its program ran. */
/* SPDX-License-Identifier: MIT */
/*
   A copy of a running program's file has a slot's record and its commit word
   from two moments. So the file is copied twice, one copy after the other (cat
   f f). A slot counts if its commit word is the same in both, and not busy; its
   record is then taken from the second copy. These are R1 to R4 of
   recorder/ring.h:

       R1  the commit word    of the first copy
       R2  the record         of the second: all of it is read later
       R4  the commit word    of the second, which in the file comes after the
                              records, and so is read later still

   A commit word only grows: if it is the same at R1 and R4, it was so between
   them. The copy must be made from start to end, as cat and dd do.
*/
#include "bytes.h"
#include "file.h"

#include <elf.h>
#include <gelf.h>
#include <sys/mman.h>

/* True if an ELF header and our note, with the same owner, begin there, too. */
static bool is_same(const struct mapped *mapped, size_t at)
{
    const unsigned char *first = mapped->bytes, *second = mapped->bytes + at;
    GElf_Phdr p;
    Elf *elf;
    bool same = false;
    if (at < sizeof(Elf64_Ehdr) || at % 4096 || mapped->size - at < at ||
        memcmp(second, ELFMAG, SELFMAG) != 0 ||
        memcmp(first, second, EI_NIDENT) != 0)
        return false;
    elf = elf_memory((char *)(uintptr_t)first, at);
    if (gelf_getphdr(elf, 0, &p) && p.p_type == PT_NOTE &&
        p.p_filesz > 12 + sizeof NOTE_OWNER && p.p_filesz < at &&
        p.p_offset <= at - p.p_filesz)
        same = memcmp(first + p.p_offset + 12, NOTE_OWNER, sizeof NOTE_OWNER) ==
                   0 &&
               memcmp(first + p.p_offset, second + p.p_offset, 64) == 0;
    elf_end(elf);
    return same;
}

/* Where the file ends by its program headers. */
static size_t end_of(const struct mapped *mapped)
{
    Elf *elf = elf_memory((char *)mapped->bytes, mapped->size);
    GElf_Phdr p;
    size_t end = 0;
    for (int i = 0; gelf_getphdr(elf, i, &p); i++)
        if (p.p_offset <= mapped->size &&
            p.p_filesz <= mapped->size - p.p_offset &&
            p.p_offset + p.p_filesz > end)
            end = p.p_offset + p.p_filesz;
    elf_end(elf);
    return (end + 4095) & ~(size_t)4095;
}

/* Marks slots whose copies differ as busy, in private memory. */
static void copies_compare(void *context, uint64_t address, size_t size)
{
    struct file *file = context;
    struct memory *memory = &file->memory;
    struct mapped *m = file->twice;
    unsigned word = memory->word_bytes;
    uint64_t count = size;
    const unsigned char *bytes = memory->map(memory, address, size);
    size_t at = bytes ? (size_t)(bytes - m->bytes) : SIZE_MAX;
    if (at > m->size || count > m->size - at)
        return;
    for (size_t i = 0; i + word <= count; i += word) {
        unsigned char *second = m->bytes + at + i;
        const unsigned char *first = second - m->before;
        bool was_there = at + i + word <= m->before;
        if (!was_there || memcmp(first, second, word) != 0)
            bytes_put_word(memory, second, bytes_word(memory, second) | 1);
    }
}

/* Maps the same file again, copy-on-write. Null: it cannot. */
static unsigned char *map_again(const struct mapped *mapped, const char *path)
{
    int fd = regular_open(path);
    struct stat is;
    unsigned char *own = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &is) == 0 && (size_t)is.st_size == mapped->size)
        own = mmap(NULL, mapped->size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (fd >= 0)
        close(fd);
    return own == MAP_FAILED ? NULL : own;
}

bool copies_find(struct file *file, struct mapped *mapped, const char *path)
{
    size_t at = mapped->size / 2;
    unsigned char *own;
    if (mapped->extents_count == 0 || mapped->fd >= 0)
        return false;
    if (mapped->size % 2 || !is_same(mapped, at))
        at = end_of(mapped); /* it has grown since */
    if (at >= mapped->size || !is_same(mapped, at))
        return false;
    own = map_again(mapped, path);
    if (!own)
        return false;
    munmap(mapped->bytes, mapped->size);
    mapped->bytes = own + at;
    mapped->size -= at;
    mapped->before = at;
    mapped->extents_count = 1; /* this kind of copy leaves no holes */
    mapped->extents[0] = (struct extent){0, mapped->size};
    if (mapped->data > mapped->size)
        mapped->data = mapped->size;
    if (mapped->worth > mapped->size)
        mapped->worth = mapped->size;
    file->twice = mapped;
    file->memory.compare = copies_compare;
    file->memory.compare_context = file;
    return true;
}
