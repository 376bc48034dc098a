/* frame_pointer.c - finds the frame pointer of a function, by its call. */
/* SPDX-License-Identifier: MIT */
/*
   Linux shows the program counter and the stack pointer of a waiting thread,
   and no other register. Tables that count from the stack pointer need no more.
   A function with a frame pointer has pushed its caller's frame pointer; above
   it is the return address, and the instruction before the return address calls
   this function.
*/
#include "bytes.h"
#include "unwind.h"

/* How far above the stack pointer a frame may begin. */
enum { FRAME_BYTES_MAX = 65536, BLOCK_BYTES = 1024 };

/* The start of the function at an address; 0: no symbol has it. */
static uint64_t function_start(struct unwind *u, uint64_t address)
{
    struct function function;
    return function_find(u, address, &function) ? function.start : 0;
}

/* The function whose frame pointer is looked for. */
struct callee {
    uint64_t address; /* in it */
    uint64_t start;   /* 0: not known */
};

/* True if a call's target is the start of the function. */
static bool is_function(struct unwind *u, uint64_t target,
                        const struct callee *f)
{
    if (f->start)
        return target == f->start;
    return f->address - target < FRAME_BYTES_MAX && cfi_is_entry(u, target);
}

/* Finds out if the instruction before a return address calls the function.
 * Perhaps: it calls through a register or a word. */
static enum calls calls(struct unwind *u, uint64_t returns,
                        const struct callee *f)
{
    uint64_t target[2];
    enum calls does = dwfl_addrmodule(u->dwfl, returns - 1)
                          ? call_before(u, returns, target)
                          : CALLS_NO;
    if (does != CALLS_YES)
        return does;
    return is_function(u, target[0], f) ||
                   (target[1] && is_function(u, target[1], f))
               ? CALLS_YES
               : CALLS_NO;
}

/* The distance from the frame pointer down to the stack pointer after a
 * function's first instructions: push %rbp; mov %rsp,%rbp; other pushes and mov
 * between registers; sub $n,%rsp. False: it begins otherwise. A function that
 * extends its stack later has a greater distance. */
static bool frame_size(struct unwind *u, const struct callee *f, uint64_t *size)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    static const unsigned char enter[] = {0x55, 0x48, 0x89, 0xe5};
    unsigned char code[32];
    size_t i = 0;
    int32_t room;
    if (!f->start ||
        unwind_bytes(u, f->start, code, sizeof code) != sizeof code)
        return false;
    if (memcmp(code, endbr64, sizeof endbr64) == 0)
        i += sizeof endbr64;
    if (memcmp(code + i, enter, sizeof enter) != 0)
        return false;
    for (*size = 0, i += sizeof enter; i < sizeof code - 7;) {
        const unsigned char *at = code + i,
                            rex = (*at & 0xf0) == 0x40 ? *at : 0;
        at += rex != 0;
        if ((*at & 0xf8) == 0x50 && (rex & 0xe) == 0) /* push; 41: from r8 on */
            *size += 8;
        else if (*at == 0x89 && at[1] >= 0xc0 &&
                 ((at[1] & 7) != 4 || (rex & 1))) /* mov, not to %rsp */
            at++;
        else
            break;
        i = (size_t)(at + 1 - code);
    }
    if (code[i] == 0x48 && code[i + 1] == 0x83 && code[i + 2] == 0xec) {
        *size += code[i + 3];
    } else if (code[i] == 0x48 && code[i + 1] == 0x81 && code[i + 2] == 0xec) {
        memcpy(&room, code + i + 3, sizeof room);
        *size += (uint32_t)room;
    }
    return *size < FRAME_BYTES_MAX;
}

enum calls frame_pointer_usual(struct unwind *u, uint64_t address, uint64_t sp,
                               uint64_t *place)
{
    const struct callee f = {address, function_start(u, address)};
    unsigned char words[16];
    uint64_t size, returns, target[2];
    enum calls does;
    if (u->memory->machine != EM_X86_64 || !frame_size(u, &f, &size))
        return CALLS_NO;
    *place = sp + size;
    if (unwind_stack(u, *place, words, sizeof words) != sizeof words)
        return CALLS_NO;
    returns = bytes_word(u->memory, words + 8);
    does = calls(u, returns, &f);
    /* Perhaps it calls a function that ends in a jump to this one. */
    if (does == CALLS_NO && dwfl_addrmodule(u->dwfl, returns - 1) &&
        call_before(u, returns, target) != CALLS_NO)
        return CALLS_PERHAPS;
    return does;
}

enum calls frame_pointer_next(struct unwind *u, uint64_t address, uint64_t sp,
                              uint64_t *place)
{
    const struct callee f = {address, function_start(u, address)};
    unsigned char block[BLOCK_BYTES + 16];
    if (u->memory->machine != EM_X86_64 || sp % 8)
        return CALLS_NO;
    while (*place - sp < FRAME_BYTES_MAX) {
        size_t got = unwind_stack(u, *place, block, sizeof block);
        for (size_t i = 0; i + 16 <= got && i < BLOCK_BYTES; i += 8) {
            enum calls does =
                calls(u, bytes_word(u->memory, block + i + 8), &f);
            if (does == CALLS_NO)
                continue;
            *place += i;
            return does;
        }
        if (got < sizeof block)
            break;
        *place += BLOCK_BYTES;
    }
    return CALLS_NO;
}
