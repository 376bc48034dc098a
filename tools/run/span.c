/* span.c - recorder run --span: the code of a function for run/span.c. */
/* SPDX-License-Identifier: MIT */
/*
   librecorder-run.so replaces the first instructions of a function by a jump to
   a gate, which calls a copy of them. That is right if
     - no other instruction jumps to the replaced bytes but to the first one,
     - each of the copied instructions can be translated for another place,
     - the function has no arguments on the stack, which the gate does not pass
       on. By the function's unwind tables, no instruction refers to the stack
       above the return address; nor does a function to which it jumps at its
       end (a tail call). Where this function is not known, its arguments may
       be the same: then the types of the first function decide.
   All else is refused.
*/
#include "span.h"
#include "../../run/spans.h"
#include "threads.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <dwarf.h>

enum { PARTS = 64, RSP = 7, RBP = 6 };

/* A module whose functions are looked at. */
struct look {
    const char *path, *name; /* of the function */
    Dwfl_Module *module;
    Elf *elf;
    GElf_Addr bias, cfi_bias;
    Dwarf_CFI *cfi;
    csh handle;
    cs_insn *instruction;
    uint64_t taken; /* bytes that are replaced, of the first of */
    struct part {   /* the function, and functions to which it jumps */
        uint64_t start, size;
    } parts[PARTS];
    unsigned parts_count;
    bool unknown;                /* it jumps to code that is not known */
    uint64_t row_start, row_end; /* of the tables' row: the frame's address */
    unsigned row_register;       /* is a register */
    int64_t row_offset;          /* and an offset */
};

/* -------------------------------------------------------------- capstone -- */

/* The library has 6 MB, and is loaded for this option only. */
#define CAPSTONE(X)                                                            \
    X(open) X(close) X(option) X(malloc) X(free) X(disasm_iter) X(insn_group)
static struct {
#define CAPSTONE_MEMBER(name) __typeof__(&cs_##name) name;
    CAPSTONE(CAPSTONE_MEMBER)
} capstone;

