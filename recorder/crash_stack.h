/* crash_stack.h - the return addresses of a crashed thread, as text. */
/* SPDX-License-Identifier: MIT */
/*
    recorder: crash of thread 4711: signal 11, code 1, address 8; ...
    recorder: registers 0 7ffd10bf4c10 ...
    recorder: stack of 7ffd10bf4a30: r10 0+1175, 8 0+11c2, 10 ^30, 18 0+1203
    recorder: module 0 at 55d0c0a00000-55d0c0a02000, build ID 8a2f...: /tmp/app

    Numbers are hexadecimal, but the thread and the signal. Registers are in the order of
    NT_PRSTATUS. A word of the stack has its place, in bytes from the stack
    pointer on, and points to code, MODULE+OFFSET, or to another place, ^; a
    register has its number: r. Only words that may be return addresses or frame
    pointers are shown. tools/explain/text.c makes a core file of these lines.
*/
#ifndef RECORDER_CRASH_STACK_H_
#define RECORDER_CRASH_STACK_H_

#include "dump.h"
#include "file_core.h"

RECORDER_C_BEGIN_

enum {
    RECORDER_CODES_ = 128, /* executable mappings; libraries have one each */
    RECORDER_CRASH_CALLS_MAX_ = 64, /* words that are shown */
    RECORDER_CALLS_IN_ = 65536 /* bytes of the stack */
};
/* Executable memory of a file. */
struct recorder_code_ {
    uintptr_t start, end, base; /* base: of the file's first mapping */
    bool used;
};
struct recorder_codes_ {
    struct recorder_code_ all[RECORDER_CODES_];
    unsigned count;
    uintptr_t base; /* of the file whose mappings are being read */
    char line[RECORDER_CRASH_MAX_ + 100]; /* that is being read, */
    char shown[1000];                     /* and written */
    struct recorder_string_ text;
    struct recorder_memory_ memory;
};
/* Memory of the thread that dumps: there is only one at a time. */
RECORDER_PROGRAM_ struct recorder_codes_ recorder_codes_;

RECORDER_SELDOM_ uintptr_t recorder_hex_read_(const char **at)
{
    uintptr_t number = 0;
    for (;; ++*at) {
        unsigned digit = (unsigned char)**at - (unsigned)'0';
        if (digit > 9)
            digit = (unsigned char)**at - (unsigned)'a' + 10;
        if (digit > 15)
            return number;
        number = number << 4 | digit;
    }
}
RECORDER_SELDOM_ void recorder_codes_add_(struct recorder_codes_ *c,
                                          const char *before, uintptr_t number)
{
    recorder_add_string_(&c->text, before);
    recorder_add_number_(&c->text, number, 16, 1);
}
RECORDER_SELDOM_ void recorder_codes_flush_(struct recorder_codes_ *c,
                                            struct recorder_output_ *out)
{
    recorder_add_string_(&c->text, "\n");
    if (c->text.size <= c->text.max)
        recorder_output_line_(out, c->text.to, c->text.size);
    c->text.size = 0;
}

/* Adds the build ID of an ELF file with its first segment at `base`. */
RECORDER_SELDOM_ void recorder_codes_add_id_(struct recorder_codes_ *c,
                                             uintptr_t base)
{
    struct recorder_elf_ elf;
    struct recorder_elf_header_ h;
    uintptr_t bias = base, at, end;
    uint32_t note[4], i, k; /* sizes of name and ID, type, "GNU" */
    unsigned char id[32];
    if (!recorder_memory_copy_all_(&elf, base, sizeof elf) ||
        elf.ident[0] != 0x7f || elf.ident[1] != 'E' || elf.ident[2] != 'L' ||
        elf.ident[3] != 'F') /* memcmp() may need 3 KB for ld.so at first */
        return;
    for (i = 0; i < elf.headers_count && i < 64; i++) {
        at = base + elf.headers + i * sizeof h;
        if (!recorder_memory_copy_all_(&h, at, sizeof h))
            return;
        if (h.type == RECORDER_ELF_LOAD_ && h.offset == 0)
            bias = base - h.address;
        at = bias + h.address;
        end = at + (h.type == RECORDER_ELF_NOTE_ ? h.memory_bytes : 0);
        for (; at < end; at += sizeof note + recorder_round_up_(note[1], 4)) {
            if (!recorder_memory_copy_all_(note, at, sizeof note) ||
                note[0] != 4 || note[1] > 256)
                break;
            if (note[2] != 3 /* NT_GNU_BUILD_ID */ || note[1] > sizeof id ||
                !recorder_memory_copy_all_(id, at + sizeof note, note[1]))
                continue;
            recorder_add_string_(&c->text, ", build ID ");
            for (k = 0; k < note[1]; k++)
                recorder_add_number_(&c->text, id[k], 16, 2);
            return;
        }
    }
}

