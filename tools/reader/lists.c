/* lists.c - reads the lists of a registry: recorders, threads, tweaks. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "inside.h"
#include "offer.h"

/* ----------------------------------------------------------------- lists -- */

/* True if a link of the list still points at `address`. Otherwise, in a running
 * program, the library of that element was closed. */
static bool link_holds(struct reader *reader, uint64_t link, uint64_t address)
{
    uint64_t now;
    return !reader->memory->live ||
           (bytes_read_word(reader->memory, link, &now) && now == address);
}

/* Reads name and description of a list's element; null: not readable. Returns
 * false if the list has changed: a running program may have closed the library
 * of an element, and opened it again. */
static bool texts_read(struct reader *reader, uint64_t link, uint64_t address,
                       const uint64_t at[2], char *texts[2])
{
    unsigned tries = 0;
    bool whole;
    texts[0] = texts[1] = NULL;
    do {
        whole = true;
        for (int i = 0; i < 2; i++) {
            free(texts[i]);
            texts[i] = bytes_string(reader->memory, at[i], NAME_MAX_BYTES);
            whole &= texts[i] || !at[i];
        }
        if (!link_holds(reader, link, address)) {
            free(texts[0]);
            free(texts[1]);
            return false;
        }
    } while (!whole && reader->memory->live && tries++ < 20);
    return true;
}

/* ------------------------------------------------------------- recorders -- */

void recorder_free(struct reader_recorder *recorder)
{
    if (recorder->shown != recorder->name)
        free(recorder->shown);
    free(recorder->name);
    free(recorder->description);
    free(recorder);
}

/* Returns null, or why the sizes of a recorder cannot be right. */
static const char *figures_check(const struct reader *reader,
                                 const struct reader_recorder *r)
{
    uint64_t n = r->figures.size, lanes = r->figures.lanes, bytes;
    if (n == 0 || (n & (n - 1)) || n > (uint64_t)1 << 30)
        return "its size is damaged";
    if (lanes == 0 || (lanes & (lanes - 1)) || lanes > 65536)
        return "its lanes are damaged";
    bytes = ring_end_at(reader, n);
    if ((lanes > 1 && r->ring_bytes < bytes) || bytes > reader->memory->size ||
        bytes * lanes > reader->memory->size)
        return "its rings are larger than the memory";
    bytes += r->ring_bytes * (lanes - 1);
    if (reader->registry - r->rings < bytes || r->address - r->rings < bytes)
        return "its rings are damaged";
    return NULL;
}

/* Reads a struct recorder. Returns false if it cannot be read. */
static bool recorder_read(struct reader *reader, uint64_t address,
                          struct reader_recorder *now, uint64_t *description,
                          uint64_t *next)
{
    struct memory *m = reader->memory;
    const struct offsets *at = offsets_of(m);
    unsigned char from[64];
    uint64_t size, lanes;
    if (!bytes_read(m, address, from, at->recorder_next + m->word_bytes))
        return false;
    memset(now, 0, sizeof *now);
    size = bytes_word(m, from + at->recorder_mask) + 1;
    lanes = bytes_word(m, from + at->recorder_lanes_mask) + 1;
    now->address = address;
    now->trace = word_signed(m, bytes_word(m, from + at->recorder_trace));
    now->rings = bytes_word(m, from + at->recorder_rings);
    now->figures.size = size & word_max(m);
    now->figures.lanes = lanes & word_max(m);
    now->ring_bytes = bytes_word(m, from + at->recorder_ring_bytes);
    now->name_address = bytes_word(m, from + at->recorder_name);
    *description = bytes_word(m, from + at->recorder_description);
    *next = bytes_word(m, from + at->recorder_next);
    return true;
}

static bool recorder_same(const struct reader_recorder *a,
                          const struct reader_recorder *b)
{
    return a->address == b->address && a->name_address == b->name_address &&
           a->figures.size == b->figures.size &&
           a->figures.lanes == b->figures.lanes;
}

bool recorder_is_there(struct reader *reader,
                       const struct reader_recorder *recorder)
{
    struct reader_recorder now;
    uint64_t description, next;
    unsigned char byte;
    if (recorder_read(reader, recorder->address, &now, &description, &next))
        return recorder_same(recorder, &now);
    /* The whole program has ended: the recorder was there until then. */
    return !bytes_read(reader->memory, reader->registry, &byte, 1);
}

/* Returns the known recorder that equals `now`; null: it is new. The search
 * begins at *at. */
static struct reader_recorder *recorder_known(struct reader *reader,
                                              const struct reader_recorder *now,
                                              size_t *at)
{
    /* The list has the order of the last look. */
    for (size_t i = 0; i < reader->recorders_count; i++) {
        size_t k = (*at + i) % reader->recorders_count;
        const struct reader_recorder *known = reader->recorders[k];
        if (recorder_same(known, now)) {
            *at = k + 1;
            return reader->recorders[k];
        }
    }
    return NULL;
}

bool reader_is_named(const struct reader_recorder *r, const char *names)
{
    return recorder_regex_match_(names, r->name) ||
           (r->shown != r->name && recorder_regex_match_(names, r->shown));
}

