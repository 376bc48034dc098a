/* reader.c - finds what a registry names: recorders, threads, the clock. */
/* SPDX-License-Identifier: MIT */
#include "inside.h"

#include <stdio.h>
#include <time.h>

char *bytes_string(struct memory *memory, uint64_t address, size_t max)
{
    char *text = malloc(max + 1), *shorter;
    size_t size = 0, length = 0;
    while (text && size < max) { /* in pieces that end where pages do */
        size_t piece = PAGE_BYTES - (address + size) % PAGE_BYTES;
        if (piece > max - size)
            piece = max - size;
        piece = memory->read(memory, address + size, text + size, piece);
        size += piece;
        length += strnlen(text + length, piece);
        if (length < size || piece == 0)
            break;
    }
    if (!text || length == size) {
        free(text);
        return NULL;
    }
    shorter = realloc(text, length + 1);
    return shorter ? shorter : text;
}

/* -------------------------------------------------------------- registry -- */

/* struct recorder_registry, as a program has it. */
struct registry {
    uint64_t self, first, order, cleared, threads, threads_max, threads_count;
    uint64_t pid, line, tweaks, wraps_count, image;
    uint64_t first_link, cleared_link, tweaks_link; /* where those stand */
    uint32_t layout, bytes, head_bytes, later_set;
    struct recorder_moment start, later;
    struct recorder_wrap wraps[RECORDER_WRAPS];
};

enum { REGISTRY_MAX = 1024 };

static struct recorder_moment moment_read(const struct memory *m,
                                          const unsigned char *from)
{
    const struct offsets *at = offsets_of(m);
    struct recorder_moment moment = {
        .ticks = bytes_number(m, from + at->moment_ticks, 8),
        .monotonic_ns = bytes_number(m, from + at->moment_monotonic_ns, 8),
        .realtime_ns = bytes_number(m, from + at->moment_realtime_ns, 8)};
    return moment;
}

/* The first members, which tell what the rest is. */
static void registry_head(const struct memory *m, const unsigned char *from,
                          struct registry *r)
{
    const struct offsets *at = offsets_of(m);
    r->self = bytes_word(m, from + at->registry_self);
    r->layout = (uint32_t)bytes_number(m, from + at->registry_layout, 4);
    r->bytes = (uint32_t)bytes_number(m, from + at->registry_bytes, 4);
}

static void registry_rest(const struct memory *m, const unsigned char *from,
                          struct registry *r)
{
    const struct offsets *at = offsets_of(m);
    unsigned i;
    r->head_bytes =
        (uint32_t)bytes_number(m, from + at->registry_head_bytes, 4);
    r->later_set = (uint32_t)bytes_number(m, from + at->registry_later_set, 4);
    r->first = bytes_word(m, from + at->registry_first);
    r->first_link = r->self + at->registry_first;
    r->order = bytes_word(m, from + at->registry_order);
    r->cleared = bytes_word(m, from + at->registry_cleared);
    r->cleared_link = r->self + at->registry_cleared;
    r->start = moment_read(m, from + at->registry_start);
    r->later = moment_read(m, from + at->registry_later);
    r->threads = bytes_word(m, from + at->registry_threads);
    r->threads_max = bytes_word(m, from + at->registry_threads_max);
    r->threads_count = bytes_word(m, from + at->registry_threads_count);
    r->pid = bytes_word(m, from + at->registry_pid);
    r->line = bytes_word(m, from + at->registry_line);
    r->tweaks = bytes_word(m, from + at->registry_tweaks);
    r->tweaks_link = r->self + at->registry_tweaks;
    r->wraps_count = bytes_word(m, from + at->registry_wraps_count);
    for (i = 0; i < RECORDER_WRAPS; i++) {
        const unsigned char *wrap =
            from + at->registry_wraps + i * (size_t)at->wrap_size;
        r->wraps[i].order = (uintptr_t)bytes_word(m, wrap + at->wrap_order);
        r->wraps[i].high = (uintptr_t)bytes_word(m, wrap + at->wrap_high);
    }
    r->image = bytes_word(m, from + at->registry_image);
}

