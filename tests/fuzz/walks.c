/* walks.c - stacks of any bytes, walked by code and tables of any bytes. */
/* SPDX-License-Identifier: MIT */
/*
   A program of 16 functions, of one of the machines. Its code, its .ARM.exidx,
   the stack and the registers are what the bytes say: the first chooses the
   machine, the next two registers or words of the stack each, so that an
   address of the program or of the stack is as likely as any number.
*/
#include "fuzz.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bytes.h"
#include "threads.h"

enum {
    TEXT = 0x10000,
    TEXT_BYTES = 0x1000,
    FUNCTIONS = 16,
    EXIDX = TEXT + TEXT_BYTES,
    EXIDX_BYTES = 0x200,
    MODULE_END = EXIDX + EXIDX_BYTES,
    STACK = 0x7f0000,
    STACK_BYTES = 0x1000,
    TIMES_MAX = 20 * READS_MAX
};

static const struct {
    unsigned machine, word;
    bool big;
} kinds[] = {{EM_ARM, 4, false}, {EM_AARCH64, 8, false}, {EM_RISCV, 8, false},
             {EM_MIPS, 4, true}, {EM_X86_64, 8, false},  {EM_386, 4, false}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ------------------------------------------------------------------- ELF -- */

static const char names[] = "\0.text\0.symtab\0.strtab\0f";

static void section(Elf *elf, unsigned name, unsigned type, void *bytes,
                    size_t size, Elf_Type of, const GElf_Shdr *more)
{
    Elf_Scn *scn = elf_newscn(elf);
    Elf_Data *data = elf_newdata(scn);
    GElf_Shdr header = *more;
    data->d_buf = bytes;
    data->d_size = size;
    data->d_type = of;
    data->d_align = more->sh_addralign;
    data->d_version = EV_CURRENT;
    header.sh_name = name;
    header.sh_type = type;
    gelf_update_shdr(scn, &header);
}

/* An ELF file with the symbols of all functions; the code in it is zeros. */
static int file_of_kind(unsigned kind)
{
    static unsigned char text[MODULE_END - TEXT];
    static unsigned char symbols[(FUNCTIONS + 1) * sizeof(Elf64_Sym)];
    bool wide = kinds[kind].word == 8;
    int fd = memfd_create("program", MFD_CLOEXEC);
    Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
    GElf_Ehdr header = {.e_type = ET_EXEC,
                        .e_version = EV_CURRENT,
                        .e_machine = (GElf_Half)kinds[kind].machine,
                        .e_shstrndx = 3};
    GElf_Phdr load = {.p_type = PT_LOAD,
                      .p_flags = PF_R | PF_X,
                      .p_offset = 0x1000,
                      .p_vaddr = TEXT,
                      .p_paddr = TEXT,
                      .p_filesz = sizeof text,
                      .p_memsz = sizeof text,
                      .p_align = 0x1000};
    GElf_Phdr exidx = {.p_type = PT_ARM_EXIDX,
                       .p_offset = 0x1000 + TEXT_BYTES,
                       .p_vaddr = EXIDX,
                       .p_memsz = EXIDX_BYTES,
                       .p_filesz = EXIDX_BYTES};
    Elf_Data data = {.d_buf = symbols,
                     .d_type = ELF_T_SYM,
                     .d_size = (FUNCTIONS + 1) *
                               (wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)),
                     .d_version = EV_CURRENT};
    gelf_newehdr(elf, wide ? ELFCLASS64 : ELFCLASS32);
    header.e_ident[EI_DATA] = kinds[kind].big ? ELFDATA2MSB : ELFDATA2LSB;
    gelf_update_ehdr(elf, &header);
    gelf_newphdr(elf, 2);
    gelf_update_phdr(elf, 0, &load);
    gelf_update_phdr(elf, 1, &exidx);
    elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
    section(elf, 1, SHT_PROGBITS, text, sizeof text, ELF_T_BYTE,
            &(GElf_Shdr){.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                         .sh_addr = TEXT,
                         .sh_offset = 0x1000,
                         .sh_size = sizeof text,
                         .sh_addralign = 4});
    memset(symbols, 0, sizeof symbols);
    for (int i = 0; i < FUNCTIONS; i++) {
        GElf_Sym symbol = {.st_name = 23,
                           .st_info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC),
                           .st_shndx = 1,
                           .st_value = TEXT + (unsigned)i * 256 + (i & 1),
                           .st_size = 256};
        if (kinds[kind].machine != EM_ARM)
            symbol.st_value &= ~UINT64_C(1);
        /* The size of a row is that of the ELF file's class. */
        if (wide) {
            Elf64_Sym *s = (Elf64_Sym *)(void *)symbols + i + 1;
            *s = (Elf64_Sym){.st_name = symbol.st_name,
                             .st_info = symbol.st_info,
                             .st_shndx = 1,
                             .st_value = symbol.st_value,
                             .st_size = 256};
        } else {
            Elf32_Sym *s = (Elf32_Sym *)(void *)symbols + i + 1;
            *s = (Elf32_Sym){.st_name = symbol.st_name,
                             .st_info = symbol.st_info,
                             .st_shndx = 1,
                             .st_value = (Elf32_Addr)symbol.st_value,
                             .st_size = 256};
        }
    }
    section(
        elf, 7, SHT_SYMTAB, symbols, data.d_size, ELF_T_SYM,
        &(GElf_Shdr){.sh_offset = 0x4000,
                     .sh_size = data.d_size,
                     .sh_link = 3,
                     .sh_info = 1,
                     .sh_entsize = wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym),
                     .sh_addralign = 8});
    section(
        elf, 15, SHT_STRTAB, (void *)(uintptr_t)names, sizeof names, ELF_T_BYTE,
        &(GElf_Shdr){
            .sh_offset = 0x5000, .sh_size = sizeof names, .sh_addralign = 1});
    gelf_getehdr(elf, &header);
    header.e_phoff = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    header.e_shoff = 0x6000;
    header.e_shstrndx = 3;
    gelf_update_ehdr(elf, &header);
    if (elf_update(elf, ELF_C_WRITE) < 0) {
        fprintf(stderr, "%s\n", elf_errmsg(-1));
        abort();
    }
    elf_end(elf);
    return fd;
}

