/* aarch64.c - the effects of AArch64's instructions on the stack. */
/* SPDX-License-Identifier: MIT */
#include "prologue.h"

/* Register 31 is the stack pointer, or 0, as the instruction has it. */
enum { SP = 31, X16 = 16, X17 = 17 };

static uint64_t target(const struct prologue *p, uint32_t number, unsigned bits)
{
    return p->start + p->at + 4 * (uint64_t)sign_extend(number, bits);
}

static bool branches(struct prologue *p, uint32_t i)
{
    if ((i & 0xfc000000) == 0x14000000) { /* b */
        prologue_branch(p, target(p, i, 26));
        prologue_leave(p);
    } else if ((i & 0xfc000000) == 0x94000000 ||
               (i & 0xfffff000) == 0xd63f0000) { /* bl, blr */
        prologue_call(p);
    } else if ((i & 0xff000000) == 0x54000000 ||
               (i & 0x7e000000) == 0x34000000) { /* b.cond, cbz, cbnz */
        prologue_branch(p, target(p, i >> 5, 19));
    } else if ((i & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
        prologue_branch(p, target(p, i >> 5, 14));
    } else if ((i & 0xfffff000) == 0xd65f0000) { /* ret */
        prologue_leave(p);
    } else if ((i & 0xfffff000) == 0xd61f0000) { /* br; else by a table */
        if ((i >> 5 & 31) == X16 || (i >> 5 & 31) == X17)
            prologue_leave(p);
    } else {
        return false;
    }
    return true;
}

/* stp and ldp; of vectors, only the change of the base. */
static void pair(struct prologue *p, uint32_t i)
{
    bool is_vector = i >> 26 & 1;
    unsigned size = is_vector ? 4u << (i >> 30) : i >> 31 ? 8 : 4;
    int64_t distance = sign_extend(i >> 15, 7) * (int64_t)size;
    unsigned how = i >> 23 & 3, first = i & 31, second = i >> 10 & 31;
    unsigned base = i >> 5 & 31;
    int64_t at = how == 1 ? 0 : distance;
    if (!is_vector && i >> 22 & 1) {
        prologue_load(p, first, base, at);
        prologue_load(p, second, base, at + 8);
    } else if (!is_vector && size == 8) {
        prologue_store(p, first, base, at);
        prologue_store(p, second, base, at + 8);
    }
    if (how & 1)
        prologue_add(p, base, base, distance);
}

/* str and ldr of 8 bytes; of other sizes, only the change of the base. */
static void single(struct prologue *p, uint32_t i)
{
    unsigned which = i & 31, base = i >> 5 & 31;
    bool is_word = i >> 30 == 3 && !(i >> 26 & 1);
    bool stores = (i >> 22 & 3) == 0, changes = !(i >> 24 & 1) && i >> 10 & 1;
    int64_t distance =
        i >> 24 & 1 ? (int64_t)(i >> 10 & 0xfff) * 8 : sign_extend(i >> 12, 9);
    bool before = i >> 24 & 1 || (i >> 10 & 3) != 1;
    if (!(i >> 24 & 1) && i >> 21 & 1) { /* by a register */
        if (!stores && which != SP && !(i >> 26 & 1))
            prologue_unknown(p, which);
        return;
    }
    if (is_word && which != SP) {
        if (stores)
            prologue_store(p, which, base, before ? distance : 0);
        else
            prologue_load(p, which, base, before ? distance : 0);
    } else if (!stores && which != SP && !(i >> 26 & 1)) {
        prologue_unknown(p, which);
    }
    if (changes)
        prologue_add(p, base, base, distance);
}

static void compute(struct prologue *p, uint32_t i)
{
    unsigned to = i & 31, from = i >> 5 & 31, by = i >> 16 & 31;
    int64_t number = i >> 10 & 0xfff;
    unsigned shift = (i >> 21 & 3) * 16;
    if (i >> 22 & 1)
        number <<= 12;
    if ((i & 0x7f800000) == 0x11000000)
        prologue_add(p, to, from, number);
    else if ((i & 0x7f800000) == 0x51000000)
        prologue_add(p, to, from, -number);
    else if ((i & 0xffe0ffe0) == 0xaa0003e0) /* mov */
        by == 31 ? prologue_number(p, to, 0) : prologue_add(p, to, by, 0);
    else if ((i & 0xffe01c00) == 0x8b200000) /* add, sub, with sp */
        prologue_sum(p, to, from, by, 1);
    else if ((i & 0xffe01c00) == 0xcb200000)
        prologue_sum(p, to, from, by, -1);
    else if ((i & 0x7f800000) == 0x52800000 && shift < 32) /* movz */
        prologue_number(p, to, (int64_t)(i >> 5 & 0xffff) << shift);
    else if ((i & 0x7f800000) == 0x72800000 && shift < 32 && /* movk */
             p->now.registers[to].kind == VALUE_NUMBER)
        prologue_number(
            p, to,
            (p->now.registers[to].number & ~(INT64_C(0xffff) << shift)) |
                (int64_t)(i >> 5 & 0xffff) << shift);
    else if (to != 31)
        prologue_unknown(p, to);
}

unsigned decode_aarch64(struct prologue *p)
{
    uint32_t i = prologue_code(p, p->at, 4);
    if (p->at + 4 > p->size)
        return 0;
    if (branches(p, i))
        return 4;
    if ((i & 0x3a000000) == 0x28000000)
        pair(p, i);
    else if ((i & 0x3a000000) == 0x38000000)
        single(p, i);
    else if ((i & 0x1c000000) == 0x10000000 || (i & 0x0e000000) == 0x0a000000)
        compute(p, i);
    return 4;
}
