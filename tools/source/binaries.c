/* binaries.c - mapped files: their segments, and their modules' segments. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "file.h"

#include <gelf.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

/* Finds the parts of a file that are not holes: a file of terabytes may need
 * one block of the disk. Only these parts are searched, and the memory for
 * rings in holes, never written, is limited. */
static void extents_find(struct mapped *mapped, int fd, uint64_t on_disk)
{
    enum { HOLES_MAX = 1 << 30 };
    off_t start, end = 0, size = (off_t)mapped->size;
    while (end < size && (start = lseek(fd, end, SEEK_DATA)) >= 0 &&
           start < size) {
        end = lseek(fd, start, SEEK_HOLE);
        if (end <= start || end > size)
            end = size;
        *array_add(mapped->extents, mapped->extents_count,
                   mapped->extents_max) =
            (struct extent){(uint64_t)start, (uint64_t)end};
        mapped->data += (uint64_t)(end - start);
    }
    if (mapped->data < on_disk) /* room was reserved for later data */
        mapped->data = on_disk;
    mapped->worth = mapped->data + HOLES_MAX;
    if (mapped->worth > mapped->size)
        mapped->worth = mapped->size;
}

/* True if the holes of a file are larger than the room in its tmpfs. */
static bool holes_are_too_large(const struct mapped *mapped, int fd)
{
    struct statfs room;
    return mapped->data < mapped->size && fstatfs(fd, &room) == 0 &&
           room.f_type == TMPFS_MAGIC && room.f_blocks &&
           mapped->size - mapped->data >
               (uint64_t)room.f_bavail * (uint64_t)room.f_bsize;
}

const struct mapped *mapped_by_fd(const struct mapped *all,
                                  const unsigned char *at)
{
    while (all && (all->fd < 0 || at < all->bytes ||
                   (size_t)(at - all->bytes) >= all->size))
        all = all->next;
    return all;
}

void mapped_copy(const struct mapped *all, void *to, const unsigned char *from,
                 size_t size)
{
    all = mapped_by_fd(all, from);
    if (!all || pread(all->fd, to, size, from - all->bytes) != (ssize_t)size)
        memcpy(to, from, size);
}

/* Maps a whole file, and closes it. Returns null, with errno, if it cannot. */
static struct mapped *mapped_of(struct file *file, int fd)
{
    int error;
    struct mapped *mapped = need(calloc(1, sizeof *mapped));
    struct stat is;
    if (fstat(fd, &is) != 0)
        goto failed;
    mapped->fd = -1;
    mapped->size = (size_t)is.st_size;
    if (mapped->size) {
        mapped->bytes = mmap(NULL, mapped->size, PROT_READ, MAP_SHARED, fd, 0);
        if (mapped->bytes == MAP_FAILED)
            goto failed;
        extents_find(mapped, fd, (uint64_t)is.st_blocks * 512);
    }
    if (mapped->size && holes_are_too_large(mapped, fd))
        mapped->fd = fd;
    else
        close(fd);
    mapped->next = file->mapped;
    file->mapped = mapped;
    return mapped;
failed:
    error = errno;
    close(fd);
    free(mapped);
    errno = error;
    return NULL;
}

struct mapped *mapped_open(struct file *file, const char *path)
{
    int fd = regular_open(path);
    return fd < 0 ? NULL : mapped_of(file, fd);
}

/* -------------------------------------------------------------- segments -- */

void segment_add(struct segments *to, uint64_t start, uint64_t size,
                 const unsigned char *bytes, bool writable)
{
    *array_add(to->all, to->count, to->max) = (struct segment){
        .start = start, .size = size, .bytes = bytes, .writable = writable};
}

const struct segment *segment_at(const struct segments *in, uint64_t address,
                                 uint64_t *most)
{
    size_t low = array_count_to(in->all, in->count, sizeof *in->all, address);
    if (low < in->count && in->all[low].start - address < *most)
        *most = in->all[low].start - address;
    if (low == 0 || address - in->all[low - 1].start >= in->all[low - 1].size)
        return NULL;
    return &in->all[low - 1];
}

