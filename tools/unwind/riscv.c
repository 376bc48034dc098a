/* riscv.c - the effects of RISC-V instructions on the stack. */
/* SPDX-License-Identifier: MIT */
#include "prologue.h"

enum { RA = 1, SP = 2, T1 = 6 };

/* Bits of an instruction, at another place. */
static uint32_t field(uint32_t i, unsigned from, unsigned bits, unsigned to)
{
    return (i >> from & ((1u << bits) - 1)) << to;
}

/* Jumps to the address in a register: a return, a call or a table of
 * branches. */
static void jump_by(struct prologue *p, unsigned which)
{
    if (which == RA || which == T1)
        prologue_leave(p);
}

static uint64_t here(const struct prologue *p)
{
    return p->start + p->at;
}

static void long_one(struct prologue *p, uint32_t i)
{
    unsigned to = i >> 7 & 31, from = i >> 15 & 31, by = i >> 20 & 31;
    unsigned function = i >> 12 & 7;
    int64_t number = (int32_t)i >> 20;
    int64_t place = sign_extend(field(i, 25, 7, 5) | to, 12);
    switch (i & 0x7f) {
    case 0x13: /* addi */
    case 0x1b:
        if (function == 0)
            prologue_add(p, to, from, number);
        else
            prologue_unknown(p, to);
        break;
    case 0x37: prologue_number(p, to, (int32_t)(i & 0xfffff000)); break;
    case 0x33:
        if (function == 0 && i >> 25 == 0)
            prologue_sum(p, to, from, by, 1);
        else if (function == 0 && i >> 25 == 0x20)
            prologue_sum(p, to, from, by, -1);
        else
            prologue_unknown(p, to);
        break;
    case 0x23:
        if (function == 2 || function == 3)
            prologue_store(p, by, from, place);
        break;
    case 0x03:
        if (function == 2 || function == 3)
            prologue_load(p, to, from, number);
        else
            prologue_unknown(p, to);
        break;
    case 0x63:
        prologue_branch(p, here(p) +
                               (uint64_t)sign_extend(
                                   field(i, 31, 1, 12) | field(i, 7, 1, 11) |
                                       field(i, 25, 6, 5) | field(i, 8, 4, 1),
                                   13));
        break;
    case 0x6f:
        if (to) {
            prologue_call(p);
            break;
        }
        prologue_branch(
            p, here(p) + (uint64_t)sign_extend(
                             field(i, 31, 1, 20) | field(i, 12, 8, 12) |
                                 field(i, 20, 1, 11) | field(i, 21, 10, 1),
                             21));
        prologue_leave(p);
        break;
    case 0x67:
        if (to)
            prologue_call(p);
        else
            jump_by(p, from);
        break;
    case 0x17:
    case 0x3b: prologue_unknown(p, to); break;
    default: break;
    }
}

/* Compressed instructions, of 16 bits, by their lowest two bits and, within
 * these, by their highest three. */
static void quarter_0(struct prologue *p, uint32_t i)
{
    unsigned base = 8 + (i >> 7 & 7), which = 8 + (i >> 2 & 7);
    uint32_t words = field(i, 10, 3, 3) | field(i, 6, 1, 2) | field(i, 5, 1, 6);
    uint32_t doubles = field(i, 10, 3, 3) | field(i, 5, 2, 6);
    switch (i >> 13 & 7) {
    case 0:
        prologue_add(p, which, SP,
                     field(i, 11, 2, 4) | field(i, 7, 4, 6) |
                         field(i, 6, 1, 2) | field(i, 5, 1, 3));
        break;
    case 2: prologue_load(p, which, base, words); break;
    case 3: prologue_load(p, which, base, doubles); break;
    case 6: prologue_store(p, which, base, words); break;
    case 7: prologue_store(p, which, base, doubles); break;
    default: break;
    }
}

static void quarter_1(struct prologue *p, uint32_t i)
{
    unsigned which = i >> 7 & 31;
    int64_t number = sign_extend(field(i, 12, 1, 5) | field(i, 2, 5, 0), 6);
    bool wide = p->unwind->memory->word_bytes == 8;
    switch (i >> 13 & 7) {
    case 0: prologue_add(p, which, which, number); break;
    case 1:
        if (wide)
            prologue_add(p, which, which, number);
        else
            prologue_call(p);
        break;
    case 2: prologue_number(p, which, number); break;
    case 3:
        if (which == SP)
            prologue_add(p, SP, SP,
                         sign_extend(field(i, 12, 1, 9) | field(i, 3, 2, 7) |
                                         field(i, 5, 1, 6) | field(i, 2, 1, 5) |
                                         field(i, 6, 1, 4),
                                     10));
        else
            prologue_number(p, which, number * 4096);
        break;
    case 4: prologue_unknown(p, 8 + (which & 7)); break;
    case 5:
        prologue_branch(p, here(p) +
                               (uint64_t)sign_extend(
                                   field(i, 12, 1, 11) | field(i, 11, 1, 4) |
                                       field(i, 9, 2, 8) | field(i, 8, 1, 10) |
                                       field(i, 7, 1, 6) | field(i, 6, 1, 7) |
                                       field(i, 3, 3, 1) | field(i, 2, 1, 5),
                                   12));
        prologue_leave(p);
        break;
    default:
        prologue_branch(p,
                        here(p) + (uint64_t)sign_extend(
                                      field(i, 12, 1, 8) | field(i, 10, 2, 3) |
                                          field(i, 5, 2, 6) |
                                          field(i, 3, 2, 1) | field(i, 2, 1, 5),
                                      9));
    }
}

static void quarter_2(struct prologue *p, uint32_t i)
{
    unsigned which = i >> 7 & 31, by = i >> 2 & 31;
    bool second = i >> 12 & 1;
    switch (i >> 13 & 7) {
    case 0: prologue_unknown(p, which); break;
    case 2:
        prologue_load(p, which, SP,
                      field(i, 12, 1, 5) | field(i, 4, 3, 2) |
                          field(i, 2, 2, 6));
        break;
    case 3:
        prologue_load(p, which, SP,
                      field(i, 12, 1, 5) | field(i, 5, 2, 3) |
                          field(i, 2, 3, 6));
        break;
    case 4:
        if (by)
            second ? prologue_sum(p, which, which, by, 1)
                   : prologue_add(p, which, by, 0);
        else if (second && which)
            prologue_call(p);
        else if (!second)
            jump_by(p, which);
        break;
    case 6:
        prologue_store(p, by, SP, field(i, 9, 4, 2) | field(i, 7, 2, 6));
        break;
    case 7:
        prologue_store(p, by, SP, field(i, 10, 3, 3) | field(i, 7, 3, 6));
        break;
    default: break;
    }
}

unsigned decode_riscv(struct prologue *p)
{
    uint32_t i = prologue_code(p, p->at, 2);
    unsigned size = (i & 3) == 3 ? 4 : 2;
    if (p->at + size > p->size || i == 0)
        return 0;
    if (size == 4)
        long_one(p, i | prologue_code(p, p->at + 2, 2) << 16);
    else if ((i & 3) == 0)
        quarter_0(p, i);
    else if ((i & 3) == 1)
        quarter_1(p, i);
    else
        quarter_2(p, i);
    prologue_number(p, 0, 0); /* register 0 is always 0 */
    return size;
}
