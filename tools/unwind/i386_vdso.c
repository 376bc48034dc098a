/* i386_vdso.c - the code that programs of i386 use for system calls. */
/* SPDX-License-Identifier: MIT */
#include "unwind.h"

/* The kernel maps that code into every process; no file has it, and so no
 * table. It pushes ecx, edx and ebp; the system call returns to the code that
 * pops them. */
bool i386_vdso_step(struct unwind *u, struct registers *registers)
{
    static const unsigned char pops[] = {0x5d, 0x5a, 0x59, 0xc3};
    const struct unwind_machine *machine = u->machine;
    uint64_t sp = registers->value[machine->sp], returns, frame_pointer;
    unsigned char code[sizeof pops];
    if (u->memory->machine != EM_386 || !registers->known[machine->pc] ||
        unwind_bytes(u, registers->value[machine->pc], code, sizeof code) !=
            sizeof code ||
        memcmp(code, pops, sizeof pops) != 0 ||
        !unwind_word(u, sp, &frame_pointer) ||
        !unwind_word(u, sp + 12, &returns))
        return false;
    registers->value[machine->frame_pointer] = frame_pointer;
    registers->known[machine->frame_pointer] = true;
    registers->value[machine->pc] = returns;
    registers->value[machine->sp] = sp + 16;
    return true;
}
