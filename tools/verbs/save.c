/* save.c - recorder save: writes a recording of a running program. */
/* SPDX-License-Identifier: MIT */
/*
   A recording is a core file (see recorder/file_core.h). This one holds the
   rings as they were taken, whole records only, and the pages of the program
   that were read while all of its events were made into text: the registry,
   names, formats, strings.
*/
#include "array.h"
#include "buffer.h"
#include "inside.h"
#include "output.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

/* Memory that keeps the pages that were read. */
struct kept_page {
    uint64_t address, size;
    unsigned char bytes[]; /* none if the page is not there */
};
struct keeper {
    struct memory memory; /* first: the reader is given its address */
    struct memory *of;
    struct reader *reader; /* its rings are saved by ring_add(), not as pages */
    struct ids ids;        /* of their addresses */
    struct kept_page **pages; /* by that number */
    size_t max;
};

static bool in_ring(const struct keeper *keeper, uint64_t address)
{
    return recorder_by_address(keeper->reader, address) != NULL;
}

static struct kept_page *page_keep(struct keeper *keeper, uint64_t address)
{
    struct kept_page *page;
    unsigned char bytes[PAGE_BYTES];
    bool is_new;
    size_t size, i = ids_of(&keeper->ids, address, 0, 0, &is_new);
    if (!is_new)
        return keeper->pages[i];
    size = keeper->of->read(keeper->of, address, bytes, PAGE_BYTES);
    page = need(malloc(sizeof *page + size));
    page->address = address;
    page->size = size;
    memcpy(page->bytes, bytes, size);
    keeper->pages = need(array_room(keeper->pages, &keeper->max, i + 1,
                                    sizeof(struct kept_page *)));
    return keeper->pages[i] = page;
}

static size_t keeper_read(struct memory *memory, uint64_t address, void *to,
                          size_t size)
{
    struct keeper *keeper = (struct keeper *)memory;
    size_t done = 0;
    if (in_ring(keeper, address))
        return keeper->of->read(keeper->of, address, to, size);
    while (done < size) {
        uint64_t at = (address + done) % PAGE_BYTES;
        const struct kept_page *page = page_keep(keeper, address + done - at);
        size_t piece = size - done;
        if (page->size <= at)
            break;
        if (piece > page->size - at)
            piece = page->size - at;
        memcpy((char *)to + done, page->bytes + at, piece);
        done += piece;
    }
    return done;
}

static bool keeper_thread(struct memory *memory, int32_t id, char name[16])
{
    struct keeper *keeper = (struct keeper *)memory;
    return keeper->of->thread(keeper->of, id, name);
}

/* Changes bytes of a kept page. */
static void keeper_put(struct keeper *keeper, uint64_t address,
                       const unsigned char *from, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint64_t at = (address + i) % PAGE_BYTES;
        struct kept_page *page = page_keep(keeper, address + i - at);
        if (at < page->size)
            page->bytes[at] = from[i];
    }
}

/* Stores in the recording how fast ticks ran, as far as it is known here: it
 * may be read where these clocks are not. */
static void clock_keep(struct keeper *keeper)
{
    const struct reader *reader = keeper->reader;
    const struct memory *m = &keeper->memory;
    const struct offsets *at = offsets_of(m);
    const struct recorder_moment *later = &reader->inside->later;
    unsigned char set[4], bytes[3 * 8];
    if (later->ticks == reader->clock.start.ticks)
        return;
    bytes_put(m, set, 2, 4);
    bytes_put(m, bytes + at->moment_ticks, later->ticks, 8);
    bytes_put(m, bytes + at->moment_monotonic_ns, later->monotonic_ns, 8);
    bytes_put(m, bytes + at->moment_realtime_ns, later->realtime_ns, 8);
    keeper_put(keeper, reader->registry + at->registry_later, bytes,
               sizeof bytes);
    keeper_put(keeper, reader->registry + at->registry_later_sequence, set,
               sizeof set);
}

static bool keeper_constant(struct memory *memory, uint64_t address)
{
    struct keeper *keeper = (struct keeper *)memory;
    return keeper->of->constant(keeper->of, address);
}

/* -------------------------------------------------------------- segments -- */

struct piece {
    uint64_t address, size, offset; /* offset: in the file */
    const void *bytes;
    void *owned; /* to be freed, or null */
};
struct pieces {
    struct piece *all;
    size_t count, max;
};

static void piece_add(struct pieces *pieces, uint64_t address, uint64_t size,
                      const void *bytes, void *owned)
{
    if (!size)
        return;
    pieces->all = need(array_room(pieces->all, &pieces->max, pieces->count + 1,
                                  sizeof *pieces->all));
    pieces->all[pieces->count++] = (struct piece){
        .address = address, .size = size, .bytes = bytes, .owned = owned};
}

