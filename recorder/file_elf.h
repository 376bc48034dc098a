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
#if __SIZEOF_POINTER__ == 8
    uint32_t flags;
#endif
    uintptr_t offset, address, physical, file_bytes, memory_bytes;
#if __SIZEOF_POINTER__ == 4
    uint32_t flags;
#endif
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

/* The number of registers in the machine's NT_PRSTATUS; 0: unknown, and the
 * note is left out. */
#if defined(__x86_64__) && __SIZEOF_POINTER__ == 8
#define RECORDER_REGISTERS_ 27
#elif defined(__i386__)
#define RECORDER_REGISTERS_ 17
#elif defined(__aarch64__) && __SIZEOF_POINTER__ == 8
#define RECORDER_REGISTERS_ 34
#elif defined(__arm__)
#define RECORDER_REGISTERS_ 18
#elif defined(__riscv)
#define RECORDER_REGISTERS_ 32
#elif defined(__powerpc__)
#define RECORDER_REGISTERS_ 48
#elif defined(__s390x__)
#define RECORDER_REGISTERS_ 27
#elif defined(__mips__) && (__SIZEOF_POINTER__ == 8) == (_MIPS_SIM == _ABI64)
#define RECORDER_REGISTERS_ 45
#else
#define RECORDER_REGISTERS_ 0
#endif
/* NT_PRSTATUS: a signal (three ints, two shorts), two masks, ids, 4 times. */
#define RECORDER_STATUS_PID_ (16 + 2 * sizeof(uintptr_t))
#define RECORDER_STATUS_BYTES_                                                 \
    (RECORDER_STATUS_PID_ + 16 +                                               \
     (8 + RECORDER_REGISTERS_ + 1) * sizeof(uintptr_t))
#define RECORDER_STATUS_REGISTERS_                                             \
    (RECORDER_STATUS_PID_ + 16 + 8 * sizeof(uintptr_t))
/* NT_PRPSINFO: four letters, flags, user and group, four ids, two names. */
#if __SIZEOF_POINTER__ == 8
#define RECORDER_INFO_PID_ 24
#elif defined(__powerpc__) || defined(__mips__) || defined(__riscv)
#define RECORDER_INFO_PID_ 16
#else
#define RECORDER_INFO_PID_ 12
#endif
#define RECORDER_INFO_BYTES_ (RECORDER_INFO_PID_ + 16 + 16 + 80)
enum { RECORDER_AUXILIARY_MAX_ = 2048 }; /* bytes of NT_AUXV */
enum { RECORDER_SIGINFO_BYTES_ = 128 };

RECORDER_C_END_
#endif
