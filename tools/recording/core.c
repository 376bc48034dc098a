/* core.c - lays out a recording: the headers and notes of a core file. */
/* SPDX-License-Identifier: MIT */
/* As a program lays out its own (recorder/file_core.h). */
#include "core.h"
#include "array.h"
#include "inside.h"
#include "proc.h"
#include "labels.h"

#include <elf.h>
#include <gelf.h>
#include <sys/procfs.h>

/* -------------------------------------------------------------- segments -- */

void piece_add(struct pieces *pieces, uint64_t address, uint64_t size,
               const void *bytes, void *owned)
{
    if (!size)
        return;
    *array_add(pieces->all, pieces->count, pieces->max) = (struct piece){
        .address = address, .size = size, .bytes = bytes, .owned = owned};
}

void pieces_sort(struct pieces *pieces)
{
    array_sort(pieces->all, pieces->count, array_compare);
}

size_t module_head(struct memory *m, const struct module *module,
                   unsigned char to[PAGE_BYTES])
{
    size_t got =
        module->offset == 0 ? m->read(m, module->start, to, PAGE_BYTES) : 0;
    size_t end = 0, count = 0;
    Elf *elf = elf_memory((char *)to, got);
    GElf_Ehdr header;
    GElf_Phdr p;
    if (elf && gelf_getehdr(elf, &header) && elf_getphdrnum(elf, &count) == 0 &&
        header.e_phoff < got)
        end = header.e_phoff + count * header.e_phentsize;
    for (int i = 0; end && gelf_getphdr(elf, i, &p); i++)
        if (p.p_type == PT_NOTE && p.p_offset < got &&
            p.p_filesz <= got - p.p_offset && p.p_offset + p.p_filesz > end)
            end = p.p_offset + p.p_filesz;
    elf_end(elf);
    return end < got ? end : got;
}

/* ----------------------------------------------------------------- notes -- */

void note_add(struct notes *notes, const struct memory *m, const char *owner,
              uint32_t type, const void *d, size_t size)
{
    size_t name = strlen(owner) + 1, at = notes->size;
    size_t all = 12 + (name + 3) / 4 * 4 + (size + 3) / 4 * 4;
    unsigned char *to;
    if (at + all > notes->max) {
        notes->max = 2 * (at + all);
        notes->bytes = need(realloc(notes->bytes, notes->max));
    }
    notes->size += all;
    to = notes->bytes + at;
    memset(to, 0, all);
    bytes_put(m, to, name, 4);
    bytes_put(m, to + 4, size, 4);
    bytes_put(m, to + 8, type, 4);
    memcpy(to + 12, owner, name);
    memcpy(to + 12 + (name + 3) / 4 * 4, d, size);
}

void note_files(struct notes *notes, const struct memory *m,
                const struct source *source)
{
    size_t word = m->word_bytes, count = source->modules_count, i;
    size_t size = (2 + 3 * count) * word, at = size;
    unsigned char *d;
    for (i = 0; i < count; i++)
        size += strlen(source->modules[i].path) + 1;
    d = need(calloc(1, size));
    bytes_put_word(m, d, count);
    bytes_put_word(m, d + word, 1); /* offsets are in bytes */
    for (i = 0; i < count; i++) {
        const struct module *module = &source->modules[i];
        unsigned char *row = d + (2 + 3 * i) * word;
        bytes_put_word(m, row, module->start);
        bytes_put_word(m, row + word, module->end);
        bytes_put_word(m, row + 2 * word, module->offset);
        strcpy((char *)d + at, module->path);
        at += strlen(module->path) + 1;
    }
    note_add(notes, m, "CORE", NT_FILE, d, size);
    free(d);
}

static void note_auxiliary(struct notes *notes, const struct memory *m, int pid)
{
    char d[4097];
    size_t size = proc_text(pid, 0, "auxv", d, sizeof d);
    if (size)
        note_add(notes, m, "CORE", NT_AUXV, d, size);
}

/* Adds NT_PRSTATUS and NT_PRPSINFO, which debuggers look for first, if the
 * program is of this machine's kind. */
