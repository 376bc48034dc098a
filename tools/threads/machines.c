/* machines.c - what differs between processors. */
/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <elf.h>
#include <seccomp.h>
#include <stdlib.h>

/* The registers of a note stand in the order of the kernel's struct
 * user_regs_struct of that machine. */
static const struct machine machines[] = {
    {.elf = EM_X86_64,
     .word_bytes = 8,
     .calls = SCMP_ARCH_X86_64,
     .unwind = {.count = 17, .pc = 16, .sp = 7, .frame_pointer = 6},
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
     .unwind = {.count = 9, .pc = 8, .sp = 4, .frame_pointer = 5},
     .status_count = 17,
     .status = {3, 1, 2, 6, 7, 5, 0, -1, -1, -1, -1, -1, 8, -1, -1, 4, -1},
     .call = 11,
     .result = 6,
     .arguments = {0, 1, 2, 3, 4, 5},
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
    static char *names[512];
    if (number < 0 || number >= (int64_t)(sizeof names / sizeof *names))
        return NULL;
    if (!names[number])
        names[number] =
            seccomp_syscall_resolve_num_arch(machine->calls, (int)number);
    return names[number];
}
