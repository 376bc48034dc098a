/* unwind.h - the callers of a function, from registers and memory. */
/* SPDX-License-Identifier: MIT */
/*
    The program may run during a walk, and may be hostile: each word may hold
    any value. So a walk ends after FRAMES_MAX frames, when the stack pointer
    does not grow, and after READS_MAX reads.

FLOORS (a file calls only files of lower floors)
    walk           from a frame to its caller
    frame_pointer  finds a frame pointer that no register gave
    i386_vdso      the code that programs of i386 use for system calls
    scan           a caller by a return address alone, without tables
    calls          the call before a return address
    cfi            a frame's caller by the tables that compilers write
    exidx          the same by the tables of ARM
    prologue       the same by the instructions that the function ran
    arm, mips, riscv, aarch64   decode instructions (prologue.h)
    effects        the effects of instructions on a model of the frame
    function       the function at an address
    words          reads the program's memory
*/
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "reader.h"

/* More registers than any known machine has, by DWARF number. */
enum { REGISTERS_MAX = 72, FRAMES_MAX = 64, READS_MAX = 8192 };

/* Registers of a processor, by their DWARF numbers. */
struct unwind_machine {
    unsigned count; /* of the registers that callers may have saved */
    unsigned pc, sp, frame_pointer;
    unsigned returns;    /* has the return address in a function's first
                          * instructions; pc: the stack has it */
    uint64_t no_address; /* bits of a return address that are not part of it */
};

struct registers {
    uint64_t value[REGISTERS_MAX];
    bool known[REGISTERS_MAX];
};

/* The symbol of a function. */
struct function {
    const char *name;
    uint64_t start;
    bool is_thumb; /* of ARM: in its short instructions */
};

struct unwind {
    struct memory *memory;
    Dwfl *dwfl;
    const struct unwind_machine *machine;
    unsigned reads_left;    /* of this walk */
    bool tries;             /* a frame pointer that may be wrong */
    struct registers *each; /* gets the registers of FRAMES_MAX frames; or
                             * null */
    struct row {            /* a direct-mapped cache of the tables' rows */
        uint64_t address;
        Dwarf_Frame *frame;
        int returns; /* the column of the return address */
        bool signal; /* the frame was made by a signal */
    } rows[1024];
    struct { /* the same of symbols */
        uint64_t address;
        struct function function; /* without a name: there is none */
    } functions[256];
};

/* Finds the frames of a thread. The first address is executing; each other one
 * is inside a call that has not returned. Returns the number of frames; *whole:
 * the last is the outermost of all. `registers` are of the last frame then. */
size_t unwind(struct unwind *, struct registers *, uint64_t to[FRAMES_MAX],
              bool *whole);
void unwind_close(struct unwind *);

/* ---------------------------------------------------------------- floors -- */

enum unwind_step { UNWIND_NEXT, UNWIND_END, UNWIND_UNKNOWN };

/* function.c: false: no symbol tells. */
bool function_find(struct unwind *, uint64_t address, struct function *to);
/* The first segment of a type in the file at an address of code; false: none. */
bool function_segment(struct unwind *, uint64_t address, unsigned type,
                      GElf_Phdr *, GElf_Addr *bias);
/* True for an address of a file that is executable there, as far as is known. */
bool function_is_code(struct unwind *, uint64_t address);
/* True for a function without a caller, with which a program or thread
 * begins. */
bool function_is_outermost(struct unwind *, uint64_t address);

/* exidx.c, prologue.c: change the registers to the caller's. */
enum unwind_step exidx_step(struct unwind *, uint64_t address,
                            struct registers *);
enum unwind_step prologue_step(struct unwind *, uint64_t address,
                               struct registers *);

/* cfi.c: the tables' row for the frame at `address`; null: none. */
const struct row *cfi_row(struct unwind *, uint64_t address);
/* Evaluates an expression; false: that is not possible. */
bool cfi_evaluate(struct unwind *, const struct registers *, uint64_t cfa,
                  const Dwarf_Op *, size_t count, uint64_t *to, bool *is_value);
/* Changes the registers to the caller's. */
enum unwind_step cfi_step(struct unwind *, const struct row *,
                          struct registers *);
/* True if an address is a function's first instruction by the tables: only the
 * return address is on the stack. */
bool cfi_is_entry(struct unwind *, uint64_t address);

/* i386_vdso.c: leaves the kernel's code for system calls of i386, which is in no
 * file of the program; false: the address is elsewhere. */
bool i386_vdso_step(struct unwind *, struct registers *);

/* scan.c: changes the registers to the next caller's, by its call. */
enum unwind_step scan_step(struct unwind *, uint64_t address,
                           struct registers *);

/* calls.c: finds the call before a return address. target[0] is its target, or
 * an entry of a linkage table that jumps to target[1]; 0: unknown.
 * CALLS_PERHAPS: it calls through a register or a word, which may have changed
 * since. */
enum calls { CALLS_NO, CALLS_PERHAPS, CALLS_YES };
enum calls call_before(struct unwind *, uint64_t returns, uint64_t target[2]);

/* calls.c: the address within the call that a return address belongs to; the
 * return address itself where a task or context begins: the first instruction
 * of a function, to which no call and no signal returns. */
uint64_t unwind_call(struct unwind *, uint64_t returns);

/* frame_pointer.c: candidates for the frame pointer of the function at
 * `address`: places below a return address after a call of this function or,
 * perhaps, through a register. _usual: by the function's first instructions, if
 * they have the usual form. _next: the next one from *place on, which begins
 * with `sp`. */
enum calls frame_pointer_usual(struct unwind *, uint64_t address, uint64_t sp,
                               uint64_t *place);
enum calls frame_pointer_next(struct unwind *, uint64_t address, uint64_t sp,
                              uint64_t *place);

/* walk.c: reads a word of the program; false: it cannot be read, or READS_MAX
 * was reached. unwind_bytes() reads code and tables, unwind_stack() words of a
 * stack; a copy of the memory gets only the addresses among these. */
bool unwind_word(struct unwind *, uint64_t address, uint64_t *word);
size_t unwind_bytes(struct unwind *, uint64_t address, void *to, size_t size);
size_t unwind_stack(struct unwind *, uint64_t address, void *to, size_t size);
