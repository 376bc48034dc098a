/* file_crash.h - writes how a program crashed into its recording. */
/* SPDX-License-Identifier: MIT */
/*
PROMISES
    * gdb shows the backtrace of a crash from a recording as from a core file.
      -> tests/outside/explain.c
    * Memory that cannot be read is left out. -> tests/outside/explain.c
    * The strings of arguments and environment, which the kernel puts at the end
      of the main thread's stack, are left out. -> tests/outside/secrets.c

LIMITS
    * Of other threads than the crashed one, a recording has the names.
*/
#ifndef RECORDER_FILE_CRASH_H_
#define RECORDER_FILE_CRASH_H_

#include "file_core.h"

RECORDER_C_BEGIN_

/* ----------------------------------------------------------------- crash --
 *
 * A new recording has an empty NT_SIGINFO, zeros for registers, and room for
 * memory. A crash fills them: the stack from the stack pointer on, the bytes
 * around each address in a register or in the first words of the stack, and the
 * lists by which debuggers find the libraries. The signal in NT_PRSTATUS is stored last: 0 means no crash.
 */
enum {
    RECORDER_CRASH_STACK_ = 65536,
    RECORDER_CRASH_AROUND_ = 256, /* bytes at an address */
    RECORDER_CRASH_WORDS_ = 64,   /* of the stack that may be addresses */
    RECORDER_CRASH_RED_ = 256,    /* below the stack pointer, in use */
    RECORDER_CRASH_GUARDS_ = 32,  /* pages without memory, after an overflow */
    RECORDER_CRASH_LIBRARIES_ = 64,
    RECORDER_CRASH_SEGMENTS_ = 256,
    RECORDER_CRASH_ROOM_ = RECORDER_CRASH_STACK_ + (40 << 10)
};

RECORDER_SELDOM_ int recorder_crash_program_(struct recorder_dl_info_ *info,
                                             size_t bytes, void *context)
{
    struct recorder_recording_ *file = (struct recorder_recording_ *)context;
    unsigned i;
    (void)bytes;
    for (i = 0; i < info->headers_count; i++)
        if (info->headers[i].type == 2 /* PT_DYNAMIC */) {
            file->dynamic = info->bias + info->headers[i].address;
            file->dynamic_bytes = info->headers[i].memory_bytes;
        }
    return 1; /* the first is the program */
}

/* Takes the room of a new file; without it, a crash is not written. */
RECORDER_SELDOM_ void recorder_crash_reserve_(struct recorder_recording_ *file)
{
    unsigned first = file->elf->headers_count;
    file->crash_room = recorder_core_take_(file, RECORDER_CRASH_ROOM_, false);
    if (!file->crash_room ||
        file->headers_max - first < RECORDER_CRASH_SEGMENTS_) {
        file->crash_room = NULL;
        return;
    }
    recorder_os_modules_(recorder_crash_program_, file);
    file->crash_first = first;
    __atomic_store_n(&file->elf->headers_count,
                     (uint16_t)(first + RECORDER_CRASH_SEGMENTS_),
                     __ATOMIC_RELEASE);
}

/* A crash that is being written. */
struct recorder_crash_copy_ {
    struct recorder_recording_ *file;
    struct recorder_memory_ memory;
    char *at, *end;    /* of the room that is left */
    unsigned segments; /* in use */
};

/* Cuts off strings, and the bytes that the file has at their addresses already, at
 * either end. */
RECORDER_SELDOM_ void
recorder_crash_cut_off_(const struct recorder_recording_ *file, uintptr_t *from,
                        uintptr_t *to)
{
    unsigned i = 0, count = file->elf->headers_count;
    uintptr_t start = file->strings, end = file->strings_end;
    for (;;) {
        if (start < *to && end > *from) {
            *(start > *from ? to : from) = start > *from ? start : end;
            i = 0; /* an earlier one may begin there */
        }
        if (i == count || *from >= *to)
            return;
        start = file->headers[i].address;
        end = file->headers[i].type == RECORDER_ELF_LOAD_
                  ? start + file->headers[i].memory_bytes
                  : 0;
        i++;
    }
}

/* Saves up to `bytes` at an address, as far as they can be read. Returns them
 * in the file, or null; *bytes: how many. */
