/* calls.c - the call before a return address, on x86; elsewhere none. */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "unwind.h"

#include <elf.h>
#include <gelf.h>
#include <string.h>

/* The word at the address of an `ff /2` or `ff /4` relative to its end. */
static uint64_t word_behind(struct unwind *u, uint64_t end,
                            const unsigned char offset[4])
{
    uint64_t target;
    int32_t distance;
    memcpy(&distance, offset, sizeof distance);
    return unwind_word(u, end + (uint64_t)(int64_t)distance, &target) ? target
                                                                      : 0;
}

/* The target of an entry of the procedure linkage table; 0: no such entry. */
static uint64_t linkage_target(struct unwind *u, uint64_t address)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    unsigned char code[16], *at = code;
    if (unwind_bytes(u, address, code, sizeof code) != sizeof code)
        return 0;
    if (memcmp(at, endbr64, sizeof endbr64) == 0)
        at += sizeof endbr64;
    if (*at == 0xf2) /* bnd */
        at++;
    if (at[0] != 0xff || at[1] != 0x25) /* jmp *offset(%rip) */
        return 0;
    return word_behind(u, address + (uint64_t)(at + 6 - code), at + 2);
}

/* The address of the linkage table's pointers, from the file; 0: unknown. */
static uint64_t table_of(struct unwind *u, uint64_t address)
{
    GElf_Addr bias;
    GElf_Phdr p;
    GElf_Dyn entry;
    Elf_Data *data;
    size_t count;
    Dwfl_Module *module = dwfl_addrmodule(u->dwfl, address);
    Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;
    if (!elf || elf_getphdrnum(elf, &count) != 0)
        return 0;
    for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &p); i++) {
        if (p.p_type != PT_DYNAMIC || p.p_filesz > 65536)
            continue;
        data = elf_getdata_rawchunk(elf, (int64_t)p.p_offset, p.p_filesz,
                                    ELF_T_DYN);
        for (int k = 0;
             data && gelf_getdyn(data, k, &entry) && entry.d_tag != DT_NULL;
             k++)
            if (entry.d_tag == DT_PLTGOT)
                return entry.d_un.d_ptr + bias;
    }
    return 0;
}

/* The same for i386: the pointer is at a fixed address, or relative to the
 * table, whose address is in ebx. */
static uint64_t linkage_target_386(struct unwind *u, uint64_t address)
{
    static const unsigned char endbr32[] = {0xf3, 0x0f, 0x1e, 0xfb};
    unsigned char code[10], *at = code;
    uint32_t place;
    uint64_t target;
    if (unwind_bytes(u, address, code, sizeof code) != sizeof code)
        return 0;
    if (memcmp(at, endbr32, sizeof endbr32) == 0)
        at += sizeof endbr32;
    memcpy(&place, at + 2, sizeof place);
    if (at[0] != 0xff || (at[1] != 0x25 && at[1] != 0xa3))
        return 0;
    if (at[1] == 0xa3)
        place += (uint32_t)table_of(u, address);
    return unwind_word(u, place, &target) ? target : 0;
}

static enum calls call_before_386(struct unwind *u, uint64_t returns,
                                  uint64_t target[2])
{
    unsigned char code[5];
    uint32_t distance;
    if (unwind_bytes(u, returns - sizeof code, code, sizeof code) !=
            sizeof code ||
        code[0] != 0xe8)
        return CALLS_NO;
    memcpy(&distance, code + 1, sizeof distance);
    target[0] = (uint32_t)(returns + distance);
    target[1] = linkage_target_386(u, target[0]);
    return CALLS_YES;
}

enum calls call_before(struct unwind *u, uint64_t returns, uint64_t target[2])
{
    unsigned char code[7];
    int32_t distance;
    target[0] = target[1] = 0;
    if (u->memory->machine == EM_386)
        return call_before_386(u, returns, target);
    if (u->memory->machine != EM_X86_64 ||
        unwind_bytes(u, returns - sizeof code, code, sizeof code) !=
            sizeof code)
        return CALLS_NO;
    if (code[2] == 0xe8) {
        memcpy(&distance, code + 3, sizeof distance);
        target[0] = returns + (uint64_t)(int64_t)distance;
        target[1] = linkage_target(u, target[0]);
        return CALLS_YES;
    }
    if (code[1] == 0xff && code[2] == 0x15) /* call *distance(%rip) */
        target[0] = word_behind(u, returns, code + 3);
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
