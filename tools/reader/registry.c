/* registry.c - reads the registry, and its clock. */
/* SPDX-License-Identifier: MIT */
#include "inside.h"

char *bytes_string(struct memory *memory, uint64_t address, size_t max)
{
    char *text = need(malloc(max + 1)), *shorter;
    size_t size = 0, length = 0;
    while (size < max) { /* in pieces that end where pages do */
        size_t piece = PAGE_BYTES - (address + size) % PAGE_BYTES;
        if (piece > max - size)
            piece = max - size;
        piece = memory->read(memory, address + size, text + size, piece);
        size += piece;
        length += strnlen(text + length, piece);
        if (length < size || piece == 0)
            break;
    }
    if (length == size) {
        free(text);
        return NULL;
    }
    bytes_need(memory, address, length + 1);
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

/* Reads a word that the registry of a port does not have; 0: nor has this one. */
static uint64_t later_word(const struct memory *m, const unsigned char *from,
                           const struct registry *r, unsigned at)
{
    return r->bytes >= at + m->word_bytes ? bytes_word(m, from + at) : 0;
}

static void registry_rest(const struct memory *m, const unsigned char *from,
                          struct registry *r)
{
    const struct offsets *at = offsets_of(m);
    unsigned i;
    r->head_bytes =
        (uint32_t)bytes_number(m, from + at->registry_head_bytes, 4);
    r->later_sequence =
        (uint32_t)bytes_number(m, from + at->registry_later_sequence, 4);
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
    r->file_asked = from[at->registry_file_asked];
    r->wraps_count = bytes_word(m, from + at->registry_wraps_count);
    for (i = 0; i < RECORDER_WRAPS_MAX_; i++) {
        const unsigned char *wrap =
            from + at->registry_wraps + i * (size_t)at->wrap_size;
        r->wraps[i].order = (uintptr_t)bytes_word(m, wrap + at->wrap_order);
        r->wraps[i].high = (uintptr_t)bytes_word(m, wrap + at->wrap_high);
    }
    r->image = bytes_word(m, from + at->registry_image);
    r->program = bytes_word(m, from + at->registry_program);
    r->kernel = bytes_word(m, from + at->registry_kernel);
    r->clocked = later_word(m, from, r, at->registry_clocked);
    if (m->word_bytes < 8 && recorder_clocked_is_(r->clocked))
        r->clocked = 0; /* damaged */
    r->lives_changes = later_word(m, from, r, at->registry_lives_changes);
    r->lives = later_word(m, from, r, at->registry_lives);
    r->ended = later_word(m, from, r, at->registry_ended);
    r->tasks = bytes_word(m, from + at->registry_tasks);
}

const char *registry_read(struct memory *memory, uint64_t address,
                          struct registry *registry)
{
    static const unsigned char magic[16] = RECORDER_MAGIC;
    static char text[80];
    const struct offsets *at = offsets_of(memory);
    unsigned char bytes[REGISTRY_MAX] = {0};
    errno = 0;
    if (!bytes_read(memory, address, bytes, at->registry_first) ||
        memcmp(bytes, magic, sizeof magic) != 0)
        return errno == ESRCH ? "has ended" : "no recorder in it";
    registry->self = bytes_word(memory, bytes + at->registry_self);
    registry->layout =
        (uint32_t)bytes_number(memory, bytes + at->registry_layout, 4);
    registry->bytes =
        (uint32_t)bytes_number(memory, bytes + at->registry_bytes, 4);
    if (registry->layout < RECORDER_LAYOUT ||
        registry->layout > RECORDER_LAYOUT_CLOCKED_) {
        snprintf(text, sizeof text,
                 "was written by another version of recorder.h (layout %u, not "
                 "%u to %u)",
                 (unsigned)registry->layout, (unsigned)RECORDER_LAYOUT,
                 (unsigned)RECORDER_LAYOUT_CLOCKED_);
        return text;
    }
    if (registry->self != address || registry->bytes > sizeof bytes ||
        !bytes_read(memory, address, bytes, registry->bytes))
        return errno == ESRCH ? "has ended"
                              : "its registry of recorders is damaged";
    registry_rest(memory, bytes, registry);
    if (registry->bytes < at->registry_kernel + memory->word_bytes ||
        registry->head_bytes < 4 || registry->head_bytes > 65536 ||
        registry->head_bytes % 8)
        return "its registry of recorders is damaged";
    return NULL;
}

/* ----------------------------------------------------------------- clock -- */

/* A 32-bit program on a 64-bit machine shifts its ticks: recorder_ticks_() of
 * x86. */
unsigned ticks_shift(const struct memory *memory)
{
    return memory->word_bytes < sizeof(void *) ? 12 : 0;
}

/* True if the clocks relate as they did at the program's start. Otherwise this
 * is another machine, or it was rebooted, slept, or its clock was set. */
static bool clocks_relate(const struct recorder_moment *start,
                          const struct recorder_moment *now)
{
    int64_t boot_then = (int64_t)(start->realtime_ns - start->monotonic_ns);
    int64_t boot_now = (int64_t)(now->realtime_ns - now->monotonic_ns);
    int64_t apart = (int64_t)((uint64_t)boot_now - (uint64_t)boot_then);
    return apart <= 1000000000 && apart >= -1000000000;
}

/* True if the rate between two moments agrees with `local`. Each moment is
 * known to 100 ns and one tick, which is long if words are short. */
static bool rate_agrees(const struct recorder_clock_ *known,
                        uint64_t between_ns,
                        const struct recorder_clock_ *local, unsigned shift)
{
    uint64_t tick_ns = local->ns_per_tick << shift >> 32;
    return recorder_clock_agrees_(known, local,
                                  1 + between_ns / (200 + 2 * tick_ns));
}

/* Chooses the moment that gives the best tick rate: now, if the program's
 * clocks are ours (`is_here`) and its ticks run like ours; else the moment that
 * it stored; or, if that is too early but agrees with our rate, a later one
 * that is calculated by our rate. */
static void later_settle(struct reader *reader, bool is_here,
                         uint64_t newest_ticks)
{
    /* The rate of this machine's ticks is measured from here on, for all
     * sources of a command: later sources need not wait. */
    static _Thread_local struct recorder_moment first;
    struct recorder_moment *later = &reader->inside->later;
    struct recorder_moment start = reader->clock.start, now, then;
    struct recorder_clock_ since, local, known = reader->clock;
    uint64_t wait_ns = is_here ? 2000000 : 20000000;
    unsigned shift = ticks_shift(reader->memory);
    uint64_t noted_ns = later->monotonic_ns - start.monotonic_ns, span;
    uint64_t enough_ns = 0;
    recorder_now_(&now);
    if (now.monotonic_ns - first.monotonic_ns > 1000000000)
        first = now;
    start.ticks <<= shift;
    known.ns_per_tick >>= shift;
    recorder_clock_set_(&since, &start, &now);
    /* On a busy machine, a longer interval is needed to measure the rate. */
    for (; wait_ns < 100000000; wait_ns *= is_here ? 4 : 10) {
        enough_ns += wait_ns;
        if (recorder_clock_ns_(RECORDER_MONOTONIC_) - first.monotonic_ns <
            enough_ns)
            sleep_ns(wait_ns);
        recorder_now_(&then);
        recorder_clock_set_(&local, &first, &then);
        if (is_here && now.monotonic_ns > start.monotonic_ns &&
            recorder_clock_agrees_(&since, &local, 1000)) {
            *later = now;
            later->ticks >>= shift;
            return;
        }
    }
    if (noted_ns > then.monotonic_ns - first.monotonic_ns ||
        !rate_agrees(&known, noted_ns, &local, shift))
        return;
    span = newest_ticks > reader->clock.start.ticks
               ? (newest_ticks << shift) - start.ticks
               : then.ticks - first.ticks;
    later->ticks = (start.ticks + span) >> shift;
    later->monotonic_ns =
        start.monotonic_ns + recorder_clock_scale_(&local, span);
    later->realtime_ns =
        start.realtime_ns + later->monotonic_ns - start.monotonic_ns;
}

/* Takes the moments that the program stored, and its rate from them, as its own
 * dump would, unless its records last longer (recorder_clock_open_). */
void clock_open(struct reader *reader, const struct registry *registry)
{
    struct recorder_moment *later = &reader->inside->later;
    reader->clock.start = registry->start;
    *later = registry->later;
    if (registry->later_sequence == 0 || (registry->later_sequence & 1) ||
        later->monotonic_ns <= registry->start.monotonic_ns)
        *later = registry->start;
    recorder_clock_set_(&reader->clock, &registry->start, later);
}

void reader_clock(struct reader *reader, uint64_t newest_ticks)
{
    const struct memory *memory = reader->memory;
    struct recorder_moment start = reader->clock.start, now;
    const struct recorder_moment *later = &reader->inside->later;
    if (!memory->native || !start.monotonic_ns ||
        newest_ticks - start.ticks < 2 * (later->ticks - start.ticks))
        return;
    recorder_now_(&now);
    later_settle(reader,
                 (memory->live && !memory->stale_order) ||
                     clocks_relate(&start, &now),
                 newest_ticks);
    recorder_clock_set_(&reader->clock, &start, later);
}

uint64_t reader_start_realtime(const struct reader *reader)
{
    uint64_t start = reader->clock.start.realtime_ns;
    return start ? start + (uint64_t)reader->offset_ns : 0;
}

/* The end by the clock, like recorder_order_end_() in the program: a text takes
 * units ahead, and a writer with an earlier number has stored its record. */
static uint64_t order_by_clock(const struct reader *reader)
{
    uint64_t now = recorder_ticks_();
    uint64_t end = now - reader->inside->start_ticks + RECORDER_AHEAD_TICKS_;
    while (recorder_ticks_() - now < RECORDER_SETTLE_TICKS_)
        ;
    return end >> RECORDER_UNIT_TICKS_ << RECORDER_UNIT_BITS_;
}

bool reader_order(struct reader *reader, uint64_t *order)
{
    if (reader->clocked == UINT64_MAX && reader->memory->ticks_here) {
        *order = order_by_clock(reader);
        return true;
    }
    return bytes_read_word(reader->memory, reader->order_address, order);
}

uint64_t reader_realtime(const struct reader *reader)
{
    bool has_date = reader->pid || reader->clock.start.realtime_ns;
    return has_date ? recorder_clock_ns_(RECORDER_REALTIME_) : 0;
}

uint64_t reader_end_realtime(const struct reader *reader, uint64_t *read_ns)
{
    uint64_t start = reader_start_realtime(reader);
    int64_t newest = RECORDER_TIME_UNKNOWN_;
    bool runs = reader->memory->live && !reader->memory->stale_order;
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (reader->recorders[i]->newest_ns > newest)
            newest = reader->recorders[i]->newest_ns;
    *read_ns = runs ? 0 : reader_realtime(reader);
    return start && newest != RECORDER_TIME_UNKNOWN_ ? start + (uint64_t)newest
                                                     : 0;
}

uint64_t ticks_of(const struct reader *reader, uint64_t order, uint64_t time)
{
    const struct reader_inside *inside = reader->inside;
    if (reader->memory->word_bytes == 8 || inside->wraps_count == 0)
        return time;
    return recorder_clock_widen_(inside->wraps, inside->wraps_count,
                                 (uint32_t)order, &time)
               ? time
               : RECORDER_TICKS_UNKNOWN_;
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
    return recorder_clock_time_(&reader->clock, reader_ticks(reader, raw));
}