RECORDER_SELDOM_ const char *
recorder_crash_save_(struct recorder_crash_copy_ *w, uintptr_t from,
                     uintptr_t *bytes)
{
    struct recorder_recording_ *file = w->file;
    struct recorder_elf_header_ *h =
        &file->headers[file->crash_first + w->segments];
    uintptr_t to = from + *bytes;
    uintptr_t left = (uintptr_t)(w->end - w->at);
    char *at = w->at;
    ptrdiff_t count = -1;
    *bytes = 0;
    if (to < from || w->segments == RECORDER_CRASH_SEGMENTS_)
        return NULL;
    recorder_crash_cut_off_(file, &from, &to);
    if (to > from && left)
        count = recorder_memory_copy_(&w->memory, from, at,
                                      to - from < left ? to - from : left);
    if (count <= 0)
        return NULL;
    *bytes = (uintptr_t)count;
    h->offset = file->parts[0].offset +
                ((uintptr_t)at - (uintptr_t)file->parts[0].memory);
    h->address = from;
    h->physical = 0;
    h->file_bytes = h->memory_bytes = *bytes;
    h->flags = RECORDER_ELF_R_ | RECORDER_ELF_W_;
    h->align = RECORDER_ELF_ALIGN_;
    __atomic_store_n(&h->type, RECORDER_ELF_LOAD_, __ATOMIC_RELEASE);
    w->at += *bytes;
    w->segments++;
    return at;
}

/* Saves the stack. After an overflow, its memory begins some pages above the stack
 * pointer; after an overflow by a large frame, at the address in a register, such
 * as the frame pointer, or at the outermost 64 KiB of the main thread's stack. */
RECORDER_SELDOM_ void recorder_crash_stack_(struct recorder_crash_copy_ *w,
                                            const uintptr_t *registers,
                                            uintptr_t sp)
{
    uintptr_t from = sp - RECORDER_CRASH_RED_, bytes;
    uintptr_t next = w->file->strings - RECORDER_CRASH_STACK_;
    char byte;
    unsigned i;
    for (i = 0; i < RECORDER_CRASH_GUARDS_; i++) {
        bytes = RECORDER_CRASH_STACK_;
        if (recorder_crash_save_(w, from, &bytes))
            return;
        from = (from & ~(uintptr_t)4095) + 4096;
    }
    if (next <= from)
        next = UINTPTR_MAX;
    for (i = 0; i < RECORDER_REGISTERS_; i++)
        if (registers[i] > from && registers[i] < next &&
            recorder_memory_copy_all_(&byte, registers[i], 1))
            next = registers[i];
    bytes = RECORDER_CRASH_STACK_;
    recorder_crash_save_(w, next, &bytes);
}

/* Saves the bytes around each word that may be an address, from the start of its
 * page on: the page before may have no memory. */
RECORDER_SELDOM_ void recorder_crash_around_(struct recorder_crash_copy_ *w,
                                             const uintptr_t *words,
                                             size_t count)
{
    for (; count; words++, count--) {
        uintptr_t bytes = RECORDER_CRASH_AROUND_, before = *words % 4096;
        if (before > RECORDER_CRASH_AROUND_ / 4)
            before = RECORDER_CRASH_AROUND_ / 4;
        if (*words > 65536)
            recorder_crash_save_(w, *words - before, &bytes);
    }
}

/* Saves the exception of C++ that no function caught: its header, whose address
 * is on the stack, its type, and a text after its first word. */
RECORDER_SELDOM_ void recorder_crash_thrown_(struct recorder_crash_copy_ *w,
                                             uintptr_t sp)
{
    enum { WORDS = 512, TYPE = 80, TEXT = 40 };
    const uint64_t mine = UINT64_C(0x474e5543432b2b); /* "GNUCC++" */
    uintptr_t at, header, words[3] = {0};
    uint64_t is = 0;
    for (at = sp; at - sp < WORDS * sizeof at && is >> 8 != mine;
         at += sizeof at)
        if (!recorder_memory_copy_all_(&header, at, sizeof header) ||
            header <= 65536 || header % sizeof header ||
            !recorder_memory_copy_all_(&is, header, sizeof is))
            is = 0;
    if (is >> 8 != mine ||
        !recorder_memory_copy_all_(&words[0], header - TYPE, sizeof at) ||
        !recorder_memory_copy_all_(&words[1], header + TEXT, sizeof at))
        return;
    words[2] = header - TYPE;
    recorder_crash_around_(w, words, 3);
}