static Dwfl *program_of_kind(unsigned kind)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address};
    static Dwfl *programs[KINDS];
    Dwfl **program = &programs[kind];
    if (*program)
        return *program;
    elf_version(EV_CURRENT);
    *program = dwfl_begin(&callbacks);
    dwfl_report_begin(*program);
    if (!dwfl_report_elf(*program, "program", "program", file_of_kind(kind), 0,
                         false))
        abort();
    dwfl_report_end(*program, NULL, NULL);
    if (!dwfl_addrmodule(*program, TEXT + 4))
        abort();
    return *program;
}

/* ------------------------------------------------------------------ walk -- */

struct fuzz_memory {
    struct memory memory;
    unsigned char module[MODULE_END - TEXT], stack[STACK_BYTES];
    unsigned reads;
};

static size_t part(void *to, uint64_t address, size_t size,
                   const unsigned char *bytes, uint64_t start, size_t room)
{
    if (address - start >= room)
        return 0;
    if (size > room - (address - start))
        size = room - (address - start);
    memcpy(to, bytes + (address - start), size);
    return size;
}

static size_t fuzz_read(struct memory *memory, uint64_t address, void *to,
                        size_t size)
{
    struct fuzz_memory *m = (struct fuzz_memory *)memory;
    size_t got;
    if (++m->reads > TIMES_MAX)
        abort(); /* a walk does not end */
    got = part(to, address, size, m->module, TEXT, sizeof m->module);
    return got ? got
               : part(to, address, size, m->stack, STACK, sizeof m->stack);
}

struct input {
    const unsigned char *bytes;
    size_t size, at;
};
static unsigned next(struct input *in)
{
    return in->at < in->size ? in->bytes[in->at++] : 0;
}

/* An address of the code, of the stack, a small number, or anything. */
static uint64_t word_next(struct input *in)
{
    unsigned low = next(in), high = next(in), number = high << 8 | low;
    switch (high >> 6) {
    case 0: return TEXT + number % (MODULE_END - TEXT);
    case 1:
    case 2: return STACK + number % STACK_BYTES;
    default:
        return high & 32 ? 0 - (uint64_t)low
                         : (uint64_t)number << 8 * (high & 7);
    }
}

bool fuzz_walk(const unsigned char *bytes, size_t size)
{
    static struct fuzz_memory m;
    static struct unwind unwind_;
    struct input in = {bytes, size, 0};
    unsigned kind = next(&in) % KINDS;
    const struct machine *machine;
    struct registers registers = {0};
    uint64_t frames[FRAMES_MAX];
    size_t count;
    bool whole;
    m.memory = (struct memory){.read = fuzz_read,
                               .word_bytes = kinds[kind].word,
                               .machine = kinds[kind].machine,
                               .big_endian = kinds[kind].big};
    m.reads = 0;
    machine = machine_of(&m.memory);
    if (!machine)
        abort();
    for (unsigned i = 0; i < REGISTERS_MAX && i <= machine->unwind.pc; i++) {
        registers.value[i] = word_next(&in) & word_max(&m.memory);
        registers.known[i] = registers.value[i] != 0;
    }
    registers.value[machine->unwind.pc] =
        TEXT + (next(&in) << 4 | next(&in) >> 4) % TEXT_BYTES;
    registers.known[machine->unwind.pc] = true;
    if (next(&in) < 200)
        registers.value[machine->unwind.sp] = STACK + 4u * next(&in);
    registers.known[machine->unwind.sp] = true;
    for (size_t i = 0; i < EXIDX_BYTES; i++)
        m.module[TEXT_BYTES + i] = (unsigned char)next(&in);
    for (size_t i = 0; i < STACK_BYTES; i += kinds[kind].word)
        bytes_put_word(&m.memory, m.stack + i,
                       i < STACK_BYTES / 2 ? word_next(&in) : 0);
    for (size_t i = 0; i < TEXT_BYTES; i++)
        m.module[i] = (unsigned char)next(&in);
    memset(&unwind_, 0, sizeof unwind_);
    unwind_.memory = &m.memory;
    unwind_.dwfl = program_of_kind(kind);
    unwind_.machine = &machine->unwind;
    count = unwind(&unwind_, &registers, frames, &whole);
    if (count > FRAMES_MAX)
        abort();
    for (size_t i = 1; i < count; i++)
        if (frames[i] - TEXT >= MODULE_END - TEXT)
            abort(); /* no function of the program */
    unwind_close(&unwind_);
    return count > 1;
}
