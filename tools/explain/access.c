/* access.c - the memory that an instruction reads or writes. */
/* SPDX-License-Identifier: MIT */
/*
   Intel's manual, volume 2, chapter 2 and appendix A. Only the operand in memory
   is decoded, and the few instructions that store; an instruction that is not
   known here is taken for a load. Of other processors, none is known.
*/
#include "explain.h"

#include <elf.h>

/* Of x86-64: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ... by DWARF numbers. */
static const signed char x86_register[16] = {0, 2, 1,  3,  7,  6,  4,  5,
                                             8, 9, 10, 11, 12, 13, 14, 15};

/* The part of an instruction before its opcode. */
struct prefix {
    unsigned size, rex;
    unsigned map;  /* the table of its opcode: 0, 1 after 0x0f, 2 and more */
    bool loads_7e; /* it is movq from memory if its opcode is 0x7e */
};

/* Does an instruction store? `extra`: bits 3 to 5 of the byte after its opcode. */
static bool x86_stores(const struct prefix *p, unsigned char code,
                       unsigned extra)
{
    static const unsigned char stores[2][17] = {
        {0x86, 0x87, 0x88, 0x89, 0x8f, 0xc0, 0xc1, 0xc6, 0xc7, 0xd0, 0xd1, 0xd2,
         0xd3},
        {0x11, 0x13, 0x17, 0x29, 0x2b, 0x7e, 0x7f, 0xb0, 0xb1, 0xc0, 0xc1, 0xd6,
         0xe7, 0xab, 0xb3, 0xbb}};
    if (p->map > 1)
        return false;
    if (code && memchr(stores[p->map], code, sizeof *stores))
        return !p->map || code != 0x7e || !p->loads_7e;
    if (p->map)
        return code == 0xba   ? extra > 4                /* bts, btr, btc */
               : code == 0xae ? extra == 3 || extra == 4 /* stmxcsr, xsave */
                              : (code & 0xf0) == 0x90;
    return code >= 0xfe ? extra < 2 /* inc, dec */
           : code >= 0xf6
               ? code < 0xf8 && (extra == 2 || extra == 3) /* not, neg */
           : code >= 0x80 ? code <= 0x83 && code != 0x82 && extra != 7 /* cmp */
                          : code < 0x38 && (code & 7) < 2;
}

/* Reads the operand of ModRM and SIB. `rex`: bits 1 and 0 extend index and
 * base. */
static struct access x86_operand(const unsigned char *at, unsigned rex)
{
    const unsigned mode = at[0] >> 6;
    struct access a = {.known = mode != 3, .base = -1, .index = -1};
    unsigned base = *at++ & 7;
    if (base == 4 && a.known) {
        unsigned index = (*at >> 3 & 7) | (rex & 2) << 2;
        base = *at++ & 7;
        a.index = index == 4 ? -1 : x86_register[index];
    }
    if (base != 5 || mode)
        a.base = x86_register[base | (rex & 1) << 3];
    if (mode == 1)
        a.offset = (signed char)*at;
    else if (mode == 2)
        memcpy(&a.offset, at, 4);
    return a;
}

static struct prefix x86_prefix(const unsigned char *code)
{
    static const unsigned char old[] = {0x66, 0xf2, 0xf3, 0x2e, 0x36,
                                        0x3e, 0x26, 0x64, 0x65, 0xf0};
    struct prefix p = {0};
    for (; p.size < 4 && memchr(old, *code, sizeof old); p.size++)
        p.loads_7e |= *code++ == 0xf3;
    if ((*code & 0xf0) == 0x40) {
        p.rex = *code++;
        p.size++;
    }
    if (*code == 0x0f) {
        p.map = code[1] == 0x38 || code[1] == 0x3a ? 2 : 1;
        p.size += p.map;
    } else if (*code == 0xc5) { /* VEX */
        p.map = 1;
        p.loads_7e = (code[1] & 3) == 2;
        p.size += 2;
    } else if (*code == 0xc4 || *code == 0x62) { /* VEX, EVEX */
        p.rex = ~code[1] >> 5 & 7;
        p.map = code[1] & 7;
        p.loads_7e = (code[2] & 3) == 2;
        p.size += *code == 0x62 ? 4 : 3;
    }
    return p;
}

static struct access x86_access(const unsigned char *code)
{
    struct prefix p = x86_prefix(code);
    struct access a = {.known = true, .base = 7, .index = -1}; /* the stack */
    unsigned extra;
    code += p.size;
    extra = code[1] >> 3 & 7;
    if (!p.map && ((*code & 0xf0) == 0x50 || *code == 0xe8)) {
        a.writes = *code < 0x58 || *code == 0xe8;
        return a;
    }
    if (!p.map && *code >= 0xa4 && *code <= 0xaf && (*code & 0xfe) != 0xa8) {
        a.base = *code == 0xac || *code == 0xad ? 4 : 5; /* rsi, rdi */
        a.writes = *code < 0xac && *code != 0xa6 && *code != 0xa7;
        return a;
    }
    a = x86_operand(&code[1], p.rex);
    a.calls = !p.map && *code == 0xff && extra >= 2 && extra <= 5;
    a.writes = a.known && x86_stores(&p, *code, extra);
    return a;
}

struct access access_at(struct memory *m, uint64_t pc)
{
    unsigned char code[32] = {0}; /* an instruction has at most 15 */
    if (m->machine == EM_X86_64 && m->read(m, pc, code, 15) > 1)
        return x86_access(code);
    return (struct access){.base = -1, .index = -1};
}
