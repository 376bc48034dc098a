/* replay.c - hands files, and what can be made of them, to fuzz.c's check. */
/* SPDX-License-Identifier: MIT */
/*
    replay --target NAME  what the rest is for, as fuzz.h names it; else "read"
    replay FILE...        each as it is
    replay --part I/N     of the next changes of bytes, each Nth from I on
    replay --flip FILE    with each byte changed in turn, in several ways
    replay --cut FILE     cut off at every length
    replay --ways N       how often to mutate from now on; else 10000
    replay --mutate FILE  so often, some words that matter at a time
    replay --random       so often, bytes without any sense
    replay --large        files made to keep a reader busy, or short of memory

   Each case has SECONDS and the memory below; what it was is said where it
   fails. Of bytes of records, which are many and alike, one in 16 is changed.
*/
#include "fuzz.h"

#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "inside.h"

enum { SECONDS = 10 }; /* of a processor's time */

/* AddressSanitizer's: no case needs more than files of some MiB hold. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "abort_on_error=1:max_allocation_size_mb=256:hard_rss_limit_mb=512:"
           "quarantine_size_mb=32:print_module_map=0";
}

static char at_work[512];
static unsigned long cases, refused;

static void failed(int sig)
{
    static const char late[] = ": takes too long\n", bad[] = ": failed\n";
    if (write(2, at_work, strlen(at_work)) < 0 ||
        write(2, sig == SIGABRT ? bad : late,
              sig == SIGABRT ? sizeof bad - 1 : sizeof late - 1) < 0)
        _exit(3);
    signal(sig, SIG_DFL);
    raise(sig);
}

/* The bytes are given in memory of just that size, for AddressSanitizer. */
static void check(const unsigned char *bytes, size_t size)
{
    struct itimerval limit = {{0, 0}, {SECONDS, 0}};
    setitimer(ITIMER_PROF, &limit, NULL);
    alarm(10 * SECONDS); /* where it waits, or the machine is busy */
    refused += (unsigned long)fuzz_one(bytes, size);
    cases++;
}

static unsigned char *file_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = malloc(1 << 24);
    if (!file || !bytes) {
        perror(path);
        exit(2);
    }
    *size = fread(bytes, 1, 1 << 24, file);
    fclose(file);
    return bytes;
}

/* ---------------------------------------------------------- flip and cut -- */

/* Marks what is made of fields: all but records and what they point at. */
static void mark(const struct fuzz_file *f, unsigned char *marks)
{
    unsigned word = f->word;
    size_t i, last = 0, head = fuzz_number(f, f->registry + 24 + word, 4);
    memset(marks, 1, f->segments ? f->segment[0].at : f->size);
    memset(marks + f->registry, 1, word == 8 ? 600 : 400);
    for (i = 0; i < 16; i++) {
        size_t r = fuzz_recorder(f, (unsigned)i), ring, slots, lanes, bytes;
        if (r == last || !r)
            break;
        last = r;
        slots = fuzz_number(f, r + 2 * word, word) + 1;
        lanes = fuzz_number(f, r + 3 * word, word) + 1;
        bytes = fuzz_number(f, r + 4 * word, word);
        memset(marks + r, 1, 8 * word);
        for (; lanes--;) {
            uint64_t address = fuzz_number(f, r + word, word) + lanes * bytes;
            ring = fuzz_at(f, address, word);
            if (ring) /* its first words, and where the others are */
                memset(marks + ring, 1, word);
            ring = fuzz_at(f, address + head / 2, 2 * word);
            if (ring)
                memset(marks + ring, 1, 2 * word);
            ring = fuzz_at(f, address + head, 8 * word);
            if (ring) /* one record */
                memset(marks + ring, 1, 8 * word);
            ring = fuzz_at(f, address + head + slots * 8 * word, slots * word);
            if (ring)
                memset(marks + ring, 1, slots * word);
        }
    }
}

