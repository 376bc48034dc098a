/* walk.c - the frames of a thread, from the innermost one outwards. */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "unwind.h"

#include <stdlib.h>

size_t unwind_bytes(struct unwind *u, uint64_t address, void *to, size_t size)
{
    if (u->reads_left == 0)
        return 0;
    u->reads_left--;
    return u->memory->read(u->memory, address, to, size);
}

bool unwind_word(struct unwind *u, uint64_t address, uint64_t *word)
{
    unsigned char bytes[8];
    unsigned size = u->memory->word_bytes;
    if (unwind_bytes(u, address, bytes, size) != size)
        return false;
    *word = bytes_word(u->memory, bytes);
    return true;
}

/* Goes to the caller of the frame that `address` lies in. */
static enum unwind_step step(struct unwind *u, uint64_t address,
                             const struct row *row, struct registers *registers)
{
    enum unwind_step did;
    if (!row)
        return UNWIND_UNKNOWN;
    did = cfi_step(u, row, registers);
    if (did == UNWIND_UNKNOWN && !registers->known[u->machine->frame_pointer] &&
        frame_pointer_find(u, address, registers))
        did = cfi_step(u, row, registers);
    return did;
}

size_t unwind(struct unwind *u, struct registers *registers,
              uint64_t to[FRAMES_MAX], bool *whole)
{
    const struct unwind_machine *machine = u->machine;
    bool called; /* the frame, so that it goes on behind a call */
    size_t count = 0;
    *whole = false;
    u->reads_left = READS_MAX;
    called = gate_step(u, registers);
    while (count < FRAMES_MAX && registers->known[machine->pc]) {
        uint64_t address = registers->value[machine->pc] - called;
        uint64_t sp = registers->value[machine->sp];
        const struct row *row;
        if (!dwfl_addrmodule(u->dwfl, address) && count)
            break;
        to[count++] = address;
        row = cfi_row(u, address);
        called = !row || !row->signal;
        switch (step(u, address, row, registers)) {
        case UNWIND_END: *whole = true; return count;
        case UNWIND_UNKNOWN: return count;
        case UNWIND_NEXT: break;
        }
        if (registers->value[machine->sp] <= sp)
            break;
    }
    return count;
}

void unwind_close(struct unwind *u)
{
    for (size_t i = 0; i < sizeof u->rows / sizeof *u->rows; i++)
        free(u->rows[i].frame);
}
