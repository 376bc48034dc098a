/* made_head.c - the data before the rings in a recording of made.h. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "core.h"
#include "made.h"

#include <elf.h>

/* No address of a program of 64 bits: above all user memory, and without the
 * top byte, which debuggers remove. */
#define BASE_64 ((uint64_t)0xc0 << 48)

/* ---------------------------------------------------------------- layout -- */

uint64_t made_base(const struct call *call, const struct pieces *also,
                   uint64_t size)
{
    const struct source *source = &call->source;
    size_t others = also ? also->count : 0;
    size_t count = source->modules_count + others + 2, i, k;
    uint64_t(*taken)[2], best = 0, room = 0, end = 65536;
    if (source->memory->word_bytes == 8)
        return BASE_64;
    taken = need(calloc(count, sizeof *taken));
    for (i = 0; i < source->modules_count; i++) {
        taken[i][0] = source->modules[i].start;
        taken[i][1] = source->modules[i].end;
    }
    for (k = 0; k < others; k++, i++) {
        taken[i][0] = also->all[k].address;
        taken[i][1] = also->all[k].address + also->all[k].size;
    }
    taken[i][0] = call->reader.registry;
    taken[i++][1] = call->reader.registry + PAGE_BYTES;
    taken[i][0] = taken[i][1] = (uint64_t)UINT32_MAX - 65535;
    array_sort(taken, count, array_compare);
    for (i = 0; i < count; i++) {
        if (taken[i][0] > end && taken[i][0] - end > room) {
            best = (end + 65535) & ~(uint64_t)65535;
            room = taken[i][0] - end;
        }
        if (taken[i][1] > end)
            end = taken[i][1];
    }
    free(taken);
    return size + 65536 < room ? best : 0;
}

/* Appends bytes at a multiple of `align`; returns their offset. */
static uint64_t put(struct buffer *to, const void *from, size_t size,
                    size_t align)
{
    static const char zeros[256];
    uint64_t at;
    while (to->size % align)
        buffer_add(to, zeros, align - to->size % align);
    at = to->size;
    if (from)
        memcpy(buffer_room(to, size), from, size);
    else
        memset(buffer_room(to, size), 0, size);
    to->size += size;
    return at;
}

/* A string, by its address; 0 for null. */
static uint64_t put_string(struct made *made, struct buffer *to,
                           const char *text)
{
    return text ? made->base + put(to, text, strlen(text) + 1, 1) : 0;
}

static void put_tweaks(struct made *made, struct buffer *to,
                       unsigned char *registry)
{
    const struct memory *m = made->m;
    const struct offsets *at = offsets_of(m);
    const struct reader *reader = &made->call->reader;
    uint64_t first = 0;
    for (size_t i = reader->tweaks_count; i-- > 0;) {
        const struct reader_tweak *t = &reader->tweaks[i];
        unsigned char tweak[64] = {0};
        bytes_put_word(m, tweak + at->tweak_value, (uint64_t)t->value);
        bytes_put_word(m, tweak + at->tweak_name,
                       put_string(made, to, t->name));
        bytes_put_word(m, tweak + at->tweak_description,
                       put_string(made, to, t->description));
        bytes_put_word(m, tweak + at->tweak_next, first);
        first = made->base + put(to, tweak, at->tweak_size, 16);
    }
    bytes_put_word(m, registry + at->registry_tweaks, first);
}

static void put_recorders(struct made *made, struct buffer *to,
                          unsigned char *registry)
{
    const struct memory *m = made->m;
    const struct offsets *at = offsets_of(m);
    uint64_t first = 0;
    for (size_t i = made->rings_count; i-- > 0;) {
        struct made_ring *ring = &made->rings[i];
        unsigned char bytes[64] = {0};
        bytes_put_word(m, bytes + at->recorder_trace, (uint64_t)ring->trace);
        bytes_put_word(m, bytes + at->recorder_mask, ring->slots - 1);
        bytes_put_word(m, bytes + at->recorder_ring_bytes,
                       made_ring_bytes(m, ring->slots));
        bytes_put_word(m, bytes + at->recorder_name,
                       put_string(made, to, ring->name));
        bytes_put_word(m, bytes + at->recorder_description,
                       put_string(made, to, ring->description));
        bytes_put_word(m, bytes + at->recorder_next, first);
        ring->recorder_at = put(to, bytes, sizeof bytes, sizeof bytes);
        first = made->base + ring->recorder_at;
    }
    bytes_put_word(m, registry + at->registry_first, first);
}