static unsigned part, parts = 1;
static void flip(const char *path)
{
    size_t size, at, change = 0;
    unsigned char *bytes = file_read(path, &size), *marks = calloc(1, size);
    struct fuzz_file f;
    if (!marks || !fuzz_open(&f, bytes, size)) {
        fprintf(stderr, "%s: is no recording\n", path);
        exit(2);
    }
    mark(&f, marks);
    for (at = 0; at < size; at++) {
        unsigned char was = bytes[at];
        const unsigned char values[] = {(unsigned char)~was, 0, 0x80, 0xff};
        size_t count = marks[at] ? sizeof values : at % 16 == 0, i;
        for (i = 0; i < count; i++) {
            if (values[i] == was || (i && values[i] == values[i - 1]) ||
                change++ % parts != part)
                continue;
            snprintf(at_work, sizeof at_work, "%s: byte %zu from %d to %d",
                     path, at, was, values[i]);
            bytes[at] = values[i];
            check(bytes, size);
        }
        bytes[at] = was;
    }
    free(marks);
    free(bytes);
}

static void cut(const char *path)
{
    size_t size, at;
    unsigned char *bytes = file_read(path, &size);
    for (at = 0; at < size; at += at < 4096 ? 1 : 7) {
        unsigned char *part = malloc(at + 1);
        if (!part)
            exit(2);
        memcpy(part, bytes, at);
        snprintf(at_work, sizeof at_work, "%s: cut to %zu bytes", path, at);
        check(part, at);
        free(part);
    }
    free(bytes);
}

static unsigned ways = 10000;
static void mutate(const char *path)
{
    size_t size;
    unsigned char *good = file_read(path, &size), *bytes = malloc(size);
    if (!bytes)
        exit(2);
    for (unsigned seed = 1; seed <= ways; seed++) {
        size_t changed;
        memcpy(bytes, good, size);
        snprintf(at_work, sizeof at_work, "%s: mutation %u", path, seed);
        changed = fuzz_mutate(bytes, size, seed);
        if (changed)
            check(bytes, changed);
    }
    free(bytes);
    free(good);
}

/* Bytes without any sense, for targets that take all; so many as `ways`. */
static void random_bytes(void)
{
    unsigned char bytes[8192];
    for (unsigned seed = 1; seed <= ways; seed++) {
        uint64_t state = seed;
        for (size_t i = 0; i < sizeof bytes; i++) {
            state = state * UINT64_C(6364136223846793005) + 1;
            bytes[i] = (unsigned char)(state >> 56);
        }
        snprintf(at_work, sizeof at_work, "random bytes %u", seed);
        check(bytes, sizeof bytes);
    }
}

/* ----------------------------------------------------------------- large -- */

/* A core file of this machine's kind that is made here: what is at an
 * offset of it is at BASE and that of the program's memory. */
#define BASE UINT64_C(0x100000)
enum { LARGE = 24 << 20 };
struct made {
    unsigned char *bytes;
    size_t used, headers;
    struct recorder_registry *registry;
    struct recorder *last;
};

static void *at_address(uint64_t address)
{
    return (void *)(uintptr_t)address;
}
static size_t room(struct made *m, size_t size)
{
    size_t at = (m->used + 127) / 128 * 128;
    m->used = at + size;
    if (m->used > LARGE)
        abort();
    return at;
}

static void header(struct made *m, uint32_t type, uint64_t at, uint64_t address,
                   uint64_t size)
{
    Elf64_Phdr *p = (Elf64_Phdr *)(void *)(m->bytes + sizeof(Elf64_Ehdr));
    p[m->headers++] = (Elf64_Phdr){.p_type = type,
                                   .p_flags = PF_R | PF_W,
                                   .p_offset = at,
                                   .p_vaddr = address,
                                   .p_filesz = size,
                                   .p_memsz = size,
                                   .p_align = type == PT_NOTE ? 4 : 1};
}

static void made_begin(struct made *m, size_t headers)
{
    uintptr_t *order;
    memset(m, 0, sizeof *m);
    m->bytes = calloc(1, LARGE);
    if (!m->bytes)
        exit(2);
    m->used = sizeof(Elf64_Ehdr) + headers * sizeof(Elf64_Phdr);
    m->registry = (void *)(m->bytes + room(m, sizeof *m->registry));
    *m->registry = recorder_registry;
    m->registry->self =
        at_address(BASE + (size_t)((unsigned char *)m->registry - m->bytes));
    m->registry->first = NULL;
    m->registry->threads = NULL;
    m->registry->tweaks = NULL;
    order = (void *)(m->bytes + room(m, sizeof *order));
    *order = 1 << 30;
    m->registry->order =
        at_address(BASE + (size_t)((unsigned char *)order - m->bytes));
}

