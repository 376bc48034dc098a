/* scratch.h - where a dump gets its memory. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_SCRATCH_H_
#define RECORDER_SCRATCH_H_

#include "constant.h"
#include "events.h"
#include "memory.h"
#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- scratch -- */

/* Bytes fetched once in a dump, by their address. */
#define RECORDER_FETCH_MAX 232
struct recorder_fetched {
    uint64_t address; /* 0: none */
    size_t size;
    char bytes[RECORDER_FETCH_MAX];
};

/* What a dump works with, of any size: carved out of one piece of memory. */
struct recorder_scratch {
    struct recorder_memory memory;
    struct recorder_batch batch;
    size_t at;               /* which of the batch is being shown */
    struct recorder_fetched *fetched;
    size_t fetched_mask;
    struct recorder_constants constants;
    char *format, *text, *message, *line; /* text: of RECORDER_COPY */
    size_t format_max, text_max, line_max;
    char *out;               /* gathers lines, for recorder_dump_fd */
    size_t out_max;
    void *mapped;
    size_t mapped_bytes;
    bool spare;              /* it is the program's spare piece */
    intptr_t trace;          /* of a record that prints at once; 0: a dump */
    uintptr_t rings, rings_end; /* between these are all; 0: not looked up */
};

enum {
    RECORDER_FETCHED = 64,   /* a program shows few formats at a time */
    RECORDER_CONSTANTS = 512, /* two for each library, or three */
    RECORDER_OUT_MAX = 16384,
    RECORDER_FORMAT_MAX = 1024,
    RECORDER_TEXT_MAX = RECORDER_COPY_MAX + 4,
    RECORDER_STACK_LINE = 256 /* of each kind, where there is only the stack */
};
#define RECORDER_SCRATCH_STACK 2880 /* no stack frame is above 4 KiB */
#define RECORDER_SCRATCH_MAX ((size_t)256 << 20)
#define RECORDER_KEPT_BYTES                                                    \
    (sizeof(struct recorder_kept) + sizeof(struct recorder_key))

/* Divides `bytes` at `from`, aligned to 16, small where that is little. */
RECORDER_FUNCTION_ void recorder_scratch_divide(struct recorder_scratch *s,
                                                char *from, size_t bytes)
{
    bool small = bytes <= RECORDER_SCRATCH_STACK;
    char *end = from + bytes;
    size_t count = small ? 1 : RECORDER_FETCHED, ranges;
    s->fetched_mask = count - 1;
    s->format_max = small ? RECORDER_STACK_LINE : RECORDER_FORMAT_MAX;
    s->text_max = small ? RECORDER_STACK_LINE : RECORDER_TEXT_MAX;
    s->line_max = small ? RECORDER_STACK_LINE : RECORDER_LINE_MAX;
    s->out_max = small ? 0 : RECORDER_OUT_MAX;
    s->fetched = (struct recorder_fetched *)(void *)recorder_carve(
        &from, count * sizeof *s->fetched);
    s->format = recorder_carve(&from, s->format_max);
    s->text = recorder_carve(&from, s->text_max);
    s->message = recorder_carve(&from, s->line_max);
    s->line = recorder_carve(&from, s->line_max);
    s->out = recorder_carve(&from, s->out_max);
    ranges = small ? 0 : RECORDER_CONSTANTS;
    recorder_constants_open(&s->constants,
                            (struct recorder_range *)(void *)recorder_carve(
                                &from, ranges * sizeof(struct recorder_range)),
                            ranges);
    s->batch.max = (size_t)(end - from) / RECORDER_KEPT_BYTES;
    s->batch.kept = (struct recorder_kept *)(void *)from;
    s->batch.keys = (struct recorder_key *)(void *)(s->batch.kept +
                                                    s->batch.max);
    while (count-- > 0)
        s->fetched[count].address = 0;
}

/* Opens scratch memory at `memory`, or where that is null, maps some, enough
 * for `records` records at once. False: none is to be had. */
RECORDER_FUNCTION_ bool recorder_scratch_open(struct recorder_scratch *s,
                                              size_t records, void *memory)
{
    size_t fixed = RECORDER_FETCHED * sizeof(struct recorder_fetched) +
                   RECORDER_FORMAT_MAX + RECORDER_TEXT_MAX +
                   RECORDER_CONSTANTS * sizeof(struct recorder_range) +
                   2 * RECORDER_LINE_MAX + RECORDER_OUT_MAX + 256;
    size_t bytes = RECORDER_SCRATCH_MAX;
    if (records < (RECORDER_SCRATCH_MAX - fixed) / RECORDER_KEPT_BYTES)
        bytes = fixed + (records + 16) * RECORDER_KEPT_BYTES;
    recorder_memory_open(&s->memory);
    s->batch.used = s->batch.count = s->batch.next = s->at = 0;
    s->batch.after = s->batch.end = 0;
    s->batch.begun = s->batch.more = false;
    s->batch.regex = NULL;
    s->trace = 0;
    s->rings = s->rings_end = 0;
    s->mapped_bytes = memory ? 0 : bytes;
    s->spare = false;
    if (memory)
        bytes = RECORDER_SCRATCH_STACK;
    else
        memory = recorder_os_memory(bytes);
    if (memory)
        recorder_scratch_divide(s, (char *)memory, bytes);
    s->mapped = memory;
    return memory != NULL;
}

/* The program's piece for where mmap() fails and the stack may be a small one:
 * for one at a time, the others use their stacks. */
RECORDER_PROGRAM_ char recorder_spare[RECORDER_SCRATCH_STACK]
    __attribute__((aligned(16)));
RECORDER_PROGRAM_ uint32_t recorder_spare_taken = 0;

#ifdef RECORDER_ENTER
RECORDER_INLINE_ uint32_t recorder_spare_take(void)
{
    uintptr_t masked = RECORDER_ENTER();
    uint32_t was = recorder_spare_taken;
    recorder_spare_taken = 1;
    RECORDER_LEAVE(masked);
    return was;
}
#else
RECORDER_INLINE_ uint32_t recorder_spare_take(void)
{
    return __atomic_exchange_n(&recorder_spare_taken, 1, __ATOMIC_ACQUIRE);
}
#endif
RECORDER_FUNCTION_ bool recorder_scratch_spare(struct recorder_scratch *s)
{
    if (recorder_spare_take())
        return false;
    recorder_scratch_open(s, 0, recorder_spare);
    s->spare = true;
    return true;
}

/* Scratch for `records` records at once, for fewer where that is refused, else
 * the spare piece. False: the caller is left with its stack. */
RECORDER_FUNCTION_ bool recorder_scratch_map(struct recorder_scratch *s,
                                             size_t records)
{
    for (; records; records /= 4)
        if (recorder_scratch_open(s, records, NULL))
            return true;
    return recorder_scratch_open(s, 0, NULL) || recorder_scratch_spare(s);
}

RECORDER_FUNCTION_ void recorder_scratch_close(struct recorder_scratch *s)
{
    if (s->spare)
        __atomic_store_n(&recorder_spare_taken, 0, __ATOMIC_RELEASE);
    recorder_memory_close(&s->memory);
    if (s->mapped_bytes)
        recorder_munmap(s->mapped, s->mapped_bytes);
}

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
