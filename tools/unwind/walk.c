/* walk.c - the frames of a thread, from the innermost one outwards. */
/* SPDX-License-Identifier: MIT */
#include "unwind.h"

static size_t walk(struct unwind *, struct registers *, uint64_t *to,
                   bool called, bool *whole);

/* True if the frame pointer's chain reaches the outermost frame. */
static bool leads_out(struct unwind *u, const struct registers *registers,
                      uint64_t place)
{
    struct registers trial = *registers;
    uint64_t frames[FRAMES_MAX];
    bool whole;
    if (u->tries)
        return false;
    trial.value[u->machine->frame_pointer] = place;
    trial.known[u->machine->frame_pointer] = true;
    u->tries = true;
    walk(u, &trial, frames, true, &whole);
    u->tries = false;
    return whole;
}

/* Finds the frame pointer of the frame; false: unknown. A caller through a
 * register counts only if all frames follow from it, or if no direct call of
 * this function exists. */
static bool frame_pointer_find(struct unwind *u, uint64_t address,
                               struct registers *registers)
{
    const struct unwind_machine *machine = u->machine;
    uint64_t sp = registers->value[machine->sp], place = sp, perhaps = 0;
    enum calls usual = frame_pointer_usual(u, address, sp, &place);
    bool found = usual == CALLS_YES ||
                 (usual == CALLS_PERHAPS && leads_out(u, registers, place));
    if (!found)
        place = sp;
    while (!found) {
        enum calls does = frame_pointer_next(u, address, sp, &place);
        if (does == CALLS_NO)
            break;
        found = does == CALLS_YES || leads_out(u, registers, place);
        if (!perhaps)
            perhaps = place;
        place += found ? 0 : 8;
    }
    registers->value[machine->frame_pointer] = found ? place : perhaps;
    registers->known[machine->frame_pointer] = found || perhaps;
    return found || perhaps;
}

/* Goes to the caller of the frame at `address`. */
static enum unwind_step step(struct unwind *u, uint64_t address,
                             const struct row *row, struct registers *registers)
{
    enum unwind_step did = row ? cfi_step(u, row, registers) : UNWIND_UNKNOWN;
    if (row && did == UNWIND_UNKNOWN &&
        !registers->known[u->machine->frame_pointer] &&
        frame_pointer_find(u, address, registers))
        did = cfi_step(u, row, registers);
    if (did == UNWIND_UNKNOWN)
        did = exidx_step(u, address, registers);
    if (did == UNWIND_UNKNOWN && function_is_outermost(u, address))
        did = UNWIND_END;
    if (did == UNWIND_UNKNOWN)
        did = prologue_step(u, address, registers);
    /* A call at the very end of a function never returns, as at the end of a
     * context of makecontext(): its caller must not be guessed. */
    if (did == UNWIND_UNKNOWN && !row && !cfi_row(u, address + 1))
        did = scan_step(u, address, registers);
    return did;
}

/* True for the first function of a task or thread that was entered by a jump
 * through the register of return addresses: it seems to be called by itself,
 * from in front of its first instruction. */
static bool is_first(struct unwind *u, uint64_t address,
                     const struct registers *registers)
{
    const struct unwind_machine *machine = u->machine;
    uint64_t caller = registers->value[machine->pc] & ~machine->no_address;
    struct function function;
    return machine->returns != machine->pc && caller <= address &&
           function_find(u, address, &function) && function.start == caller;
}

/* Returns to the caller of a function that is no code: its pointer was wrong.
 * False: no call before the return address. */
static bool return_from_nothing(struct unwind *u, struct registers *registers)
{
    const struct unwind_machine *machine = u->machine;
    uint64_t returns, targets[2];
    bool on_stack = machine->returns == machine->pc;
    if (on_stack ? !registers->known[machine->sp] ||
                       !unwind_word(u, registers->value[machine->sp], &returns)
                 : !registers->known[machine->returns])
        return false;
    if (!on_stack)
        returns = registers->value[machine->returns];
    if (call_before(u, returns & ~machine->no_address, targets) == CALLS_NO)
        return false;
    registers->value[machine->pc] = returns;
    if (on_stack)
        registers->value[machine->sp] += u->memory->word_bytes;
    return true;
}

/* `called`: the first frame continues after a call. A trial does not end at a
 * function's start: any pointer to a function looks like a return address
 * there. */
static size_t walk(struct unwind *u, struct registers *registers, uint64_t *to,
                   bool called, bool *whole)
{
    const struct unwind_machine *machine = u->machine;
    size_t count = 0;
    *whole = false;
    while (count < FRAMES_MAX && registers->known[machine->pc]) {
        uint64_t returns = registers->value[machine->pc] & ~machine->no_address;
        uint64_t address = called && count && !u->tries
                               ? unwind_call(u, returns)
                               : returns - called;
        uint64_t sp = registers->value[machine->sp];
        const struct row *row;
        bool is_code = function_is_code(u, address);
        if (u->each && !u->tries)
            u->each[count] = *registers; /* also after the last frame */
        if (!is_code && count)
            break;
        to[count++] = address;
        if (!is_code && !called && return_from_nothing(u, registers)) {
            called = true;
            continue;
        }
        if (called && address == returns) {
            *whole = true;
            return count;
        }
        row = cfi_row(u, address);
        called = !row || !row->signal;
        switch (step(u, address, row, registers)) {
        case UNWIND_END: *whole = true; return count;
        case UNWIND_UNKNOWN: return count;
        case UNWIND_NEXT: break;
        }
        if (is_first(u, address, registers)) {
            *whole = true;
            return count;
        }
        /* Only the innermost function may have put nothing on the stack. A signal's
         * handler may have another stack. */
        if (called && registers->value[machine->sp] < sp + (count > 1))
            break;
    }
    return count;
}

size_t unwind(struct unwind *u, struct registers *registers,
              uint64_t to[FRAMES_MAX], bool *whole)
{
    u->reads_left = READS_MAX;
    return walk(u, registers, to, i386_vdso_step(u, registers), whole);
}

void unwind_close(struct unwind *u)
{
    for (size_t i = 0; i < sizeof u->rows / sizeof *u->rows; i++)
        free(u->rows[i].frame);
}
