/* kernel.c - switches that the kernel has, and the program did not record
 * yet. */
/* SPDX-License-Identifier: MIT */
/*
    The program's registry has the address of its rings (recorder/layout.h); the
    memory maps them by their descriptors. Records below `done` are added to a
    take as records of the program's recorder, with sequence numbers after its
    end: as if the program had recorded them then. A follower adds the new ones,
    and leaves out the same records if the program copies them itself later.
*/
#include "array.h"
#include "inside.h"

#include "recorder/os_linux_kernel.h"

enum {
    CPUS_MAX = 4096,
    RING_BYTES_MAX = 1 << 26,
    IN_FLIGHT = 2 /* switches that the kernel may be writing */
};

struct kernel_ring {
    uint64_t address, done;
    const unsigned char *mapped;
    uint64_t seen;       /* all above was taken, or overwritten */
    bool begun, follows; /* follows: overwritten records are missed */
};
/* A switch, copied. */
struct kernel_switch {
    uint64_t ns;
    uint32_t thread, cpu;
    unsigned way; /* index of its format */
};
enum { KNOWN = 1024 /* threads whose numbers are found at once */ };
#define NONE_YET UINT64_MAX /* above each key */
struct kernel {
    struct kernel_ring *rings;
    size_t count;
    uint64_t bytes, page_bytes, sequence, recorder, formats[3];
    uint64_t opened_ticks, opened_ns;
    struct kernel_switch *switches; /* since the last take */
    size_t switches_count, switches_max;
    size_t added;       /* the number of forgotten ones in a take */
    uint64_t lost;      /* gone before the first take: not yet counted */
    uint64_t number;    /* of the last that was added, from 1 on */
    uint64_t first_end; /* key of the first take's end; NONE_YET: before it */
    struct reader_thread *rows; /* of threads without one in the program */
    size_t rows_count, rows_max;
    unsigned rows_from; /* the first has this number */
    struct {
        uint32_t thread;
        unsigned number;
    } known[KNOWN];
};

/* ------------------------------------------------------------------ open -- */

void kernel_close(struct reader *reader)
{
    struct kernel *kernel = reader->inside->kernel;
    if (!kernel)
        return;
    for (size_t i = 0; i < kernel->count; i++)
        if (kernel->rings[i].mapped)
            reader->memory->unmap(reader->memory, kernel->rings[i].mapped,
                                  kernel->bytes);
    free(kernel->rings);
    free(kernel->switches);
    free(kernel->rows);
    free(kernel);
    reader->inside->kernel = NULL;
}

/* Reads struct recorder_kernel_rings. False: it means nothing. */
static bool kernel_read(struct reader *reader, struct kernel *kernel,
                        uint64_t *rings, uint64_t *ring_bytes)
{
    const struct offsets *at = offsets_of(reader->memory);
    const struct memory *m = reader->memory;
    unsigned char from[sizeof(struct recorder_kernel_rings)];
    size_t size = at->kernel_pour, data;
    if (size > sizeof from ||
        !bytes_read(reader->memory, reader->inside->kernel_address, from, size))
        return false;
    kernel->count = (size_t)bytes_number(m, from + at->kernel_count, 8);
    *rings = bytes_number(m, from + at->kernel_rings, 8);
    *ring_bytes = bytes_number(m, from + at->kernel_ring_bytes, 8);
    kernel->bytes = bytes_number(m, from + at->kernel_bytes, 8);
    kernel->page_bytes = bytes_number(m, from + at->kernel_page_bytes, 8);
    kernel->sequence = bytes_number(m, from + at->kernel_sequence, 8);
    kernel->recorder = bytes_number(m, from + at->kernel_recorder, 8);
    kernel->opened_ticks = bytes_number(m, from + at->kernel_opened_ticks, 8);
    kernel->opened_ns = bytes_number(m, from + at->kernel_opened_ns, 8);
    for (unsigned i = 0; i < 3; i++)
        kernel->formats[i] =
            bytes_number(m, from + at->kernel_formats + 8 * i, 8);
    data = (size_t)(kernel->bytes - kernel->page_bytes);
    return kernel->count <= CPUS_MAX && *ring_bytes >= 32 &&
           *ring_bytes <= 4096 && kernel->page_bytes >= 2048 &&
           kernel->page_bytes < kernel->bytes && data >= 4096 &&
           data <= RING_BYTES_MAX && (data & (data - 1)) == 0;
}

/* Opens the rings, at the first take; later reads `sequence` and `done` again.
 * False: there are none. */
