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
#include "csv.h"
#include "json.h"
#include "tables.h"
#include "tests/harness/shown.h"

void *need(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

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
                 strlen(arguments[i].text) == arguments[i].text_size,
             "an argument's text ends elsewhere");
    json_event(out, call, event);
    csv_event(out, call, event);
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
static void check_plain(char *text, size_t size)
{
    size_t i, to = 0;
    for (i = 0; i < size; i++)
        if (text[i] != '\r' || i + 1 == size || text[i + 1] != '\n')
            text[to++] = text[i];
    must(!shown_wrong(text, to), "an output moves the cursor");
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
        check_plain(text, text_size);
        free(text);
        out = need(fopen("/dev/null", "w"));
        check_take(&call, out);
        fclose(out);
        reader_close(&call.reader);
    }
    source_close(&call.source);
    return wrong != NULL;
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

bool fuzz_mutate(unsigned char *data, size_t size, unsigned seed)
{
    static const char conversions[] = "%*.$#0-+ lhjzqtLdiuoxXbcsSpnfFeEgGaAm19";
    struct fuzz_file f;
    state = seed * 2654435761u + 1;
    if (any(4) == 0 || !fuzz_open(&f, data, size))
        return false;
    for (uint64_t i = any(4) + 1; i; i--) {
        size_t at = place(&f);
        if (at == 0 || at > size - 8)
            continue;
        if (any(6) == 0)
            data[at] = (uint8_t)conversions[any(sizeof conversions - 1)];
        else
            fuzz_put(&f, at, value(&f, fuzz_number(&f, at, f.word)), f.word);
    }
    return true;
}

#ifdef FUZZER
/* ------------------------------------------------------------- libFuzzer -- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
                               unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

static unsigned long cases, refused;
static void say_cases(void)
{
    fprintf(stderr, "%lu cases, %lu of them got past the registry\n", cases,
            cases - refused);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (cases++ == 0)
        atexit(say_cases);
    refused += (unsigned long)fuzz_check(data, size);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
                               unsigned seed)
{
    return fuzz_mutate(data, size, seed) ? size
                                         : LLVMFuzzerMutate(data, size, max);
}
#endif
