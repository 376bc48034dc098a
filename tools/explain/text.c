/* text.c - a core file of the lines that a program writes as it crashes. */
/* SPDX-License-Identifier: MIT */
/* recorder/crash_stack.h describes the lines. A log may have text before each. */
#include "bytes.h"
#include "core.h"
#include "explain.h"

#include <gelf.h>

enum { LINES_KEPT = 512, MODULES_KEPT = 128, WORDS_KEPT = 64 };

/* The last crash of a text, and the records that follow. */
static struct crash_text {
    char *lines[LINES_KEPT], *last[LAST_MAX];
    size_t count, last_count;
    struct memory kind;   /* of the program */
    struct source source; /* its modules */
    uint64_t base[MODULES_KEPT];
} crash;

/* ----------------------------------------------------------------- lines -- */

static void line_take(char *line)
{
    char *at = strstr(line, "recorder: "), *record = strstr(line, " [");
    while (record && record > line && isdigit((unsigned char)record[-1]))
        record--;
    line[strcspn(line, "\r\n")] = '\0';
    if (at && strncmp(at + 10, "crash of thread ", 16) == 0)
        crash.count = crash.last_count = 0;
    else if (!crash.count)
        return;
    if (at && crash.count < LINES_KEPT) {
        crash.lines[crash.count++] = need(strdup(at + 10));
    } else if (!at && record && isdigit((unsigned char)*record)) {
        if (crash.last_count == LAST_MAX)
            memmove(crash.last, crash.last + 1,
                    --crash.last_count * sizeof *crash.last);
        crash.last[crash.last_count++] = need(strdup(record));
    }
}

FILE *text_open(const char *path)
{
    int fd = regular_open(path);
    return fd < 0 ? NULL : need(fdopen(fd, "r"));
}

/* Reads the lines of a text file. False: it is none, or has no crash. */
static bool lines_read(const char *path)
{
    char begin[4096], *line = NULL;
    FILE *from = text_open(path);
    ssize_t size = from ? pread(fileno(from), begin, sizeof begin, 0) : -1;
    size_t max = 0;
    while (size > 0 && !memchr(begin, '\0', (size_t)size) &&
           getline(&line, &max, from) > 0)
        line_take(line);
    free(line);
    if (from)
        fclose(from);
    return crash.count > 0;
}

/* --------------------------------------------------------------- modules -- */

/* Takes "module 0 at START-END, build ID HEX: PATH". */
static void module_take(const char *line)
{
    unsigned long long start, end;
    unsigned number, byte;
    const char *path = strstr(line, ": ");
    struct module *m;
    int id = 0;
    if (sscanf(line, "module %x at %llx-%llx, build ID %n", &number, &start,
               &end, &id) < 3 ||
        number >= MODULES_KEPT || start >= end || !path)
        return;
    source_module(&crash.source, start, end, 0, path + 2, strlen(path + 2),
                  false);
    m = &crash.source.modules[crash.source.modules_count - 1];
    for (; id && m->id_size < sizeof m->id &&
           sscanf(line + id, "%2x", &byte) == 1;
         id += 2)
        m->id[m->id_size++] = (unsigned char)byte;
    crash.base[number] = start;
}

/* Finds the kind of the program by a file: it, or a library of it. */
static bool kind_find(const char *path)
{
    int fd = regular_open(path);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    GElf_Ehdr header;
    bool is = gelf_getehdr(elf, &header) != NULL;
    if (is)
        source_kind(&crash.kind, header.e_ident, header.e_machine);
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return is;
}

void text_modules(struct call *call)
{
    const char *program = call_option(call, 'e');
    for (size_t i = 0; i < call->source.modules_count && crash.count; i++) {
        struct module *m = &call->source.modules[i];
        const struct module *from = module_first(&crash.source, m->path);
        memcpy(m->id, from->id, sizeof m->id);
        m->id_size = from->id_size;
        if (program && m->start == crash.base[0])
            m->place = program;
    }
}

/* ------------------------------------------------------------- core file -- */