static size_t text(struct made *m, const char *pattern, size_t size)
{
    size_t at = room(m, size + 1), i;
    for (i = 0; i < size; i++)
        m->bytes[at + i] = (unsigned char)pattern[i % strlen(pattern)];
    return at;
}

/* A recorder with rings; all slots of the first hold a record of `words`, each
 * of an order of its own, with formats that are `apart`. */
static struct recorder *made_recorder(struct made *m, size_t slots,
                                      size_t lanes, size_t name,
                                      const uint64_t words[8], uint64_t apart)
{
    static uint64_t order;
    struct recorder *r = (void *)(m->bytes + room(m, sizeof *r));
    size_t head = m->registry->head_bytes, i;
    size_t bytes = (head + slots * 88 + 127) / 128 * 128;
    size_t at = room(m, lanes * bytes);
    unsigned char *records = m->bytes + at + head;
    uint64_t address = BASE + (size_t)((unsigned char *)r - m->bytes);
    *r = (struct recorder){0,
                           at_address(BASE + at),
                           slots - 1,
                           lanes - 1,
                           bytes,
                           at_address(BASE + name),
                           at_address(BASE + name),
                           NULL};
    for (i = 0; i < slots && words; i++) {
        uint64_t record[8], commit = slots << 16;
        memcpy(record, words, sizeof record);
        record[0] += i * apart;
        record[1] = ++order;
        memcpy(records + i * 64, record, 64);
        memcpy(records + slots * 64 + i * 8, &commit, 8);
    }
    if (m->last)
        m->last->next = at_address(address);
    else
        m->registry->first = at_address(address);
    return m->last = r;
}

static void made_check(struct made *m, const char *what)
{
    Elf64_Ehdr e = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
        .e_type = ET_CORE,
        .e_machine = EM_X86_64,
        .e_version = 1,
        .e_phoff = sizeof e,
        .e_ehsize = sizeof e,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = (Elf64_Half)(m->headers + 1)};
    header(m, PT_LOAD, 0, BASE, m->used);
    memcpy(m->bytes, &e, sizeof e);
    snprintf(at_work, sizeof at_work, "%s", what);
    check(m->bytes, m->used);
    free(m->bytes);
}

static void large_recorders(void)
{
    const uint64_t none[8] = {0};
    struct made m;
    size_t name, i;
    made_begin(&m, 1);
    name = text(&m, "a long name ", 1000);
    for (i = 0; i < 16000; i++)
        made_recorder(&m, 1, 1, name, none, 0);
    made_check(&m, "16000 recorders");
    made_begin(&m, 1);
    made_recorder(&m, 1, 1, text(&m, "one", 3), none, 0);
    m.last->next = m.registry->first;
    made_check(&m, "a list in a circle");
    made_begin(&m, 1);
    name = room(&m, 8 * 100000); /* each overlaps the next */
    for (i = 0; i < 99999; i++)
        ((uint64_t *)(void *)(m.bytes + name))[i] = BASE + name + 8 * (i - 6);
    m.registry->first = at_address(BASE + name);
    made_check(&m, "100000 recorders in one another");
    made_begin(&m, 1);
    made_recorder(&m, 1, 16384, text(&m, "lanes", 5), none, 0);
    made_check(&m, "16384 lanes");
}

static void large_texts(void)
{
    uint64_t words[8] = {0};
    struct made m;
    size_t i, string;
    made_begin(&m, 1);
    string = text(&m, "text ", 65530);
    words[0] = BASE + text(&m, "%1$s", 4000);
    for (i = 4; i < 8; i++)
        words[i] = BASE + string;
    made_recorder(&m, 256, 1, text(&m, "texts", 5), words, 0);
    made_check(&m, "formats of a thousand long strings");
    made_begin(&m, 1);
    words[0] = BASE + text(&m, "%2147483647d%*.*d%99999s", 4000);
    made_recorder(&m, 1024, 1, text(&m, "wide", 4), words, 0);
    made_check(&m, "formats of endless width");
    made_begin(&m, 1);
    words[0] = BASE + text(&m, "a format that never ends ", 2 << 20);
    made_recorder(&m, 16384, 1, text(&m, "formats", 7), words, 64);
    made_check(&m, "16384 formats, each as long as can be");
    made_begin(&m, 1);
    words[0] = (uint64_t)1 << 40;
    made_recorder(&m, 65536, 1, text(&m, "hashes", 6), words,
                  (uint64_t)1 << 40);
    made_check(&m, "65536 formats whose addresses are alike");
}

