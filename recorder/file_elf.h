/* file_elf.h - layout of an ELF core file, which a recording is. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_FILE_ELF_H_
#define RECORDER_FILE_ELF_H_

#include "language.h"

RECORDER_C_BEGIN_

/* The head of an ELF file and a program header, in the layout of <elf.h>. */
struct recorder_elf_ {
    unsigned char ident[16];
    uint16_t type, machine;
    uint32_t version;
    uintptr_t entry, headers, sections;
    uint32_t flags;
    uint16_t bytes, header_bytes, headers_count;
    uint16_t section_bytes, sections_count, names;
};
struct recorder_elf_header_ {
    uint32_t type;
    RECORDER_WORDS_OR_(uint32_t flags;, )
    uintptr_t offset, address, physical, file_bytes, memory_bytes;
    RECORDER_WORDS_OR_(, uint32_t flags;)
    uintptr_t align;
};
enum {
    RECORDER_ELF_LOAD_ = 1,
    RECORDER_ELF_NOTE_ = 4,
    RECORDER_ELF_CORE_ = 4,
    RECORDER_ELF_X_ = 1,
    RECORDER_ELF_W_ = 2,
    RECORDER_ELF_R_ = 4
};

/* A module of the process: struct dl_phdr_info of <link.h>. */
struct recorder_dl_info_ {
    uintptr_t bias;
    const char *path;
    const struct recorder_elf_header_ *headers;
    uint16_t headers_count;
};

/* A system says how many registers the machine's NT_PRSTATUS has,
 * RECORDER_REGISTERS_, 0: unknown, and the note is left out; and where
 * NT_PRPSINFO has its ids, RECORDER_INFO_PID_. NT_PRSTATUS: a signal (three ints, two shorts), two masks, ids, 4 times. */
#define RECORDER_STATUS_PID_ (16 + 2 * sizeof(uintptr_t))
#define RECORDER_STATUS_BYTES_                                                 \
    (RECORDER_STATUS_PID_ + 16 +                                               \
     (8 + RECORDER_REGISTERS_ + 1) * sizeof(uintptr_t))
#define RECORDER_STATUS_REGISTERS_                                             \
    (RECORDER_STATUS_PID_ + 16 + 8 * sizeof(uintptr_t))
/* NT_PRPSINFO: four letters, flags, user and group, four ids, two names. */
#define RECORDER_INFO_BYTES_ (RECORDER_INFO_PID_ + 16 + 16 + 80)
/* Of a piece of memory. With 1, libdwfl takes AT_PAGESZ for the alignment, and reads
 * the pieces after this one as this piece's memory up to the end of a page. */
#define RECORDER_ELF_ALIGN_ sizeof(uintptr_t)
enum { RECORDER_AUXILIARY_MAX_ = 2048 }; /* bytes of NT_AUXV */
enum { RECORDER_SIGINFO_BYTES_ = 128 };

RECORDER_C_END_
#endif
