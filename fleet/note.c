/* note.c - the notes of a recording: host, snapshot, clock. */
/* SPDX-License-Identifier: MIT */
#include "fleet.h"
#include "requests.h"
#include "source.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANY = -1, SEGMENTS_MAX = 64, SEGMENT_MAX = 16 << 20, TEXT_MAX = 4096 };

/* Finds a note of ours; returns its place in the file, and its size. 0: the file
 * has none. The file is read, not mapped: a program may truncate it any time. */
static uint64_t note_find(int fd, int type, size_t *size, bool *big_endian)
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
            p.p_filesz > SEGMENT_MAX)
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

bool note_is_recording(int fd)
{
    bool big_endian;
    size_t size;
    return note_find(fd, ANY, &size, &big_endian);
}

bool note_clock(int fd, int64_t offset_ns, int64_t error_ns)
{
    const uint64_t words[] = {(uint64_t)offset_ns, (uint64_t)error_ns};
    unsigned char bytes[NOTE_SOURCE_WORDS];
    bool big_endian;
    size_t size;
    uint64_t at = note_find(fd, NOTE_SOURCE_TYPE, &size, &big_endian);
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(words[i / 8] >>
                                   8 * (big_endian ? 7 - i % 8 : i % 8));
    return at && pwrite(fd, bytes, sizeof bytes, (off_t)at) == sizeof bytes;
}

bool note_has_requests(int fd)
{
    bool big_endian;
    size_t size;
    return note_find(fd, NOTE_REQUESTS_TYPE, &size, &big_endian);
}

bool note_may_have(int fd, const char *id)
{
    bool big_endian, may_have = true;
    size_t size;
    uint64_t at = note_find(fd, NOTE_REQUESTS_TYPE, &size, &big_endian);
    unsigned char *note = at && size <= SEGMENT_MAX ? need(malloc(size)) : NULL;
    if (note && pread(fd, note, size, (off_t)at) == (ssize_t)size)
        may_have = requests_may_have(note, size, id);
    free(note);
    return may_have;
}

bool note_label(int fd, const char *label, char *to, size_t max)
{
    char text[TEXT_MAX + 1];
    bool big_endian;
    size_t size, length = strlen(label);
    uint64_t at = note_find(fd, NOTE_SOURCE_TYPE, &size, &big_endian);
    if (!at || size > TEXT_MAX ||
        pread(fd, text, size, (off_t)at) != (ssize_t)size)
        return false;
    text[size] = '\0';
    for (char *rest = text + NOTE_SOURCE_WORDS, *line;
         (line = strsep(&rest, "\n"));)
        if (strncmp(line, label, length) == 0 && line[length] == '=') {
            snprintf(to, max, "%s", line + length + 1);
            return true;
        }
    return false;
}

uint64_t note_number(int fd, const char *label)
{
    char text[32];
    return note_label(fd, label, text, sizeof text) ? strtoull(text, NULL, 10)
                                                    : 0;
}
