/* effects.c - the effects of instructions on the model of a frame. */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "prologue.h"

/* ----------------------------------------------------------------- model -- */

uint32_t prologue_code(const struct prologue *p, size_t at, unsigned size)
{
    if (at > p->size || size > p->size - at)
        return 0;
    return (uint32_t)bytes_number(p->unwind->memory, p->code + at, size);
}

static struct value *value_of(struct prologue *p, unsigned which)
{
    return &p->now.registers[which % MODEL_REGISTERS];
}

void prologue_number(struct prologue *p, unsigned to, int64_t number)
{
    *value_of(p, to) = (struct value){VALUE_NUMBER, number};
}

void prologue_unknown(struct prologue *p, unsigned to)
{
    value_of(p, to)->kind = VALUE_UNKNOWN;
}

void prologue_constant(struct prologue *p, unsigned to, uint64_t address)
{
    unsigned char bytes[4];
    prologue_unknown(p, to);
    if (unwind_bytes(p->unwind, address, bytes, sizeof bytes) == sizeof bytes)
        prologue_number(p, to,
                        (int32_t)bytes_number(p->unwind->memory, bytes, 4));
}

/* Distances of frames, and numbers that become these, are small. */
enum { DISTANCE_MAX = 1 << 30 };
static bool is_small(int64_t number)
{
    return number > -DISTANCE_MAX && number < DISTANCE_MAX;
}

void prologue_add(struct prologue *p, unsigned to, unsigned from,
                  int64_t number)
{
    struct value value = *value_of(p, from);
    if (value.kind == VALUE_ENTRY && (number || to != from))
        value.kind = VALUE_UNKNOWN;
    if (value.kind == VALUE_FRAME || value.kind == VALUE_NUMBER) {
        if (is_small(number) && is_small(value.number))
            value.number += number;
        else
            value.kind = VALUE_UNKNOWN;
    }
    *value_of(p, to) = value;
}

void prologue_sum(struct prologue *p, unsigned to, unsigned from, unsigned by,
                  int sign)
{
    struct value value = *value_of(p, by);
    if (value.kind == VALUE_NUMBER && is_small(value.number))
        prologue_add(p, to, from, sign * value.number);
    else if (value.kind == VALUE_FRAME && sign > 0 &&
             value_of(p, from)->kind == VALUE_NUMBER)
        prologue_add(p, to, by, value_of(p, from)->number);
    else
        prologue_unknown(p, to);
}

void prologue_store(struct prologue *p, unsigned from, unsigned base,
                    int64_t distance)
{
    const struct value *to = value_of(p, base);
    uint32_t bit = 1u << from % MODEL_REGISTERS;
    if (to->kind != VALUE_FRAME || value_of(p, from)->kind != VALUE_ENTRY ||
        p->now.saved & bit || !is_small(distance))
        return;
    p->now.saved |= bit;
    p->now.saved_at[from % MODEL_REGISTERS] = (int32_t)(to->number + distance);
}

void prologue_load(struct prologue *p, unsigned to, unsigned base,
                   int64_t distance)
{
    const struct value *from = value_of(p, base);
    unsigned which = to % MODEL_REGISTERS;
    bool restores = from->kind == VALUE_FRAME && p->now.saved >> which & 1 &&
                    p->now.saved_at[which] == from->number + distance;
    value_of(p, to)->kind = restores ? VALUE_ENTRY : VALUE_UNKNOWN;
    if (restores)
        p->now.saved &= ~(1u << which);
}

void prologue_call(struct prologue *p)
{
    const struct shape *shape = p->shape;
    for (unsigned i = 0; i < MODEL_REGISTERS; i++)
        if (i != shape->sp && !(shape->kept >> i & 1) &&
            p->now.registers[i].kind != VALUE_ENTRY)
            p->now.registers[i].kind = VALUE_UNKNOWN;
    p->now.registers[shape->returns].kind = VALUE_UNKNOWN;
}

/* -------------------------------------------------------------- branches -- */

struct target *target_at(struct prologue *p, uint64_t address)
{
    for (unsigned i = 0; i < p->targets_count; i++)
        if (p->targets[i].address == address)
            return &p->targets[i];
    return NULL;
}

static void target_add(struct prologue *p, uint64_t address)
{
    if (p->lost || address - p->start > p->size || /* its end counts */
        p->targets_count == TARGETS_MAX || target_at(p, address))
        return;
    p->targets[p->targets_count++] = (struct target){address, p->now};
}

void prologue_branch(struct prologue *p, uint64_t target)
{
    if (p->delays)
        p->delayed_target = target;
    else
        target_add(p, target);
}

void prologue_leave(struct prologue *p)
{
    if (p->delays)
        p->delayed_leave = true;
    else
        p->lost = true;
}

void delayed_do(struct prologue *p)
{
    if (p->delayed_target)
        target_add(p, p->delayed_target);
    p->lost |= p->delayed_leave;
    p->delayed_target = 0;
    p->delays = p->delayed_leave = false;
}