static int piece_compare(const void *a, const void *b)
{
    const struct piece *left = a, *right = b;
    return left->address < right->address ? -1 : left->address > right->address;
}

/* Adds a ring, with whole records only: other slots get a commit word of 0. */
static void ring_add(struct keeper *keeper, struct reader *reader,
                     const struct lane *lane, struct pieces *pieces)
{
    struct memory *m = keeper->of;
    size_t word = m->word_bytes, record = offsets_of(m)->record_size;
    size_t slots = lane->recorder->figures.size, slot;
    size_t bytes = ring_end_at(reader, slots);
    size_t head = ring_records_at(reader), turns = ring_turns_at(reader, slots);
    unsigned char *ring = need(calloc(1, bytes)), raw[RECORD_MAX_BYTES];
    unsigned char *records = ring + head;
    unsigned char *commits = ring + ring_commits_at(reader, slots);
    m->read(m, lane->address, ring, head);
    m->read(m, lane->address + turns, ring + turns, bytes - turns);
    for (slot = 0; slot < slots; slot++) {
        if (!lane_record(reader, lane, slot, raw))
            continue;
        memcpy(records + slot * record, raw, record);
        memcpy(commits + slot * word, lane->commits + slot * word, word);
    }
    piece_add(pieces, lane->address, bytes, ring, ring);
}

/* Adds the kept pages, without bytes that lie in a ring. */
static void pages_add(const struct keeper *keeper, struct pieces *pieces)
{
    size_t rings = pieces->count, i, k;
    if (rings) /* else the pointer is null */
        qsort(pieces->all, rings, sizeof *pieces->all, piece_compare);
    for (i = 0; i < keeper->ids.count; i++) {
        const struct kept_page *page = keeper->pages[i];
        uint64_t at = page->address, end = at + page->size;
        for (k = 0; k < rings && at < end; k++) {
            uint64_t start = pieces->all[k].address;
            uint64_t stop = start + pieces->all[k].size;
            if (stop <= at || start >= end)
                continue;
            if (start > at)
                piece_add(pieces, at, start - at,
                          page->bytes + (at - page->address), NULL);
            at = stop;
        }
        if (at < end)
            piece_add(pieces, at, end - at, page->bytes + (at - page->address),
                      NULL);
    }
    if (pieces->count)
        qsort(pieces->all, pieces->count, sizeof *pieces->all, piece_compare);
}

/* ----------------------------------------------------------------- notes -- */

struct notes {
    unsigned char *bytes;
    size_t size;
};

static void note_add(struct notes *notes, const struct memory *m,
                     const char *owner, uint32_t type, const void *d,
                     size_t size)
{
    size_t name = strlen(owner) + 1, at = notes->size;
    size_t all = 12 + (name + 3) / 4 * 4 + (size + 3) / 4 * 4;
    unsigned char *to;
    notes->bytes = need(realloc(notes->bytes, at + all));
    notes->size += all;
    to = notes->bytes + at;
    memset(to, 0, all);
    bytes_put(m, to, name, 4);
    bytes_put(m, to + 4, size, 4);
    bytes_put(m, to + 8, type, 4);
    memcpy(to + 12, owner, name);
    memcpy(to + 12 + (name + 3) / 4 * 4, d, size);
}

