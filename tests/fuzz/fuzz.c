/* fuzz.c - reads a hostile file as the recorder command would; checks it. */
/* SPDX-License-Identifier: MIT */
/*
   For libFuzzer (run.sh), and for replay.c, which hands over what it makes of
   files. What must hold of any bytes: nothing is touched that is not the
   reader's, reading ends, orders ascend, texts end where they say. Half of the
   mutations know what the words of a recording are: blind ones seldom get past
   its headers.
*/
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "print.h"
#include "tests/harness/shown.h"

/* The reader waits where a list of a running program is being changed; what
 * a file holds does not change (-Dnanosleep=fuzz_nanosleep). */
int fuzz_nanosleep(const struct timespec *wait, struct timespec *left)
{
    (void)wait;
    (void)left;
    return 0;
}

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

/* ----------------------------------------------------------------- check -- */

/* A file of these bytes that has no name; its path. */
static const char *file_of(const unsigned char *bytes, size_t size)
{
    static int fd = -1;
    static char path[32];
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    must(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size,
         "no room for the file");
    return path;
}

static void check_event(struct call *call, const struct reader_event *event,
                        FILE *out)
{
    struct reader_argument arguments[12];
    const char *text;
    unsigned count, i;
    size_t size;
    text = reader_message(&call->reader, event, &size);
    must(strlen(text) == size, "a message ends elsewhere");
    text = reader_line(&call->reader, event, NULL, &size);
    must(strlen(text) == size && text[size - 1] == '\n', "a line does not end");
    must(!shown_wrong(text, size), "a line moves the cursor");
    count = reader_arguments(&call->reader, event, arguments);
    must(count <= 12, "there are more than 12 arguments");
    for (i = 0; i < count; i++)
        must(arguments[i].kind != READER_STRING ||
                 arguments[i].text[arguments[i].text_size] == '\0',
             "an argument's text has no end");
    json_event(out, call, event);
    csv_event(out, call, call, event);
}

/* Half the range of an order's word, from which differences are negative. */
static uint64_t order_sign(const struct reader *reader)
{
    return reader->memory->word_bytes == 8 ? (uint64_t)1 << 63
                                           : (uint64_t)1 << 31;
}

static void check_take(struct call *call, FILE *out)
{
    struct reader *reader = &call->reader;
    struct reader_event event;
    uint64_t last = 0, count = 0, all = 2 * order_sign(reader) - 1;
    size_t size;
    const char *head;
    if (reader_take(reader))
        return;
    reader_count(reader);
    head = reader_head(reader, &size);
    must(strlen(head) == size, "the head ends elsewhere");
    must(!shown_wrong(head, size), "the head moves the cursor");
    tables(out, reader, true);
    while (reader_next(reader, &event)) {
        must(count == 0 || event.event.order != last, "an order comes twice");
        must(count == 0 || reader->memory->word_bytes == 4 ||
                 event.event.order > last,
             "orders do not ascend");
        must(event.event.order <= all, "an order has too many bits");
        last = event.event.order;
        count++;
        check_event(call, &event, out);
    }
}

/* What is said of how to open a source need not stay. */
static const char *open_file(struct call *call, const char *path)
{
    struct source_how *how = need(calloc(1, sizeof *how));
    const char *wrong = source_open(&call->source, path, how);
    free(how);
    return wrong;
}

/* Tables, JSON and csv, of which lines end with CRLF, hold no byte that a
 * terminal obeys. */
void fuzz_plain(char *text, size_t size)
{
    size_t i, to = 0;
    for (i = 0; i < size; i++)
        if (text[i] != '\r' || i + 1 == size || text[i + 1] != '\n')
            text[to++] = text[i];
    must(!shown_wrong(text, to), "an output moves the cursor");
}
void fuzz_plain_text(const char *text)
{
    must(!text || !shown_wrong(text, strlen(text)), "a text moves the cursor");
}

int fuzz_check(const unsigned char *bytes, size_t size)
{
    char *text = NULL;
    size_t text_size = 0;
    FILE *out;
    struct call call = {.name = "fuzz"};
    const char *wrong = open_file(&call, file_of(bytes, size));
    must(!wrong || *wrong, "a failure without words");
    if (wrong)
        return 1;
    wrong = reader_open(&call.reader, call.source.memory, call.source.registry);
    must(!wrong || *wrong, "a failure without words");
    if (!wrong) {
        out = need(open_memstream(&text, &text_size));
        check_take(&call, out);
        must(fclose(out) == 0, "there is no memory");
        fuzz_plain(text, text_size);
        free(text);
        out = need(fopen("/dev/null", "w"));
        check_take(&call, out);
        fclose(out);
        reader_close(&call.reader);
    }
    source_close(&call.source);
    return wrong != NULL;
}

