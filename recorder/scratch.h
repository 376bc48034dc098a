/* scratch.h - the memory of a dump. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_SCRATCH_H_
#define RECORDER_SCRATCH_H_

#include "constant.h"
#include "events.h"
#include "memory.h"
#include "text.h"

RECORDER_C_BEGIN_

/* --------------------------------------------------------------- scratch -- */

/* A cache entry: bytes of the program that a dump fetched, by their address. */
#define RECORDER_FETCH_MAX_ 232
struct recorder_fetched_ {
    uint64_t address; /* 0: none */
    uintptr_t lives; /* recorder_lives_changed_() before it was read */
    uint32_t size;
    uint32_t length; /* of a format that is here to its location's end, else 0 */
    struct recorder_plan_ plan; /* of that format */
    char bytes[RECORDER_FETCH_MAX_];
};

/* The memory of a dump, carved out of one piece of any size. */
struct recorder_scratch_ {
    struct recorder_memory_ memory;
    struct recorder_batch_ batch;
    size_t at;               /* which of the batch is being shown */
    struct recorder_headed_ heading; /* of the format that was read last */
    struct recorder_plan_ *plan;     /* of that format; null: none */
    struct recorder_fetched_ *fetched;
    size_t fetched_mask;
    struct recorder_constants_ constants;
    char *format, *text, *message, *line; /* text: of RECORDER_COPY */
    size_t format_max, text_max, line_max;
    struct recorder_sizes_ text_sizes; /* of the text put together last */
    char *out;               /* gathers lines, for recorder_dump_fd */
    size_t out_max;
    void *mapped;
    size_t mapped_bytes;
    bool spare;              /* it is the program's spare piece */
    intptr_t trace;          /* of a record that prints at once; 0: a dump */
    uintptr_t rings, rings_end; /* bounds of all rings; 0: not looked up */
    size_t recorders;           /* how many there were then */
};

enum {
    RECORDER_FETCHED_ = 64,   /* a program shows few formats at a time */
    RECORDER_CONSTANTS_ = 512, /* a library has two or three */
    RECORDER_OUT_MAX_ = 16384,
    RECORDER_FORMAT_MAX_ = 1024,
    RECORDER_TEXT_MAX_ = RECORDER_COPY_MAX + 7,
    RECORDER_STACK_LINE_ = 256 /* bytes of each text on the stack */
};
#define RECORDER_SCRATCH_STACK_ 2880 /* no stack frame is above 4 KiB */
#define RECORDER_SCRATCH_MAX_ ((size_t)256 << 20)
#define RECORDER_KEPT_BYTES_                                                   \
    (sizeof(struct recorder_kept_) + sizeof(struct recorder_key_))

/* Divides `bytes` at `from`, which is aligned to 16, among the buffers; little
 * memory makes small buffers. */
RECORDER_SELDOM_ void recorder_scratch_divide_(struct recorder_scratch_ *s,
                                                 char *from, size_t bytes)
{
    bool small = bytes <= RECORDER_SCRATCH_STACK_;
    char *end = from + bytes;
    size_t count = small ? 1 : RECORDER_FETCHED_, ranges;
    s->fetched_mask = count - 1;
    s->format_max = small ? RECORDER_STACK_LINE_ : RECORDER_FORMAT_MAX_;
    s->text_max = small ? RECORDER_STACK_LINE_ : RECORDER_TEXT_MAX_;
    s->line_max = small ? RECORDER_STACK_LINE_ : RECORDER_TEXT_LINE_MAX_;
    s->out_max = small ? 0 : RECORDER_OUT_MAX_;
    s->fetched = (struct recorder_fetched_ *)(void *)recorder_carve_(
        &from, count * sizeof *s->fetched);
    s->format = recorder_carve_(&from, s->format_max);
    s->text = recorder_carve_(&from, s->text_max);
    s->message = recorder_carve_(&from, s->line_max);
    s->line = recorder_carve_(&from, s->line_max);
    s->out = recorder_carve_(&from, s->out_max);
    ranges = small ? 0 : RECORDER_CONSTANTS_;
    recorder_constants_open_(&s->constants,
                            (struct recorder_range_ *)(void *)recorder_carve_(
                                &from, ranges * sizeof(struct recorder_range_)),
                            ranges);
    s->batch.max = (size_t)(end - from) / RECORDER_KEPT_BYTES_;
    s->batch.kept = (struct recorder_kept_ *)(void *)from;
    s->batch.keys =
        (struct recorder_key_ *)(void *)(s->batch.kept + s->batch.max);
    while (count-- > 0)
        s->fetched[count].address = 0;
}