static void word_add(struct pieces *pieces, uint64_t address, uint64_t value)
{
    unsigned char *bytes = need(malloc(8));
    bytes_put_word(&crash.kind, bytes, value);
    piece_add(pieces, address, crash.kind.word_bytes, bytes, bytes);
}

/* Takes "stack of SP: PLACE MODULE+OFFSET, PLACE ^PLACE". */
static void stack_take(char *line, struct pieces *pieces)
{
    unsigned long long sp, place, value;
    unsigned module;
    char *word = strchr(line, ':'), *rest;
    if (!word || sscanf(line, "stack of %llx:", &sp) != 1)
        return;
    for (word = strtok_r(word + 1, ",", &rest); word;
         word = strtok_r(NULL, ",", &rest))
        if (sscanf(word, " %llx ^%llx", &place, &value) == 2)
            word_add(pieces, sp + place, sp + value);
        else if (sscanf(word, " %llx %x+%llx", &place, &module, &value) == 3 &&
                 module < MODULES_KEPT && crash.base[module])
            word_add(pieces, sp + place, crash.base[module] + value);
}

/* Adds NT_PRSTATUS and NT_SIGINFO: struct elf_prstatus of <sys/procfs.h>. */
static void status_add(struct notes *notes, const char *head,
                       const char *registers)
{
    const struct memory *m = &crash.kind;
    const unsigned word = m->word_bytes;
    unsigned char status[32 + 10 * 8 + (WORDS_KEPT + 1) * 8] = {0},
                                                          info[128] = {0};
    unsigned at = 32 + 10 * word, count = 0;
    unsigned signal = 0, code = 0;
    unsigned long long address = 0, value;
    int thread = 0, size;
    sscanf(head, "crash of thread %d: signal %u, code %x, address %llx",
           &thread, &signal, &code, &address);
    bytes_put(m, status + 12, signal, 2);
    bytes_put(m, status + 16 + 2 * word, (uint32_t)thread, 4);
    for (registers += strlen("registers");
         count < WORDS_KEPT && sscanf(registers, " %llx%n", &value, &size) == 1;
         registers += size)
        bytes_put_word(m, status + at + count++ * word, value);
    note_add(notes, m, "CORE", NT_PRSTATUS, status, at + (count + 1) * word);
    bytes_put(m, info, signal, 4);
    bytes_put(m, info + 8, code, 4);
    bytes_put_word(m, info + (word == 8 ? 16 : 12), address);
    note_add(notes, m, "CORE", NT_SIGINFO, info, sizeof info);
}

static void modules_take(const struct call *call)
{
    const char *program = call_option(call, 'e');
    bool is_known = elf_version(EV_CURRENT) && program && kind_find(program);
    for (size_t i = 0; i < crash.count; i++)
        module_take(crash.lines[i]);
    for (size_t i = 0; i < crash.source.modules_count && !is_known; i++)
        is_known = kind_find(crash.source.modules[i].path);
    if (!is_known)
        fail(call, "a crash of a program that is not here: --executable FILE "
                   "names it");
}

void text_take(struct call *call)
{
    static char path[64];
    struct memory *before = call->source.memory;
    struct pieces pieces = {0};
    struct notes notes = {0};
    FILE *core;
    if (!lines_read(call->arguments[0]))
        return;
    modules_take(call);
    for (size_t i = 0; i < crash.count; i++)
        if (strncmp(crash.lines[i], "registers ", 10) == 0 && !notes.size)
            status_add(&notes, crash.lines[0], crash.lines[i]);
        else
            stack_take(crash.lines[i], &pieces);
    note_files(&notes, &crash.kind, &crash.source);
    pieces_sort(&pieces);
    core = need(tmpfile());
    call->source.memory = &crash.kind;
    core_write(call, fileno(core), &notes, &pieces);
    call->source.memory = before;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fileno(core));
    call->arguments[0] = path;
}

void text_last(FILE *to)
{
    for (size_t i = 0; i < crash.last_count; i++) {
        fputs(i ? "" : "\nThe last records of the text:\n", to);
        text_put(to, "  %s\n", crash.last[i]);
    }
}