/* Leaves out segments that overlap in the file by more than pages do: a forgery
 * that would take forever to search. */
void segments_of(struct segments *to, const struct mapped *mapped, Elf *elf,
                 uint64_t *cut)
{
    uint64_t all = 0;
    GElf_Phdr p;
    for (int i = 0; i < 1000000 && gelf_getphdr(elf, i, &p); i++) {
        uint64_t size;
        if (p.p_type != PT_LOAD || p.p_filesz == 0)
            continue;
        size = p.p_filesz;
        if (p.p_offset >= mapped->size)
            size = 0;
        else if (size > mapped->size - p.p_offset)
            size = mapped->size - p.p_offset;
        if (p.p_vaddr + size < p.p_vaddr)
            size = 0 - p.p_vaddr;
        *cut += p.p_filesz - size;
        all += size;
        if (all / 2 > mapped->size)
            break;
        if (size)
            segment_add(to, p.p_vaddr, size, mapped->bytes + p.p_offset,
                        p.p_flags & PF_W);
    }
    array_sort(to->all, to->count, array_compare);
}

/* -------------------------------------------------------------- binaries -- */

size_t source_build_id(Elf *elf, unsigned char to[64])
{
    GElf_Phdr p;
    for (int i = 0; i < 256 && gelf_getphdr(elf, i, &p); i++) {
        GElf_Nhdr note;
        Elf_Data *data;
        size_t at = 0, name, value;
        if (p.p_type != PT_NOTE || p.p_filesz > 65536)
            continue;
        data = elf_getdata_rawchunk(elf, (int64_t)p.p_offset, p.p_filesz,
                                    p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
        while (data && (at = gelf_getnote(data, at, &note, &name, &value)) > 0)
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                memcmp((char *)data->d_buf + name, "GNU", 4) == 0 &&
                note.n_descsz <= 64) {
                memcpy(to, (char *)data->d_buf + value, note.n_descsz);
                return note.n_descsz;
            }
    }
    return 0;
}

size_t file_build_id(struct source *source, uint64_t address,
                     unsigned char to[64])
{
    struct file *file = (struct file *)source->memory;
    uint64_t most = UINT64_MAX;
    const struct segment *s = segment_at(&file->segments, address, &most);
    size_t size;
    Elf *elf;
    if (!s || s->start != address)
        return 0;
    elf = elf_memory((char *)(uintptr_t)s->bytes, s->size);
    if (!elf)
        return 0;
    size = source_build_id(elf, to);
    elf_end(elf);
    return size;
}

/* Returns the file of a module; opens it when it is first needed. */
static struct mapped *binary_file(struct file *file, struct module *module)
{
    struct source *source = file->source;
    struct binary *b = module->binary;
    const char *path = module->path;
    struct module *first;
    int fd;
    if (b)
        return b->file;
    for (b = file->binaries; b; b = b->next)
        if (strcmp(b->path, path) == 0) {
            module->binary = b;
            return b->file;
        }
    b = need(calloc(1, sizeof *b));
    b->path = need(strdup(path));
    b->next = file->binaries;
    file->binaries = module->binary = b;
    first = module_first(source, path);
    fd = first ? module_open(source, first) : -1;
    if (fd >= 0)
        b->file = mapped_of(file, fd);
    if (first)
        module_unopened(source, first);
    return b->file;
}

const unsigned char *module_bytes(struct file *file, uint64_t address,
                                  uint64_t *size)
{
    struct module *m = module_at(file->source, address);
    const struct mapped *binary = m ? binary_file(file, m) : NULL;
    uint64_t offset;
    if (!binary)
        return NULL;
    offset = m->offset + (address - m->start);
    if (offset < m->offset || offset >= binary->size)
        return NULL;
    *size = binary->size - offset;
    if (*size > m->end - address)
        *size = m->end - address;
    return binary->bytes + offset;
}
