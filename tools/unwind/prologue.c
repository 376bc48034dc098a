/* prologue.c - a frame's caller, from the instructions that its function
 * ran. */
/* SPDX-License-Identifier: MIT */
#include "prologue.h"
#include "bytes.h"

static const struct shape shapes[] = {{EM_ARM, 13, 14, {11, 7}, 0x0ff0, decode_arm},
              {EM_MIPS, 29, 31, {30, 30}, 0x50ff0000, decode_mips},
              {EM_RISCV, 2, 1, {8, 8}, 0x0ffc0300, decode_riscv},
              {EM_AARCH64, 31, 30, {29, 29}, 0x3ff80000, decode_aarch64}};

static const struct shape *shape_of(const struct unwind *u)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].machine == u->memory->machine)
            return &shapes[i];
    return NULL;
}

/* -------------------------------------------------------------- analysis -- */

/* True if this state has more on the stack: it is further into the body. */
static bool is_deeper(const struct state *state, const struct state *than,
                      unsigned stack_pointer)
{
    const struct value *sp = &state->registers[stack_pointer];
    const struct value *other = &than->registers[stack_pointer];
    if (sp->kind != VALUE_FRAME || sp->number > other->number)
        return false;
    return sp->number < other->number ||
           __builtin_popcount(state->saved) > __builtin_popcount(than->saved);
}

/* Runs the code once. */
static void run_once(struct prologue *p)
{
    unsigned (*decode)(struct prologue *) =
        p->is_thumb ? decode_thumb : p->shape->decode;
    unsigned size, sp = p->shape->sp;
    p->lost = p->delays = p->delayed_leave = false;
    p->delayed_target = 0;
    p->given = 0;
    memset(&p->now, 0, sizeof p->now);
    p->now.registers[sp].kind = VALUE_FRAME;
    for (p->at = 0; p->at < p->size; p->at += size) {
        bool delays = p->delays;
        const struct target *target = target_at(p, p->start + p->at);
        if (target) {
            p->now = target->state;
            p->lost = false;
        }
        size = decode(p);
        if (size == 0)
            break;
        if (delays)
            delayed_do(p);
        if (!p->lost && is_deeper(&p->now, &p->deepest, sp))
            p->deepest = p->now;
    }
}

/* The state at the end of the code. If no known branch reaches that address,
 * the state after the prologue. */
static const struct state *analyse(struct prologue *p)
{
    unsigned before;
    p->targets_count = 0;
    memset(&p->deepest, 0, sizeof p->deepest);
    p->deepest.registers[p->shape->sp].kind = VALUE_FRAME;
    do {
        const struct target *end;
        before = p->targets_count;
        run_once(p);
        end = target_at(p, p->start + p->size);
        if (end)
            return &end->state;
    } while (p->lost && p->targets_count > before);
    return p->lost ? &p->deepest : &p->now;
}

/* The stack pointer when the function began; false: unknown. */
static bool entry_sp(const struct state *state, const struct shape *shape,
                     const struct registers *registers, uint64_t *to)
{
    const unsigned which[] = {shape->sp, shape->pointers[0],
                              shape->pointers[1]};
    for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
        const struct value *value = &state->registers[which[i]];
        if (value->kind != VALUE_FRAME || !registers->known[which[i]])
            continue;
        *to = registers->value[which[i]] - (uint64_t)value->number;
        return value->number <= 0;
    }
    return false;
}

static enum unwind_step caller_of(struct unwind *u, const struct shape *shape,
                                  const struct state *state,
                                  struct registers *registers)
{
    struct registers caller = *registers;
    uint64_t sp, max = word_max(u->memory);
    unsigned returns = shape->returns;
    if (!entry_sp(state, shape, registers, &sp))
        return UNWIND_UNKNOWN;
    sp &= max;
    for (unsigned i = 0; i < MODEL_REGISTERS; i++) {
        uint64_t place = (sp + (uint64_t)(int64_t)state->saved_at[i]) & max;
        if (state->saved >> i & 1 && (i == returns || shape->kept >> i & 1))
            caller.known[i] = unwind_word(u, place, &caller.value[i]);
        else if (!(shape->kept >> i & 1) && i != returns)
            caller.known[i] = false;
    }
    if (!caller.known[returns])
        return UNWIND_UNKNOWN;
    caller.value[u->machine->pc] = caller.value[returns];
    caller.known[u->machine->pc] = true;
    caller.known[returns] = false;
    caller.value[shape->sp] = sp;
    caller.known[shape->sp] = true;
    *registers = caller;
    return UNWIND_NEXT;
}

/* True for an instruction that begins a function with calls. */
static bool is_first(const struct prologue *p, size_t at)
{
    uint32_t i = prologue_code(p, at, 4);
    switch (p->unwind->memory->machine) {
    case EM_ARM: /* push {..., lr} */
        if (p->is_thumb)
            return (i & 0xff00) == 0xb500 || (i & 0xe000ffff) == 0x4000e92d;
        return (i & 0xfffff000) == 0xe92d4000 || i == 0xe52de004;
    case EM_MIPS: return (i & 0xffff8000) == 0x27bd8000; /* addiu sp, sp, -n */
    case EM_AARCH64: return (i & 0xffe07fff) == 0xa9a07bfd; /* stp x29, x30 */
    default: return false;
    }
}

/* Where a function begins that has no symbol, as far as its code tells. Leaves
 * the code from there on; false: nothing is found. */
static bool start_guess(struct prologue *p, uint64_t end)
{
    enum { BACK_MAX = 4096 };
    size_t step = p->is_thumb ? 2 : 4, at;
    end &= ~(uint64_t)(step - 1);
    p->size = BACK_MAX;
    p->start = end - BACK_MAX;
    while (unwind_bytes(p->unwind, p->start, p->code, p->size) != p->size) {
        if (p->size <= 64)
            return false;
        p->start += p->size / 2;
        p->size /= 2;
    }
    for (at = p->size - step; at > 0 && !is_first(p, at); at -= step)
        ;
    memmove(p->code, p->code + at, p->size - at);
    p->start += at;
    p->size -= at;
    return at > 0;
}

static bool code_fetch(struct prologue *p, uint64_t address, uint64_t end,
                       bool is_thumb)
{
    struct function function;
    if (!function_find(p->unwind, address, &function)) {
        p->is_thumb = is_thumb;
        return start_guess(p, end);
    }
    if (end < function.start)
        return false;
    p->start = function.start;
    p->is_thumb = function.is_thumb;
    p->size = end - function.start;
    if (p->size >= PROLOGUE_BYTES_MAX)
        p->size = PROLOGUE_BYTES_MAX - 1;
    return unwind_bytes(p->unwind, p->start, p->code, p->size) == p->size;
}

enum unwind_step prologue_step(struct unwind *u, uint64_t address,
                               struct registers *registers)
{
    const struct shape *shape = shape_of(u);
    uint64_t pc = registers->value[u->machine->pc];
    uint64_t end = pc & ~u->machine->no_address;
    struct registers caller = *registers;
    struct prologue *p = shape ? malloc(sizeof *p) : NULL;
    enum unwind_step did = UNWIND_UNKNOWN;
    if (!p)
        return UNWIND_UNKNOWN;
    p->unwind = u;
    p->shape = shape;
    if (code_fetch(p, address, end, u->memory->machine == EM_ARM && pc & 1))
        did = caller_of(u, shape, analyse(p), &caller);
    free(p);
    if (did == UNWIND_NEXT)
        *registers = caller;
    return did;
}
