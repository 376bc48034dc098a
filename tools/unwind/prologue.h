/* prologue.h - a model of a function's instructions and their use of the
 * stack. */
/* SPDX-License-Identifier: MIT */
/*
   If no table describes a function's use of the stack, its instructions are run
   on a model. The model has four kinds of value: a register's value at the
   function's start, an address relative to the stack pointer at the start, a
   number, and an unknown. Branches carry the state to their targets: the code
   after a return gets its state from a branch.

   A decoder (arm.c, mips.c, riscv.c, aarch64.c) describes the effect of each
   instruction by the functions below. An unknown instruction changes nothing.
*/
#pragma once

#include "unwind.h"

enum value_kind { VALUE_ENTRY, VALUE_FRAME, VALUE_NUMBER, VALUE_UNKNOWN };
struct value {
    enum value_kind kind;
    int64_t number; /* of VALUE_FRAME, the distance; of VALUE_NUMBER, it */
};

enum { MODEL_REGISTERS = 32 };
struct state {
    struct value registers[MODEL_REGISTERS];
    uint32_t saved;                    /* a bit for each register */
    int32_t saved_at[MODEL_REGISTERS]; /* distance of its place */
};

enum { TARGETS_MAX = 128, PROLOGUE_BYTES_MAX = 65536 };

struct prologue;
/* Registers of a machine, by their DWARF numbers. */
struct shape {
    unsigned machine, sp, returns;
    unsigned pointers[2]; /* that a frame may be reckoned from, too */
    uint32_t kept;        /* registers that a function leaves as they were */
    unsigned (*decode)(struct prologue *);
};

struct prologue {
    struct unwind *unwind;
    const struct shape *shape;
    uint64_t start;  /* address of the function */
    bool is_thumb;   /* of ARM, its short instructions */
    unsigned given;  /* ARM: how many more instructions have a condition */
    size_t size, at; /* bytes of code; of the instruction at work */
    struct state now;
    bool lost; /* no known way reaches this address */
    struct state deepest;
    struct target {
        uint64_t address;
        struct state state;
    } targets[TARGETS_MAX];
    unsigned targets_count;
    bool delays; /* the next instruction is done before the branch: */
    bool delayed_leave;
    uint64_t delayed_target;
    unsigned char code[PROLOGUE_BYTES_MAX];
};

/* A number of 2 or 4 bytes of the code; 0: `at` is past its end. */
uint32_t prologue_code(const struct prologue *, size_t at, unsigned size);
/* The number with a sign that the lowest bits of an instruction's field are. */
static inline int64_t sign_extend(uint32_t value, unsigned bits)
{
    uint32_t sign = 1u << (bits - 1);
    return (int64_t)((value ^ sign) & (sign | (sign - 1))) - sign;
}

/* to = from + number; from + by * sign; a number; a constant beside the code;
 * anything. */
void prologue_add(struct prologue *, unsigned to, unsigned from,
                  int64_t number);
void prologue_sum(struct prologue *, unsigned to, unsigned from, unsigned by,
                  int sign);
void prologue_number(struct prologue *, unsigned to, int64_t number);
void prologue_constant(struct prologue *, unsigned to, uint64_t address);
void prologue_unknown(struct prologue *, unsigned to);
/* A register goes to, or comes from, a word in memory. */
void prologue_store(struct prologue *, unsigned from, unsigned base,
                    int64_t distance);
void prologue_load(struct prologue *, unsigned to, unsigned base,
                   int64_t distance);
/* prologue_branch: execution may continue at `target`. prologue_leave:
 * execution does not fall through. */
void prologue_branch(struct prologue *, uint64_t target);
void prologue_leave(struct prologue *);
/* Calls a function: others than the registers that it keeps change. */
void prologue_call(struct prologue *);

/* Returns the state at a branch's target, or null. */
struct target *target_at(struct prologue *, uint64_t address);
/* A branch of MIPS takes effect after the instruction that follows it. */
void delayed_do(struct prologue *);

/* Decoders: the size of the instruction; 0: there is none. */
unsigned decode_arm(struct prologue *);
unsigned decode_thumb(struct prologue *);
unsigned decode_mips(struct prologue *);
unsigned decode_riscv(struct prologue *);
unsigned decode_aarch64(struct prologue *);