#define CAPSTONE_TEXT_(text) #text
#define CAPSTONE_TEXT(text) CAPSTONE_TEXT_(text)
static void capstone_load(void)
{
    void *library =
        dlopen("libcapstone.so." CAPSTONE_TEXT(CS_API_MAJOR), RTLD_NOW);
    if (!library)
        fail(NULL, "--span needs the library capstone: %s", dlerror());
#define CAPSTONE_FIND(name)                                                    \
    *(void **)&capstone.name = need(dlsym(library, "cs_" #name));
    CAPSTONE(CAPSTONE_FIND)
}

/* ------------------------------------------------------------------ code -- */

/* Returns the bytes of the file at an address of the module; null: none. */
static const unsigned char *code_of(const struct look *l, uint64_t address,
                                    uint64_t size)
{
    GElf_Phdr p;
    for (int i = 0; gelf_getphdr(l->elf, i, &p); i++) {
        const uint64_t from = address - l->bias - p.p_vaddr;
        Elf_Data *data;
        if (p.p_type != PT_LOAD || !(p.p_flags & PF_X) || from >= p.p_filesz ||
            size > p.p_filesz - from)
            continue;
        data = elf_getdata_rawchunk(l->elf, (int64_t)(p.p_offset + from), size,
                                    ELF_T_BYTE);
        return data ? data->d_buf : NULL;
    }
    return NULL;
}

/* Reads the next instruction. */
static bool next(struct look *l, const unsigned char **at, size_t *left,
                 uint64_t *address)
{
    return capstone.disasm_iter(l->handle, at, left, address, l->instruction);
}

/* True for a jump or call to a constant address. */
static bool is_relative(const struct look *l, uint64_t *target)
{
    const cs_x86 *x86 = &l->instruction->detail->x86;
    if (!capstone.insn_group(l->handle, l->instruction,
                             CS_GRP_BRANCH_RELATIVE) ||
        x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
        return false;
    *target = (uint64_t)x86->operands[0].imm;
    return true;
}

/* ------------------------------------------------------------- arguments -- */

/* Finds the tables' row at an address. False: there is none of a usual form, by
 * which the return address is on the stack. */
static bool row_find(struct look *l, uint64_t address)
{
    Dwarf_Frame *frame;
    Dwarf_Op *ops, room[3];
    size_t count;
    bool signal, found;
    int returns;
    address -= l->cfi_bias;
    if (address - l->row_start < l->row_end - l->row_start)
        return true;
    if (!l->cfi || dwarf_cfi_addrframe(l->cfi, address, &frame) != 0)
        return false;
    returns = dwarf_frame_info(frame, &l->row_start, &l->row_end, &signal);
    found = returns >= 0 &&
            dwarf_frame_register(frame, returns, room, &ops, &count) == 0 &&
            count == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
            ops[1].atom == DW_OP_plus_uconst && ops[1].number + 8 == 0 &&
            dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1;
    if (found && ops->atom == DW_OP_bregx) {
        l->row_register = (unsigned)ops->number;
        l->row_offset = (int64_t)ops->number2;
    } else if (found) {
        l->row_register = (unsigned)ops->atom - DW_OP_breg0;
        l->row_offset = (int64_t)ops->number;
    }
    if (!found)
        l->row_end = l->row_start;
    free(frame);
    return found;
}

/* Says what is wrong with an instruction's use of the stack; null: nothing. */
static const char *stack_check(struct look *l)
{
    const cs_x86 *x86 = &l->instruction->detail->x86;
    for (unsigned i = 0; i < x86->op_count; i++) {
        const cs_x86_op *op = &x86->operands[i];
        const unsigned base = op->mem.base == X86_REG_RSP   ? RSP
                              : op->mem.base == X86_REG_RBP ? RBP
                                                            : 0;
        if (op->type != X86_OP_MEM || !base)
            continue;
        if (base == l->row_register && op->mem.disp >= l->row_offset)
            return "takes arguments on the stack";
    }
    return NULL;
}

/* True if a type is passed in one register, general or of floating point. */
static bool is_word(Dwarf_Die *type, bool *is_real)
{
    Dwarf_Word size, encoding = 0;
    Dwarf_Attribute at;
    *is_real = false;
    switch (dwarf_tag(type)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_enumeration_type: return true;
    case DW_TAG_base_type:
        dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &at), &encoding);
        *is_real = encoding == DW_ATE_float;
        return encoding != DW_ATE_complex_float &&
               dwarf_aggregate_size(type, &size) == 0 && size <= 8;
    default: return false;
    }
}

/* Reads the type of a function or parameter, without its qualifiers and other
 * names. False: it has none. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *to)
{
    Dwarf_Attribute at;
    return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &at), to) &&
           dwarf_peel_type(to, to) == 0;
}

/* True if registers have room for all parameters of a function. */
static bool has_room(Dwarf_Die *function)
{
    Dwarf_Die die, type;
    unsigned counts[2] = {0}; /* of parameters in general registers, others */
    bool is_real;
    if (type_of(function, &type) && !is_word(&type, &is_real))
        counts[0]++; /* the address of the result */
    if (dwarf_child(function, &die) != 0)
        return true;
    do {
        if (dwarf_tag(&die) == DW_TAG_unspecified_parameters)
            return false;
        if (dwarf_tag(&die) != DW_TAG_formal_parameter)
            continue;
        if (!type_of(&die, &type) || !is_word(&type, &is_real))
            return false;
        counts[is_real]++;
    } while (dwarf_siblingof(&die, &die) == 0);
    return counts[0] <= 6 && counts[1] <= 8;
}

/* True if debugging information says that the function has no arguments on the
 * stack. */
static bool types_allow(const struct look *l)
{
    const uint64_t start = l->parts->start;
    Dwarf_Addr bias, entry;
    Dwarf_Die *unit = place_unit_in(l->module, start, &bias);
    Dwarf_Die *scopes = NULL;
    const int count = unit ? place_scopes(unit, start - bias, &scopes) : 0;
    bool allow = false;
    for (int i = 0; i < count; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram &&
            dwarf_entrypc(&scopes[i], &entry) == 0 && entry + bias == start)
            allow = has_room(&scopes[i]);
    free(scopes);
    return allow;
}

/* Adds the function to which a jump leaves another. */
static void part_add(struct look *l, uint64_t target)
{
    GElf_Off offset;
    GElf_Sym symbol;
    if (!dwfl_module_addrinfo(l->module, target, &offset, &symbol, NULL, NULL,
                              NULL) ||
        offset >= symbol.st_size || l->parts_count == PARTS) {
        l->unknown = true;
        return;
    }
    for (unsigned i = 0; i < l->parts_count; i++)
        if (l->parts[i].start == target - offset)
            return;
    l->parts[l->parts_count++] = (struct part){target - offset, symbol.st_size};
}

/* Looks at the instruction's target. Says what is wrong with it; null: nothing. */
static const char *jump_check(struct look *l, const struct part *part)
{
    const cs_insn *i = l->instruction;
    uint64_t target;
    if (!is_relative(l, &target)) {
        /* A jump ends the function, unless the stack has more: as in a switch. */
        if (capstone.insn_group(l->handle, i, CS_GRP_JUMP) &&
            l->row_register == RSP && l->row_offset == 8)
            l->unknown = true;
        return NULL;
    }
    if (target - l->parts->start - 1 < l->taken - 1)
        return "jumps back to its first instructions";
    if (target - part->start >= part->size && i->id != X86_INS_CALL)
        part_add(l, target);
    return NULL;
}

/* Says why a function cannot have a gate; null: it can. */
static const char *code_check(struct look *l)
{
    for (unsigned i = 0; i < l->parts_count; i++) {
        const struct part part = l->parts[i];
        const unsigned char *at = code_of(l, part.start, part.size);
        uint64_t address = part.start;
        size_t left = at ? part.size : 0;
        l->unknown |= !at;
        while (left) {
            const char *wrong;
            if (!next(l, &at, &left, &address))
                return "has an instruction that capstone does not know";
            if (!row_find(l, l->instruction->address)) /* Go, assembly */
                return "has no unwind tables of the usual form";
            wrong = stack_check(l);
            wrong = wrong ? wrong : jump_check(l, &part);
            if (wrong)
                return wrong;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------ copy -- */

/* The translated instructions as text for run/span.c. */
struct copy {
    FILE *code, *fixes;
    size_t size;
    bool has_fixes;
};

static void bytes_put(struct copy *to, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(to->code, "%02x", bytes[i]);
    to->size += size;
}
/* Adds a word that is the distance from its end to an address of the file. */
static void distance_put(struct copy *to, uint64_t target)
{
    fprintf(to->fixes, "%s%zx+%" PRIx64, to->has_fixes ? "," : "", to->size,
            target);
    to->has_fixes = true;
    bytes_put(to, (const unsigned char[4]){0}, 4);
}
/* Adds code that pushes a return address. */
static void return_put(struct copy *to, uint64_t returns)
{
    static const unsigned char push_lea[] = {0x50, 0x48, 0x8d, 0x05},
                               exchange[] = {0x48, 0x87, 0x04, 0x24};
    bytes_put(to, push_lea, sizeof push_lea); /* rax, of the address */
    distance_put(to, returns);
    bytes_put(to, exchange, sizeof exchange); /* rax and the top of the stack */
}

/* Translates an instruction. False: that is not possible. */
static bool instruction_copy(const struct look *l, struct copy *to)
{
    const cs_insn *i = l->instruction;
    const unsigned at = i->detail->x86.encoding.disp_offset;
    const uint64_t after = i->address + i->size - l->bias;
    const bool calls = capstone.insn_group(l->handle, i, CS_GRP_CALL);
    uint64_t target;
    unsigned char bytes[16];
    memcpy(bytes, i->bytes, sizeof bytes);
    if (is_relative(l, &target)) {
        const bool is_long = bytes[0] == 0x0f && bytes[1] >> 4 == 8;
        if (bytes[0] == 0xe8)
            return_put(to, after);
        if (is_long || bytes[0] >> 4 == 7)
            bytes_put(
                to,
                (const unsigned char[2]){0x0f, 0x80 | (bytes[is_long] & 15)},
                2);
        else if (bytes[0] == 0xe8 || bytes[0] == 0xe9 || bytes[0] == 0xeb)
            bytes_put(to, (const unsigned char[1]){0xe9}, 1);
        else
            return false;
        distance_put(to, target - l->bias);
        return true;
    }
    for (unsigned j = 0; j < i->detail->x86.op_count; j++) {
        const cs_x86_op *op = &i->detail->x86.operands[j];
        if (op->type != X86_OP_MEM || op->mem.base != X86_REG_RIP)
            continue;
        if (!at || at + 4 > i->size)
            return false;
        if (calls) { /* through a word: becomes a jump */
            if (bytes[0] != 0xff || bytes[1] != 0x15)
                return false;
            return_put(to, after);
            bytes[1] = 0x25;
        }
        bytes_put(to, bytes, at);
        distance_put(to, after + (uint64_t)op->mem.disp - (i->size - at - 4));
        bytes_put(to, bytes + at + 4, i->size - at - 4);
        return true;
    }
    bytes_put(to, bytes, i->size);
    return !calls;
}

/* Translates the first instructions of a function, and counts their bytes.
 * False: that is not possible. */
static bool copy_make(struct look *l, struct copy *to)
{
    const uint64_t start = l->parts->start;
    const unsigned char *at = code_of(l, start, l->parts->size);
    uint64_t address = start;
    size_t left = l->parts->size;
    l->taken = 0;
    while (at && l->taken < RUN_JUMP) {
        if (!next(l, &at, &left, &address) || !instruction_copy(l, to))
            return false;
        l->taken = address - start;
    }
    bytes_put(to, (const unsigned char[1]){0xe9}, 1);
    distance_put(to, address - l->bias);
    return at != NULL;
}

/* -------------------------------------------------------------- functions -- */

/* Adds a function to the text for run/span.c. Returns null, or what is wrong.
 * `is_copy`: the compiler has changed the parameters. */
static const char *function_add(struct look *l, FILE *to, uint64_t start,
                                uint64_t size, bool is_copy)
{
    char *code = NULL, *fixes = NULL;
    size_t code_size, fixes_size;
    struct copy copy = {.code = need(open_memstream(&code, &code_size)),
                        .fixes = need(open_memstream(&fixes, &fixes_size))};
    const char *wrong = "begins with instructions that have no other place";
    l->parts[0] = (struct part){start, size};
    l->parts_count = 1;
    l->unknown = false;
    if (size < RUN_JUMP)
        wrong = "is shorter than a jump";
    else if (copy_make(l, &copy))
        wrong = code_check(l);
    if (!wrong && l->unknown && (is_copy || !types_allow(l)))
        wrong = "ends in a jump to code that recorder does not know, which may "
                "take arguments on the stack (compile with -g)";
    need_done(fclose(copy.code) == 0 && fclose(copy.fixes) == 0);
    if (!wrong)
        fprintf(to, "%" PRIx64 ":%" PRIx64 ":%" PRIx64 ":%s:%s:%s;",
                start - l->bias, size,
                run_code_hash(code_of(l, start, size), size), code, fixes,
                basename(l->path));
    free(code);
    free(fixes);
    return wrong;
}

/* True if a symbol is of a function of the name: of C++ and Rust without types of
 * arguments; or of a copy that the compiler made, but not of a part. */
static bool is_named(const char *symbol, const char *name)
{
    const size_t size = strlen(name);
    char plain[DEMANGLED_MAX];
    if (strstr(symbol, ".cold") || strstr(symbol, ".part."))
        return false;
    return (strncmp(symbol, name, size) == 0 &&
            (!symbol[size] || symbol[size] == '.')) ||
           (source_demangle(symbol, plain) && strcmp(plain, name) == 0);
}

/* Adds all functions of the name in a module. Returns how many it has; some may
 * be refused. */
static unsigned functions_add(struct look *l, FILE *to, unsigned *added)
{
    const int symbols = dwfl_module_getsymtab(l->module);
    uint64_t seen[RUN_SPANS];
    unsigned found = 0;
    for (int i = 1; i < symbols && found < RUN_SPANS; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *wrong,
            *name = dwfl_module_getsym_info(l->module, i, &symbol, &address,
                                            NULL, NULL, NULL);
        unsigned j = 0;
        if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
            symbol.st_shndx == SHN_UNDEF || !is_named(name, l->name))
            continue;
        while (j < found && seen[j] != address)
            j++;
        if (j < found)
            continue;
        seen[found++] = address;
        wrong = *added == RUN_SPANS
                    ? "is one function too many"
                    : function_add(l, to, address, symbol.st_size,
                                   strchr(name, '.') != NULL);
        if (wrong)
            warn(NULL, "--span: %s of %s %s", name, l->path, wrong);
        else
            ++*added;
    }
    return found;
}

/* Looks at a file's only module, for dwfl_getmodules(). */
static int module_look(Dwfl_Module *module, void **unused, const char *name,
                       Dwarf_Addr start, void *of)
{
    struct look *l = of;
    (void)unused, (void)name, (void)start;
    l->module = module;
    l->elf = dwfl_module_getelf(module, &l->bias);
    l->cfi = dwfl_module_eh_cfi(module, &l->cfi_bias);
    return DWARF_CB_ABORT;
}

/* Looks at a module. Returns how many functions of the name it has. */
static unsigned module_add(const char *path, const char *name, FILE *to,
                           unsigned *added)
{
    struct look l = {.path = path, .name = name};
    struct source source = {.program = path};
    Dwfl *dwfl = need(source_dwfl(&source));
    unsigned found = 0;
    dwfl_getmodules(dwfl, module_look, &l, 0);
    if (l.elf &&
        capstone.open(CS_ARCH_X86, CS_MODE_64, &l.handle) == CS_ERR_OK) {
        capstone.option(l.handle, CS_OPT_DETAIL, CS_OPT_ON);
        l.instruction = need(capstone.malloc(l.handle));
        found = functions_add(&l, to, added);
        capstone.free(l.instruction, 1);
        capstone.close(&l.handle);
    }
    source_dwfl_end(&source);
    return found;
}

/* Looks at the libraries that the program's loader names, which starts no
 * program. librecorder-run.so itself calls functions of libc and libgcc. */
static unsigned libraries_add(const char *program, const char *loader,
                              const char *name, FILE *to, unsigned *added)
{
    char *command, *line = NULL;
    size_t room = 0;
    unsigned found = 0;
    FILE *from;
    if (strchr(program, '\'') || strchr(loader, '\''))
        return 0;
    command = need_text("'%s' --list '%s' 2>/dev/null", loader, program);
    from = need(popen(command, "re"));
    while (!found && getline(&line, &room, from) > 0) {
        char *at = strstr(line, " => /"), *end = at ? strstr(at, " (0x") : NULL;
        if (!end)
            continue;
        *end = '\0';
        if (place_is_libc(at + 4) || strstr(at, "/libgcc_s"))
            continue;
        found = module_add(at + 4, name, to, added);
    }
    pclose(from);
    free(line);
    free(command);
    return found;
}

char *run_spans(const struct call *call, int key, const char *program,
                const char *loader)
{
    char *text = NULL;
    size_t size;
    unsigned added = 0;
    FILE *to = need(open_memstream(&text, &size));
    capstone_load();
    for (int i = 0; i < call->options_count; i++) {
        const char *name = call->options[i].value;
        const unsigned before = added;
        unsigned found;
        if (call->options[i].key != key)
            continue;
        found = module_add(program, name, to, &added);
        if (!found)
            found = libraries_add(program, loader, name, to, &added);
        if (!found)
            fail(NULL,
                 "--span: %s: no function of this name in the symbols of %s "
                 "and its libraries, libc excepted; it may be inlined, or the "
                 "symbols may be removed (strip)",
                 name, program);
        if (added == before)
            fail(NULL, "--span: %s: its calls cannot be recorded", name);
    }
    need_done(fclose(to) == 0);
    return text;
}
