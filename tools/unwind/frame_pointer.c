/* frame_pointer.c - the frame pointer of a function, from what its call left. */
/* SPDX-License-Identifier: MIT */
/*
   Of a thread that waits, the system tells the program counter and the stack
   pointer. That is enough while tables reckon from the stack pointer. A function
   that keeps a frame pointer has its caller's, and above it the return address,
   at the place that it points to: and in front of that return address stands the
   call of this very function.
*/
#include "bytes.h"
#include "unwind.h"

#include <elf.h>
#include <string.h>

/* How far above the stack pointer a frame may begin. */
enum { FRAME_BYTES_MAX = 65536, BLOCK_BYTES = 1024 };

/* Where the function begins that an address lies in; 0: no symbol tells. */
static uint64_t function_start(struct unwind *u, uint64_t address)
{
    Dwfl_Module *module = dwfl_addrmodule(u->dwfl, address);
    GElf_Off offset;
    GElf_Sym symbol;
    if (!module || !dwfl_module_addrinfo(module, address, &offset, &symbol,
                                         NULL, NULL, NULL))
        return 0;
    return address - offset;
}

/* Does a call's target begin the function that `address` lies in? */
static bool is_function(struct unwind *u, uint64_t target, uint64_t address)
{
    uint64_t start = function_start(u, address);
    if (start)
        return target == start;
    return address - target < FRAME_BYTES_MAX && cfi_is_entry(u, target);
}

/* Does a call of the function that `address` lies in stand in front of a return
 * address? Perhaps: it calls what a register or a word holds. */
static enum calls calls(struct unwind *u, uint64_t returns, uint64_t address)
{
    uint64_t target[2];
    enum calls does = dwfl_addrmodule(u->dwfl, returns - 1)
                          ? call_before(u, returns, target)
                          : CALLS_NO;
    if (does != CALLS_YES)
        return does;
    return is_function(u, target[0], address) ||
                   (target[1] && is_function(u, target[1], address))
               ? CALLS_YES
               : CALLS_NO;
}

bool frame_pointer_find(struct unwind *u, uint64_t address,
                        struct registers *registers)
{
    const struct unwind_machine *machine = u->machine;
    uint64_t sp = registers->value[machine->sp], perhaps = 0, found = 0;
    unsigned char block[BLOCK_BYTES + 16];
    if (u->memory->machine != EM_X86_64 || sp % 8)
        return false;
    for (uint64_t at = 0; at < FRAME_BYTES_MAX && !found; at += BLOCK_BYTES) {
        size_t got = unwind_bytes(u, sp + at, block, sizeof block);
        for (size_t i = 0; i + 16 <= got && i < BLOCK_BYTES && !found; i += 8) {
            uint64_t here = sp + at + i;
            uint64_t saved = bytes_word(u->memory, block + i);
            uint64_t returns = bytes_word(u->memory, block + i + 8);
            enum calls does = calls(u, returns, address);
            if (does == CALLS_YES)
                found = here;
            /* The caller's frame pointer, if it keeps one, lies above. */
            else if (does == CALLS_PERHAPS && !perhaps &&
                     (saved == 0 || saved - here < 1 << 20))
                perhaps = here;
        }
        if (got < sizeof block)
            break;
    }
    if (!found)
        found = perhaps;
    registers->value[machine->frame_pointer] = found;
    registers->known[machine->frame_pointer] = found != 0;
    return found != 0;
}