/* Opens scratch memory at `memory`. If that is null, maps enough memory for
 * `records` records at once. Returns false if the system gives none. */
RECORDER_SELDOM_ bool recorder_scratch_open_(struct recorder_scratch_ *s,
                                               size_t records, void *memory)
{
    size_t fixed = RECORDER_FETCHED_ * sizeof(struct recorder_fetched_) +
                   RECORDER_FORMAT_MAX_ + RECORDER_TEXT_MAX_ +
                   RECORDER_CONSTANTS_ * sizeof(struct recorder_range_) +
                   2 * RECORDER_TEXT_LINE_MAX_ + RECORDER_OUT_MAX_ + 256;
    size_t bytes = RECORDER_SCRATCH_MAX_;
    if (records < (RECORDER_SCRATCH_MAX_ - fixed) / RECORDER_KEPT_BYTES_)
        bytes = fixed + (records + 16) * RECORDER_KEPT_BYTES_;
    recorder_memory_open_(&s->memory);
    s->batch.used = s->batch.count = s->batch.next = s->at = 0;
    s->batch.after = s->batch.end = 0;
    s->batch.begun = s->batch.more = false;
    s->batch.regex = NULL;
    s->batch.last = 0;
    s->batch.until_ns = 0;
    s->batch.late = false;
    s->trace = 0;
    s->rings = s->rings_end = s->recorders = 0;
    s->mapped_bytes = memory ? 0 : bytes;
    s->spare = false;
    if (memory)
        bytes = RECORDER_SCRATCH_STACK_;
    else
        memory = recorder_os_memory_(bytes);
    if (memory)
        recorder_scratch_divide_(s, (char *)memory, bytes);
    s->mapped = memory;
    return memory != NULL;
}

/* The program's spare memory, for one thread at a time: used if mmap() fails,
 * as the stack may be small. Other threads then use their stacks. */
RECORDER_PROGRAM_ char recorder_spare_[RECORDER_SCRATCH_STACK_]
    __attribute__((aligned(16)));
RECORDER_PROGRAM_ uintptr_t recorder_spare_taken_ = 0;

RECORDER_SELDOM_ bool recorder_scratch_spare_(struct recorder_scratch_ *s)
{
    uintptr_t taken = 0;
    if (!recorder_swap_(&recorder_spare_taken_, &taken, 1))
        return false;
    recorder_scratch_open_(s, 0, recorder_spare_);
    s->spare = true;
    return true;
}

/* Opens scratch memory for `records` records at once, or fewer if the system
 * refuses, or in the spare memory. Returns false if the caller must use its
 * stack. */
RECORDER_SELDOM_ bool recorder_scratch_map_(struct recorder_scratch_ *s,
                                              size_t records)
{
    for (; records; records /= 4)
        if (recorder_scratch_open_(s, records, NULL))
            return true;
    return recorder_scratch_open_(s, 0, NULL) || recorder_scratch_spare_(s);
}

RECORDER_SELDOM_ void recorder_scratch_close_(struct recorder_scratch_ *s)
{
    if (s->spare)
        __atomic_store_n(&recorder_spare_taken_, 0, __ATOMIC_RELEASE);
    recorder_memory_close_(&s->memory);
    if (s->mapped_bytes)
        recorder_os_unmap_(s->mapped, s->mapped_bytes);
}

RECORDER_C_END_
#endif
