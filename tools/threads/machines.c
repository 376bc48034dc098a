/* machines.c - the differences between processors. */
/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <seccomp.h>

/* Members that both word sizes of RISC-V share. */
#define RISCV                                                                  \
    .elf = EM_RISCV, .calls = SCMP_ARCH_RISCV64,                               \
    .unwind = {.count = 32,                                                    \
               .pc = 64,                                                       \
               .sp = 2,                                                        \
               .frame_pointer = 8,                                             \
               .returns = 1},                                                  \
    .snapshot = {8, 9, 18, 19, 20, 21, 22, 23, 24},                            \
    .status_count = 32, .status = {64, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, \
                                   11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, \
                                   22, 23, 24, 25, 26, 27, 28, 29, 30, 31},    \
    .call = 17, .result = 10, .arguments = {10, 11, 12, 13, 14, 15},           \
    .loses_argument = true

/* The registers of a note are in the order of the kernel's struct
 * user_regs_struct of that machine. */
static const struct machine machines[] = {
    {.elf = EM_X86_64,
     .word_bytes = 8,
     .calls = SCMP_ARCH_X86_64,
     .unwind =
         {.count = 17, .pc = 16, .sp = 7, .frame_pointer = 6, .returns = 16},
     .snapshot = {6, 3, 12, 13, 14, 15, -1, -1, -1},
     .status_count = 27,
     .status = {15, 14, 13, 12, 6,  3, 11, 10, 9,  8,  0,  2,  1, 4,
                5,  -1, 16, -1, -1, 7, -1, -1, -1, -1, -1, -1, -1},
     .call = 15,
     .result = 10,
     .arguments = {14, 13, 12, 7, 9, 8},
     .writer_at = 24},
    {.elf = EM_386,
     .word_bytes = 4,
     .calls = SCMP_ARCH_X86,
     .unwind = {.count = 9, .pc = 8, .sp = 4, .frame_pointer = 5, .returns = 8},
     .snapshot = {-1, -1, -1, -1, -1, -1, -1, -1, -1},
     .status_count = 17,
     .status = {3, 1, 2, 6, 7, 5, 0, -1, -1, -1, -1, -1, 8, -1, -1, 4, -1},
     .call = 11,
     .result = 6,
     .arguments = {0, 1, 2, 3, 4, 5},
     .writer_at = 28},
    {.elf = EM_ARM,
     .word_bytes = 4,
     .calls = SCMP_ARCH_ARM,
     .unwind = {.count = 15,
                .pc = 15,
                .sp = 13,
                .frame_pointer = 11,
                .returns = 14,
                .no_address = 1},
     .snapshot = {11, 7, 4, 5, 6, 8, 9, 10, -1},
     .status_count = 18,
     .status = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, -1, -1},
     .call = 7,
     .result = 0,
     .arguments = {17, 1, 2, 3, 4, 5},
     .writer_at = 28},
    {.elf = EM_AARCH64,
     .word_bytes = 8,
     .calls = SCMP_ARCH_AARCH64,
     .unwind = {.count = 32,
                .pc = 32,
                .sp = 31,
                .frame_pointer = 29,
                .returns = 30,
                .no_address = UINT64_C(0xffff) << 48}, /* its signature */
     .snapshot = {29, 19, 20, 21, 22, 23, 24, 25, 26},
     .status_count = 34,
     .status = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
                24, 25, 26, 27, 28, 29, 30, 31, 32, -1},
     .call = 8,
     .result = 0,
     .arguments = {0, 1, 2, 3, 4, 5},
     .loses_argument = true,
     .writer_at = 24},
    {RISCV, .word_bytes = 8, .writer_at = 24},
    /* Bare-metal programs: no calls of Linux are known for this machine. */
    {RISCV, .word_bytes = 4, .writer_at = 28},
    {.elf = EM_MIPS,
     .word_bytes = 4,
     .calls = SCMP_ARCH_MIPS,
     .unwind = {.count = 32,
                .pc = 64,
                .sp = 29,
                .frame_pointer = 30,
                .returns = 31,
                .no_address = 1},
     .snapshot = {30, 16, 17, 18, 19, 20, 21, 22, 23},
     .status_count = 45,
     .status = {-1, -1, -1, -1, -1, -1, 0,  1,  2,  3,  4,  5,  6,  7,  8,
                9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
                24, 25, 26, 27, 28, 29, 30, 31, -1, -1, 64, -1, -1, -1, -1},
     .call = 8,
     .result = 8,
     .arguments = {10, 11, 12, 13, 14, 15},
     .writer_at = 28}};

const struct machine *machine_of(const struct memory *memory)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].elf == memory->machine &&
            machines[i].word_bytes == memory->word_bytes)
            return &machines[i];
    return NULL;
}

const char *machine_call(const struct machine *machine, int64_t number)
{
    static char *names[6144]; /* calls of mips begin with 4000 or 5000 */
    if (number < 0 || number >= (int64_t)(sizeof names / sizeof *names))
        return NULL;
    if (!names[number])
        names[number] =
            seccomp_syscall_resolve_num_arch(machine->calls, (int)number);
    return names[number];
}
