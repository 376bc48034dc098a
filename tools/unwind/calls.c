/* calls.c - the call before a return address, on x86; elsewhere none. */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "unwind.h"

/* The address of the linkage table's pointers, from the file; 0: unknown. */
static uint64_t table_of(struct unwind *u, uint64_t address)
{
    GElf_Addr bias;
    GElf_Phdr p;
    GElf_Dyn entry;
    Elf_Data *data;
    if (!function_segment(u, address, PT_DYNAMIC, &p, &bias) ||
        p.p_filesz > 65536)
        return 0;
    data = elf_getdata_rawchunk(
        dwfl_module_getelf(dwfl_addrmodule(u->dwfl, address), &bias),
        (int64_t)p.p_offset, p.p_filesz, ELF_T_DYN);
    for (int i = 0;
         data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
        if (entry.d_tag == DT_PLTGOT)
            return entry.d_un.d_ptr + bias;
    return 0;
}

/* A word of the program; 0: it cannot be read. */
static uint64_t word_at(struct unwind *u, uint64_t address)
{
    uint64_t word;
    return unwind_word(u, address, &word) ? word : 0;
}

/* The target of an entry of the procedure linkage table; 0: not one. Its
 * pointer is relative to the entry; on i386 it is at a fixed address, or
 * relative to the table, whose address is in ebx. */
static uint64_t linkage_target(struct unwind *u, uint64_t address)
{
    static const unsigned char endbr[] = {0xf3, 0x0f, 0x1e}; /* fa or fb */
    bool is_386 = u->memory->machine == EM_386;
    unsigned char code[16], *at = code;
    int32_t distance;
    if (unwind_bytes(u, address, code, sizeof code) != sizeof code)
        return 0;
    if (memcmp(at, endbr, sizeof endbr) == 0)
        at += sizeof endbr + 1;
    if (*at == 0xf2) /* bnd */
        at++;
    memcpy(&distance, at + 2, sizeof distance);
    if (at[0] == 0xff && at[1] == 0x25) /* jmp *place */
        return word_at(u, is_386 ? (uint32_t)distance
                                 : address + (uint64_t)(at + 6 - code) +
                                       (uint64_t)(int64_t)distance);
    if (is_386 && at[0] == 0xff && at[1] == 0xa3) /* jmp *distance(%ebx) */
        return word_at(u, (uint32_t)(distance + (int64_t)table_of(u, address)));
    return 0;
}

enum calls call_before(struct unwind *u, uint64_t returns, uint64_t target[2])
{
    unsigned char code[7];
    int32_t distance;
    target[0] = target[1] = 0;
    if ((u->memory->machine != EM_X86_64 && u->memory->machine != EM_386) ||
        unwind_bytes(u, returns - sizeof code, code, sizeof code) !=
            sizeof code)
        return CALLS_NO;
    memcpy(&distance, code + 3, sizeof distance);
    if (code[2] == 0xe8) {
        target[0] =
            (returns + (uint64_t)(int64_t)distance) & word_max(u->memory);
        target[1] = linkage_target(u, target[0]);
        return CALLS_YES;
    }
    if (u->memory->machine == EM_386)
        return CALLS_NO;
    if (code[1] == 0xff && code[2] == 0x15) /* call *distance(%rip) */
        target[0] = word_at(u, returns + (uint64_t)(int64_t)distance);
    /* ff /2 has 2, 3, 4, 6 or 7 bytes. */
    for (unsigned i = 0; i <= 5; i++)
        if (i != 2 && code[i] == 0xff && (code[i + 1] & 0x38) == 0x10)
            return CALLS_PERHAPS;
    return CALLS_NO;
}

/* ---------------------------------------------------------------- starts -- */

/* The calls of each machine: an instruction, or its first two bytes followed by
 * two others, `before` bytes before the return address. */
static const struct call_form {
    unsigned machine, before, bytes;
    uint32_t mask, value;
} forms[] = {{EM_AARCH64, 4, 4, 0xfc000000, 0x94000000}, /* bl */
             {EM_AARCH64, 4, 4, 0xfefff000, 0xd63f0000}, /* blr, blraa */
             {EM_ARM, 4, 4, 0x0f000000, 0x0b000000},     /* bl */
             {EM_ARM, 4, 4, 0xfe000000, 0xfa000000},     /* blx */
             {EM_ARM, 4, 4, 0x0ffffff0, 0x012fff30},     /* blx register */
             {EM_ARM, 4, 4, 0xc000f800, 0xc000f000},     /* Thumb: bl, blx */
             {EM_ARM, 2, 2, 0xff87, 0x4780},             /* blx register */
             {EM_MIPS, 8, 4, 0xfc000000, 0x0c000000},    /* jal */
             {EM_MIPS, 8, 4, 0xfc00003f, 0x00000009},    /* jalr */
             {EM_MIPS, 8, 4, 0xfc1e0000, 0x04100000},    /* bltzal, bal */
             {EM_RISCV, 4, 4, 0x00000fff, 0x000000ef},   /* jal ra */
             {EM_RISCV, 4, 4, 0x00007fff, 0x000000e7},   /* jalr ra */
             {EM_RISCV, 2, 2, 0xf07f, 0x9002},           /* c.jalr */
             {EM_RISCV, 2, 2, 0xe003, 0x2001},           /* c.jal */
             {EM_X86_64, 5, 1, 0xff, 0xe8},
             {EM_386, 5, 1, 0xff, 0xe8}};

/* May a call return to an address? Yes, if its instructions cannot be read. */
static bool call_may_end(struct unwind *u, uint64_t returns)
{
    struct memory *m = u->memory;
    unsigned char code[8];
    bool is_x86 = m->machine == EM_386 || m->machine == EM_X86_64;
    if (!bytes_read(m, returns - sizeof code, code, sizeof code))
        return true;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].machine == m->machine &&
            ((uint32_t)bytes_number(m, code + sizeof code - forms[i].before,
                                    forms[i].bytes) &
             forms[i].mask) == forms[i].value)
            return true;
    for (unsigned i = 1; is_x86 && i < sizeof code - 1; i++)
        if (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10)
            return true; /* call through a register or a word */
    return false;
}

uint64_t unwind_call(struct unwind *u, uint64_t returns)
{
    struct function function;
    const struct row *row;
    if (!function_find(u, returns, &function) || function.start != returns ||
        strstr(function.name, "restore") ||
        strstr(function.name, "sigreturn") || call_may_end(u, returns))
        return returns - 1;
    row = cfi_row(u, returns - 1);
    return row && row->signal ? returns - 1 : returns;
}