bool reader_has_named(const struct reader *reader, const char *names,
                      struct offer *others)
{
    size_t i;
    for (i = 0; i < reader->recorders_count; i++)
        if (reader_is_named(reader->recorders[i], names))
            return true;
    for (i = 0; i < reader->recorders_count; i++)
        offer_add(others, reader->recorders[i]->shown);
    return false;
}

bool list_is_chosen(const struct reader *reader,
                    const struct reader_recorder *r)
{
    const char *names = reader->inside->names;
    return names ? reader_is_named(r, names)
                 : !reader->inside->selection.for_people ||
                       strncmp(r->description, "internal: ", 10) != 0;
}

/* Adds a new recorder. */
static const char *recorder_append(struct reader *reader, uint64_t link,
                                   const struct reader_recorder *now,
                                   uint64_t description)
{
    const uint64_t at[2] = {now->name_address, description};
    char *texts[2];
    struct reader_recorder *r;
    if (reader->recorders_count == RECORDERS_MAX)
        return "its list of recorders has no end";
    ARRAY_NEED(reader->recorders, reader->recorders_count + 1,
               reader->inside->recorders_max);
    r = need(calloc(1, sizeof *r));
    if (!texts_read(reader, link, now->address, at, texts)) {
        free(r);
        return "its list of recorders changes";
    }
    *r = *now;
    r->shown = r->name = texts[0] ? texts[0] : need(strdup("?"));
    r->description = texts[1] ? texts[1] : need(strdup(""));
    r->origin = r->address;
    r->wrong = figures_check(reader, r);
    r->oldest_ns = r->newest_ns = r->complete_ns = RECORDER_TIME_UNKNOWN_;
    r->chosen = list_is_chosen(reader, r);
    reader->recorders[reader->recorders_count++] = r;
    return NULL;
}

/* Adds a recorder, or updates a known one: its setting and, if its rings went
 * into a file, their address. *next is its successor in the list. */
static const char *recorder_refresh(struct reader *reader, uint64_t link,
                                    uint64_t address, size_t *at,
                                    uint64_t *next)
{
    struct reader_recorder now, *known;
    uint64_t description;
    if (!recorder_read(reader, address, &now, &description, next))
        return "its list of recorders is damaged";
    known = recorder_known(reader, &now, at);
    if (!known)
        return recorder_append(reader, link, &now, description);
    known->trace = now.trace;
    known->rings = now.rings;
    return NULL;
}

/* Walks the list. A recorder whose library was closed stays known, with the
 * data that were read before. */
const char *recorders_refresh(struct reader *reader,
                              const struct registry *registry)
{
    const uint64_t next_link = offsets_of(reader->memory)->recorder_next;
    uint64_t link = registry->first_link, address = registry->first, next = 0;
    size_t steps, at = 0;
    const char *wrong = NULL;
    for (steps = 0; address && !wrong && steps < RECORDERS_MAX; steps++) {
        wrong = recorder_refresh(reader, link, address, &at, &next);
        link = address + next_link;
        address = next;
    }
    return wrong ? wrong : address ? "its list of recorders has no end" : NULL;
}

/* Compares by the address of the rings; equal ones keep their order. */
static int rings_compare(const void *a, const void *b)
{
    const struct reader_recorder *const *left = a, *const *right = b;
    return array_order((*left)->rings, (*right)->rings, 0);
}

void recorders_sort(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    ARRAY_NEED(inside->sorted, reader->recorders_count, inside->sorted_max);
    inside->sorted_count = 0;
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (!reader->recorders[i]->wrong)
            inside->sorted[inside->sorted_count++] = reader->recorders[i];
    array_sort(inside->sorted, inside->sorted_count, rings_compare);
}

const struct reader_recorder *recorder_by_address(const struct reader *reader,
                                                  uint64_t address)
{
    const struct reader_inside *inside = reader->inside;
    const struct reader_recorder *r;
    size_t after = array_first(inside ? inside->sorted_count : 0, i,
                               inside->sorted[i]->rings > address);
    if (after == 0)
        return NULL;
    r = inside->sorted[after - 1];
    return address - r->rings < r->ring_bytes * r->figures.lanes && !r->wrong
               ? r
               : NULL;
}

/* --------------------------------------------------------------- threads -- */

