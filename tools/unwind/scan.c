/* scan.c - a frame's caller, found by a return address alone. */
/* SPDX-License-Identifier: MIT */
/*
   A libc without tables (musl has none) does not describe its frames. We take
   the first word of the stack that follows a call to this function, directly or
   from another module through a linkage table. Frames between the two are left
   out.
*/
#include "bytes.h"
#include "unwind.h"

enum { SCAN_BYTES = 4096, WORD = 8 };

/* True if the instruction before `returns` calls the function at `address`. */
static bool is_caller(struct unwind *u, uint64_t returns, uint64_t address)
{
    Dwfl_Module *module = dwfl_addrmodule(u->dwfl, returns - 1);
    Dwfl_Module *own = dwfl_addrmodule(u->dwfl, address);
    struct function function;
    uint64_t target[2];
    if (!module || !own || call_before(u, returns, target) != CALLS_YES)
        return false;
    if (function_find(u, address, &function) &&
        (function.start == target[0] || function.start == target[1]))
        return true;
    return target[1] && module != own &&
           dwfl_addrmodule(u->dwfl, target[1]) == own;
}

enum unwind_step scan_step(struct unwind *u, uint64_t address,
                           struct registers *registers)
{
    const struct unwind_machine *machine = u->machine;
    unsigned char bytes[SCAN_BYTES];
    uint64_t sp = registers->value[machine->sp];
    size_t got;
    if (u->memory->machine != EM_X86_64 || sp % WORD)
        return UNWIND_UNKNOWN;
    got = unwind_stack(u, sp, bytes, sizeof bytes);
    for (size_t at = 0; at + WORD <= got; at += WORD) {
        uint64_t returns = bytes_word(u->memory, bytes + at);
        if (!is_caller(u, returns, address))
            continue;
        *registers = (struct registers){0};
        registers->value[machine->pc] = returns;
        registers->value[machine->sp] = sp + at + WORD;
        registers->known[machine->pc] = registers->known[machine->sp] = true;
        return UNWIND_NEXT;
    }
    return UNWIND_UNKNOWN;
}