static bool kernel_refresh(struct reader *reader)
{
    struct reader_inside *inside = reader->inside;
    const struct offsets *at = offsets_of(reader->memory);
    struct kernel *kernel = inside->kernel, now = {0};
    uint64_t rings, ring_bytes;
    if (!kernel_read(reader, &now, &rings, &ring_bytes))
        return false;
    if (!kernel) {
        kernel = inside->kernel = need(calloc(1, sizeof *kernel));
        *kernel = now;
        kernel->first_end = NONE_YET;
        kernel->rings = need(calloc(now.count + 1, sizeof *kernel->rings));
    }
    kernel->sequence = now.sequence;
    for (size_t i = 0; i < kernel->count && i < now.count; i++) {
        struct kernel_ring *ring = &kernel->rings[i];
        unsigned char from[sizeof(struct recorder_kernel_ring)];
        bool first = !ring->address;
        if (!bytes_read(reader->memory, rings + i * ring_bytes, from,
                        sizeof from))
            return false;
        ring->address =
            bytes_number(reader->memory, from + at->kernel_ring_address, 8);
        ring->done =
            bytes_number(reader->memory, from + at->kernel_ring_done, 8);
        if (first)
            ring->mapped = reader->memory->descriptor(
                reader->memory,
                (int)bytes_number(reader->memory, from + at->kernel_ring_fd, 8),
                kernel->bytes);
        if (first && !ring->mapped)
            reader->kernel_wrong = errno == EBADF
                                       ? "it has closed their descriptors"
                                       : strerror(errno);
    }
    return true;
}

/* Reads the seqlock of `done`; false: it is gone. */
static bool sequence_is(struct reader *reader, uint64_t expected)
{
    uint64_t at = reader->inside->kernel_address +
                  offsets_of(reader->memory)->kernel_sequence;
    uint64_t now;
    return bytes_read_number(reader->memory, at, 8, &now) && now == expected;
}

/* Returns the number of a thread: its newest row's, or a new row's; 0: no
 * number is left. */
static unsigned number_find(struct reader *reader, int32_t id)
{
    struct kernel *kernel = reader->inside->kernel;
    struct reader_thread *row;
    unsigned shared = (1u << (thread_bits(reader->memory) - 1)) - 1, number;
    size_t i;
    for (i = reader->threads_count; i > 0; i--)
        if (reader->threads[i - 1].id == id)
            return reader->threads[i - 1].number;
    for (i = kernel->rows_count; i > 0; i--)
        if (kernel->rows[i - 1].id == id)
            return kernel->rows[i - 1].number;
    if (!kernel->rows_count)
        kernel->rows_from = (unsigned)reader->inside->threads_max + 1;
    /* Above the program's rows; else, on 32 bits, its last: those it takes last
     * itself. */
    number = kernel->rows_from + (unsigned)kernel->rows_count;
    if (kernel->rows_from >= shared)
        number = shared - 1 - (unsigned)kernel->rows_count;
    if (number >= shared || number <= reader->threads_count)
        return 0;
    row = array_add(kernel->rows, kernel->rows_count, kernel->rows_max);
    *row = (struct reader_thread){.id = id, .number = number};
    row->known = reader->memory->thread != NULL;
    row->alive =
        row->known && reader->memory->thread(reader->memory, id, row->name);
    return row->number;
}

static unsigned number_of(struct reader *reader, uint32_t thread)
{
    struct kernel *kernel = reader->inside->kernel;
    size_t at = thread % KNOWN;
    if (kernel->known[at].thread != thread || !kernel->known[at].number) {
        kernel->known[at].thread = thread;
        kernel->known[at].number = number_find(reader, (int32_t)thread);
    }
    return kernel->known[at].number;
}

/* ------------------------------------------------------------------ copy -- */

static uint64_t ring_head(const struct kernel_ring *ring)
{
    const void *at = ring->mapped + RECORDER_PERF_HEAD_;
    return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
}

/* Adds the new switches of a ring. Counts overwritten ones that a follower, or
 * else the program, has not seen. */