/* Takes a line of /proc/self/maps: "start-end r-xp offset device inode /path".
 * With `out`, shows the module if a word points into it. */
RECORDER_SELDOM_ void recorder_codes_line_(struct recorder_codes_ *c,
                                           struct recorder_output_ *out)
{
    struct recorder_code_ *code = &c->all[c->count];
    const char *at = c->line;
    uintptr_t start = recorder_hex_read_(&at), end;
    bool is_code;
    at += *at == '-';
    end = recorder_hex_read_(&at);
    if (recorder_length_(at, 6) < 6)
        return;
    is_code = at[3] == 'x';
    at += 6;
    if (!recorder_hex_read_(&at)) /* the offset */
        c->base = start;
    while (*at && *at != '/')
        at++;
    if (!is_code || !*at || c->count == RECORDER_CODES_)
        return;
    c->count++;
    if (!out) {
        code->start = start;
        code->end = end;
        code->base = c->base;
        code->used = false;
    } else if (code->used && code->start == start && code->end == end) {
        recorder_codes_add_(c, "recorder: module ", c->count - 1);
        recorder_codes_add_(c, " at ", code->base);
        recorder_codes_add_(c, "-", end);
        recorder_codes_add_id_(c, code->base);
        recorder_add_string_(&c->text, ": ");
        recorder_add_name_(&c->text, at, RECORDER_CRASH_MAX_);
        recorder_codes_flush_(c, out);
    }
}

/* Reads the mappings; with `out`, shows the modules. */
RECORDER_SELDOM_ void recorder_codes_read_(struct recorder_codes_ *c,
                                           struct recorder_output_ *out)
{
    char piece[256];
    size_t size = 0;
    long count, i;
    int fd = -1;
    c->count = 0;
    while ((count = recorder_os_maps_(&fd, piece, sizeof piece)) > 0)
        for (i = 0; i < count; i++)
            if (piece[i] == '\n') {
                c->line[size < sizeof c->line ? size : 0] = '\0';
                recorder_codes_line_(c, out);
                size = 0;
            } else if (size < sizeof c->line) {
                c->line[size++] = piece[i];
            }
}

/* Returns the index of the code that a word points into; c->count: of none. */
RECORDER_SELDOM_ unsigned recorder_codes_find_(const struct recorder_codes_ *c,
                                               uintptr_t word)
{
    unsigned i = 0;
    while (i < c->count &&
           word - c->all[i].start >= c->all[i].end - c->all[i].start)
        i++;
    return i;
}
/* Adds a word that points into code, as module+offset. False: it does not. */
RECORDER_SELDOM_ bool recorder_codes_add_word_(struct recorder_codes_ *c,
                                               const char *before,
                                               uintptr_t place, uintptr_t word)
{
    unsigned i = recorder_codes_find_(c, word);
    if (i == c->count)
        return false;
    recorder_codes_add_(c, before, place);
    recorder_codes_add_(c, " ", i);
    recorder_codes_add_(c, "+", word - c->all[i].base);
    c->all[i].used = true;
    return true;
}
/* True if a word of the stack may be a frame pointer: it is the place of an
 * outer one, and a return address follows that. */
