/* snapshot.h - records the registers and the stack of the calling thread. */
/* SPDX-License-Identifier: MIT */
/*
   For programs without tables of their frames: `recorder threads` walks the
   stack later, elsewhere, by the program's instructions. The including file
   has a recorder call_stack.

       snapshot %p: at %p, sp %p, %p ...    an id, the program counter, the
           stack pointer, and nine registers that functions keep, the frame
           pointer first; 0 for registers that the machine lacks
       snapshot %p: from %p: %p ...         ten words of the stack

   The order of the registers is the same as in tools/threads/machines.c.
*/
#pragma once

#include "events.h"
#include "recorder.h"

enum { SNAPSHOT_REGISTERS = 9, SNAPSHOT_WORDS = 10 };

/* A word that a walk may need: an address of the stack, or of code, of which
 * the including file may know more. Other words, such as texts, are kept as 0. */
#ifndef SNAPSHOT_IS_CODE
#define SNAPSHOT_IS_CODE(word) ((void)(word), true)
#endif

/* Into to[0] the program counter, to[1] the stack pointer, then the registers.
 * It is of the function that this becomes a part of. */
__attribute__((always_inline)) static inline void
snapshot_registers(uintptr_t to[2 + SNAPSHOT_REGISTERS])
{
#if defined(__arm__)
    __asm__ volatile("str r11, [%0, #8]\n\tstr r7, [%0, #12]\n\t"
                     "str r4, [%0, #16]\n\tstr r5, [%0, #20]\n\t"
                     "str r6, [%0, #24]\n\tstr r8, [%0, #28]\n\t"
                     "str r9, [%0, #32]\n\tstr r10, [%0, #36]\n\t"
                     "mov r3, sp\n\tstr r3, [%0, #4]\n\t"
                     "mov r3, pc\n\tstr r3, [%0]"
                     :
                     : "r"(to)
                     : "r3", "memory");
#elif defined(__aarch64__)
    __asm__ volatile("stp x29, x19, [%0, #16]\n\tstp x20, x21, [%0, #32]\n\t"
                     "stp x22, x23, [%0, #48]\n\tstp x24, x25, [%0, #64]\n\t"
                     "str x26, [%0, #80]\n\tmov x9, sp\n\tadr x10, .\n\t"
                     "stp x10, x9, [%0]"
                     :
                     : "r"(to)
                     : "x9", "x10", "memory");
#elif defined(__riscv) && __riscv_xlen == 64
    __asm__ volatile("sd s0, 16(%0)\n\tsd s1, 24(%0)\n\tsd s2, 32(%0)\n\t"
                     "sd s3, 40(%0)\n\tsd s4, 48(%0)\n\tsd s5, 56(%0)\n\t"
                     "sd s6, 64(%0)\n\tsd s7, 72(%0)\n\tsd s8, 80(%0)\n\t"
                     "sd sp, 8(%0)\n\tauipc t0, 0\n\tsd t0, 0(%0)"
                     :
                     : "r"(to)
                     : "t0", "memory");
#elif defined(__mips__) && _MIPS_SIM == _ABIO32
    __asm__ volatile(".set push\n\t.set noreorder\n\tsw $30, 8(%0)\n\t"
                     "sw $16, 12(%0)\n\tsw $17, 16(%0)\n\tsw $18, 20(%0)\n\t"
                     "sw $19, 24(%0)\n\tsw $20, 28(%0)\n\tsw $21, 32(%0)\n\t"
                     "sw $22, 36(%0)\n\tsw $23, 40(%0)\n\tsw $29, 4(%0)\n\t"
                     "bal 1f\n\tnop\n1:\tsw $31, 0(%0)\n\t.set pop"
                     :
                     : "r"(to)
                     : "$31", "memory");
#elif defined(__x86_64__)
    __asm__ volatile("movq %%rbp, 16(%0)\n\tmovq %%rbx, 24(%0)\n\t"
                     "movq %%r12, 32(%0)\n\tmovq %%r13, 40(%0)\n\t"
                     "movq %%r14, 48(%0)\n\tmovq %%r15, 56(%0)\n\t"
                     "movq %%rsp, 8(%0)\n\tleaq 0(%%rip), %%rax\n\t"
                     "movq %%rax, (%0)"
                     :
                     : "r"(to)
                     : "rax", "memory");
#else
    (void)to;
#endif
}

static void *snapshot_word(uintptr_t word, uintptr_t sp, uintptr_t top)
{
    return (void *)(word - sp <= top - sp || SNAPSHOT_IS_CODE(word) ? word : 0);
}

/* Records the snapshot `id`: at most `bytes` of the stack, and nothing from
 * `top` on, where the thread's stack ends. Nothing where the machine is not
 * known here, or the stack pointer is outside the stack. */
__attribute__((noinline, unused)) static void
snapshot_take(uintptr_t id, uintptr_t top, uintptr_t bytes)
{
    uintptr_t r[2 + SNAPSHOT_REGISTERS] = {0}, at, end;
    const uintptr_t piece = SNAPSHOT_WORDS * sizeof at;
    snapshot_registers(r);
    at = r[1];
    if (at == 0 || at >= top || top - at < piece)
        return;
    end = top - at < bytes ? top : at + bytes;
    end -= (end - at) % sizeof at;
#define SNAPSHOT_WORD(from, i) snapshot_word((from)[i], r[1], top)
    record(call_stack,
           RUN_HEADING("snapshot") "snapshot %p: at %p, sp %p, %p %p %p %p %p "
                                   "%p %p %p %p",
           (void *)id, (void *)r[0], (void *)r[1], SNAPSHOT_WORD(r, 2),
           SNAPSHOT_WORD(r, 3), SNAPSHOT_WORD(r, 4), SNAPSHOT_WORD(r, 5),
           SNAPSHOT_WORD(r, 6), SNAPSHOT_WORD(r, 7), SNAPSHOT_WORD(r, 8),
           SNAPSHOT_WORD(r, 9), SNAPSHOT_WORD(r, 10));
    while (at < end) {
        const uintptr_t *w;
        if (end - at < piece) /* the last overlaps: no record has less */
            at = end - piece;
        w = (const uintptr_t *)at;
        record(call_stack,
               RUN_HEADING("words") "snapshot %p: from %p: %p %p %p %p %p %p "
                                    "%p %p %p %p",
               (void *)id, (void *)at, SNAPSHOT_WORD(w, 0),
               SNAPSHOT_WORD(w, 1), SNAPSHOT_WORD(w, 2), SNAPSHOT_WORD(w, 3),
               SNAPSHOT_WORD(w, 4), SNAPSHOT_WORD(w, 5), SNAPSHOT_WORD(w, 6),
               SNAPSHOT_WORD(w, 7), SNAPSHOT_WORD(w, 8), SNAPSHOT_WORD(w, 9));
        at += piece;
    }
#undef SNAPSHOT_WORD
}