void fuzz_again(const char *path)
{
    struct call call = {.name = "fuzz"};
    FILE *out = need(fopen("/dev/null", "w"));
    must(!open_file(&call, path) &&
             !reader_open(&call.reader, call.source.memory,
                          call.source.registry),
         "what was saved is refused");
    check_take(&call, out);
    reader_close(&call.reader);
    source_close(&call.source);
    fclose(out);
}

/* --------------------------------------------------------------- targets -- */

static const char *const targets[] = {
    "read",    "show", "function", "export", "save",    "view",
    "latency", "diff", "logs",     "threads", "gdb",    "elf",
    "options", "headers", "walk",  "tasks",  "api",     "symbols"};
enum {
    READ,
    SHOW,
    FUNCTION,
    EXPORT,
    SAVE,
    VIEW,
    LATENCY,
    DIFF,
    LOGS,
    OF_RUN,
    GDB,
    ELF,
    OPTIONS,
    HEADERS,
    WALK,
    TASKS,
    API,
    SYMBOLS,
    TARGETS
};
static unsigned target;

/* A verb that fails ends the command, and frees nothing before. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return fuzz_was_cut_short();
}

bool fuzz_choose(const char *name)
{
    for (target = 0; target < TARGETS; target++)
        if (strcmp(targets[target], name) == 0)
            return true;
    return false;
}

/* Some number that is always the same for the same bytes. */
static unsigned sum(const unsigned char *bytes, size_t size)
{
    unsigned all = 2166136261u;
    for (size_t i = 0; i < size; i++)
        all = (all ^ bytes[i]) * 16777619u;
    return all >> 8;
}

int fuzz_one(const unsigned char *bytes, size_t size)
{
    const char *good = getenv("FUZZ_GOOD");
    unsigned char *copy;
    bool done;
    if (target == READ)
        return fuzz_check(bytes, size);
    if (target == WALK)
        return !fuzz_walk(bytes, size);
    if (target == TASKS)
        return !fuzz_tasks(bytes, size);
    if (target == API)
        return !fuzz_api(file_of(bytes, size), sum(bytes, size));
    if (target == SYMBOLS)
        return !fuzz_demangle(bytes, size);
    if (target == ELF)
        return !fuzz_executable(good, file_of(bytes, size));
    if (target < GDB)
        return !fuzz_verbs(targets[target], file_of(bytes, size),
                           sum(bytes, size));
    copy = need(malloc(size + 1));
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    done = target == GDB       ? fuzz_gdb(copy, size)
           : target == OPTIONS ? fuzz_options(good, (char *)copy)
                               : fuzz_texts((char *)copy);
    free(copy);
    return !done;
}

/* ----------------------------------------------------------------- words -- */

uint64_t fuzz_number(const struct fuzz_file *f, size_t at, unsigned size)
{
    uint64_t value = 0;
    if (at > f->size || size > f->size - at)
        return 0; /* it is cut off */
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | f->bytes[at + (f->big ? i : size - 1 - i)];
    return value;
}

void fuzz_put(struct fuzz_file *f, size_t at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        f->bytes[at + (f->big ? size - 1 - i : i)] =
            (unsigned char)(value >> 8 * i);
}

bool fuzz_open(struct fuzz_file *f, unsigned char *bytes, size_t size)
{
    static const unsigned char magic[16] = RECORDER_MAGIC;
    const unsigned char *found;
    uint64_t table;
    unsigned count, i;
    memset(f, 0, sizeof *f);
    f->bytes = bytes;
    f->size = size;
    if (size < 64)
        return false;
    f->word = bytes[4] == 1 ? 4 : 8;
    f->big = bytes[5] == 2;
    table = fuzz_number(f, f->word == 8 ? 32 : 28, f->word);
    count = (unsigned)fuzz_number(f, f->word == 8 ? 56 : 44, 2);
    for (i = 0; i < count && f->segments < FUZZ_SEGMENTS; i++) {
        struct fuzz_segment *s = &f->segment[f->segments];
        uint64_t row = table + i * (f->word == 8 ? 56u : 32u);
        unsigned first = f->word == 8 ? 8 : 4;
        if (table > size || row > size - 56)
            break;
        if (fuzz_number(f, row, 4) != 1)
            continue;
        s->at = fuzz_number(f, row + first, f->word);
        s->address = fuzz_number(f, row + first + f->word, f->word);
        s->size = fuzz_number(f, row + first + 3 * f->word, f->word);
        f->segments += s->at < size && s->size <= size - s->at;
    }
    found = memmem(bytes, size, magic, sizeof magic);
    if (!found || (size_t)(found - bytes) > size - 512)
        return false;
    f->registry = (size_t)(found - bytes);
    return f->segments > 0;
}

