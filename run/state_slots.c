/* state_slots.c - the library's recorders, and how their cells are written. */
/* SPDX-License-Identifier: MIT */
#include "run.h"

#pragma GCC visibility push(hidden)
RECORDER(thread_life, 4096, "Threads: created, started, joined, ended")
RECORDER(lock_wait, 16384, "Waits for locks, conditions, semaphores, threads")
RECORDER(slow_call, 8192, "Calls of libc that took long")
RECORDER(lock_order, 4096, "internal: locks taken while others were held")
RECORDER(call_stack, 8192, "internal: stacks, each once")
RECORDER_LANES(thread_self, 4, RUN_LANES, "internal: each thread's identity")
RECORDER_LANES(thread_held, 4, RUN_LANES, "internal: locks that threads hold")
RECORDER_LANES(thread_calls, 4, RUN_LANES, "internal: locks that each thread took")
RECORDER_LANES(lock_total, 4, RUN_OBJECTS, "internal: waits for each object")
/* Of one slot: the wait of a thread is one record. */
RECORDER_DEFINE_SLOTS_(thread_now, 1, RUN_LANES,
                       "internal: each thread's wait");
#pragma GCC visibility pop

/* Another library's constructor may make a thread before this file's run. */
void run_cells_begin(void)
{
#define ENTER(name) recorder_enter(&recorder_for_##name);
    RUN_RECORDERS(ENTER)
}

void run_record(const struct recorder *r, const char *format, uintptr_t caller,
                const uintptr_t *words, unsigned count)
{
    if (__atomic_load_n(&r->trace, __ATOMIC_RELAXED) >= 0)
        recorder_record_words_(r, format, caller, words, count);
}

static struct recorder_ring *ring_of(const struct recorder *r, unsigned lane)
{
    return (struct recorder_ring *)(void *)((char *)r->rings +
                                            lane * r->ring_bytes);
}

/* Writes a record of `order` and `time` into a lane that is not the thread's:
 * of one slot one record, of four slots three, wherever the first may be. */
static struct run_cell cell_write(const struct run_cell_text *text,
                                  unsigned lane, uintptr_t caller,
                                  uintptr_t order, uintptr_t time,
                                  unsigned count)
{
    const struct recorder *r = text->recorder;
    const bool is_on = __atomic_load_n(&r->trace, __ATOMIC_RELAXED) >= 0;
    const uintptr_t *words = text->words;
    struct recorder_ring *ring = ring_of(r, lane);
    const uintptr_t first = lane * r->ring_bytes + sizeof *ring +
                            offsetof(struct recorder_record, argument);
    struct run_cell cell;
    size_t start = 0;
    unsigned thread = RECORDER_THREAD();
    uintptr_t previous;
    if (is_on)
        recorder_note_several_(ring);
    previous = is_on ? recorder_positions_(ring, count, thread) : 0;
    for (unsigned i = 0; is_on && i < count; i++) {
        const struct recorder_record record = {i ? 0 : (uintptr_t)text->format,
                                               order + i,
                                               time,
                                               caller,
                                               {words[4 * i], words[4 * i + 1],
                                                words[4 * i + 2],
                                                words[4 * i + 3]}};
        struct recorder_record *slot;
        recorder_write_(ring, r->mask, previous + i, thread, &record, &slot);
        if (i == 0 && slot)
            start = (size_t)(slot - recorder_records_(ring));
    }
    for (unsigned i = 0; i < 3; i++)
        cell.words[i] =
            first + ((start + i) & 3) * sizeof(struct recorder_record);
    return cell;
}

struct run_cell run_cell_write(const struct recorder *r, unsigned lane,
                               const char *format, uintptr_t caller,
                               const uintptr_t *words, unsigned count)
{
    const struct run_cell_text text = {r, format, words};
    uintptr_t time = recorder_time_();
    return cell_write(&text, lane, caller, recorder_orders_(count), time,
                      count);
}

void run_record_at(const struct recorder *r, uintptr_t time, const char *format,
                   uintptr_t caller, const uintptr_t *words, unsigned count)
{
    const struct run_cell_text text = {r, format, words};
    cell_write(&text, 0, caller, recorder_orders_(count), time, count);
}

void run_cells_write(const struct run_cell_text *texts, unsigned count,
                     unsigned lane, uintptr_t caller, struct run_cell *cells)
{
    uintptr_t time = recorder_time_();
    uintptr_t order = recorder_orders_(3 * count);
    for (unsigned i = 0; i < count; i++)
        cells[i] = cell_write(&texts[i], lane, caller, order + 3 * i, time, 3);
}

void run_cell_format(const struct recorder *r, const struct run_cell *cell,
                     const char *format)
{
    char *record = (char *)run_cell_word(r, cell, 0) -
                   offsetof(struct recorder_record, argument);
    uintptr_t *at = &((struct recorder_record *)(void *)record)->format;
    if (recorder_get_(at)) /* not while the recorder was off */
        recorder_put_(at, (uintptr_t)format);
}

/* Zeroed memory is an empty ring. */
void run_cell_clear(const struct recorder *r, unsigned lane)
{
    if (recorder_get_(&ring_of(r, lane)->write))
        __builtin_memset(ring_of(r, lane), 0, r->ring_bytes);
}