/* Rings follow all these; their addresses are in their recorders. */
static uint64_t rings_place(struct made *made, struct buffer *head)
{
    const struct memory *m = made->m;
    uint64_t at = (head->size + 4095) / 4096 * 4096;
    for (size_t i = 0; i < made->rings_count; i++) {
        struct made_ring *ring = &made->rings[i];
        ring->at = at;
        bytes_put_word(
            m, head->at + ring->recorder_at + offsets_of(m)->recorder_rings,
            made->base + at);
        at += (made_ring_bytes(m, ring->slots) + 63) / 64 * 64;
    }
    return at;
}

/* -------------------------------------------------------------- program -- */

/* The heads of modules, which hold their build-ids. */
static void pages_read(struct pieces *pages, const struct source *source)
{
    for (size_t i = 0; i < source->modules_count; i++) {
        unsigned char *page = need(malloc(PAGE_BYTES));
        size_t size = module_head(source->memory, &source->modules[i], page);
        piece_add(pages, source->modules[i].start, size, page, page);
        if (!size) /* it is not added */
            free(page);
    }
}

static void program_free(struct made_program *p)
{
    for (size_t i = 0; p && i < p->pages.count; i++)
        free(p->pages.all[i].owned);
    if (p) {
        free(p->pages.all);
        free(p->line);
        free(p->name);
    }
    free(p);
}

/* Reads it, if it was not read before. Null, or what is wrong. */
static const char *program_read(struct made *made)
{
    const struct memory *m = made->m;
    const struct offsets *at = offsets_of(m);
    struct reader *reader = &made->call->reader;
    struct memory *memory = reader->memory;
    struct made_program *p = made->program;
    struct registry *is;
    const char *wrong;
    if (p)
        return NULL;
    p = made->program = need(calloc(1, sizeof *p));
    is = &p->is;
    wrong = registry_read(memory, reader->registry, is);
    if (!wrong &&
        (is->bytes > sizeof p->registry ||
         !bytes_read(memory, reader->registry, p->registry, is->bytes)))
        wrong = "its registry of recorders is damaged";
    if (wrong) {
        program_free(p);
        made->program = NULL;
        return wrong;
    }
    bytes_put(m, p->registry + at->registry_head_bytes, KEPT_HEAD_BYTES, 4);
    bytes_put_word(m, p->registry + at->registry_cleared, 0);
    bytes_put_word(m, p->registry + at->registry_image, 0);
    if (is->lives && !bytes_read(memory, is->lives, p->lives,
                                 RECORDER_LIVES_ * (size_t)at->life_size))
        memset(p->lives, 0, sizeof p->lives);
    if (is->line)
        p->line = bytes_string(memory, is->line, NAME_MAX_BYTES);
    if (is->program)
        p->name = bytes_string(memory, is->program, NAME_MAX_BYTES);
    pages_read(&p->pages, &made->call->source);
    return NULL;
}

/* ----------------------------------------------------------------- begin -- */

uint64_t made_segment_size_at(const struct memory *m)
{
    return m->word_bytes == 8 ? sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) +
                                    offsetof(Elf64_Phdr, p_filesz)
                              : sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr) +
                                    offsetof(Elf32_Phdr, p_filesz);
}

/* Rows for all threads that there may be in a log, else for those there are. */
static void put_threads(struct made *made, struct buffer *to,
                        unsigned char *registry)
{
    const struct memory *m = made->m;
    const struct offsets *at = offsets_of(m);
    const struct reader *reader = &made->call->reader;
    uint64_t max = reader_threads_end(reader);
    if (reader->logs)
        max = made->program->is.threads_max ? made->program->is.threads_max
                                            : RECORDER_THREADS;
    made->threads_max = max > THREADS_MAX ? THREADS_MAX : max;
    made->threads_at = put(to, NULL, made->threads_max * at->row_size + 1, 64);
    bytes_put_word(m, registry + at->registry_threads,
                   made->threads_max ? made->base + made->threads_at : 0);
    bytes_put_word(m, registry + at->registry_threads_max, made->threads_max);
    bytes_put_word(m, registry + at->registry_threads_count, 0);
}