size_t fuzz_at(const struct fuzz_file *f, uint64_t address, size_t size)
{
    for (unsigned i = 0; i < f->segments; i++) {
        const struct fuzz_segment *s = &f->segment[i];
        if (address - s->address < s->size &&
            size <= s->size - (address - s->address))
            return s->at + (address - s->address);
    }
    return 0;
}

size_t fuzz_recorder(const struct fuzz_file *f, unsigned skip)
{
    uint64_t address =
        fuzz_number(f, f->registry + (f->word == 8 ? 40 : 36), f->word);
    size_t at = fuzz_at(f, address, 8 * f->word);
    while (skip-- && at) {
        size_t next =
            fuzz_at(f, fuzz_number(f, at + 7 * f->word, f->word), 8 * f->word);
        if (!next)
            break;
        at = next;
    }
    return at;
}

/* --------------------------------------------------------------- mutator -- */

static uint64_t state;
static uint64_t any(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

/* Where a word is that matters; 0: there is none. */
static size_t place(const struct fuzz_file *f)
{
    unsigned word = f->word;
    size_t recorder = fuzz_recorder(f, (unsigned)any(8)), ring;
    uint64_t head = fuzz_number(f, f->registry + 16 + word + 8, 4), slots;
    switch (any(7)) {
    case 0: return f->registry + any(400 / word) * word;
    case 1: return any(f->size - 8);
    case 2: return any(f->size < 600 ? f->size - 8 : 592);
    case 3: return recorder ? recorder + any(8) * word : 0;
    }
    if (!recorder)
        return 0;
    ring = fuzz_at(f, fuzz_number(f, recorder + word, word), head + 11 * word);
    slots = fuzz_number(f, recorder + 2 * word, word) + 1;
    if (!ring || head > 65536 || slots == 0 || slots > f->size)
        return 0;
    switch (any(4)) {
    case 0: return ring + any(head / word + 1) * word;
    case 1: return ring + head + (slots * 8 + any(slots * 3)) * word;
    case 2: return ring + head + any(slots * 8) * word;
    default: /* in a format */
        ring = fuzz_at(
            f, fuzz_number(f, ring + head + any(slots) * 8 * word, word), 16);
        return ring ? ring + any(16) : 0;
    }
}

static uint64_t value(const struct fuzz_file *f, uint64_t old)
{
    const struct fuzz_segment *s = &f->segment[any(f->segments)];
    switch (any(10)) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return (uint64_t)1 << any(64);
    case 3: return ((uint64_t)1 << any(64)) - 1;
    case 4: return old + any(129) - 64;
    case 5: return old ^ (uint64_t)1 << any(64);
    case 6: return s->address + any(s->size + 64);
    case 7: return s->address;
    case 8: return fuzz_number(f, any(f->size - 8), f->word);
    default: return any(1u << 16);
    }
}

/* Where an ELF file's own fields are: { offset, bytes }, by class; its table
 * of segments and of sections have rows of such fields. */
struct field {
    uint16_t at, size;
};
static const struct field heads[2][10] = {
    {{4, 1}, {5, 1}, {16, 2}, {18, 2}, {28, 4}, {32, 4}, {42, 2}, {44, 2},
     {48, 2}, {50, 2}},
    {{4, 1}, {5, 1}, {16, 2}, {18, 2}, {32, 8}, {40, 8}, {54, 2}, {56, 2},
     {60, 2}, {62, 2}}};
static const struct field segments[2][6] = {
    {{0, 4}, {4, 4}, {8, 4}, {16, 4}, {20, 4}, {28, 4}},
    {{0, 4}, {8, 8}, {16, 8}, {32, 8}, {40, 8}, {48, 8}}};
static const struct field sections[2][6] = {
    {{4, 4}, {12, 4}, {16, 4}, {20, 4}, {24, 4}, {36, 4}},
    {{4, 4}, {16, 8}, {24, 8}, {32, 8}, {40, 4}, {56, 8}}};

/* A value that is just at, or just beyond, an edge. */
static uint64_t edge(const struct fuzz_file *f, uint64_t old)
{
    switch (any(8)) {
    case 0: return f->size - any(3);
    case 1: return f->size + any(3);
    case 2: return old + f->size;
    case 3: return (uint64_t)1 << (8 * f->word - 1);
    case 4: return -any(4096);
    case 5: return old * 2;
    case 6: return old / 2;
    default: return any(64);
    }
}

static void put_field(struct fuzz_file *f, size_t row, struct field field)
{
    size_t at = row + field.at;
    uint64_t old;
    if (at < row || at > f->size || field.size > f->size - at)
        return;
    old = fuzz_number(f, at, field.size);
    fuzz_put(f, at, any(2) || !f->segments ? edge(f, old) : value(f, old),
             field.size);
}

