/* words.c - bytes and words of the program, a limited number of reads. */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "unwind.h"

size_t unwind_bytes(struct unwind *u, uint64_t address, void *to, size_t size)
{
    if (u->reads_left == 0)
        return 0;
    u->reads_left--;
    size = u->memory->read(u->memory, address, to, size);
    bytes_need(u->memory, address, size);
    return size;
}

/* Notes that a walk depends on the addresses among the words of a stack. Other
 * words may be secrets of the program, and a walk does not need them. */
static void stack_need(struct unwind *u, uint64_t address,
                       const unsigned char *from, size_t size)
{
    enum { STACK_MAX = 16 << 20 };
    struct memory *m = u->memory;
    for (size_t at = 0; m->needs && at + m->word_bytes <= size;
         at += m->word_bytes) {
        uint64_t word =
            bytes_word(m, from + at) & ~u->machine->no_address & word_max(m);
        bool leads = word - address + STACK_MAX < 2 * STACK_MAX ||
                     dwfl_addrmodule(u->dwfl, word) ||
                     dwfl_addrmodule(u->dwfl, word - 1);
        m->needs(m, address + at, m->word_bytes, !leads);
    }
}

size_t unwind_stack(struct unwind *u, uint64_t address, void *to, size_t size)
{
    if (u->reads_left == 0)
        return 0;
    u->reads_left--;
    size = u->memory->read(u->memory, address, to, size);
    stack_need(u, address, to, size);
    return size;
}

bool unwind_word(struct unwind *u, uint64_t address, uint64_t *word)
{
    unsigned char bytes[8];
    unsigned size = u->memory->word_bytes;
    if ((dwfl_addrmodule(u->dwfl, address)
             ? unwind_bytes(u, address, bytes, size)
             : unwind_stack(u, address, bytes, size)) != size)
        return false;
    *word = bytes_word(u->memory, bytes);
    return true;
}
