/* variables.c - arguments and local variables of a frame. */
/* SPDX-License-Identifier: MIT */
/*
   DWARF 5, sections 2.5 and 3.3. Known are the operations for a register, the
   frame and a fixed address. A variable of any other place is unknown.
*/
#include "bytes.h"
#include "explain.h"

#include <dwarf.h>
#include <stdlib.h>

struct frame {
    struct threads *threads;
    const struct registers *registers;
    uint64_t cfa, base; /* base: of the function's variables */
    Dwarf_Addr bias;
    Dwarf_Die function;
    uint64_t pc; /* without the bias */
};

static bool register_value(const struct frame *f, uint64_t number,
                           uint64_t *value)
{
    if (number >= REGISTERS_MAX || !f->registers->known[number])
        return false;
    *value = f->registers->value[number];
    return true;
}

enum place_is { PLACE_UNKNOWN, PLACE_MEMORY, PLACE_VALUE };

/* Where a single operation says that a variable is. */
static enum place_is place_by(const struct frame *f, const Dwarf_Op *op,
                              uint64_t *to)
{
    unsigned code = op->atom;
    if (code == DW_OP_fbreg && f->base)
        return *to = f->base + op->number, PLACE_MEMORY;
    if (code == DW_OP_call_frame_cfa && f->cfa)
        return *to = f->cfa, PLACE_MEMORY;
    if (code == DW_OP_addr)
        return *to = op->number + f->bias, PLACE_MEMORY;
    if (code >= DW_OP_breg0 && code <= DW_OP_breg31 &&
        register_value(f, code - DW_OP_breg0, to))
        return *to += op->number, PLACE_MEMORY;
    if (code >= DW_OP_reg0 && code <= DW_OP_reg31 &&
        register_value(f, code - DW_OP_reg0, to))
        return PLACE_VALUE;
    if (code >= DW_OP_lit0 && code <= DW_OP_lit31)
        return *to = code - DW_OP_lit0, PLACE_MEMORY;
    if (code == DW_OP_const1u || code == DW_OP_const2u ||
        code == DW_OP_const4u || code == DW_OP_const8u ||
        code == DW_OP_constu || code == DW_OP_consts || code == DW_OP_const1s ||
        code == DW_OP_const2s || code == DW_OP_const4s || code == DW_OP_const8s)
        return *to = op->number, PLACE_MEMORY;
    return PLACE_UNKNOWN;
}

/* Where a list of operations says that a variable is. */
static enum place_is place_in(const struct frame *f, const Dwarf_Op *ops,
                              size_t count, uint64_t *to)
{
    enum place_is is = count ? place_by(f, ops, to) : PLACE_UNKNOWN;
    for (size_t i = 1; i < count && is == PLACE_MEMORY; i++) {
        struct memory *m = f->threads->source->memory;
        if (ops[i].atom == DW_OP_plus_uconst)
            *to += ops[i].number;
        else if (ops[i].atom == DW_OP_stack_value && i + 1 == count)
            is = PLACE_VALUE;
        else if (ops[i].atom != DW_OP_deref || !bytes_read_word(m, *to, to))
            is = PLACE_UNKNOWN;
    }
    return count > 1 && is == PLACE_VALUE &&
                   ops[count - 1].atom != DW_OP_stack_value
               ? PLACE_UNKNOWN
               : is;
}

static enum place_is place_of_die(const struct frame *f, Dwarf_Die *die,
                                  unsigned name, uint64_t *to)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    if (!dwarf_attr_integrate(die, name, &attribute) ||
        dwarf_getlocation_addr(&attribute, f->pc, &ops, &count, 1) != 1)
        return PLACE_UNKNOWN;
    return place_in(f, ops, count, to);
}

/* The type of a variable, member or target, without its qualifiers. False: it
 * has none. */
static bool type_of(Dwarf_Die *of, Dwarf_Die *to)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(of, DW_AT_type, &attribute) &&
           dwarf_formref_die(&attribute, to) && dwarf_peel_type(to, to) == 0;
}

/* Notes the properties of a variable's type. Returns its size; 0: no number. */
static unsigned type_read(Dwarf_Die *type, struct variable *v)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0;
    int tag = dwarf_tag(type), size = dwarf_bytesize(type);
    if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type) {
        v->is_pointer = true;
        if (!type_of(type, &v->target))
            v->target = (Dwarf_Die){0};
        return size > 0 ? (unsigned)size : 8;
    }
    if (tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type)
        return 0;
    if (dwarf_attr(type, DW_AT_encoding, &attribute))
        dwarf_formudata(&attribute, &encoding);
    v->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    v->is_character = size == 1 && encoding != DW_ATE_boolean;
    return encoding == DW_ATE_float || size < 0 || size > 8 ? 0
                                                            : (unsigned)size;
}