static const char *registry_read(struct memory *memory, uint64_t address,
                                 struct registry *registry)
{
    static const unsigned char magic[16] = RECORDER_MAGIC;
    static char text[80];
    const struct offsets *at = offsets_of(memory);
    unsigned char bytes[REGISTRY_MAX] = {0};
    if (!bytes_read(memory, address, bytes, at->registry_first) ||
        memcmp(bytes, magic, sizeof magic) != 0)
        return "no recorder in it";
    registry_head(memory, bytes, registry);
    if (registry->layout != RECORDER_LAYOUT) {
        snprintf(text, sizeof text,
                 "was written by another version of recorder.h (layout %u, not "
                 "%u)",
                 (unsigned)registry->layout, (unsigned)RECORDER_LAYOUT);
        return text;
    }
    if (registry->self != address || registry->bytes > sizeof bytes ||
        !bytes_read(memory, address, bytes, registry->bytes))
        return "its registry of recorders is damaged";
    registry_rest(memory, bytes, registry);
    if (registry->bytes < at->registry_image + memory->word_bytes ||
        registry->head_bytes < 4 || registry->head_bytes > 65536 ||
        registry->head_bytes % 8)
        return "its registry of recorders is damaged";
    return NULL;
}

/* ----------------------------------------------------------------- clock -- */

/* How far the ticks of a program of this machine's kind are shifted: a word of
 * 32 bits holds half of slower ones (recorder_ticks() of x86). */
static unsigned ticks_shift(const struct memory *memory)
{
    return memory->word_bytes < sizeof(void *) ? 12 : 0;
}

/* Is the machine the one that recorded, and has it not been started anew? Its
 * clocks stand in the relation they had, and its ticks ran as fast as now, which
 * on a busy machine takes a longer look to see. */
static bool clock_is_here(const struct recorder_moment *start,
                          const struct recorder_moment *now)
{
    int64_t boot_then = (int64_t)(start->realtime_ns - start->monotonic_ns);
    int64_t boot_now = (int64_t)(now->realtime_ns - now->monotonic_ns);
    int64_t apart = (int64_t)((uint64_t)boot_now - (uint64_t)boot_then);
    struct recorder_clock since, local;
    struct timespec wait = {0, 2000000};
    if (now->monotonic_ns <= start->monotonic_ns || apart > 1000000000 ||
        apart < -1000000000)
        return false;
    recorder_clock_set(&since, start, now);
    for (; wait.tv_nsec < 100000000; wait.tv_nsec *= 4) {
        struct recorder_moment later;
        nanosleep(&wait, NULL);
        later = recorder_now();
        recorder_clock_set(&local, now, &later);
        if (since.ns_per_tick && local.ns_per_tick &&
            since.ns_per_tick > local.ns_per_tick / 1000 * 999 &&
            since.ns_per_tick < local.ns_per_tick / 999 * 1000)
            return true;
    }
    return false;
}

/* What the program noted; how fast its ticks ran is taken from that, as its own
 * dump would, unless its records go on for longer (recorder_clock_open). */
static void clock_open(struct reader *reader, const struct registry *registry)
{
    struct recorder_moment *later = &reader->inside->later;
    reader->clock.start = registry->start;
    *later = registry->later;
    if (registry->later_set == 0 || (registry->later_set & 1) ||
        later->monotonic_ns <= registry->start.monotonic_ns)
        *later = registry->start;
    recorder_clock_set(&reader->clock, &registry->start, later);
}

void reader_clock(struct reader *reader, uint64_t newest_ticks)
{
    unsigned shift = ticks_shift(reader->memory);
    struct recorder_clock *clock = &reader->clock, fine;
    struct recorder_moment start = clock->start, now = recorder_now();
    const struct recorder_moment *later = &reader->inside->later;
    if (!reader->memory->native || !start.monotonic_ns ||
        newest_ticks - start.ticks < 2 * (later->ticks - start.ticks))
        return;
    start.ticks <<= shift;
    if (!clock_is_here(&start, &now))
        return;
    recorder_clock_set(&fine, &start, &now);
    clock->ns_per_tick = fine.ns_per_tick << shift;
}

/* ----------------------------------------------------------------- lists -- */

/* Does a link of a running program's list still lead there? Else what stood
 * there is of a library that was closed. */
static bool link_holds(struct reader *reader, uint64_t link, uint64_t address)
{
    struct memory *memory = reader->memory;
    unsigned char bytes[8];
    return !memory->live ||
           (bytes_read(memory, link, bytes, memory->word_bytes) &&
            bytes_word(memory, bytes) == address);
}