static void ring_copy(struct reader *reader, struct kernel_ring *ring)
{
    struct kernel *kernel = reader->inside->kernel;
    const size_t one = sizeof(struct recorder_perf_switch_);
    const uint64_t data = kernel->bytes - kernel->page_bytes;
    const uint64_t room = data - IN_FLIGHT * one;
    uint64_t head = ring_head(ring), all, at, *gone;
    uint64_t from = ring->begun ? ring->seen : ring->done;
    /* A 32-bit program keeps as many bits of `done`. */
    all = (from - head) & word_max(reader->memory);
    if (all > (uint64_t)1 << 40 || all % one)
        return; /* not as it should be */
    ring->follows = ring->begun;
    ring->begun = true;
    ring->seen = head;
    gone = ring->follows ? &reader->missed : &kernel->lost;
    if (all > room) {
        *gone += (all - room) / one;
        all = room;
    }
    for (at = head + all; at != head;) {
        struct recorder_perf_switch_ s;
        at -= one;
        memcpy(&s, ring->mapped + kernel->page_bytes + (at & (data - 1)), one);
        recorder_fence_acquire_();
        if (at - ring_head(ring) >= room) {
            ++*gone;
            continue;
        }
        if (s.type != RECORDER_PERF_SWITCH_ || s.size != one ||
            (reader->pid && s.process != reader->pid))
            continue;
        number_of(reader, s.thread); /* its name, while it lives */
        *array_add(kernel->switches, kernel->switches_count,
                   kernel->switches_max) = (struct kernel_switch){
            .ns = s.ns,
            .thread = s.thread,
            .cpu = s.of.cpu,
            .way = !(s.misc & RECORDER_PERF_OUT_)      ? 0
                   : s.misc & RECORDER_PERF_PREEMPTED_ ? 2
                                                       : 1};
    }
}

bool kernel_begin(struct reader *reader)
{
    return reader->kernel && reader->memory->descriptor &&
           reader->inside->kernel_address && kernel_refresh(reader);
}

bool kernel_take(struct reader *reader)
{
    struct kernel *kernel = reader->inside->kernel;
    uint64_t missed = reader->missed;
    memset(kernel->known, 0, sizeof kernel->known); /* rows may be new */
    kernel->lost = 0;
    if (kernel->added)
        kernel->switches_count = kernel->added = 0;
    for (size_t i = 0; i < kernel->count; i++)
        if (kernel->rings[i].mapped)
            ring_copy(reader, &kernel->rings[i]);
    if (kernel->first_end != NONE_YET)
        return true;
    if (!(kernel->sequence & 1) && sequence_is(reader, kernel->sequence)) {
        /* Before this take reads the program's rings: records that the program
         * copies from now on may be in them already. */
        kernel->first_end = order_key(reader, reader->end);
        return true;
    }
    for (size_t i = 0; i < kernel->count; i++)
        kernel->rings[i].begun = false;
    kernel->switches_count = 0;
    reader->missed = missed;
    return false;
}

void reader_kernel(struct reader *reader)
{
    if (kernel_begin(reader))
        kernel_take(reader);
}

size_t reader_kernel_count(const struct reader *reader)
{
    const struct kernel *kernel = reader->inside->kernel;
    return kernel ? kernel->switches_count : 0;
}

/* --------------------------------------------------------------- threads -- */

size_t reader_threads_end(const struct reader *reader)
{
    const struct kernel *kernel = reader->inside->kernel;
    size_t end = reader->threads_count;
    for (size_t i = 0; kernel && i < kernel->rows_count; i++)
        if (kernel->rows[i].number > end)
            end = kernel->rows[i].number;
    return end;
}

struct reader_thread *kernel_thread(const struct reader *reader,
                                    unsigned number)
{
    const struct kernel *kernel = reader->inside->kernel;
    size_t at = number - (size_t)(kernel ? kernel->rows_from : 0);
    if (kernel && at < kernel->rows_count && kernel->rows[at].number == number)
        return &kernel->rows[at]; /* 64 bits */
    for (size_t i = 0; kernel && i < kernel->rows_count; i++)
        if (kernel->rows[i].number == number)
            return &kernel->rows[i];
    return NULL;
}

/* Marks the threads that have ended. */
static void rows_refresh(struct reader *reader)
{
    struct kernel *kernel = reader->inside->kernel;
    for (size_t i = 0; i < kernel->rows_count; i++) {
        struct reader_thread *row = &kernel->rows[i];
        if (row->alive)
            row->alive =
                reader->memory->thread(reader->memory, row->id, row->name);
    }
}

/* ------------------------------------------------------------------- add -- */

/* Makes ticks of CLOCK_MONOTONIC_RAW as the program does: by the rate since it
 * opened its rings. */
static void clock_of(const struct reader *reader, struct recorder_clock_ *clock)
{
    const struct kernel *kernel = reader->inside->kernel;
    struct recorder_moment from = {.ticks = kernel->opened_ns,
                                   .monotonic_ns = kernel->opened_ticks};
    struct recorder_moment now = recorder_raw_now_();
    struct recorder_moment to = {.ticks = now.monotonic_ns,
                                 .monotonic_ns =
                                     now.ticks >> ticks_shift(reader->memory)};
    recorder_clock_set_(clock, &from, &to);
    clock->start = to;
}

