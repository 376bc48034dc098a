/* tasks.c - hostile lists of tasks, descriptions, kernels and contexts. */
/* SPDX-License-Identifier: MIT */
/*
   Of each input a small memory is made: a registry, a description of tasks with
   rows, and words that are addresses in it, small numbers, or anything; where
   libraries have their variables, and debug information its members, is of the
   input, too. In a part without end, each word leads to the next task. What must
   hold: reading ends, takes no more tasks than the memory has room for, and what
   is said moves no cursor.
*/
#include "fuzz.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "offsets.h"
#include "tasks.h"

enum {
    REGION = 0x10000,
    REGION_BYTES = 4096,
    DESCRIPTION = 0x600, /* in the region, after the registry */
    ROWS = 0x700,
    ROWS_MAX = 24,
    WORDS = 0xa00,
    ENDLESS = 0x40000000, /* tasks of 64 bytes, each leads to the next */
    READS_MOST = 1 << 25,
    ROOM = 1 << 16
};
static const struct kind {
    unsigned machine, word;
    bool big;
} kinds[] = {{EM_X86_64, 8, false}, {EM_ARM, 4, false}, {EM_AARCH64, 8, false},
             {EM_MIPS, 4, true},    {EM_386, 4, false}, {EM_RISCV, 4, false}};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct fuzz_tasks {
    struct memory memory; /* first: it is used as one */
    unsigned char region[REGION_BYTES];
    const unsigned char *bytes; /* of the input */
    size_t size, at;
    unsigned reads;
    unsigned char places[256]; /* what callbacks answer */
};

static unsigned next(struct fuzz_tasks *f)
{
    return f->at < f->size ? f->bytes[f->at++] : 0;
}
static uint64_t word_next(struct fuzz_tasks *f)
{
    unsigned low = next(f), high = next(f), number = high << 8 | low;
    switch (high >> 5) {
    case 0: return 0;
    case 1:
    case 2:
    case 3:
    case 4: return REGION + WORDS + (number * 4) % (REGION_BYTES - WORDS);
    case 5: return ENDLESS + 64 * low;
    case 6: return low;
    default: return (uint64_t)number << 8 * (high & 7);
    }
}

static size_t fuzz_read(struct memory *memory, uint64_t address, void *to,
                        size_t size)
{
    struct fuzz_tasks *f = (struct fuzz_tasks *)memory;
    unsigned char *bytes = to, word[8];
    if (++f->reads > READS_MOST)
        abort(); /* it does not end */
    if (address - REGION < REGION_BYTES) {
        if (size > REGION_BYTES - (address - REGION))
            size = REGION_BYTES - (address - REGION);
        memcpy(to, f->region + (address - REGION), size);
        return size;
    }
    if (address < ENDLESS || address > word_max(memory) / 2)
        return 0;
    for (size_t i = 0; i < size; i++) {
        uint64_t at = address + i, task = at / 64 * 64;
        unsigned within = (unsigned)(at % 64);
        bytes_put_word(memory, word,
                       within / memory->word_bytes % 4 == 0
                           ? task + 64
                           : f->places[within]);
        bytes[i] = word[within % memory->word_bytes];
    }
    return size;
}

/* ------------------------------------------------------------- callbacks -- */

static unsigned place(const struct fuzz_tasks *f, const char *text)
{
    unsigned hash = 0;
    while (*text)
        hash = hash * 31 + (unsigned char)*text++;
    return f->places[hash % 256];
}
static uint64_t fuzz_symbol(void *of, const char *name, uint64_t *size)
{
    const struct fuzz_tasks *f = of;
    unsigned said = place(f, name);
    *size = said & 1 ? (uint64_t)said << (said & 31) : said;
    return said < 16 ? 0 : REGION + WORDS + 8 * said % (REGION_BYTES - WORDS);
}
static bool fuzz_member(void *of, const char *type, const char *member,
                        uint64_t *offset, unsigned *bytes)
{
    const struct fuzz_tasks *f = of;
    unsigned said = place(f, member);
    static const unsigned sizes[] = {4, 8, 1, 2, 16, 0, 64, UINT32_MAX};
    (void)type;
    *offset = said == 255 ? UINT64_MAX - 4 : said / 8 * 4;
    *bytes = sizes[said % 8];
    return said > 3;
}
static bool fuzz_variable(void *of, uint64_t address, char *to, size_t size)
{
    (void)of;
    snprintf(to, size, "v%llx", (unsigned long long)address);
    return address & 8;
}
static bool fuzz_is_code(void *of, uint64_t address)
{
    (void)of;
    return address & 4;
}
static bool fuzz_writable(void *of, size_t i, uint64_t *start, uint64_t *end)
{
    (void)of;
    *start = REGION;
    *end = REGION + REGION_BYTES;
    return i == 0;
}
static bool fuzz_mapping(void *of, uint64_t address, uint64_t *start,
                         uint64_t *end)
{
    *start = address & ~(uint64_t)255;
    *end = *start + place(of, "mapping");
    return address < *end;
}
static bool fuzz_library(void *of, const char *name)
{
    return place(of, name) < 250;
}
static bool fuzz_thread(void *of, size_t i, int32_t *id, uint64_t *sp)
{
    const struct fuzz_tasks *f = of;
    *id = f->places[i];
    if (sp)
        *sp = REGION + 16u * f->places[i + 16];
    return i < 16;
}
static uint64_t fuzz_waits_on(void *of, size_t i)
{
    const struct fuzz_tasks *f = of;
    return REGION + 8u * f->places[i + 48];
}
static void fuzz_thread_name(void *of, size_t i, char to[64])
{
    (void)of;
    snprintf(to, 64, "%zu", i);
}

