/* calls.c - the call in front of a return address, of x86-64. */
/* SPDX-License-Identifier: MIT */
#include "unwind.h"

#include <elf.h>
#include <string.h>

/* The word that `ff /2` or `ff /4` with an address relative to its end has. */
static uint64_t word_behind(struct unwind *u, uint64_t end,
                            const unsigned char offset[4])
{
    uint64_t target;
    int32_t distance;
    memcpy(&distance, offset, sizeof distance);
    return unwind_word(u, end + (uint64_t)(int64_t)distance, &target) ? target
                                                                      : 0;
}

/* Where an entry of the procedure linkage table leads; 0: it is none. */
static uint64_t linkage_target(struct unwind *u, uint64_t address)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    unsigned char code[16], *at = code;
    if (unwind_bytes(u, address, code, sizeof code) != sizeof code)
        return 0;
    if (memcmp(at, endbr64, sizeof endbr64) == 0)
        at += sizeof endbr64;
    if (*at == 0xf2) /* bnd */
        at++;
    if (at[0] != 0xff || at[1] != 0x25) /* jmp *offset(%rip) */
        return 0;
    return word_behind(u, address + (uint64_t)(at + 6 - code), at + 2);
}

enum calls call_before(struct unwind *u, uint64_t returns, uint64_t target[2])
{
    unsigned char code[7];
    int32_t distance;
    target[0] = target[1] = 0;
    if (u->memory->machine != EM_X86_64 ||
        unwind_bytes(u, returns - sizeof code, code, sizeof code) !=
            sizeof code)
        return CALLS_NO;
    if (code[2] == 0xe8) {
        memcpy(&distance, code + 3, sizeof distance);
        target[0] = returns + (uint64_t)(int64_t)distance;
        target[1] = linkage_target(u, target[0]);
        return CALLS_YES;
    }
    if (code[1] == 0xff && code[2] == 0x15) /* call *distance(%rip) */
        target[0] = word_behind(u, returns, code + 3);
    /* ff /2 has 2, 3, 4, 6 or 7 bytes. */
    for (unsigned i = 0; i <= 5; i++)
        if (i != 2 && code[i] == 0xff && (code[i + 1] & 0x38) == 0x10)
            return CALLS_PERHAPS;
    return CALLS_NO;
}