/* Changes the header, a row of a table, a note's head, or moves a segment. */
static void mutate_elf(struct fuzz_file *f)
{
    unsigned wide = f->word == 8, i;
    size_t rows = wide ? 56 : 32, sections_rows = wide ? 64 : 40;
    uint64_t table = fuzz_number(f, wide ? 32 : 28, f->word);
    uint64_t others = fuzz_number(f, wide ? 40 : 32, f->word);
    uint64_t count = fuzz_number(f, wide ? 56 : 44, 2) + 1;
    uint64_t others_count = fuzz_number(f, wide ? 60 : 48, 2) + 1;
    size_t row = table + any(count) * rows, other = table + any(count) * rows;
    if (table > f->size || row > f->size - rows || other > f->size - rows)
        row = other = 0;
    switch (any(6)) {
    case 0: put_field(f, 0, heads[wide][any(10)]); break;
    case 1:
    case 2: put_field(f, row, segments[wide][any(6)]); break;
    case 3: /* a segment takes the place of another */
        memmove(f->bytes + row, f->bytes + other, rows);
        break;
    case 4:
        if (others < f->size)
            put_field(f, others + any(others_count) * sections_rows,
                      sections[wide][any(6)]);
        break;
    default: /* the head of a note, or what follows it */
        for (i = 0; i < count && row; i++) {
            uint64_t at;
            row = table + i * rows;
            if (row > f->size - rows || fuzz_number(f, row, 4) != 4)
                continue;
            at = fuzz_number(f, row + segments[wide][1].at, f->word);
            put_field(f, at + any(any(2) ? 5 : 64) * 4,
                      (struct field){0, any(2) ? 4 : (uint16_t)f->word});
            break;
        }
    }
}

/* Where a piece ends: of a segment, of the file. */
static size_t end_of(const struct fuzz_file *f)
{
    const struct fuzz_segment *s = &f->segment[any(f->segments)];
    size_t at = any(3) == 0 ? any(f->size) : s->at + (any(2) ? s->size : 0);
    at += any(3) - 1;
    return at > 64 && at < f->size ? at : f->size;
}

size_t fuzz_mutate(unsigned char *data, size_t size, unsigned seed)
{
    static const char conversions[] = "%*.$#0-+ lhjzqtLdiuoxXbcsSpnfFeEgGaAm19";
    struct fuzz_file f;
    bool is_recording;
    state = seed * 2654435761u + 1;
    if (any(4) == 0)
        return 0;
    is_recording = fuzz_open(&f, data, size);
    if (size < 256 || memcmp(data, "\177ELF", 4) != 0)
        return 0;
    for (uint64_t i = any(4) + 1; i; i--) {
        size_t at;
        if (!is_recording || any(3) == 0) {
            mutate_elf(&f);
            continue;
        }
        at = place(&f);
        if (at == 0 || at > size - 8)
            continue;
        if (any(6) == 0)
            data[at] = (uint8_t)conversions[any(sizeof conversions - 1)];
        else
            fuzz_put(&f, at, value(&f, fuzz_number(&f, at, f.word)), f.word);
    }
    return is_recording && any(16) == 0 ? end_of(&f) : size;
}

#ifdef FUZZER
/* ------------------------------------------------------------- libFuzzer -- */

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
                               unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

static unsigned long cases, refused;
static void say_cases(void)
{
    fprintf(stderr, "%-8s %8lu cases, %lu of them got past %s\n",
            targets[target], cases, cases - refused,
            target < ELF || target == API ? "the registry" : "its reader");
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    const char *name = getenv("FUZZ_TARGET");
    (void)count, (void)arguments;
    must(fuzz_choose(name ? name : "read"), "FUZZ_TARGET: no such target");
    atexit(say_cases);
    return 0;
}

/* Commands that failed have left so many bytes that the process should start
 * again; run.sh does that. */
enum { FULL_BYTES = 700 << 20, FULL_STATUS = 99 };
static bool is_full(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    must(file && fscanf(file, "%*u %lu", &pages) == 1, "no /proc");
    fclose(file);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE) > FULL_BYTES;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cases++;
    refused += (unsigned long)fuzz_one(data, size);
    if (cases % 64 == 0 && fuzz_was_cut_short() && is_full()) {
        say_cases();
        fuzz_folder_remove();
        _exit(FULL_STATUS);
    }
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
                               unsigned seed)
{
    size_t changed = fuzz_mutate(data, size, seed);
    return changed ? changed : LLVMFuzzerMutate(data, size, max);
}
#endif