/* Reads name and description of what a link leads to; null: cannot be read.
 * False: the list has changed. What cannot be read in a running program may be
 * there by the next look, as its library was closed and opened meanwhile. */
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

static void recorder_free(struct reader_recorder *recorder)
{
    free(recorder->name);
    free(recorder->description);
    free(recorder);
}

/* Is a recorder what it says, as far as its figures tell? */
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
        return "its rings are larger than what is there";
    return NULL;
}

/* Reads a struct recorder; false: it is not there. */
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
    /* All of the program is gone: until then it was there. */
    return !bytes_read(reader->memory, reader->registry, &byte, 1);
}

/* The recorder at an address, as it is now; null where it is a new one. */
static struct reader_recorder *recorder_known(struct reader *reader,
                                              const struct reader_recorder *now,
                                              size_t *at)
{
    /* They come in the order in which they were found before. */
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

/* Adds a recorder that was not known. */
static const char *recorder_append(struct reader *reader, uint64_t link,
                                   const struct reader_recorder *now,
                                   uint64_t description)
{
    const uint64_t at[2] = {now->name_address, description};
    char *texts[2];
    size_t count = reader->recorders_count;
    struct reader_recorder *r, **all = reader->recorders;
    if (count == RECORDERS_MAX)
        return "its list of recorders has no end";
    r = malloc(sizeof *r);
    if ((count & (count + 1)) == 0) /* room for twice as many */
        all = realloc(all, (2 * count + 1) * sizeof *all);
    if (all)
        reader->recorders = all;
    if (!r || !all) {
        free(r);
        return "there is no memory for it";
    }
    if (!texts_read(reader, link, now->address, at, texts)) {
        free(r);
        return "its list of recorders changes";
    }
    *r = *now;
    r->name = texts[0] ? texts[0] : strdup("?");
    r->description = texts[1] ? texts[1] : strdup("");
    if (!r->name || !r->description) {
        recorder_free(r);
        return "there is no memory for it";
    }
    r->wrong = figures_check(reader, r);
    r->oldest_ns = r->newest_ns = RECORDER_TIME_UNKNOWN;
    r->chosen = !reader->inside->names ||
                recorder_regex_match(reader->inside->names, r->name);
    all[reader->recorders_count++] = r;
    return NULL;
}

/* Adds a recorder, or renews what changes of a known one: its setting and,
 * where its rings went into a file, their place. Its successor as *next. */
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

/* Walks the list. A recorder that left (its library was closed) stays known,
 * with what was read before. */
static const char *recorders_refresh(struct reader *reader,
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

/* By address of their rings; equal ones stay as they are. */
static int rings_compare(const void *a, const void *b)
{
    const struct reader_recorder *const *left = a, *const *right = b;
    return (*left)->rings < (*right)->rings ? -1
                                            : (*left)->rings > (*right)->rings;
}

static const char *recorders_sort(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    struct reader_recorder **sorted = inside->sorted;
    size_t i;
    if (reader->recorders_count) {
        sorted = realloc(sorted, reader->recorders_count * sizeof *sorted);
        if (!sorted)
            return "there is no memory for it";
    }
    inside->sorted = sorted;
    inside->sorted_count = 0;
    for (i = 0; i < reader->recorders_count; i++)
        if (!reader->recorders[i]->wrong)
            sorted[inside->sorted_count++] = reader->recorders[i];
    if (inside->sorted_count)
        qsort(sorted, inside->sorted_count, sizeof *sorted, rings_compare);
    return NULL;
}

const struct reader_recorder *recorder_at(const struct reader *reader,
                                          uint64_t address)
{
    const struct reader_inside *inside = reader->inside;
    const struct reader_recorder *r;
    size_t low = 0, high = inside ? inside->sorted_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (inside->sorted[middle]->rings <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    r = inside->sorted[low - 1];
    return address - r->rings < r->ring_bytes * r->figures.lanes && !r->wrong
               ? r
               : NULL;
}

/* --------------------------------------------------------------- threads -- */

static const char *threads_refresh(struct reader *reader,
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
    rows = malloc(count * row_bytes);
    threads = realloc(reader->threads, count * sizeof *threads);
    if (threads)
        reader->threads = threads;
    if (!rows || !threads) {
        reader->threads_count = 0;
        free(rows);
        return "there is no memory for it";
    }
    count = memory->read(memory, registry->threads, rows, count * row_bytes) /
            row_bytes;
    for (i = 0; i < count; i++) {
        struct reader_thread *thread = &threads[i];
        const unsigned char *row = rows + i * row_bytes;
        char name[16] = "";
        bool named = bytes_number(memory, row + at->row_named, 2) != 0;
        thread->number = (unsigned)i + 1;
        thread->first = bytes_word(memory, row + at->row_first);
        thread->id = (int32_t)bytes_number(memory, row + at->row_id, 4);
        thread->alive =
            bytes_number(memory, row + at->row_state, 2) == RECORDER_ROW_ALIVE;
        memset(thread->name, 0, sizeof thread->name);
        memcpy(thread->name, row + at->row_name, 15);
        thread->known = !thread->alive || memory->thread;
        if (thread->alive && memory->thread)
            thread->alive = memory->thread(memory, thread->id, name);
        if (*name && !named)
            memcpy(thread->name, name, sizeof name);
    }
    reader->threads_count = count;
    free(rows);
    return NULL;
}

/* A row for a thread of a program that has no table: on bare metal. */
static struct reader_thread *thread_number(struct reader *reader,
                                           unsigned number)
{
    unsigned none = (1u << (thread_bits(reader->memory) - 1)) - 1;
    struct reader_thread *thread;
    if (!reader->inside->numbers)
        reader->inside->numbers = calloc(none, sizeof *thread);
    if (!reader->inside->numbers || number == 0 || number >= none)
        return NULL;
    thread = &reader->inside->numbers[number];
    thread->number = number;
    strcpy(thread->name, "?");
    return thread;
}

struct reader_thread *reader_thread_of(struct reader *reader, unsigned number,
                                       uint64_t order)
{
    struct reader_thread *thread;
    if (reader->inside->no_threads)
        return thread_number(reader, number);
    if (number == 0 || number > reader->threads_count)
        return NULL;
    thread = &reader->threads[number - 1];
    return word_signed(reader->memory, order - thread->first) < 0 ? NULL
                                                                  : thread;
}

/* ---------------------------------------------------------------- tweaks -- */

static void tweaks_free(struct reader *reader)
{
    for (size_t i = 0; i < reader->tweaks_count; i++) {
        free(reader->tweaks[i].name);
        free(reader->tweaks[i].description);
    }
    reader->tweaks_count = 0;
}

static const char *tweaks_read(struct reader *reader,
                               const struct registry *registry)
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
        struct reader_tweak *all, *tweak;
        if (!bytes_read(memory, address, from, at->tweak_size))
            return "its list of tweaks is damaged";
        all = reader->tweaks;
        if ((steps & (steps + 1)) == 0) /* room for twice as many */
            all = realloc(all, (2 * steps + 1) * sizeof *all);
        if (!all)
            return "there is no memory for it";
        reader->tweaks = all;
        tweak = &all[steps];
        tweak->address = address;
        tweak->value =
            word_signed(memory, bytes_word(memory, from + at->tweak_trace));
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

/* ------------------------------------------------------------------ open -- */

static void line_read(struct reader *reader, uint64_t address)
{
    char *line =
        address ? bytes_string(reader->memory, address, sizeof reader->line - 1)
                : NULL;
    snprintf(reader->line, sizeof reader->line, "%s",
             line ? line : RECORDER_LINE_DEFAULT);
    free(line);
}

/* Is this another program than was first read here, by exec or under a process
 * id that was free again? */
static bool is_another(const struct reader *reader,
                       const struct registry *registry)
{
    const struct recorder_moment *was = &reader->clock.start;
    return was->monotonic_ns &&
           (registry->start.monotonic_ns != was->monotonic_ns ||
            registry->start.ticks != was->ticks);
}

const char *reader_refresh(struct reader *reader, bool threads, bool tweaks)
{
    static const struct timespec wait = {0, 1000000};
    struct registry registry;
    unsigned tries = 0;
    const char *wrong;
again:
    wrong = registry_read(reader->memory, reader->registry, &registry);
    if (reader->inside->taken_before && reader->memory->live) {
        reader->inside->another |= !wrong && is_another(reader, &registry);
        if (wrong || reader->inside->another)
            return READER_GONE;
    }
    if (wrong)
        return wrong;
    reader->pid = registry.pid;
    reader->order_address = registry.order;
    reader->cleared = registry.cleared;
    reader->inside->head_bytes = registry.head_bytes;
    reader->inside->wraps_count = (uint32_t)registry.wraps_count;
    memcpy(reader->inside->wraps, registry.wraps, sizeof registry.wraps);
    reader->inside->no_threads = registry.threads == 0;
    reader->inside->image = registry.image;
    wrong = recorders_refresh(reader, &registry);
    if (!wrong)
        wrong = recorders_sort(reader);
    if (!wrong && tweaks)
        wrong = tweaks_read(reader, &registry);
    if (wrong && reader->memory->live && tries++ < 20) {
        nanosleep(&wait, NULL); /* a library is just being closed */
        goto again;
    }
    if (!wrong && (threads || registry.threads_count > reader->threads_count))
        wrong = threads_refresh(reader, &registry);
    return wrong;
}

const char *reader_open(struct reader *reader, struct memory *memory,
                        uint64_t address)
{
    struct registry registry;
    const char *wrong;
    memset(reader, 0, sizeof *reader);
    reader->memory = memory;
    reader->registry = address;
    wrong = registry_read(memory, address, &registry);
    if (wrong)
        return wrong;
    reader->inside = calloc(1, sizeof *reader->inside);
    if (!reader->inside)
        return "there is no memory for it";
    reader->inside->chance =
        (recorder_clock_ns(RECORDER_MONOTONIC_) * 0x9e3779b97f4a7c15u) | 1;
    reader->cleared_address = registry.cleared_link;
    wrong = reader_refresh(reader, true, true);
    if (wrong) {
        reader_close(reader);
        return wrong;
    }
    line_read(reader, registry.line);
    clock_open(reader, &registry);
    return NULL;
}

void reader_close(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    size_t i;
    if (!inside)
        return;
    rings_close(reader);
    for (i = 0; i < reader->recorders_count; i++)
        recorder_free(reader->recorders[i]);
    tweaks_free(reader);
    for (i = 0; i < inside->formats_max; i++) {
        free(inside->formats[i].text);
        free(inside->formats[i].location);
    }
    free(reader->recorders);
    free(reader->threads);
    free(reader->tweaks);
    free(inside->formats);
    free(inside->sorted);
    free(inside->pages);
    free(inside->numbers);
    free(inside->message);
    free(inside->text);
    free(inside->line);
    free(inside->strings);
    free(inside->names);
    free(inside->thread);
    free(inside);
    memset(reader, 0, sizeof *reader);
}

const char *reader_select(struct reader *reader,
                          const struct reader_selection *selection)
{
    struct reader_inside *inside = reader->inside;
    const char *wrong =
        selection->names ? recorder_regex_check(selection->names) : NULL;
    size_t i;
    if (wrong)
        return wrong;
    free(inside->names);
    free(inside->thread);
    inside->names = selection->names ? strdup(selection->names) : NULL;
    inside->thread = selection->thread ? strdup(selection->thread) : NULL;
    inside->selection = *selection;
    for (i = 0; i < reader->recorders_count; i++)
        reader->recorders[i]->chosen =
            !selection->names ||
            recorder_regex_match(selection->names, reader->recorders[i]->name);
    return NULL;
}

bool reader_write_word(struct reader *reader, uint64_t address, uint64_t value)
{
    struct memory *memory = reader->memory;
    unsigned char bytes[8];
    unsigned size = memory->word_bytes;
    for (unsigned i = 0; i < size; i++)
        bytes[memory->big_endian ? size - 1 - i : i] =
            (unsigned char)(value >> 8 * i);
    return memory->write && memory->write(memory, address, bytes, size);
}

bool reader_clear(struct reader *reader)
{
    uint64_t image = reader->inside->image;
    if (!reader_write_word(reader, reader->cleared_address, reader->end))
        return false;
    if (image) /* a recording says so, too */
        reader_write_word(reader,
                          image + reader->cleared_address - reader->registry,
                          reader->end);
    return true;
}

size_t reader_bytes(struct reader *reader, uint64_t address, void *to,
                    size_t size)
{
    return reader->memory->read(reader->memory, address, to, size);
}
