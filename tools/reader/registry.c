/* registry.c - the one thing that is found: the registry; its clock. */
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

/* Reads the members that are the same in all layouts. */
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

const char *registry_read(struct memory *memory, uint64_t address,
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

/* By how many bits a 32-bit program on a 64-bit machine shifts its ticks
 * (recorder_ticks() of x86). */
static unsigned ticks_shift(const struct memory *memory)
{
    return memory->word_bytes < sizeof(void *) ? 12 : 0;
}

/* True if this is the machine that recorded, in the same boot: boot time agrees
 * to a second, and ticks run as fast as they did, to 0.1%. Measures for 2 ms;
 * on a busy machine for up to 42. */
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
void clock_open(struct reader *reader, const struct registry *registry)
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

/* The full ticks of a record's time word. */
uint64_t ticks_of(const struct reader *reader, uint64_t order, uint64_t time)
{
    const struct reader_inside *inside = reader->inside;
    if (reader->memory->word_bytes == 8 || inside->wraps_count == 0)
        return time;
    return recorder_clock_widen(inside->wraps, inside->wraps_count,
                                (uint32_t)order, &time)
               ? time
               : RECORDER_TICKS_UNKNOWN;
}

uint64_t reader_ticks(const struct reader *reader,
                      const unsigned char raw[RECORD_MAX_BYTES])
{
    const struct offsets *at = offsets_of(reader->memory);
    return ticks_of(reader, bytes_word(reader->memory, raw + at->record_order),
                    bytes_word(reader->memory, raw + at->record_time));
}

int64_t reader_time(const struct reader *reader,
                    const unsigned char raw[RECORD_MAX_BYTES])
{
    return recorder_clock_time(&reader->clock, reader_ticks(reader, raw));
}