/* Adds NT_FILE, by which readers find the program and its libraries. */
static void note_files(struct notes *notes, const struct memory *m,
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
    char path[32];
    unsigned char d[4096];
    ssize_t size;
    int fd;
    snprintf(path, sizeof path, "/proc/%d/auxv", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    size = read(fd, d, sizeof d);
    close(fd);
    if (size > 0)
        note_add(notes, m, "CORE", NT_AUXV, d, (size_t)size);
}

/* Adds NT_PRSTATUS and NT_PRPSINFO, which debuggers look for first, if the
 * program is of this machine's kind. */
static void note_process(struct notes *notes, const struct memory *m, int pid,
                         const struct source *source)
{
    struct elf_prstatus status = {0};
    struct elf_prpsinfo info = {0};
    const char *name;
    if (!m->native || m->word_bytes != sizeof(void *))
        return;
    status.pr_pid = info.pr_pid = pid;
    if (source->modules_count) {
        name = strrchr(source->modules[0].path, '/');
        strncpy(info.pr_fname, name ? name + 1 : "", sizeof info.pr_fname - 1);
        strncpy(info.pr_psargs, source->modules[0].path,
                sizeof info.pr_psargs - 1);
    }
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

/* Adds the notes of a recording, in the order in which a program writes
 * them. */
static void notes_make(struct notes *notes, struct call *call)
{
    const struct memory *m = call->source.memory;
    note_recorder(notes, m, &call->reader);
    note_process(notes, m, (int)call->reader.pid, &call->source);
    if (call->source.pid)
        note_auxiliary(notes, m, call->source.pid);
    note_files(notes, m, &call->source);
}

/* ----------------------------------------------------------------- write -- */

static void write_at(struct call *call, int fd, const void *from, size_t size,
                     uint64_t at)
{
    const char *bytes = from;
    while (size) {
        ssize_t done = pwrite(fd, bytes, size, (off_t)at);
        if (done <= 0)
            fail(call, "%s: %s", call_option(call, 'o'), strerror(errno));
        bytes += done;
        at += (uint64_t)done;
        size -= (size_t)done;
    }
}

/* Places each piece in the file, behind the headers and the notes. */
static void pieces_place(struct pieces *pieces, uint64_t at)
{
    for (size_t i = 0; i < pieces->count; i++) {
        pieces->all[i].offset = at = (at + 63) / 64 * 64;
        at += pieces->all[i].size;
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
    p.p_align = type == PT_NOTE ? 4 : 1;
    if (!gelf_update_phdr(elf, index, &p))
        fail(call, "libelf: %s", elf_errmsg(-1));
}

/* Writes the headers by libelf, which knows all classes and byte orders. It
 * makes the file as long as the headers, so the rest is written later. */
static void headers_write(struct call *call, int fd, const struct piece *notes,
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

static void file_write(struct call *call, int fd, const struct notes *notes,
                       struct pieces *pieces)
{
    bool wide = call->source.memory->word_bytes == 8;
    size_t head = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), i;
    struct piece note = {.size = notes->size, .bytes = notes->bytes};
    note.offset = head + (pieces->count + 1) *
                             (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
    pieces_place(pieces, note.offset + note.size);
    headers_write(call, fd, &note, pieces);
    write_at(call, fd, note.bytes, note.size, note.offset);
    for (i = 0; i < pieces->count; i++)
        write_at(call, fd, pieces->all[i].bytes, pieces->all[i].size,
                 pieces->all[i].offset);
}

/* Reads everything once, through the keeper. */
static void look_at_all(struct call *call, struct keeper *keeper)
{
    struct reader_argument arguments[12];
    struct reader_event event;
    const char *wrong;
    size_t size;
    reader_close(&call->reader);
    wrong = reader_open(&call->reader, &keeper->memory, call->source.registry);
    if (!wrong)
        wrong = reader_take(&call->reader);
    if (wrong)
        fail(call, "%s", wrong);
    reader_head(&call->reader, &size);
    while (reader_next(&call->reader, &event)) {
        reader_message(&call->reader, &event, &size);
        reader_arguments(&call->reader, &event, arguments);
    }
}

static int save(struct call *call)
{
    const char *path = call_option(call, 'o');
    struct keeper keeper = {.reader = &call->reader};
    struct pieces pieces = {0};
    struct notes notes = {0};
    struct output output;
    if (!path || strcmp(path, "-") == 0)
        misuse(call, "-o FILE is missing");
    call_open(call, 0);
    keeper.of = call->source.memory;
    keeper.memory = *keeper.of;
    keeper.memory.read = keeper_read;
    keeper.memory.map = NULL;
    keeper.memory.write = NULL;
    keeper.memory.thread = keeper.of->thread ? keeper_thread : NULL;
    keeper.memory.constant = keeper.of->constant ? keeper_constant : NULL;
    look_at_all(call, &keeper);
    clock_keep(&keeper);
    for (size_t i = 0; i < call->reader.inside->lanes_count; i++)
        ring_add(&keeper, &call->reader, &call->reader.inside->lanes[i],
                 &pieces);
    for (size_t i = 0; i < call->source.modules_count; i++)
        if (call->source.modules[i].offset == 0) /* it has the build-id */
            page_keep(&keeper, call->source.modules[i].start);
    pages_add(&keeper, &pieces);
    notes_make(&notes, call);
    umask(0077); /* only the owner may read it, as a core file */
    output_open(&output, call, path);
    if (!output.temporary)
        fail(call, "%s: is no regular file, as a recording has to be", path);
    file_write(call, fileno(output.file), &notes, &pieces);
    output_close(&output);
    for (size_t i = 0; i < pieces.count; i++)
        free(pieces.all[i].owned);
    for (size_t i = 0; i < keeper.ids.count; i++)
        free(keeper.pages[i]);
    ids_free(&keeper.ids);
    free(keeper.pages);
    free(pieces.all);
    free(notes.bytes);
    return 0;
}

static const struct option_row rows[] = {
    {'o', "output", "FILE", "the recording; written whole, or not at all"},
    {0, NULL, NULL, NULL}};

const struct verb verb_save = {
    .name = "save",
    .arguments = "SOURCE",
    .summary = "writes a recording of what a program, or a core file, holds",
    .help = "The recording needs neither the program nor its libraries to be "
            "read; gdb "
            "opens it, too: gdb PROGRAM -c FILE.",
    .rows = rows,
    .run = save};
