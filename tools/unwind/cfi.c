/* cfi.c - a frame's caller by call frame information (DWARF 6.4). */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "unwind.h"

#include <dwarf.h>

/* A DWARF expression at work. */
struct expression {
    struct unwind *unwind;
    const struct registers *registers;
    uint64_t cfa;
    uint64_t stack[32];
    unsigned depth;
    bool is_value; /* the result is the value itself, not its address */
};

static bool push(struct expression *e, uint64_t value)
{
    if (e->depth == sizeof e->stack / sizeof *e->stack)
        return false;
    e->stack[e->depth++] = value;
    return true;
}

/* Pushes a register's value and an offset. */
static bool push_register(struct expression *e, uint64_t number,
                          uint64_t offset)
{
    return number < REGISTERS_MAX && e->registers->known[number] &&
           push(e, e->registers->value[number] + offset);
}

/* Replaces the two topmost values by the result of `atom`. */
static bool operate(struct expression *e, unsigned atom)
{
    uint64_t a, b;
    if (e->depth < 2)
        return false;
    b = e->stack[--e->depth];
    a = e->stack[--e->depth];
    switch (atom) {
    case DW_OP_plus: return push(e, a + b);
    case DW_OP_minus: return push(e, a - b);
    case DW_OP_mul: return push(e, a * b);
    case DW_OP_and: return push(e, a & b);
    case DW_OP_or: return push(e, a | b);
    case DW_OP_xor: return push(e, a ^ b);
    case DW_OP_shl: return push(e, b < 64 ? a << b : 0);
    case DW_OP_shr: return push(e, b < 64 ? a >> b : 0);
    case DW_OP_eq: return push(e, a == b);
    case DW_OP_ne: return push(e, a != b);
    case DW_OP_ge: return push(e, (int64_t)a >= (int64_t)b);
    case DW_OP_gt: return push(e, (int64_t)a > (int64_t)b);
    case DW_OP_le: return push(e, (int64_t)a <= (int64_t)b);
    case DW_OP_lt: return push(e, (int64_t)a < (int64_t)b);
    default: return false;
    }
}

/* Does one operation; false: it cannot be done, or is not known here. */
static bool operation(struct expression *e, const Dwarf_Op *op)
{
    unsigned atom = op->atom;
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
        return push_register(e, atom - DW_OP_breg0, op->number);
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
        return push(e, atom - DW_OP_lit0);
    if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
        return push(e, op->number);
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
        e->is_value = true;
        return push_register(e, atom - DW_OP_reg0, 0);
    }
    switch (atom) {
    case DW_OP_nop: return true;
    case DW_OP_bregx: return push_register(e, op->number, op->number2);
    case DW_OP_regx: e->is_value = true; return push_register(e, op->number, 0);
    case DW_OP_call_frame_cfa: return push(e, e->cfa);
    case DW_OP_stack_value: e->is_value = true; return true;
    case DW_OP_plus_uconst:
        return e->depth && push(e, e->stack[--e->depth] + op->number);
    case DW_OP_dup: return e->depth && push(e, e->stack[e->depth - 1]);
    case DW_OP_drop: return e->depth && e->depth--;
    case DW_OP_deref:
        return e->depth && unwind_word(e->unwind, e->stack[e->depth - 1],
                                       &e->stack[e->depth - 1]);
    default: return operate(e, atom);
    }
}

bool cfi_evaluate(struct unwind *u, const struct registers *registers,
                  uint64_t cfa, const Dwarf_Op *ops, size_t count, uint64_t *to,
                  bool *is_value)
{
    struct expression e = {.unwind = u, .registers = registers, .cfa = cfa};
    for (size_t i = 0; i < count; i++)
        if (!operation(&e, &ops[i]))
            return false;
    if (!e.depth)
        return false;
    *to = e.stack[e.depth - 1] & word_max(u->memory);
    *is_value = e.is_value;
    return true;
}