/* Saves the lists of libraries: in the program's dynamic section, DT_DEBUG has
 * the address of a struct r_debug (<link.h>), whose second word points to the
 * struct link_map of the program. */
RECORDER_SELDOM_ void recorder_crash_libraries_(struct recorder_crash_copy_ *w)
{
    enum { WORDS = 5, DEBUG = 21 };
    uintptr_t bytes = w->file->dynamic_bytes, words[WORDS], i;
    uintptr_t next = 0;
    uintptr_t tag[2];
    for (i = 0; i + sizeof tag <= bytes && !next; i += sizeof tag) {
        if (!recorder_memory_copy_all_(tag, w->file->dynamic + i, sizeof tag))
            return;
        next = tag[0] == DEBUG ? tag[1] : 0;
    }
    if (!next || !recorder_memory_copy_all_(words, next, 2 * sizeof(uintptr_t)))
        return;
    recorder_crash_save_(w, w->file->dynamic, &bytes);
    bytes = sizeof words;
    recorder_crash_save_(w, next, &bytes);
    for (i = 0, next = words[1]; next && i < RECORDER_CRASH_LIBRARIES_; i++) {
        if (!recorder_memory_copy_all_(words, next, sizeof words))
            return;
        bytes = sizeof words;
        recorder_crash_save_(w, next, &bytes);
        bytes = RECORDER_CRASH_AROUND_;
        recorder_crash_save_(w, words[1], &bytes); /* its path */
        next = words[3];
    }
}

/* Stores the signal of the crash; 0: none. */
RECORDER_SELDOM_ void
recorder_crash_mark_(const struct recorder_recording_ *file, int32_t sig)
{
    __atomic_store_n((uint16_t *)(void *)(file->status + 12), (uint16_t)sig,
                     __ATOMIC_RELEASE);
}

/* Writes a crash, or takes it back. A child of vfork() has the recording of its
 * parent. Safe in a signal handler. */
RECORDER_APART_ void
recorder_crash_write_(const struct recorder_crash_note_ *note)
{
    struct recorder_recording_ *file = recorder_recording_;
    struct recorder_crash_copy_ w;
    uintptr_t registers[RECORDER_REGISTERS_ + 1] = {0};
    uintptr_t words[RECORDER_CRASH_WORDS_];
    ptrdiff_t count = -1;
    int32_t number;
    unsigned i;
    int sp;
    if (!file || !file->crash_room || !file->status || !note->most ||
        file->image->pid != recorder_os_process_())
        return;
    recorder_crash_mark_(file, 0);
    if (!note->sig)
        return;
    w.file = file;
    w.at = w.end = file->crash_room;
    w.end += note->most < RECORDER_CRASH_ROOM_ ? note->most
                                               : (size_t)RECORDER_CRASH_ROOM_;
    w.segments = 0;
    for (i = 0; i < RECORDER_CRASH_SEGMENTS_; i++)
        file->headers[file->crash_first + i].type = 0;
    recorder_memory_open_(&w.memory);
    recorder_os_siginfo_(file->siginfo, note->sig, note->info);
    __builtin_memcpy(&number, file->siginfo, sizeof number);
    __builtin_memcpy(file->status + RECORDER_STATUS_PID_, &note->thread, 4);
    sp = recorder_os_registers_(registers, note->context);
    if (sp >= 0) {
        recorder_crash_stack_(&w, registers, registers[sp]);
        count = recorder_memory_copy_(&w.memory, registers[sp], words,
                                      sizeof words);
    }
    __builtin_memcpy(file->status + RECORDER_STATUS_REGISTERS_, registers,
                     RECORDER_REGISTERS_ * sizeof *registers);
    recorder_crash_mark_(file, number);
    recorder_crash_libraries_(&w);
    if (sp >= 0 && number == 6 /* SIGABRT */)
        recorder_crash_thrown_(&w, registers[sp]);
    recorder_crash_around_(&w, registers, RECORDER_REGISTERS_);
    if (count > 0)
        recorder_crash_around_(&w, words, (size_t)count / sizeof *words);
    recorder_memory_close_(&w.memory);
}

RECORDER_C_END_
#endif
