/* function.c - the function at an address, by its symbol. */
/* SPDX-License-Identifier: MIT */
#include "unwind.h"

static struct function by_symbol(struct unwind *u, uint64_t address)
{
    Dwfl_Module *module = dwfl_addrmodule(u->dwfl, address);
    GElf_Off offset;
    GElf_Sym symbol;
    bool is_arm = u->memory->machine == EM_ARM;
    struct function function = {0};
    /* Bit 0 of a symbol's value says that its instructions are Thumb's. */
    const char *name =
        module ? dwfl_module_addrinfo(module, is_arm ? address | 1 : address,
                                      &offset, &symbol, NULL, NULL, NULL)
               : NULL;
    if (!name || (symbol.st_size && offset > symbol.st_size))
        return function;
    function.name = name;
    function.start = (is_arm ? address | 1 : address) - offset;
    function.is_thumb = is_arm && function.start & 1;
    function.start -= function.is_thumb;
    return function;
}

/* libdw looks at each symbol of a module for one address. */
bool function_find(struct unwind *u, uint64_t address, struct function *to)
{
    size_t i = (address ^ address >> 8) %
               (sizeof u->functions / sizeof *u->functions);
    if (u->functions[i].address != address || !address) {
        u->functions[i].address = address;
        u->functions[i].function = by_symbol(u, address);
    }
    *to = u->functions[i].function;
    return to->name;
}

bool function_segment(struct unwind *u, uint64_t address, unsigned type,
                      GElf_Phdr *p, GElf_Addr *bias)
{
    Dwfl_Module *module = dwfl_addrmodule(u->dwfl, address);
    Elf *elf = module ? dwfl_module_getelf(module, bias) : NULL;
    int i = 0;
    while (elf && gelf_getphdr(elf, i++, p)) /* null after the last */
        if (p->p_type == type)
            return true;
    return false;
}

bool function_is_code(struct unwind *u, uint64_t address)
{
    Dwfl_Module *module = dwfl_addrmodule(u->dwfl, address);
    GElf_Addr bias;
    GElf_Phdr p;
    Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;
    for (int i = 0; elf && gelf_getphdr(elf, i, &p); i++)
        if (p.p_type == PT_LOAD && address - bias - p.p_vaddr < p.p_memsz)
            return p.p_flags & PF_X;
    return module;
}

bool function_is_outermost(struct unwind *u, uint64_t address)
{
    static const char *const names[] = {
        "_start",   "__start", "__clone",        "clone",
        "__clone3", "clone3",  "__thread_start", "thread_start"};
    struct function function;
    if (!function_find(u, address, &function))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(function.name, names[i]) == 0)
            return true;
    return false;
}