/* Finds the row of one table or the other; null: neither has one. */
static Dwarf_Frame *frame_find(struct unwind *u, uint64_t address)
{
    Dwfl_Module *module = dwfl_addrmodule(u->dwfl, address);
    Dwarf_Frame *frame;
    Dwarf_Addr bias = 0;
    Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
    if (cfi && dwarf_cfi_addrframe(cfi, address - bias, &frame) == 0)
        return frame;
    cfi = module ? dwfl_module_dwarf_cfi(module, &bias) : NULL;
    if (cfi && dwarf_cfi_addrframe(cfi, address - bias, &frame) == 0)
        return frame;
    return NULL;
}

const struct row *cfi_row(struct unwind *u, uint64_t address)
{
    struct row *row = &u->rows[(address ^ address >> 10) %
                               (sizeof u->rows / sizeof *u->rows)];
    Dwarf_Addr start, end;
    if (row->address != address || !address) {
        free(row->frame);
        row->address = address;
        row->frame = frame_find(u, address);
        row->returns = row->frame ? dwarf_frame_info(row->frame, &start, &end,
                                                     &row->signal)
                                  : -1;
    }
    return row->returns >= 0 && row->returns < REGISTERS_MAX ? row : NULL;
}

/* The frame's canonical address: the stack pointer before its call. */
static bool cfa_of(struct unwind *u, const struct row *row,
                   const struct registers *registers, uint64_t *cfa)
{
    Dwarf_Op *ops;
    size_t count;
    bool is_value;
    return dwarf_frame_cfa(row->frame, &ops, &count) == 0 &&
           cfi_evaluate(u, registers, 0, ops, count, cfa, &is_value);
}

/* The caller's value of a register; false: unknown. *undefined: the table has
 * no value. */
static bool register_of(struct unwind *u, const struct row *row, unsigned which,
                        const struct registers *registers, uint64_t cfa,
                        uint64_t *value, bool *undefined)
{
    Dwarf_Op room[3], *ops;
    size_t count;
    bool is_value;
    *undefined = false;
    if (dwarf_frame_register(row->frame, (int)which, room, &ops, &count) != 0)
        return false;
    if (count == 0) {
        *undefined = ops == room;
        *value = registers->value[which];
        return ops != room && registers->known[which];
    }
    return cfi_evaluate(u, registers, cfa, ops, count, value, &is_value) &&
           (is_value || unwind_word(u, *value, value));
}

enum unwind_step cfi_step(struct unwind *u, const struct row *row,
                          struct registers *registers)
{
    const struct unwind_machine *machine = u->machine;
    struct registers caller = {0};
    unsigned returns = (unsigned)row->returns;
    uint64_t cfa;
    bool undefined;
    if (!cfa_of(u, row, registers, &cfa))
        return UNWIND_UNKNOWN;
    for (unsigned i = 0; i < machine->count; i++)
        caller.known[i] = register_of(u, row, i, registers, cfa,
                                      &caller.value[i], &undefined);
    if (!register_of(u, row, returns, registers, cfa, &caller.value[returns],
                     &undefined))
        return undefined ? UNWIND_END : UNWIND_UNKNOWN;
    caller.value[machine->pc] = caller.value[returns];
    /* It does not tell where the caller itself returns to. */
    caller.known[returns] = row->signal && returns == machine->returns;
    caller.known[machine->pc] = true;
    if (!row->signal || !caller.known[machine->sp])
        caller.value[machine->sp] = cfa;
    caller.known[machine->sp] = true;
    *registers = caller;
    return UNWIND_NEXT;
}

bool cfi_is_entry(struct unwind *u, uint64_t address)
{
    const struct row *row = cfi_row(u, address);
    Dwarf_Op *ops;
    size_t count;
    Dwarf_Addr start, end, bias;
    Dwfl_Module *module = dwfl_addrmodule(u->dwfl, address);
    bool signal;
    return row && dwarf_frame_info(row->frame, &start, &end, &signal) >= 0 &&
           dwfl_module_getelf(module, &bias) && start + bias == address &&
           dwarf_frame_cfa(row->frame, &ops, &count) == 0 && count == 1 &&
           ops->atom == DW_OP_breg0 + u->machine->sp &&
           ops->number == u->memory->word_bytes;
}