/* ---------------------------------------------------------------- memory -- */

static void put(struct fuzz_tasks *f, unsigned at, uint64_t value)
{
    bytes_put_word(&f->memory, f->region + at, value);
}

static void registry_make(struct fuzz_tasks *f)
{
    static const unsigned char magic[16] = RECORDER_MAGIC;
    const struct offsets *at = &offsets[f->memory.word_bytes == 8];
    memcpy(f->region, magic, sizeof magic);
    put(f, at->registry_self, REGION);
    bytes_put(&f->memory, f->region + at->registry_layout, RECORDER_LAYOUT, 4);
    bytes_put(&f->memory, f->region + at->registry_bytes,
              at->registry_kernel + f->memory.word_bytes, 4);
    bytes_put(&f->memory, f->region + at->registry_head_bytes, 128, 4);
    put(f, at->registry_tasks,
        next(f) < 240 ? REGION + DESCRIPTION : word_next(f));
}

static void description_make(struct fuzz_tasks *f)
{
    static const unsigned sizes[] = {4, 8, 4, 8, 16, 1, 2, 40};
    unsigned word = f->memory.word_bytes, count = next(f) % ROWS_MAX;
    uint64_t values[] = {word_next(f),
                         0,
                         REGION + ROWS,
                         next(f) < 250 ? count : word_next(f),
                         word_next(f),
                         next(f) < 128 ? 0 : word_next(f),
                         next(f) < 250 ? next(f) : word_next(f),
                         next(f) < 200 ? 0 : word_next(f)};
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
        put(f, DESCRIPTION + i * word, values[i]);
    for (unsigned i = 0; i < count; i++) {
        unsigned at = ROWS + i * 4 * word, kind = next(f);
        put(f, at, kind % (RECORDER_TASK_WHATS_ + 1));
        put(f, at + word, kind < 250 ? 4 * (next(f) % 32) : word_next(f));
        put(f, at + 2 * word, kind < 250 ? sizes[next(f) % 8] : word_next(f));
        put(f, at + 3 * word, word_next(f));
    }
}

/* ------------------------------------------------------------------ read -- */

static void read_all(struct fuzz_tasks *f, struct tasks *tasks)
{
    static char *text;
    static size_t size;
    size_t waits[16], shown, chosen = 0;
    FILE *to;
    for (size_t i = 0; i < 16; i++)
        waits[i] =
            f->places[i + 32] % 24 < 16 ? f->places[i + 32] % 24 : SIZE_MAX;
    if (tasks->count > ROOM / 16)
        abort(); /* more than there is room for */
    task_cycles_find(tasks, waits, 16);
    if (tasks_choose(tasks, NULL, f->places[0] & 1))
        abort();
    for (size_t i = 0; i < tasks->count; i++) {
        struct task_context context;
        struct task again;
        chosen += tasks->all[i].chosen;
        if (i >= 64)
            continue;
        task_registers(tasks, &tasks->cache.memory, &tasks->all[i], &context);
        if (task_again(tasks, &tasks->all[i], &again))
            task_again_waits(tasks, &again);
    }
    to = open_memstream(&text, &size);
    shown = tasks_table(to, tasks,
                        &(struct task_columns){.address = true, .marks = true});
    tasks_groups(to, tasks);
    fclose(to);
    if (shown != chosen)
        abort();
    fuzz_plain(text, size);
    fuzz_plain_text(tasks->warnings);
    free(text);
}

bool fuzz_tasks(const unsigned char *bytes, size_t size)
{
    static struct fuzz_tasks f;
    struct tasks_program program = {.memory = &f.memory,
                                    .registry = REGION,
                                    .of = &f,
                                    .symbol = fuzz_symbol,
                                    .member = fuzz_member,
                                    .variable = fuzz_variable,
                                    .is_code = fuzz_is_code,
                                    .writable = fuzz_writable,
                                    .library = fuzz_library,
                                    .mapping = fuzz_mapping,
                                    .thread = fuzz_thread,
                                    .thread_name = fuzz_thread_name,
                                    .waits_on = fuzz_waits_on};
    struct tasks tasks;
    const struct kind *kind;
    bool has;
    memset(&f, 0, sizeof f);
    f.bytes = bytes;
    f.size = size;
    kind = &kinds[next(&f) % KINDS];
    f.memory = (struct memory){.read = fuzz_read,
                               .size = ROOM,
                               .word_bytes = kind->word,
                               .machine = kind->machine,
                               .big_endian = kind->big};
    registry_make(&f);
    description_make(&f);
    for (unsigned i = 0; i < sizeof f.places; i++)
        f.places[i] = (unsigned char)next(&f);
    for (unsigned at = WORDS; at < REGION_BYTES; at += kind->word)
        put(&f, at, word_next(&f));
    program.live = next(&f) & 1;
    if (tasks_open(&tasks, &program))
        return false;
    read_all(&f, &tasks);
    has = tasks.count != 0;
    tasks_close(&tasks);
    return has;
}
