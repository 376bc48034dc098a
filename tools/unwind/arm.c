/* arm.c - the effects of ARM and Thumb instructions on the stack (32 bits). */
/* SPDX-License-Identifier: MIT */
#include "prologue.h"

enum { SP = 13, LR = 14, PC = 15 };

static uint32_t rotate_right(uint32_t value, unsigned by)
{
    return by ? value >> by | value << (32 - by) : value;
}

/* Stores or loads several registers from an address on, the lowest first. */
static void transfer(struct prologue *p, uint32_t mask, unsigned base,
                     bool loads, bool down, bool before, bool changes)
{
    int bytes = 4 * __builtin_popcount(mask);
    int at = down ? (before ? -bytes : 4 - bytes) : before ? 4 : 0;
    for (unsigned i = 0; i < 16; i++) {
        if (!(mask >> i & 1))
            continue;
        if (!loads)
            prologue_store(p, i, base, at);
        else if (i != base && i != PC)
            prologue_load(p, i, base, at);
        at += 4;
    }
    if (changes)
        prologue_add(p, base, base, down ? -bytes : bytes);
    if (loads && mask >> PC & 1)
        prologue_leave(p);
}

/* A store or load of one register, with the base changed before or after it. */
static void single(struct prologue *p, bool loads, unsigned which,
                   unsigned base, int64_t distance, bool before, bool changes)
{
    int64_t at = before ? distance : 0;
    if (!loads)
        prologue_store(p, which, base, at);
    else if (which != PC && which != base)
        prologue_load(p, which, base, at);
    if (changes || !before)
        prologue_add(p, base, base, distance);
    if (loads && which == PC && base == SP)
        prologue_leave(p);
}

/* ------------------------------------------------------------------- ARM -- */

/* ldr and str of a word or byte, with a number as distance. */
static void arm_single(struct prologue *p, uint32_t i)
{
    unsigned base = i >> 16 & 15, which = i >> 12 & 15;
    int64_t distance = i >> 23 & 1 ? (i & 0xfff) : -(int64_t)(i & 0xfff);
    bool loads = i >> 20 & 1, before = i >> 24 & 1;
    if (i >> 25 & 1 || i >> 22 & 1) { /* by a register; or bytes */
        if (loads)
            prologue_unknown(p, which);
        return;
    }
    if (loads && base == PC && which != PC) {
        prologue_constant(p, which, p->start + p->at + 8 + (uint64_t)distance);
        return;
    }
    single(p, loads, which, base, distance, before, i >> 21 & 1);
}

/* to = from OPERATION number. */
static void compute(struct prologue *p, unsigned operation, unsigned to,
                    unsigned from, uint32_t number)
{
    if (operation >= 8 && operation <= 11) /* tst, teq, cmp, cmn */
        return;
    switch (operation) {
    case 2: prologue_add(p, to, from, -(int64_t)number); break;
    case 4: prologue_add(p, to, from, number); break;
    case 13: prologue_number(p, to, (int32_t)number); break;
    case 15: prologue_number(p, to, (int32_t)~number); break;
    default: prologue_unknown(p, to);
    }
}

/* to = from OPERATION by, a register that is not shifted. */
static void compute_by(struct prologue *p, unsigned operation, unsigned to,
                       unsigned from, unsigned by)
{
    if (operation >= 8 && operation <= 11)
        return;
    switch (operation) {
    case 2: prologue_sum(p, to, from, by, -1); break;
    case 4: prologue_sum(p, to, from, by, 1); break;
    case 13: prologue_add(p, to, by, 0); break;
    default: prologue_unknown(p, to);
    }
}

