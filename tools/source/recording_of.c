/* recording_of.c - the recording that a process maps, and notes of one. */
/* SPDX-License-Identifier: MIT */
#include "proc.h"
#include "source.h"

#include <gelf.h>
#include <sys/mman.h>

enum { ANY = -1, SEGMENTS_MAX = 64 };

/* The file is read, not mapped: a program may truncate it any time. */
uint64_t recording_note(int fd, int type, size_t *size, bool *big_endian)
{
    Elf *elf;
    size_t count = 0;
    uint64_t found = 0;
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) != 0)
        count = 0;
    *big_endian = count && elf_getident(elf, NULL)[EI_DATA] == ELFDATA2MSB;
    for (size_t i = 0; i < count && i < SEGMENTS_MAX && !found; i++) {
        GElf_Phdr p;
        GElf_Nhdr note;
        size_t at = 0, name, value;
        Elf_Data *data;
        if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_NOTE ||
            p.p_filesz > RECORDING_NOTE_MAX)
            continue;
        data = elf_getdata_rawchunk(elf, (int64_t)p.p_offset, p.p_filesz,
                                    ELF_T_NHDR);
        while (data && (at = gelf_getnote(data, at, &note, &name, &value)) > 0)
            if (note.n_namesz == sizeof NOTE_OWNER &&
                memcmp((char *)data->d_buf + name, NOTE_OWNER,
                       sizeof NOTE_OWNER) == 0 &&
                (type == ANY || (note.n_type == (GElf_Word)type &&
                                 note.n_descsz >= NOTE_SOURCE_WORDS))) {
                found = p.p_offset + value;
                *size = note.n_descsz;
            }
    }
    elf_end(elf);
    return found;
}

/* True if a file is the one of a mapping. stat() is not enough: some file
 * systems tell another device there than in /proc/PID/maps, so the file is
 * mapped here, and our own line compared. */
static bool is_mapped(int fd, const struct proc_mapping *m)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    FILE *maps = at == MAP_FAILED ? NULL : fopen("/proc/self/maps", "re");
    struct proc_mapping own;
    bool same = false;
    while (!same && proc_mapping_next(maps, &own))
        same = own.start == (uintptr_t)at && own.inode == m->inode &&
               strcmp(own.device, m->device) == 0;
    if (maps)
        fclose(maps);
    if (at != MAP_FAILED)
        munmap(at, size);
    return same;
}

int mapping_open(int pid, const struct proc_mapping *m)
{
    char path[PATH_MAX + 64];
    struct stat is;
    for (int i = 0; i < 2; i++) {
        int fd;
        if (i == 0)
            snprintf(path, sizeof path,
                     "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, m->start,
                     m->end);
        else
            snprintf(path, sizeof path, "/proc/%d/root%s", pid, m->path);
        fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &is) == 0 && S_ISREG(is.st_mode) &&
            is_mapped(fd, m))
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

int recording_of(int pid)
{
    struct proc_mapping m;
    bool big_endian;
    size_t size;
    int fd = -1;
    FILE *maps = proc_open(pid, "maps");
    while (fd < 0 && proc_mapping_next(maps, &m)) {
        if (strcmp(m.mode, "rw-s") == 0 && *m.path == '/')
            fd = mapping_open(pid, &m);
        if (fd >= 0 && !recording_note(fd, ANY, &size, &big_endian)) {
            close(fd);
            fd = -1;
        }
    }
    if (maps)
        fclose(maps);
    return fd;
}
