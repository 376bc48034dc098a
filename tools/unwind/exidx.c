/* exidx.c - a frame's caller by ARM's own tables (ARM IHI 0038, EHABI). */
/* SPDX-License-Identifier: MIT */
#include "unwind.h"

enum { BYTES_MAX = 256, SP = 13, LR = 14, PC = 15, CANNOT_UNWIND = 1 };

static bool word_at(struct unwind *u, uint64_t address, uint32_t *to)
{
    uint64_t word;
    if (!unwind_word(u, address, &word))
        return false;
    *to = (uint32_t)word;
    return true;
}

/* Reads an address of 31 bits, relative to its place. */
static bool address_at(struct unwind *u, uint64_t at, uint64_t *to)
{
    uint32_t word, distance;
    if (!word_at(u, at, &word))
        return false;
    distance = (word & 0x7fffffff) | (word << 1 & 0x80000000);
    *to = (uint32_t)at + distance;
    *to &= UINT32_MAX;
    return true;
}

/* Finds the row of a function: the last that begins at or below an address. */
static bool row_find(struct unwind *u, uint64_t table, uint64_t count,
                     uint64_t address, uint64_t *row)
{
    uint64_t low = 0, high = count, begins;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (!address_at(u, table + 8 * middle, &begins))
            return false;
        if (begins <= address)
            low = middle + 1;
        else
            high = middle;
    }
    *row = table + 8 * (low - 1);
    return low != 0;
}

struct code {
    unsigned char bytes[BYTES_MAX];
    unsigned count;
};

static void code_add(struct code *code, uint32_t word, unsigned bytes)
{
    while (bytes-- > 0 && code->count < BYTES_MAX)
        code->bytes[code->count++] = (unsigned char)(word >> 8 * bytes);
}

/* Fetches the operations, in the compact form or the form of a personality. */
static bool code_fetch(struct unwind *u, uint64_t row, struct code *code)
{
    uint32_t word, more = 0;
    uint64_t at;
    code->count = 0;
    if (!word_at(u, row + 4, &word) || word == CANNOT_UNWIND)
        return false;
    if (word & 0x80000000) { /* in the row itself */
        code_add(code, word, 3);
        return (word >> 24 & 15) == 0;
    }
    if (!address_at(u, row + 4, &at) || !word_at(u, at, &word))
        return false;
    if (word & 0x80000000) {
        bool is_short = (word >> 24 & 15) == 0;
        more = is_short ? 0 : word >> 16 & 0xff;
        code_add(code, word, is_short ? 3 : 2);
    } else { /* after the address of a personality, as gcc writes it */
        at += 4;
        if (!word_at(u, at, &word))
            return false;
        more = word >> 24;
        code_add(code, word, 3);
    }
    for (; more > 0 && code->count < BYTES_MAX; more--) {
        at += 4;
        if (!word_at(u, at, &word))
            return false;
        code_add(code, word, 4);
    }
    return true;
}

/* ------------------------------------------------------------------- run -- */

struct machine {
    struct unwind *unwind;
    struct registers registers;
    uint32_t sp;
    bool has_pc;
    const struct code *code;
    unsigned at;
};

static unsigned code_next(struct machine *m)
{
    return m->at < m->code->count ? m->code->bytes[m->at++] : 0xb0;
}

static bool pop(struct machine *m, unsigned which)
{
    uint32_t word;
    if (!word_at(m->unwind, m->sp, &word))
        return false;
    m->sp += 4;
    m->registers.value[which] = word;
    m->registers.known[which] = true;
    m->has_pc |= which == PC;
    return true;
}

/* Pops the registers of a mask; sp is set only then, if it is among them. */
static bool pop_mask(struct machine *m, unsigned mask)
{
    for (unsigned i = 0; i < 16; i++)
        if (mask >> i & 1 && !pop(m, i))
            return false;
    if (mask >> SP & 1)
        m->sp = (uint32_t)m->registers.value[SP];
    return mask;
}

/* A large addition to the stack pointer, as a ULEB128. */
static void grow(struct machine *m)
{
    uint32_t number = 0;
    unsigned byte, shift = 0;
    do {
        byte = code_next(m);
        if (shift < 32)
            number |= (uint32_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && shift < 35);
    m->sp += 0x204 + (number << 2);
}

/* Does one operation; false: it is none, or memory is missing. */
static bool operate(struct machine *m, unsigned byte)
{
    unsigned low = byte & 15;
    if (byte < 0x40) {
        m->sp += (byte << 2) + 4;
    } else if (byte < 0x80) {
        m->sp -= ((byte & 0x3f) << 2) + 4;
    } else if (byte < 0x90) {
        unsigned mask = low << 12;
        return pop_mask(m, mask | code_next(m) << 4);
    } else if (byte < 0xa0) {
        if (low == SP || low == PC || !m->registers.known[low])
            return false;
        m->sp = (uint32_t)m->registers.value[low];
    } else if (byte < 0xb0) {
        return pop_mask(m, ((2u << (byte & 7)) - 1) << 4 | (byte >> 3 & 1)
                                                               << LR);
    } else if (byte == 0xb1) {
        unsigned mask = code_next(m);
        return mask <= 15 && pop_mask(m, mask);
    } else if (byte == 0xb2) {
        grow(m);
    } else if (byte == 0xb3) { /* floating-point registers, as FSTMX has them */
        m->sp += ((code_next(m) & 15) + 1) * 8 + 4;
    } else if (byte >= 0xb8 && byte < 0xc0) {
        m->sp += ((byte & 7) + 1) * 8 + 4;
    } else if (byte == 0xc8 || byte == 0xc9) {
        m->sp += ((code_next(m) & 15) + 1) * 8;
    } else if (byte >= 0xd0 && byte < 0xd8) {
        m->sp += ((byte & 7) + 1) * 8;
    } else {
        return false;
    }
    return true;
}

enum unwind_step exidx_step(struct unwind *u, uint64_t address,
                            struct registers *registers)
{
    struct code code;
    struct machine m = {.unwind = u, .registers = *registers, .code = &code};
    GElf_Phdr p; /* its rows have two words */
    GElf_Addr bias;
    uint64_t row;
    if (u->memory->machine != EM_ARM ||
        !function_segment(u, address, PT_ARM_EXIDX, &p, &bias) ||
        !row_find(u, (p.p_vaddr + bias) & UINT32_MAX,
                  (p.p_memsz & UINT32_MAX) / 8, address, &row) ||
        !code_fetch(u, row, &code))
        return UNWIND_UNKNOWN;
    m.sp = (uint32_t)registers->value[SP];
    while (m.at < code.count) {
        unsigned byte = code_next(&m);
        if (byte == 0xb0) /* finish */
            break;
        if (byte == 0x80 && m.at < code.count && code.bytes[m.at] == 0)
            return UNWIND_END; /* refuses to unwind */
        if (!operate(&m, byte))
            return UNWIND_UNKNOWN;
    }
    if (!m.has_pc && !m.registers.known[LR])
        return UNWIND_UNKNOWN;
    if (!m.has_pc)
        m.registers.value[PC] = m.registers.value[LR];
    m.registers.known[PC] = true;
    m.registers.known[LR] = false;
    m.registers.value[SP] = m.sp;
    *registers = m.registers;
    return UNWIND_NEXT;
}