static void arm_compute(struct prologue *p, uint32_t i)
{
    unsigned operation = i >> 21 & 15, to = i >> 12 & 15, from = i >> 16 & 15;
    unsigned value = (from << 12) | (i & 0xfff);
    if ((i & 0x0ff00000) == 0x03000000)
        prologue_number(p, to, value); /* movw */
    else if ((i & 0x0ff00000) == 0x03400000)
        prologue_unknown(p, to); /* movt: an address, or a large number */
    else if (i >> 25 & 1)
        compute(p, operation, to, from,
                rotate_right(i & 0xff, (i >> 8 & 15) * 2));
    else if ((i & 0x0e0000f0) == 0x000000f0 && i >> 22 & 1 && !(to & 1)) {
        int64_t distance = (i >> 4 & 0xf0) | (i & 15); /* strd */
        if (i >> 23 & 1 && i >> 24 & 1 && !(i >> 21 & 1)) {
            prologue_store(p, to, from, distance);
            prologue_store(p, to + 1, from, distance + 4);
        } else if (i >> 24 & 1 && i >> 21 & 1) {
            distance = i >> 23 & 1 ? distance : -distance;
            prologue_store(p, to, from, distance);
            prologue_store(p, to + 1, from, distance + 4);
            prologue_add(p, from, from, distance);
        }
    } else if ((i & 0x90) != 0x90 && (i & 0x01900000) != 0x01000000) {
        if (i & 0xff0) /* shifted */
            compute(p, operation >= 8 && operation <= 11 ? operation : 0, to,
                    from, 0);
        else
            compute_by(p, operation, to, from, i & 15);
    }
}

/* vpush and vpop, of doubles or floats. */
static void vector(struct prologue *p, uint32_t i)
{
    int64_t bytes = (i & 0xff) * 4;
    if ((i & 0x0fbf0e00) == 0x0d2d0a00)
        prologue_add(p, SP, SP, -bytes);
    else if ((i & 0x0fbf0e00) == 0x0cbd0a00)
        prologue_add(p, SP, SP, bytes);
}

unsigned decode_arm(struct prologue *p)
{
    uint32_t i = prologue_code(p, p->at, 4);
    bool always = i >> 28 == 14;
    if (p->at + 4 > p->size)
        return 0;
    if ((i & 0x0e000000) == 0x0a000000) { /* b, bl */
        uint64_t target =
            p->start + p->at + 8 + 4 * (uint64_t)sign_extend(i & 0xffffff, 24);
        if (i >> 28 == 15 || i >> 24 & 1) {
            prologue_call(p);
        } else {
            prologue_branch(p, target);
            if (always)
                prologue_leave(p);
        }
    } else if (!always) {
        return 4;
    } else if ((i & 0x0ffffff0) == 0x012fff10) { /* bx */
        prologue_leave(p);
    } else if ((i & 0x0ffffff0) == 0x012fff30) { /* blx */
        prologue_call(p);
    } else if ((i & 0x0e000000) == 0x08000000) {
        transfer(p, i & 0xffff, i >> 16 & 15, i >> 20 & 1, !(i >> 23 & 1),
                 i >> 24 & 1, i >> 21 & 1);
    } else if ((i & 0x0c000000) == 0x04000000 && !(i >> 25 & 1 && i >> 4 & 1)) {
        arm_single(p, i);
    } else if ((i & 0x0c000000) == 0) {
        arm_compute(p, i);
    } else {
        vector(p, i);
    }
    return 4;
}

/* ----------------------------------------------------- Thumb, of 32 bits -- */

/* The number that a Thumb instruction has in 12 bits. */
static uint32_t thumb_number(uint32_t i, uint32_t j)
{
    uint32_t code = (i >> 10 & 1) << 11 | (j >> 12 & 7) << 8 | (j & 0xff);
    uint32_t byte = code & 0xff;
    if (code >> 10)
        return rotate_right((code & 0x7f) | 0x80, code >> 7);
    switch (code >> 8) {
    case 1: return byte | byte << 16;
    case 2: return byte << 8 | byte << 24;
    case 3: return byte * 0x01010101;
    default: return byte;
    }
}

/* Returns ARM's number for the operation of a Thumb instruction; 0: another. */
static unsigned thumb_operation(uint32_t i, uint32_t j)
{
    bool to_none = (j >> 8 & 15) == 15 && i >> 4 & 1;
    switch (i >> 5 & 15) {
    case 2: return (i & 15) == 15 ? 13 : 0; /* orr, mov */
    case 8: return to_none ? 11 : 4;        /* add, cmn */
    case 13: return to_none ? 10 : 2;       /* sub, cmp */
    default: return to_none ? 8 : 0;
    }
}