static void note_process(struct notes *notes, const struct memory *m, int pid,
                         const struct source *source)
{
    struct elf_prstatus status = {0};
    struct elf_prpsinfo info = {0};
    for (size_t i = 0; i < notes->statuses_count; i++)
        note_add(notes, m, "CORE", NT_PRSTATUS,
                 notes->statuses + i * notes->status_bytes,
                 notes->status_bytes);
    if (!m->native || m->word_bytes != sizeof(void *))
        return;
    status.pr_pid = info.pr_pid = pid;
    if (source->modules_count) {
        strncpy(info.pr_fname, basename(source->modules[0].path),
                sizeof info.pr_fname - 1);
        strncpy(info.pr_psargs, source->modules[0].path,
                sizeof info.pr_psargs - 1);
    }
    if (!notes->statuses_count)
        note_add(notes, m, "CORE", NT_PRSTATUS, &status, sizeof status);
    note_add(notes, m, "CORE", NT_PRPSINFO, &info, sizeof info);
}

static void note_recorder(struct notes *notes, const struct memory *m,
                          const struct reader *reader)
{
    size_t word = m->word_bytes;
    unsigned char d[(NOTE_PID + 1) * 8];
    bytes_put_word(m, d + NOTE_LAYOUT * word, RECORDER_LAYOUT);
    bytes_put_word(m, d + NOTE_REGISTRY * word, reader->registry);
    bytes_put_word(m, d + NOTE_PID * word, reader->pid);
    note_add(notes, m, NOTE_OWNER, NOTE_TYPE, d, (NOTE_PID + 1) * word);
}

/* Adds where it comes from, if anything is known of that. */
static void note_source(struct notes *notes, const struct call *call)
{
    const struct memory *m = call->source.memory;
    const struct source_note *note = &call->source.note;
    char *text, *d;
    size_t size = labels_text(call, &text);
    if (size || note->offset_ns || note->error_ns) {
        d = need(malloc(NOTE_SOURCE_WORDS + size));
        bytes_put(m, (unsigned char *)d, (uint64_t)note->offset_ns, 8);
        bytes_put(m, (unsigned char *)d + 8, (uint64_t)note->error_ns, 8);
        memcpy(d + NOTE_SOURCE_WORDS, text, size);
        note_add(notes, m, NOTE_OWNER, NOTE_SOURCE_TYPE, d,
                 NOTE_SOURCE_WORDS + size);
        free(d);
    }
    free(text);
}

void notes_make(struct notes *notes, struct call *call,
                struct requests *requests)
{
    const struct memory *m = call->source.memory;
    size_t size;
    note_recorder(notes, m, &call->reader);
    note_source(notes, call);
    if (call->source.functions)
        note_add(notes, m, NOTE_OWNER, NOTE_FUNCTIONS_TYPE,
                 call->source.functions, strlen(call->source.functions));
    if (requests) {
        unsigned char *note = requests_note(requests, &size);
        note_add(notes, m, NOTE_OWNER, NOTE_REQUESTS_TYPE, note, size);
        free(note);
    }
    note_process(notes, m, (int)call->reader.pid, &call->source);
    if (call->source.pid)
        note_auxiliary(notes, m, call->source.pid);
    note_files(notes, m, &call->source);
}

/* ----------------------------------------------------------------- write -- */

bool core_later(const struct reader *reader, unsigned char moment[3 * 8],
                unsigned char sequence[4])
{
    const struct memory *m = reader->memory;
    const struct offsets *at = offsets_of(m);
    const struct recorder_moment *later = &reader->inside->later;
    if (later->ticks == reader->clock.start.ticks)
        return false;
    bytes_put(m, moment + at->moment_ticks, later->ticks, 8);
    bytes_put(m, moment + at->moment_monotonic_ns, later->monotonic_ns, 8);
    bytes_put(m, moment + at->moment_realtime_ns, later->realtime_ns, 8);
    bytes_put(m, sequence, 2, 4);
    return true;
}

bool core_put(int fd, const void *from, size_t size, uint64_t at)
{
    const char *bytes = from;
    while (size) {
        ssize_t done = pwrite(fd, bytes, size, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = done ? errno : ENOSPC;
            return false;
        }
        bytes += done;
        at += (uint64_t)done;
        size -= (size_t)done;
    }
    return true;
}

/* Writes bytes; blocks of zeros stay holes: most of a large ring may never have
 * been written. */