/* Writes a switch as a record of the program. Returns its commit word. */
static uint64_t record_put(struct reader *reader,
                           const struct kernel_switch *from, uint64_t order,
                           const struct recorder_clock_ *clock,
                           unsigned char raw[RECORD_MAX_BYTES])
{
    const struct memory *m = reader->memory;
    const struct offsets *at = offsets_of(m);
    int64_t since = recorder_clock_time_(clock, from->ns);
    uint64_t ticks = clock->start.monotonic_ns +
                     (since == RECORDER_TIME_UNKNOWN_ ? 0 : (uint64_t)since);
    unsigned number = number_of(reader, from->thread);
    unsigned char *arguments = raw + at->record_argument;
    memset(raw, 0, RECORD_MAX_BYTES);
    bytes_put_word(m, raw + at->record_format,
                   reader->inside->kernel->formats[from->way]);
    bytes_put_word(m, raw + at->record_order, order);
    bytes_put_word(m, raw + at->record_time, ticks);
    bytes_put_word(m, arguments + m->word_bytes, from->thread);
    bytes_put_word(m, arguments + 2 * m->word_bytes,
                   (from->cpu < 255 ? from->cpu : 255) | (uint64_t)number << 8);
    return (uint64_t)1 << thread_bits(m) | number << 1;
}

/* Returns the recorder that the switches are of, if it was chosen. */
static const struct reader_recorder *recorder_of(const struct reader *reader)
{
    for (size_t i = 0; i < reader->recorders_count; i++)
        if (reader->recorders[i]->address == reader->inside->kernel->recorder)
            return reader->recorders[i]->lane ? reader->recorders[i] : NULL;
    return NULL;
}

/* Takes out keys from `limit` on: these orders are given to switches. */
static void keys_cut(struct reader_inside *inside, uint64_t limit)
{
    size_t count = 0;
    for (size_t i = 0; i < inside->keys_count; i++)
        if (inside->keys[i].order < limit)
            inside->keys[count++] = inside->keys[i];
    inside->keys_count = count;
}

uint64_t kernel_add(struct reader *reader, uint64_t end, uint64_t limit)
{
    struct reader_inside *inside = reader->inside;
    struct kernel *kernel = inside->kernel;
    size_t count = kernel->switches_count, i;
    const struct reader_recorder *recorder = recorder_of(reader);
    struct recorder_clock_ clock;
    struct held *held;
    kernel->added = count;
    if (!count || !recorder)
        return limit;
    memset(kernel->known, 0, sizeof kernel->known); /* rows may be new */
    rows_refresh(reader);
    if (!reader->follows)
        keys_cut(inside, limit);
    held = need(
        realloc(inside->held, (inside->held_count + count) * sizeof *held));
    inside->held = held;
    ARRAY_NEED(inside->keys, inside->keys_count + count, inside->keys_max);
    array_sort(kernel->switches, count, array_compare);
    clock_of(reader, &clock);
    for (i = 0; i < count; i++) {
        uint64_t key = reader->follows ? end - (end != 0) : limit + i;
        struct held *to = &held[inside->held_count++];
        to->commit = record_put(reader, &kernel->switches[i],
                                (key + inside->base) & word_max(reader->memory),
                                &clock, to->raw);
        inside->keys[inside->keys_count++] =
            (struct key){.order = key,
                         .lane = (uint32_t)recorder->lane - 1,
                         .held = (uint32_t)inside->held_count,
                         .number = (uint32_t)++kernel->number};
    }
    return reader->follows ? limit : limit + count;
}

bool kernel_has(const struct reader *reader,
                const struct reader_recorder *recorder,
                const unsigned char *raw, uint64_t key)
{
    const struct kernel *kernel = reader->inside->kernel;
    uint64_t format = bytes_word(
        reader->memory, raw + offsets_of(reader->memory)->record_format);
    if (!kernel || !reader->follows || key < kernel->first_end ||
        recorder->address != kernel->recorder)
        return false;
    return format == kernel->formats[0] || format == kernel->formats[1] ||
           format == kernel->formats[2];
}

void kernel_count(const struct reader *reader, struct reader_recorder *recorder)
{
    const struct kernel *kernel = reader->inside->kernel;
    if (!kernel || recorder_of(reader) != recorder)
        return;
    recorder->figures.kept += kernel->added;
    recorder->figures.lost += kernel->lost;
}