/* Reads a variable. False: it has no name or no type. */
static bool variable_read(const struct frame *f, Dwarf_Die *die,
                          struct variable *v)
{
    struct memory *m = f->threads->source->memory;
    const char *name = dwarf_diename(die);
    Dwarf_Die type;
    unsigned size;
    uint64_t at;
    if (!name || !type_of(die, &type))
        return false;
    *v = (struct variable){.is_argument =
                               dwarf_tag(die) == DW_TAG_formal_parameter};
    snprintf(v->name, sizeof v->name, "%s", name);
    size = type_read(&type, v);
    switch (place_of_die(f, die, DW_AT_location, &at)) {
    case PLACE_UNKNOWN: return true;
    case PLACE_MEMORY:
        v->address = at;
        v->known = size && bytes_read_number(m, at, size, &v->value);
        break;
    case PLACE_VALUE:
        v->value = size < 8 ? at & ((UINT64_C(1) << 8 * size) - 1) : at;
        v->known = size > 0;
        break;
    }
    if (v->known && v->is_signed && size < 8 && v->value >> (8 * size - 1) & 1)
        v->value |= UINT64_MAX << 8 * size;
    return true;
}

/* Reads the variables of a block. Returns the count with them. */
static size_t block_read(const struct frame *f, Dwarf_Die *block,
                         unsigned inlined, struct variable to[VARIABLES_MAX],
                         size_t count)
{
    Dwarf_Die die;
    int more = dwarf_child(block, &die);
    for (; more == 0 && count < VARIABLES_MAX;
         more = dwarf_siblingof(&die, &die))
        if (dwarf_tag(&die) == DW_TAG_formal_parameter ||
            dwarf_tag(&die) == DW_TAG_variable) {
            bool is = variable_read(f, &die, &to[count]);
            to[count].inlined = inlined;
            count += is;
        }
    return count;
}

size_t variables_of(struct threads *threads, uint64_t address,
                    const struct registers *registers, uint64_t cfa,
                    struct variable to[VARIABLES_MAX])
{
    struct frame f = {.threads = threads, .registers = registers, .cfa = cfa};
    Dwfl_Module *module = dwfl_addrmodule(threads->unwind.dwfl, address);
    Dwarf_Die *unit, *found = NULL, *scopes = NULL;
    size_t count = 0;
    unsigned inlined = 0;
    int depth;
    unit = module ? dwfl_module_addrdie(module, address, &f.bias) : NULL;
    f.pc = address - f.bias;
    depth = unit ? dwarf_getscopes(unit, f.pc, &found) : 0;
    if (depth > 0) { /* around an inlined function it has not its caller */
        depth = dwarf_getscopes_die(&found[0], &scopes);
        free(found);
    }
    for (int i = 0; i < depth; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            place_of_die(&f, &scopes[i], DW_AT_frame_base, &f.base);
    for (int i = 0; i < depth; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_compile_unit)
            break;
        count = block_read(&f, &scopes[i], inlined, to, count);
        inlined += tag == DW_TAG_inlined_subroutine;
        if (tag == DW_TAG_subprogram)
            break;
    }
    if (depth > 0)
        free(scopes);
    return count;
}

bool variable_is_of_pointer(const struct variable *v)
{
    Dwarf_Die type = v->target;
    int tag = v->target.addr ? dwarf_tag(&type) : 0;
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type;
}

bool variable_pointer(struct memory *m, const struct variable *v,
                      unsigned number, struct variable *to)
{
    Dwarf_Die type = v->target, member, inner;
    Dwarf_Attribute attribute;
    Dwarf_Word at;
    int more = v->target.addr ? dwarf_child(&type, &member) : 1;
    for (; more == 0; more = dwarf_siblingof(&member, &member)) {
        const char *name = dwarf_diename(&member);
        if (dwarf_tag(&member) != DW_TAG_member || !name || number-- > 0)
            continue;
        *to = (struct variable){0};
        if (!type_of(&member, &inner) || !type_read(&inner, to) ||
            !to->is_pointer || dwarf_tag(&inner) != DW_TAG_pointer_type ||
            !dwarf_attr(&member, DW_AT_data_member_location, &attribute) ||
            dwarf_formudata(&attribute, &at) != 0)
            return true;
        snprintf(to->name, sizeof to->name, "%.30s->%.30s", v->name, name);
        to->known = bytes_read_word(m, v->value + at, &to->value);
        return true;
    }
    return false;
}

bool variable_member(const struct variable *v, uint64_t offset,
                     char to[VARIABLE_NAME_MAX])
{
    Dwarf_Die type = v->target, member, inner;
    int more;
    if (!v->target.addr || dwarf_child(&type, &member) != 0)
        return false;
    for (more = 0; more == 0; more = dwarf_siblingof(&member, &member)) {
        Dwarf_Attribute attribute;
        Dwarf_Word at = 0, size = 0;
        const char *name = dwarf_diename(&member);
        if (dwarf_tag(&member) != DW_TAG_member || !name)
            continue;
        if (dwarf_attr(&member, DW_AT_data_member_location, &attribute))
            dwarf_formudata(&attribute, &at);
        if (!type_of(&member, &inner) || dwarf_aggregate_size(&inner, &size))
            size = 1;
        if (offset < at || offset >= at + size)
            continue;
        snprintf(to, VARIABLE_NAME_MAX, "%s", name);
        return true;
    }
    return false;
}