/* Composes the data before the rings, except the ELF headers. */
static void head_make(struct made *made, struct buffer *head,
                      struct pieces *pieces)
{
    const struct memory *m = made->m;
    const struct offsets *at = offsets_of(m);
    const struct made_program *p = made->program;
    const struct reader *reader = &made->call->reader;
    unsigned char registry[sizeof p->registry];
    size_t i;
    memcpy(registry, p->registry, sizeof registry);
    piece_add(pieces, made->base, 1, NULL, NULL);
    piece_add(pieces, reader->registry, p->is.bytes, NULL, NULL);
    for (i = 0; i < p->pages.count; i++) {
        const struct piece *page = &p->pages.all[i];
        piece_add(pieces, page->address, page->size, NULL, NULL);
        pieces->all[i + 2].offset = put(head, page->bytes, page->size, 64);
    }
    bytes_put_word(m, registry + at->registry_line,
                   put_string(made, head, p->line));
    bytes_put_word(m, registry + at->registry_program,
                   put_string(made, head, p->name));
    made->order_at = put(head, NULL, 8, 16);
    bytes_put_word(m, head->at + made->order_at, reader->end);
    bytes_put_word(m, registry + at->registry_order,
                   made->base + made->order_at);
    if (p->is.lives)
        bytes_put_word(m, registry + at->registry_lives,
                       made->base + put(head, p->lives,
                                        RECORDER_LIVES_ * (size_t)at->life_size,
                                        16));
    put_tweaks(made, head, registry);
    put_recorders(made, head, registry);
    put_threads(made, head, registry);
    made->registry_at = put(head, registry, p->is.bytes, 64);
    pieces->all[1].offset = made->registry_at;
}

/* Writes the head, and gives the file its size; false, and errno. */
static bool head_write(struct made *made, struct buffer *head,
                       struct pieces *pieces)
{
    struct notes notes = {0};
    struct piece note;
    uint64_t headers;
    notes_make(&notes, made->call, made->requests);
    note = (struct piece){.size = notes.size,
                          .offset = put(head, notes.bytes, notes.size, 8)};
    free(notes.bytes);
    made->texts_at = rings_place(made, head);
    pieces->all[0].size = made->texts_at + made->texts_max;
    core_headers(made->call, made->fd, &note, pieces);
    headers = (uint64_t)lseek(made->fd, 0, SEEK_END);
    return ftruncate(made->fd, (off_t)(made->texts_at + made->texts_max)) ==
               0 &&
           core_put(made->fd, head->at + headers, head->size - headers,
                    headers);
}

const char *made_begin(struct made *made, struct call *call, int fd,
                       uint64_t texts_max)
{
    struct buffer head = {0};
    struct pieces pieces = {0};
    uint64_t bytes =
        texts_max + ((uint64_t)64 << 20); /* and the data before them */
    const char *wrong;
    size_t i;
    made->call = call;
    made->m = call->reader.memory;
    made->fd = fd;
    made->texts_max = texts_max;
    wrong = program_read(made);
    if (wrong)
        return wrong;
    for (i = 0; i < made->rings_count; i++)
        bytes += made_ring_bytes(made->m, made->rings[i].slots) + 64;
    made->base = made_base(call, NULL, bytes);
    if (!made->base)
        return "it is too much for the addresses of its program";
    put(&head, NULL,
        sizeof(Elf64_Ehdr) +
            (3 + made->program->pages.count) * sizeof(Elf64_Phdr),
        1);
    head_make(made, &head, &pieces);
    if (!head_write(made, &head, &pieces))
        wrong = strerror(errno);
    for (i = 0; i < made->rings_count; i++) {
        uint64_t texts = made->base + made->texts_at;
        made->rings[i].kept[KEPT_TEXTS] = texts;
        made->rings[i].kept[KEPT_TEXTS_END] = texts + texts_max;
        made->rings[i].kept[KEPT_EMPTY] = 1;
        made->rings[i].changed = true;
    }
    if (!made->waiting)
        made->waiting = need(calloc(MADE_WAITING, sizeof *made->waiting));
    free(pieces.all);
    free(head.at);
    return wrong;
}

void made_close(struct made *made)
{
    program_free(made->program);
    free(made->waiting);
    *made = (struct made){0};
}