static void wide_branch(struct prologue *p, uint32_t i, uint32_t j)
{
    uint32_t sign = i >> 10 & 1, j1 = j >> 13 & 1, j2 = j >> 11 & 1;
    uint64_t from = p->start + p->at + 4;
    if ((j & 0xc000) == 0xc000) {
        prologue_call(p);
    } else if ((j & 0xd000) == 0x9000) {
        uint32_t distance = sign << 24 | (j1 ^ sign ^ 1) << 23 |
                            (j2 ^ sign ^ 1) << 22 | (i & 0x3ff) << 12 |
                            (j & 0x7ff) << 1;
        prologue_branch(p, from + (uint64_t)sign_extend(distance, 25));
        if (!p->given)
            prologue_leave(p);
    } else if ((i >> 6 & 15) < 14) {
        uint32_t distance = sign << 20 | j2 << 19 | j1 << 18 |
                            (i & 0x3f) << 12 | (j & 0x7ff) << 1;
        prologue_branch(p, from + (uint64_t)sign_extend(distance, 21));
    }
}

/* ldr and str of a word. */
static void wide_single(struct prologue *p, uint32_t i, uint32_t j)
{
    unsigned base = i & 15, which = j >> 12;
    bool loads = i >> 4 & 1;
    uint64_t next = (p->start + p->at + 4) & ~UINT64_C(3);
    if (loads && base == PC) {
        int64_t distance = i >> 7 & 1 ? (j & 0xfff) : -(int64_t)(j & 0xfff);
        prologue_constant(p, which, next + (uint64_t)distance);
    } else if (i >> 7 & 1) {
        single(p, loads, which, base, j & 0xfff, true, false);
    } else if (j >> 11 & 1) {
        int64_t distance = j >> 9 & 1 ? (j & 0xff) : -(int64_t)(j & 0xff);
        single(p, loads, which, base, distance, j >> 10 & 1, j >> 8 & 1);
    } else if (loads) {
        prologue_unknown(p, which);
    }
}

/* strd and ldrd. */
static void wide_double(struct prologue *p, uint32_t i, uint32_t j)
{
    int64_t distance = (i >> 7 & 1 ? 4 : -4) * (int64_t)(j & 0xff);
    unsigned base = i & 15, first = j >> 12, second = j >> 8 & 15;
    int64_t at = i >> 8 & 1 ? distance : 0;
    if (i >> 4 & 1) {
        prologue_load(p, first, base, at);
        prologue_load(p, second, base, at + 4);
    } else {
        prologue_store(p, first, base, at);
        prologue_store(p, second, base, at + 4);
    }
    if (i >> 5 & 1)
        prologue_add(p, base, base, distance);
}

static void thumb_wide(struct prologue *p, uint32_t i, uint32_t j)
{
    unsigned to = j >> 8 & 15, from = i & 15;
    uint32_t plain = (i >> 10 & 1) << 11 | (j >> 12 & 7) << 8 | (j & 0xff);
    if ((i & 0xf800) == 0xf000 && j & 0x8000)
        wide_branch(p, i, j);
    else if (p->given)
        return;
    else if ((i & 0xfe40) == 0xe800)
        transfer(p, j, from, i >> 4 & 1, (i >> 7 & 3) == 2, (i >> 7 & 3) == 2,
                 i >> 5 & 1);
    else if ((i & 0xfff0) == 0xe8d0) /* a table of branches; or of one owner */
        return;
    else if ((i & 0xfe40) == 0xe840)
        wide_double(p, i, j);
    else if ((i & 0xff60) == 0xf840)
        wide_single(p, i, j);
    else if ((i & 0xfe00) == 0xf800 && i >> 4 & 1)
        prologue_unknown(p, j >> 12); /* loads of less than a word */
    else if ((i & 0xfbf0) == 0xf200)
        prologue_add(p, to, from, plain);
    else if ((i & 0xfbf0) == 0xf2a0)
        prologue_add(p, to, from, -(int64_t)plain);
    else if ((i & 0xfbf0) == 0xf240)
        prologue_number(p, to, from << 12 | plain);
    else if ((i & 0xfbf0) == 0xf2c0)
        prologue_unknown(p, to); /* movt */
    else if ((i & 0xfa00) == 0xf000)
        compute(p, thumb_operation(i, j), to, from, thumb_number(i, j));
    else if ((i & 0xfe00) == 0xea00)
        compute_by(p, j & 0x70f0 ? 0 : thumb_operation(i, j), to, from, j & 15);
    else
        vector(p, i << 16 | j);
}

/* ----------------------------------------------------- Thumb, of 16 bits -- */