RECORDER_SELDOM_ bool recorder_codes_is_frame_(const struct recorder_codes_ *c,
                                               uintptr_t at, uintptr_t word,
                                               uintptr_t sp)
{
    uintptr_t next;
    return word > at && word - sp < RECORDER_CALLS_IN_ &&
           word % sizeof word == 0 &&
           recorder_memory_copy_all_(&next, word + sizeof word, sizeof next) &&
           recorder_codes_find_(c, next) < c->count;
}

/* Shows the words of the registers and of the stack that may be return addresses
 * or frame pointers. */
RECORDER_SELDOM_ void recorder_codes_stack_(struct recorder_codes_ *c,
                                            struct recorder_output_ *out,
                                            const uintptr_t *registers,
                                            uintptr_t sp)
{
    enum { LINE = 8 };
    unsigned shown = 0;
    uintptr_t at, words[64], count = 0, i;
    ptrdiff_t bytes;
    recorder_codes_add_(c, "recorder: stack of ", sp);
    for (i = 0; i < RECORDER_REGISTERS_; i++)
        shown += recorder_codes_add_word_(c, shown ? ", r" : ": r", i,
                                          registers[i]);
    i = 0;
    for (at = sp;
         at - sp < RECORDER_CALLS_IN_ && shown < RECORDER_CRASH_CALLS_MAX_;
         at += sizeof *words, i++) {
        const char *before = shown % LINE ? ", " : ": ";
        if (i == count) {
            bytes = recorder_memory_copy_(&c->memory, at, words, sizeof words);
            count = bytes > 0 ? (uintptr_t)bytes / sizeof *words : 0;
            i = 0;
            if (!count) { /* after an overflow, memory begins some pages on */
                at |= 4096 - sizeof *words;
                i = UINTPTR_MAX;
                continue;
            }
        }
        if (!c->text.size)
            recorder_codes_add_(c, "recorder: stack of ", sp);
        if (recorder_codes_is_frame_(c, at, words[i], sp)) {
            recorder_codes_add_(c, before, at - sp);
            recorder_codes_add_(c, " ^", words[i] - sp);
        } else if (!recorder_codes_add_word_(c, before, at - sp, words[i])) {
            continue;
        }
        if (++shown % LINE == 0)
            recorder_codes_flush_(c, out);
    }
    if (shown % LINE)
        recorder_codes_flush_(c, out);
    c->text.size = 0; /* a head without words */
}

/* Shows how a thread crashed. Safe in a signal handler. */
RECORDER_APART_ void recorder_crash_show_(int sig, const void *info,
                                          const void *context, int32_t thread,
                                          struct recorder_output_ *out)
{
    struct recorder_codes_ *c = &recorder_codes_;
    uintptr_t registers[RECORDER_REGISTERS_ + 1] = {0}, address, i;
    char siginfo[RECORDER_SIGINFO_BYTES_];
    int sp = recorder_os_registers_(registers, context);
    int32_t words[3]; /* signal, errno, code */
    if (!RECORDER_OS_MAPS_ || sp < 0)
        return;
    recorder_memory_open_(&c->memory);
    c->text = recorder_string_at_(c->shown, sizeof c->shown);
    recorder_codes_read_(c, NULL);
    recorder_os_siginfo_(siginfo, sig, info);
    __builtin_memcpy(words, siginfo, sizeof words);
    __builtin_memcpy(&address, siginfo + 8 + sizeof address, sizeof address);
    recorder_add_behind_(&c->text, "recorder: crash of thread ",
                         (uint64_t)thread, 1);
    recorder_add_behind_(&c->text, ": signal ", (uint64_t)words[0], 1);
    recorder_codes_add_(c, ", code ", (uint32_t)words[2]);
    recorder_codes_add_(c, ", address ", address);
    recorder_add_string_(&c->text, "; recorder explain takes this text");
    recorder_codes_flush_(c, out);
    recorder_add_string_(&c->text, "recorder: registers");
    for (i = 0; i < RECORDER_REGISTERS_; i++)
        recorder_codes_add_(c, " ", registers[i]);
    recorder_codes_flush_(c, out);
    recorder_codes_stack_(c, out, registers, registers[sp]);
    recorder_codes_read_(c, out);
    recorder_memory_close_(&c->memory);
}

RECORDER_C_END_
#endif