static void write_at(struct call *call, int fd, const void *from, size_t size,
                     uint64_t at)
{
    enum { BLOCK = 1 << 16 };
    const char *bytes = from;
    while (size) {
        size_t block = size < BLOCK ? size : BLOCK;
        if ((*bytes || memcmp(bytes, bytes + 1, block - 1) != 0) &&
            !core_put(fd, bytes, block, at))
            fail(call, "%s: %s", call_option(call, 'o'), strerror(errno));
        bytes += block;
        at += block;
        size -= block;
    }
}

static void program_header(struct call *call, Elf *elf, int index,
                           GElf_Word type, const struct piece *piece)
{
    struct memory *m = call->source.memory;
    bool constant = m->constant && m->constant(m, piece->address);
    GElf_Phdr p = {0};
    p.p_type = type;
    p.p_flags = type == PT_NOTE || constant ? PF_R : PF_R | PF_W;
    p.p_offset = piece->offset;
    p.p_vaddr = piece->address;
    p.p_filesz = piece->size;
    p.p_memsz = type == PT_NOTE ? 0 : piece->size;
    p.p_align = type == PT_NOTE ? 4 : m->word_bytes; /* RECORDER_ELF_ALIGN_ */
    if (!gelf_update_phdr(elf, index, &p))
        fail(call, "libelf: %s", elf_errmsg(-1));
}

/* Gives the file its size. Readers take memory for a limited part of it that is
 * holes (extents_find() of binaries.c): where it has more, it gets blocks. */
static void core_size(struct call *call, int fd, uint64_t size)
{
    enum { HOLES_MAX = 1 << 29 };
    struct stat is;
    int error = ftruncate(fd, (off_t)size) != 0 ? errno : 0;
    if (!error && fstat(fd, &is) == 0 &&
        size > (uint64_t)is.st_blocks * 512 + HOLES_MAX)
        error = posix_fallocate(fd, 0, (off_t)size);
    if (error)
        fail(call, "%s: %s", call_option(call, 'o'), strerror(error));
}

/* Writes the headers by libelf, which knows all classes and byte orders. It
 * makes the file as long as the headers, so the rest is written later. */
void core_headers(struct call *call, int fd, const struct piece *notes,
                  const struct pieces *pieces)
{
    const struct memory *m = call->source.memory;
    GElf_Ehdr header;
    Elf *elf;
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_WRITE, NULL);
    if (!elf ||
        !gelf_newehdr(elf, m->word_bytes == 8 ? ELFCLASS64 : ELFCLASS32) ||
        !gelf_newphdr(elf, pieces->count + 1) || !gelf_getehdr(elf, &header))
        fail(call, "libelf: %s", elf_errmsg(-1));
    elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
    header.e_ident[EI_DATA] = m->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
    header.e_type = ET_CORE;
    header.e_machine = (GElf_Half)m->machine;
    header.e_version = EV_CURRENT;
    header.e_phoff =
        m->word_bytes == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    if (!gelf_update_ehdr(elf, &header))
        fail(call, "libelf: %s", elf_errmsg(-1));
    program_header(call, elf, 0, PT_NOTE, notes);
    for (size_t i = 0; i < pieces->count; i++)
        program_header(call, elf, (int)i + 1, PT_LOAD, &pieces->all[i]);
    errno = 0;
    if (elf_update(elf, ELF_C_WRITE) < 0)
        fail(call, "%s: %s", call_option(call, 'o'),
             errno ? strerror(errno) : elf_errmsg(-1));
    elf_end(elf);
}

void core_write(struct call *call, int fd, const struct notes *notes,
                struct pieces *pieces)
{
    bool wide = call->source.memory->word_bytes == 8;
    size_t head = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), i;
    struct piece note = {.size = notes->size, .bytes = notes->bytes};
    uint64_t at;
    note.offset = head + (pieces->count + 1) *
                             (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
    at = note.offset + note.size;
    for (i = 0; i < pieces->count; i++) { /* at its address modulo 64 */
        pieces->all[i].offset = at += (pieces->all[i].address - at) % 64;
        at += pieces->all[i].size;
    }
    core_headers(call, fd, &note, pieces);
    write_at(call, fd, note.bytes, note.size, note.offset);
    for (i = 0; i < pieces->count; i++)
        write_at(call, fd, pieces->all[i].bytes, pieces->all[i].size,
                 pieces->all[i].offset);
    core_size(call, fd, at);
}