const char *threads_refresh(struct reader *reader,
                            const struct registry *registry)
{
    struct memory *memory = reader->memory;
    const struct offsets *at = offsets_of(memory);
    size_t row_bytes = at->row_size, count = registry->threads_count, i;
    unsigned char *rows;
    struct reader_thread *threads;
    if (count > registry->threads_max)
        count = registry->threads_max;
    if (!registry->threads || count == 0)
        return NULL;
    if (count > THREADS_MAX)
        return "its table of threads is damaged";
    rows = need(malloc(count * row_bytes));
    reader->threads = threads =
        need(realloc(reader->threads, count * sizeof *threads));
    count = memory->read(memory, registry->threads, rows, count * row_bytes) /
            row_bytes;
    bytes_need(memory, registry->threads, count * row_bytes);
    for (i = 0; i < count; i++) {
        struct reader_thread *thread = &threads[i];
        const unsigned char *row = rows + i * row_bytes;
        char name[16] = "";
        uint64_t state;
        thread->number = (unsigned)i + 1;
        thread->first = bytes_word(memory, row + at->row_first);
        thread->id = (int32_t)bytes_number(memory, row + at->row_id, 4);
        state = bytes_number(memory, row + at->row_state, 2);
        thread->alive = state == RECORDER_ROW_ALIVE_;
        thread->is_task = state == RECORDER_ROW_TASK_;
        thread->is_free =
            state == RECORDER_ROW_FREE_ || state == RECORDER_ROW_TAKEN_;
        thread->is_named = bytes_number(memory, row + at->row_named, 2) != 0;
        memset(thread->name, 0, sizeof thread->name);
        memcpy(thread->name, row + at->row_name, 15);
        thread->known = !thread->alive || memory->thread;
        if (thread->alive && memory->thread)
            thread->alive = memory->thread(memory, thread->id, name);
        if (*name && !thread->is_named)
            memcpy(thread->name, name, sizeof name);
    }
    reader->threads_count = count;
    free(rows);
    return NULL;
}

/* Compares with one of several texts. */
static bool thread_fits(const char *text, uint64_t number, int64_t id,
                        const char *name)
{
    const char *digits = text + (*text == 'T' || *text == 't');
    char *end;
    unsigned long long is = strtoull(digits, &end, 10);
    if (isdigit((unsigned char)*digits) && !*end &&
        (is == number || (digits == text && id && is == (uint64_t)id)))
        return true;
    return name &&
           (strcmp(text, name) == 0 || recorder_regex_match_(text, name));
}

bool reader_thread_is(const char *texts, uint64_t number, int64_t id,
                      const char *name)
{
    char text[256];
    for (const char *next = texts; next; texts = next + 1) {
        next = strchr(texts, '\n');
        if (!next)
            return thread_fits(texts, number, id, name);
        snprintf(text, sizeof text, "%.*s", (int)(next - texts), texts);
        if (thread_fits(text, number, id, name))
            return true;
    }
    return false;
}

/* Makes a row for a thread of a program without a table: on bare metal. */
static struct reader_thread *thread_number(struct reader *reader,
                                           unsigned number)
{
    unsigned none = (1u << (thread_bits(reader->memory) - 1)) - 1;
    struct reader_thread *thread;
    if (!reader->inside->numbers)
        reader->inside->numbers = need(calloc(none, sizeof *thread));
    if (number == 0 || number >= none)
        return NULL;
    thread = &reader->inside->numbers[number];
    thread->number = number;
    strcpy(thread->name, "?");
    return thread;
}

struct reader_thread *reader_thread_of(struct reader *reader, unsigned number,
                                       uint64_t order)
{
    struct reader_thread *thread =
        number > reader->threads_count ? kernel_thread(reader, number) : NULL;
    if (thread)
        return thread;
    if (reader->inside->no_threads)
        return thread_number(reader, number);
    if (number == 0 || number > reader->threads_count)
        return NULL;
    thread = &reader->threads[number - 1];
    return word_signed(reader->memory, order - thread->first) < 0 ? NULL
                                                                  : thread;
}

/* ---------------------------------------------------------------- tweaks -- */

void tweaks_free(struct reader *reader)
{
    for (size_t i = 0; i < reader->tweaks_count; i++) {
        free(reader->tweaks[i].name);
        free(reader->tweaks[i].description);
    }
    reader->tweaks_count = 0;
}

const char *tweaks_read(struct reader *reader, const struct registry *registry)
{
    struct memory *memory = reader->memory;
    const struct offsets *at = offsets_of(memory);
    uint64_t link = registry->tweaks_link, address = registry->tweaks;
    size_t steps;
    tweaks_free(reader);
    for (steps = 0; address && steps < RECORDERS_MAX; steps++) {
        unsigned char from[32];
        uint64_t text_addresses[2];
        char *texts[2];
        struct reader_tweak *tweak;
        if (!bytes_read(memory, address, from, at->tweak_size))
            return "its list of tweaks is damaged";
        ARRAY_NEED(reader->tweaks, steps + 1, reader->inside->tweaks_max);
        tweak = &reader->tweaks[steps];
        tweak->address = address;
        tweak->value =
            word_signed(memory, bytes_word(memory, from + at->tweak_value));
        text_addresses[0] = bytes_word(memory, from + at->tweak_name);
        text_addresses[1] = bytes_word(memory, from + at->tweak_description);
        if (!texts_read(reader, link, address, text_addresses, texts))
            return "its list of tweaks changes";
        tweak->name = texts[0];
        tweak->description = texts[1];
        reader->tweaks_count = steps + 1;
        link = address + at->tweak_next;
        address = bytes_word(memory, from + at->tweak_next);
    }
    return address ? "its list of tweaks has no end" : NULL;
}
