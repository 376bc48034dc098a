/* explain.h - the end of a program: its cause in words, and in its records. */
/* SPDX-License-Identifier: MIT */
/*
PROMISES
    * A value that a record holds is a cause only if the crash used it, and it
      is of freed memory or was recorded by the crashed function itself just
      before; any other is `perhaps`.
    * Reading ends in any core file, hostile or cut off.

FLOORS (a file calls only files of lower floors)
    ended       how the program of a recording ended: by a crash or not
    stack       the crash that a source holds, the lines of its stack
    text        a core file of the lines that a program writes as it crashes
    provenance  the records that hold values of the crash
    ending      the way in which the program ended, in words
    crash       the values of the crash: registers, variables, their targets
    variables   arguments and local variables of a frame: DWARF
    heap        the block of the heap at an address: glibc
    access      the memory that an instruction reads or writes
*/
#pragma once

#include "show.h"

/* ---------------------------------------------------------------- access -- */

/* The memory operand of an instruction; registers by their DWARF numbers. */
struct access {
    bool known;      /* the instruction accesses memory */
    bool writes;     /* it stores there, else it loads */
    bool calls;      /* it goes to an address in a register or in memory */
    int base, index; /* -1: none */
    int32_t offset;  /* from these */
};
struct access access_at(struct memory *, uint64_t pc);

/* ------------------------------------------------------------------ heap -- */

/* A block that malloc() gave out, by the words that glibc keeps around it. */
struct block {
    uint64_t size; /* of the part that a program uses; 0: none */
    bool freed;
};
/* The block that begins at an address. False: no block does, or it is known by
 * the word before it alone. */
bool heap_block(struct memory *, uint64_t start, struct block *);

/* ------------------------------------------------------------------ text -- */

/* Makes a core file of the last crash in a text with the lines of
 * recorder/crash_stack.h: argument 0 of `call` is its path, then the core file's.
 * Changes nothing for any other file. */
void text_take(struct call *);
/* Sets the build IDs that the text has, and the place of the program. */
void text_modules(struct call *);
/* Prints the last records that follow in the text. */
void text_last(FILE *);
/* Opens a regular file; null: it is none, or not here. */
FILE *text_open(const char *path);

/* ------------------------------------------------------------- variables -- */

enum { VARIABLES_MAX = 128, VARIABLE_NAME_MAX = 96, VARIABLE_TEXT_MAX = 160 };

/* A variable of a frame, or a member of one, up to a word of it. */
struct variable {
    char name[VARIABLE_NAME_MAX]; /* "s->peer", "p.out.text" */
    uint64_t address;             /* of it; 0: it is in a register */
    uint64_t value, size;
    unsigned width; /* of the value; 0: it is no number and no pointer */
    bool known;     /* its value */
    bool is_pointer, is_signed;
    bool to_function, to_pointer; /* a pointer to that */
    bool is_struct;               /* with members, at its address */
    bool is_text;                 /* char[] there, or a pointer to char */
    unsigned inlined; /* of the innermost inlined function 0; of its caller 1 */
    Dwarf_Die target; /* the type of a pointer's target, of a struct: its own,
                       * or zeros */
    const char *type; /* its name; or null */
};
/* Finds the variables at an address, which belong to a frame with these
 * registers; `cfa` is the stack pointer of its caller. Returns how many. */
size_t variables_of(struct threads *, uint64_t address,
                    const struct registers *, uint64_t cfa,
                    struct variable to[VARIABLES_MAX]);
/* Adds to `count` variables the static ones whose addresses are in the code of the
 * function at an address: known of x86-64. Returns how many there are then. */
size_t variables_static(struct threads *, uint64_t address,
                        struct variable to[VARIABLES_MAX], size_t count);
/* Reads the members of a struct, or of a pointer's target, and their members.
 * Without memory, their addresses are those from 0 on. Returns how many. */
size_t variable_members(struct memory *, const struct variable *,
                        struct variable to[VARIABLES_MAX]);
/* The member at an offset of a variable's target. False: there is none. */
bool variable_member(const struct variable *, uint64_t offset,
                     struct variable *to);
/* Reads the text of a variable. False: it has none. */
bool variable_text(struct memory *, const struct variable *,
                   char to[VARIABLE_TEXT_MAX]);

/* ----------------------------------------------------------------- crash -- */

enum { MESSAGE_MAX = 400 };

struct explain {
    struct call *call;
    struct threads threads;
    struct memory *memory; /* of the source */
    struct thread *thread; /* that crashed; null: none did */
    unsigned first;        /* its frame that crashed, after a handler's */
    struct registers registers[FRAMES_MAX + 1]; /* of each frame */
    uint64_t pc, sp, frame_end; /* of the frame that crashed; 0: unknown */
    uint64_t site_sp;           /* of the frame `site` */
    int32_t hung; /* without a crash: the thread of the verdict; 0: none */
    char verdict[1024]; /* on a process that hangs; or "" */
    int signal, code;
    uint32_t exception; /* of Windows; or 0 */
    uint64_t address;   /* of the fault */
    bool has_address;
    bool in_heap;              /* malloc() or free() found the heap damaged */
    char message[MESSAGE_MAX]; /* of glibc's abort(); or "" */
    struct access access;
    uint64_t bad; /* the value that was used as an address, */
    bool has_bad; /* if it is known */
    struct value *values;
    size_t values_count, values_max;
    struct variable variables[VARIABLES_MAX]; /* of the frame `site`, */
    size_t variables_count, statics_at;       /* then static variables */
    unsigned site; /* the first frame in the program's own code */
};