/* `count` times the same notes: a list of files, and threads. */
static void large_notes(size_t count, size_t modules, size_t threads,
                        const char *what)
{
    const uint64_t none[8] = {0};
    struct made m;
    size_t files = (2 + 3 * modules) * 8 + 8 * modules, at, note, i;
    uint64_t *row;
    made_begin(&m, count + 1);
    m.registry->threads = at_address(BASE);
    m.registry->threads_max = m.registry->threads_count = 30000;
    made_recorder(&m, 1, 1, text(&m, "notes", 5), none, 0);
    at = room(&m, 20 + files + threads * 56);
    memcpy(m.bytes + at, (uint32_t[]){5, (uint32_t)files, NT_FILE}, 12);
    memcpy(m.bytes + at + 12, "CORE", 5);
    row = (uint64_t *)(void *)(m.bytes + at + 24);
    at += 4; /* so that the words are aligned: a note in front, of nothing */
    memmove(m.bytes + at, m.bytes + at - 4, 20);
    row[0] = modules;
    row[1] = 1;
    for (i = 0; i < modules; i++) {
        row[2 + 3 * i] = (uint64_t)1 << 40 | (i + 1) << 12;
        row[3 + 3 * i] = row[2 + 3 * i] + 4096;
        snprintf((char *)(row + 2 + 3 * modules) + 8 * i, 8, "/%06u",
                 (unsigned)i % 1000000);
    }
    note = at + 20 + files;
    for (i = 0; i < threads; i++, note += 56) {
        memcpy(m.bytes + note, (uint32_t[]){0, 40, NT_PRSTATUS}, 12);
        memcpy(m.bytes + note + 12 + 32, (int32_t[]){(int32_t)i}, 4);
    }
    for (i = 0; i < count; i++)
        header(&m, PT_NOTE, at, 0, note - at);
    made_check(&m, what);
}

static void large_segments(void)
{
    struct made m;
    size_t i;
    made_begin(&m, 20001);
    room(&m, 1 << 20);
    m.registry->self = NULL; /* to be looked for everywhere */
    for (i = 0; i < 20000; i++)
        header(&m, PT_LOAD, 0, (i + 2) << 32, 1 << 20);
    made_check(&m, "20000 segments of the same bytes");
}

static void large(void)
{
    large_recorders();
    large_texts();
    large_notes(1, 60000, 30000, "60000 files, 30000 threads");
    large_notes(4000, 3000, 1000, "4000 times the same notes");
    large_segments();
}

int main(int count, char **arguments)
{
    int i;
    signal(SIGALRM, failed);
    signal(SIGPROF, failed);
    signal(SIGABRT, failed);
    for (i = 1; i < count; i++) {
        const char *name = arguments[i];
        if (strcmp(name, "--large") == 0) {
            large();
        } else if (strcmp(name, "--random") == 0) {
            random_bytes();
        } else if (strcmp(name, "--target") == 0 && i + 1 < count) {
            if (!fuzz_choose(arguments[++i]))
                return 2;
        } else if (strcmp(name, "--ways") == 0 && i + 1 < count) {
            ways = (unsigned)strtoul(arguments[++i], NULL, 10);
        } else if (strcmp(name, "--part") == 0 && i + 1 < count) {
            if (sscanf(arguments[++i], "%u/%u", &part, &parts) != 2 ||
                part >= parts)
                return 2;
        } else if (strcmp(name, "--flip") == 0 && i + 1 < count) {
            flip(arguments[++i]);
        } else if (strcmp(name, "--mutate") == 0 && i + 1 < count) {
            mutate(arguments[++i]);
        } else if (strcmp(name, "--cut") == 0 && i + 1 < count) {
            cut(arguments[++i]);
        } else {
            size_t size;
            unsigned char *bytes = file_read(name, &size);
            bytes = realloc(bytes, size + 1);
            snprintf(at_work, sizeof at_work, "%s", name);
            check(bytes, size);
            free(bytes);
        }
    }
    printf("%lu cases, %lu refused\n", cases, refused);
    return 0;
}