static void short_branch(struct prologue *p, uint32_t i)
{
    uint64_t from = p->start + p->at + 4;
    if ((i & 0xf500) == 0xb100) /* cbz, cbnz */
        prologue_branch(p, from + ((i >> 9 & 1) << 6 | (i >> 3 & 31) << 1));
    else if ((i & 0xf000) == 0xd000 && (i >> 8 & 15) < 14)
        prologue_branch(p, from + (uint64_t)(sign_extend(i & 0xff, 8) * 2));
    else if ((i & 0xf800) == 0xe000) {
        prologue_branch(p, from + (uint64_t)(sign_extend(i & 0x7ff, 11) * 2));
        if (!p->given)
            prologue_leave(p);
    }
}

/* Arithmetic and moves, of which most have a register of 0 to 7 as result. */
static void short_compute(struct prologue *p, uint32_t i)
{
    unsigned low = i & 7, from = i >> 3 & 7, high = i >> 8 & 7;
    unsigned to = (i >> 4 & 8) | low, by = i >> 3 & 15;
    if ((i & 0xff00) == 0x4600)
        prologue_add(p, to, by, 0);
    else if ((i & 0xff00) == 0x4400)
        prologue_sum(p, to, to, by, 1);
    else if ((i & 0xf800) == 0x2000)
        prologue_number(p, high, i & 0xff);
    else if ((i & 0xf800) == 0x3000)
        prologue_add(p, high, high, i & 0xff);
    else if ((i & 0xf800) == 0x3800)
        prologue_add(p, high, high, -(int64_t)(i & 0xff));
    else if ((i & 0xfe00) == 0x1c00)
        prologue_add(p, low, from, i >> 6 & 7);
    else if ((i & 0xfe00) == 0x1e00)
        prologue_add(p, low, from, -(int64_t)(i >> 6 & 7));
    else if ((i & 0xf800) == 0xa800)
        prologue_add(p, high, SP, (i & 0xff) * 4);
    else if ((i & 0xff80) == 0xb000)
        prologue_add(p, SP, SP, (i & 0x7f) * 4);
    else if ((i & 0xff80) == 0xb080)
        prologue_add(p, SP, SP, -(int64_t)(i & 0x7f) * 4);
    else if ((i & 0xe000) == 0 || (i & 0xfc00) == 0x4000)
        prologue_unknown(p, low); /* shifts and arithmetic */
}

static void short_memory(struct prologue *p, uint32_t i)
{
    unsigned low = i & 7, base = i >> 3 & 7, high = i >> 8 & 7;
    uint64_t next = (p->start + p->at + 4) & ~UINT64_C(3);
    if ((i & 0xf800) == 0x4800) {
        prologue_constant(p, high, next + (i & 0xff) * 4);
    } else if ((i & 0xf000) == 0x9000) {
        single(p, i >> 11 & 1, high, SP, (i & 0xff) * 4, true, false);
    } else if ((i & 0xf000) == 0x6000) {
        single(p, i >> 11 & 1, low, base, (i >> 6 & 31) * 4, true, false);
    } else if ((i & 0xf000) == 0x5000 || (i & 0xe800) == 0x8800 ||
               (i & 0xf800) == 0x7800) {
        prologue_unknown(p, low); /* loads, or stores that change nothing */
    }
}

static void thumb_short(struct prologue *p, uint32_t i)
{
    short_branch(p, i);
    if (p->given)
        return;
    if ((i & 0xfe00) == 0xb400)
        transfer(p, (i & 0xff) | (i >> 8 & 1) << LR, SP, false, true, true,
                 true);
    else if ((i & 0xfe00) == 0xbc00)
        transfer(p, (i & 0xff) | (i >> 8 & 1) << PC, SP, true, false, false,
                 true);
    else if ((i & 0xff87) == 0x4700)
        prologue_leave(p);
    else if ((i & 0xff87) == 0x4780)
        prologue_call(p);
    else if ((i & 0xf800) >= 0x4800 && (i & 0xf000) <= 0x9000)
        short_memory(p, i);
    else
        short_compute(p, i);
}

unsigned decode_thumb(struct prologue *p)
{
    uint32_t i = prologue_code(p, p->at, 2);
    unsigned size = i >> 11 >= 0x1d ? 4 : 2;
    if (p->at + size > p->size)
        return 0;
    if (size == 4)
        thumb_wide(p, i, prologue_code(p, p->at + 2, 2));
    else
        thumb_short(p, i);
    if (p->given)
        p->given--;
    if (size == 2 && (i & 0xff00) == 0xbf00 && i & 15) /* it */
        p->given = 4 - (unsigned)__builtin_ctz(i & 15);
    return size;
}