/* The kind of a value is the property that an argument of a record must share. */
enum value_kind {
    VALUE_ADDRESS, /* the address, or its block */
    VALUE_NUMBER,  /* its name, too */
    VALUE_TEXT     /* the text */
};
/* A value of the crash. */
struct value {
    enum value_kind kind;
    uint64_t word;
    char name[2 * VARIABLE_NAME_MAX]; /* "s", "s->next", "rdi" */
    char type[48]; /* of its target, or of the struct that it is in; or "" */
    char *text;    /* of VALUE_TEXT */
    bool is_null;  /* a null pointer, of VALUE_NUMBER */
    bool used;     /* the faulting instruction used it, or it was freed twice */
    uint64_t records, own; /* that hold it; the last order by the thread */
    unsigned weight;       /* the higher, the more telling: WEIGHT_SITE ... */
    struct block block;    /* of the heap at it; size 0: none */
};

enum {
    WEIGHT_SITE = 40,
    WEIGHT_STATIC = 28,
    WEIGHT_CALLER = 24,
    WEIGHT_REGISTER = 12,
    WEIGHT_HOLDER = 60 /* of the bad address */
};

/* Reads the signal and the stack of a source's crashed thread. */
void crash_find(struct explain *);
/* The function of a frame of the crashed thread; "": unknown. */
const char *crash_function(struct explain *, unsigned frame);
/* True if the value of a pointer was used as the bad address. */
bool crash_is_bad(const struct explain *, const struct variable *);
/* If each of the eight bytes of an address is printable, writes the bytes in the
 * order of memory and returns true. A valid address has other bytes. */
bool crash_letters(const struct explain *, uint64_t address, char to[9]);
/* Takes the first thread of a deadlock as the one that hangs, if none crashed:
 * the thread of the verdict may only wait for one of these. Without a deadlock,
 * it is one that waits for a lock whose holder has ended. */
void crash_hung(struct explain *);

/* ---------------------------------------------------------------- ending -- */

/* Returns in words how the program ended, in one line. The caller frees. */
char *ending_text(struct explain *);
/* Reads the message with which glibc aborted; "": none. */
void ending_message(struct explain *);

/* ------------------------------------------------------------ provenance -- */

enum { LINES_MAX = 6, LAST_MAX = 4, OTHERS_MAX = 4 };

/* A record, and the value of the crash that it holds. */
struct hit {
    uint64_t order, caller;
    size_t value; /* SIZE_MAX: none */
    size_t format;
    const struct reader_thread *thread;
    const char *name; /* of the argument, or null */
    bool exact;       /* the value itself, or its block's start */
    bool before;      /* the block before the value's */
    bool weak;        /* a number, by its type or by itself; or a block that
                       * has another one in it */
};
/* A record that is shown. */
struct shown {
    struct hit hit;
    bool first; /* of a format that never came before */
    bool sure;  /* the value was used, and its name or type is the record's */
    double score;
    char *line; /* without a newline */
};
/* Another thread that recorded a value of the crash: the last of these records,
 * and how many there are. */
struct other {
    const struct reader_thread *thread;
    uint64_t order, count;
};
struct provenance {
    struct shown lines[LINES_MAX + LAST_MAX], *last; /* after LINES_MAX */
    size_t lines_count, last_count;
    struct other others[OTHERS_MAX];
    size_t others_count;
    uint64_t records; /* all that were read */
};
/* Reads all records, and chooses those to show. */
void provenance_find(struct explain *, struct provenance *);
void provenance_free(struct provenance *);

/* ----------------------------------------------------------------- stack -- */

/* Opens argument 0 of `call`, and finds its crash. Ends the command if that
 * fails. */
void explain_open(struct explain *);
void explain_close(struct explain *);
/* Returns "CRASH SIGSEGV: read of address 0x8 ...; thread 4711 main" of a
 * recording, and its stack; or, without CRASH and in one line, the innermost place
 * in the program's own code. Null: it has no crash. The caller frees. */
char *explain_brief(struct call *, bool stack);
/* Prints the innermost frames: of the system, the last one before the program's
 * own code; and the variables of the first in that code. */
void stack_text(FILE *, struct explain *);

/* ----------------------------------------------------------------- ended -- */

/* Returns how the program of a recording ended, in words, or null if the
 * recording does not tell; *kind: "crash", "exit", "running", "killed",
 * "unknown"; *status: of exit(), else -1. The caller frees. */
char *ended_text(struct call *, const char **kind, int *status);
