/* unwind.h - who called whom, from registers and any memory of a program. */
/* SPDX-License-Identifier: MIT */
/*
   The program may run meanwhile, and may be hostile: each address that is read
   may be anything, so a walk ends after FRAMES_MAX frames, where the stack
   pointer does not grow, and when it has read READS_MAX times.

FLOORS (a file calls only files of lower floors)
    walk           from a frame to the one that called it
    frame_pointer  finds a frame pointer that no register gave
    gate           the code through which programs of i386 call the system
    scan           a caller by its call alone, where no table is
    calls          the call in front of a return address
    cfi            a frame's caller by the tables that compilers leave
    exidx          the same by the tables of ARM
    prologue       the same by what the function's instructions did
    arm, mips, riscv, aarch64   what an instruction does (prologue.h)
    function       the function that an address lies in
*/
#ifndef UNWIND_H
#define UNWIND_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "reader.h"

/* More registers than any machine has that is known here, by DWARF number. */
enum { REGISTERS_MAX = 72, FRAMES_MAX = 64, READS_MAX = 8192 };

/* Registers of a processor, by their DWARF numbers. */
struct unwind_machine {
    unsigned count; /* of the registers that callers may have saved */
    unsigned pc, sp, frame_pointer;
    unsigned returns;    /* has the return address in a function's first
                          * instructions; pc: it stands on the stack */
    uint64_t no_address; /* bits of a return address that are none of it */
};

struct registers {
    uint64_t value[REGISTERS_MAX];
    bool known[REGISTERS_MAX];
};

struct unwind {
    struct memory *memory;
    Dwfl *dwfl;
    const struct unwind_machine *machine;
    unsigned reads_left; /* of this walk */
    bool tries;          /* a frame pointer that may be wrong */
    struct row {         /* a direct-mapped cache of what the tables say */
        uint64_t address;
        Dwarf_Frame *frame;
        int returns; /* the column of the return address */
        bool signal; /* the frame was made by a signal */
    } rows[1024];
};

/* Finds the frames of a thread. The first address is where it executes, each
 * other one lies within the call that is not done yet. Returns how many;
 * *whole: the last is the outermost of all. `registers` become those of the
 * last. */
size_t unwind(struct unwind *, struct registers *, uint64_t to[FRAMES_MAX],
              bool *whole);
void unwind_close(struct unwind *);

/* ---------------------------------------------------------------- floors -- */

enum unwind_step { UNWIND_NEXT, UNWIND_END, UNWIND_UNKNOWN };

/* function.c: false: no symbol tells. */
struct function {
    const char *name;
    uint64_t start;
    bool is_thumb; /* of ARM: in its short instructions */
};
bool function_find(struct unwind *, uint64_t address, struct function *to);
/* Is it one that nobody calls, with which a program or thread begins? */
bool function_is_outermost(struct unwind *, uint64_t address);

/* exidx.c, prologue.c: make registers those of the caller. */
enum unwind_step exidx_step(struct unwind *, uint64_t address,
                            struct registers *);
enum unwind_step prologue_step(struct unwind *, uint64_t address,
                               struct registers *);

/* cfi.c: what the tables say of the frame in which `address` lies; null: there
 * are none. */
const struct row *cfi_row(struct unwind *, uint64_t address);
/* Makes registers those of the caller. */
enum unwind_step cfi_step(struct unwind *, const struct row *,
                          struct registers *);
/* Is it a function's first instruction, as far as the tables tell: has nothing
 * been put on the stack but the return address? */
bool cfi_is_entry(struct unwind *, uint64_t address);

/* gate.c: leaves the kernel's own code for system calls of i386, which is no
 * function of the program; false: this is none. */
bool gate_step(struct unwind *, struct registers *);

/* scan.c: makes registers those of the next caller that its call tells. */
enum unwind_step scan_step(struct unwind *, uint64_t address,
                           struct registers *);

/* calls.c: is there a call in front of a return address, and of what? target[0]
 * is what it calls, or an entry of a linkage table that leads to target[1]; 0:
 * not known. CALLS_PERHAPS: it calls what a register or a word holds by now. */
enum calls { CALLS_NO, CALLS_PERHAPS, CALLS_YES };
enum calls call_before(struct unwind *, uint64_t returns, uint64_t target[2]);

/* calls.c: the address within the call that a return address belongs to; the
 * return address itself where a task or context begins: the first instruction
 * of a function, to which no call and no signal returns. */
uint64_t unwind_call(struct unwind *, uint64_t returns);

/* frame_pointer.c: where may the frame pointer of the function lead that
 * `address` lies in? Under a return address behind a call of this function, or,
 * perhaps, of what a register held. Where its first instructions say, if they
 * are the usual ones; and the next from *place on, which begins with `sp`. */
enum calls frame_pointer_usual(struct unwind *, uint64_t address, uint64_t sp,
                               uint64_t *place);
enum calls frame_pointer_next(struct unwind *, uint64_t address, uint64_t sp,
                              uint64_t *place);

/* walk.c: reads a word of the program; false: it is not there, or enough was
 * read. unwind_bytes() reads code and tables, unwind_stack() words of a stack,
 * of which a copy of the memory gets the addresses only. */
bool unwind_word(struct unwind *, uint64_t address, uint64_t *word);
size_t unwind_bytes(struct unwind *, uint64_t address, void *to, size_t size);
size_t unwind_stack(struct unwind *, uint64_t address, void *to, size_t size);

#endif
