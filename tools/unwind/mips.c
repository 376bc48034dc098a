/* mips.c - the effects of MIPS instructions on the stack. */
/* SPDX-License-Identifier: MIT */
#include "prologue.h"

enum { T9 = 25 };

/* The instructions whose result is a register, by the last six bits. */
static void special(struct prologue *p, uint32_t i)
{
    unsigned from = i >> 21 & 31, by = i >> 16 & 31, to = i >> 11 & 31;
    switch (i & 63) {
    case 0x08: /* jr; of other registers, to a table's entry */
        p->delays = true;
        if (from == 31 || from == T9)
            prologue_leave(p);
        break;
    case 0x09: prologue_call(p); break; /* jalr */
    case 0x21:                          /* addu, daddu, or */
    case 0x2d:
    case 0x25:
        if (by == 0)
            prologue_add(p, to, from, 0);
        else if (from == 0)
            prologue_add(p, to, by, 0);
        else if ((i & 63) != 0x25)
            prologue_sum(p, to, from, by, 1);
        else
            prologue_unknown(p, to);
        break;
    case 0x23: /* subu, dsubu */
    case 0x2f: prologue_sum(p, to, from, by, -1); break;
    default: prologue_unknown(p, to);
    }
}

static void branch(struct prologue *p, uint32_t i, int16_t number)
{
    uint64_t target = p->start + p->at + 4 + (uint64_t)(int64_t)(number * 4);
    p->delays = true;
    prologue_branch(p, target);
    if (i >> 16 == 0x1000) /* b */
        prologue_leave(p);
}

static void jump(struct prologue *p, uint32_t i)
{
    uint64_t next = p->start + p->at + 4;
    p->delays = true;
    prologue_branch(p, (next & ~UINT64_C(0xfffffff)) | (i & 0x3ffffff) << 2);
    prologue_leave(p);
}

unsigned decode_mips(struct prologue *p)
{
    uint32_t i = prologue_code(p, p->at, 4);
    unsigned operation = i >> 26, from = i >> 21 & 31, to = i >> 16 & 31;
    int16_t number = (int16_t)(i & 0xffff);
    if (p->at + 4 > p->size)
        return 0;
    if (p->delays) /* the next instruction is no branch */
        operation = operation <= 7 && operation ? 64 : operation;
    switch (operation) {
    case 0:
        if (!p->delays || ((i & 63) != 8 && (i & 63) != 9))
            special(p, i);
        break;
    case 1:
        if ((to & 0x1c) == 0x10) /* bal and its like */
            prologue_call(p);
        else
            branch(p, i, number);
        break;
    case 2: jump(p, i); break;
    case 3: prologue_call(p); break;
    case 4:
    case 5:
    case 6:
    case 7: branch(p, i, number); break;
    case 17:
        if (from == 8 && !p->delays) /* by a flag of the other unit */
            branch(p, i, number);
        break;
    case 9: /* addiu, daddiu */
    case 25: prologue_add(p, to, from, number); break;
    case 13: /* ori */
        if (p->now.registers[from].kind == VALUE_NUMBER)
            prologue_number(p, to,
                            p->now.registers[from].number | (i & 0xffff));
        else if (from == 0)
            prologue_number(p, to, i & 0xffff);
        else
            prologue_unknown(p, to);
        break;
    case 15: prologue_number(p, to, (int32_t)(i << 16)); break; /* lui */
    case 0x2b:                                                  /* sw, sd */
    case 0x3f: prologue_store(p, to, from, number); break;
    case 0x23: /* lw, ld */
    case 0x37: prologue_load(p, to, from, number); break;
    default:
        if ((operation >= 8 && operation <= 15) ||
            (operation >= 0x20 && operation <= 0x27))
            prologue_unknown(p, to);
    }
    /* Register 0 is always 0. */
    prologue_number(p, 0, 0);
    return 4;
}
