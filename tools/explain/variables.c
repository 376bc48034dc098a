/* variables.c - arguments and local variables of a frame. */
/* SPDX-License-Identifier: MIT */
/*
   DWARF 5, sections 2.5 and 3.3. Known are the operations for a register, the
   frame and a fixed address. A variable of any other place is unknown.
*/
#include "bytes.h"
#include "explain.h"

#include <dwarf.h>
#include <elf.h>

struct frame {
    struct threads *threads;
    const struct registers *registers;
    uint64_t cfa, base; /* base: of the function's variables */
    Dwarf_Addr bias;
    uint64_t pc; /* without the bias */
};

/* Finds the address of a variable by an attribute, or its value. False: it is
 * unknown. */
static bool place_of_die(const struct frame *f, Dwarf_Die *die, unsigned name,
                         uint64_t *to, bool *is_value)
{
    enum { OPS_MAX = 16 };
    Dwarf_Attribute attribute;
    Dwarf_Op *ops, plain[OPS_MAX];
    size_t count;
    if (!dwarf_attr_integrate(die, name, &attribute) ||
        dwarf_getlocation_addr(&attribute, f->pc, &ops, &count, 1) != 1 ||
        count > OPS_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        const bool of_frame = ops[i].atom == DW_OP_fbreg;
        plain[i] = ops[i];
        if ((of_frame && !f->base) ||
            (ops[i].atom == DW_OP_call_frame_cfa && !f->cfa))
            return false;
        if (of_frame || ops[i].atom == DW_OP_addr) {
            plain[i].atom = DW_OP_constu;
            plain[i].number += of_frame ? f->base : f->bias;
        }
    }
    f->threads->unwind.reads_left = READS_MAX;
    return cfi_evaluate(&f->threads->unwind, f->registers, f->cfa, plain, count,
                        to, is_value);
}

/* The type of a variable, member or target, without its qualifiers. False: it
 * has none. */
static bool type_of(Dwarf_Die *of, Dwarf_Die *to)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(of, DW_AT_type, &attribute) &&
           dwarf_formref_die(&attribute, to) && dwarf_peel_type(to, to) == 0;
}

static Dwarf_Word encoding_of(Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0;
    if (dwarf_attr(type, DW_AT_encoding, &attribute))
        dwarf_formudata(&attribute, &encoding);
    return encoding;
}

/* True for a char, or a char of a narrow string of C++. */
static bool is_character(Dwarf_Die *type)
{
    Dwarf_Word encoding = encoding_of(type);
    return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) == 1 &&
           (encoding == DW_ATE_signed_char ||
            encoding == DW_ATE_unsigned_char || encoding == DW_ATE_UTF);
}

/* True for std::string of libstdc++, which begins with the pointer to its
 * text. */
static bool is_string(Dwarf_Die *type)
{
    const char *name = dwarf_diename(type);
    return name && strncmp(name, "basic_string<char", 17) == 0;
}

static void type_read(Dwarf_Die *type, struct variable *v)
{
    Dwarf_Word encoding = encoding_of(type);
    Dwarf_Die target;
    int tag = dwarf_tag(type), size = dwarf_bytesize(type);
    if (dwarf_aggregate_size(type, &v->size))
        v->size = 0;
    if (is_string(type)) {
        v->is_pointer = v->is_text = true;
        v->width = 8;
        return;
    }
    v->is_pointer = tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type;
    v->is_struct = tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
                   tag == DW_TAG_union_type;
    if (v->is_struct) {
        v->target = *type;
    } else if ((v->is_pointer || tag == DW_TAG_array_type) &&
               type_of(type, &target)) {
        v->is_text = is_character(&target);
        if (v->is_pointer || /* or an array of pointers to that type */
            (!v->is_text && dwarf_tag(&target) == DW_TAG_pointer_type &&
             type_of(&target, &target)))
            v->target = target;
    }
    if (v->target.addr) {
        int of = dwarf_tag(&v->target);
        v->to_function = of == DW_TAG_subroutine_type;
        v->to_pointer =
            of == DW_TAG_pointer_type || of == DW_TAG_reference_type;
        v->type = dwarf_diename(&v->target);
    }
    v->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    if (v->is_pointer)
        v->width = v->size ? (unsigned)v->size : 8;
    else if ((tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type) &&
             encoding != DW_ATE_float && size > 0 && size <= 8)
        v->width = (unsigned)size;
}

/* Reads a variable's value in memory; without memory, cuts it to its size. */
static void value_read(struct memory *m, struct variable *v)
{
    const unsigned size = v->width;
    v->known =
        size && (!m || bytes_read_number(m, v->address, size, &v->value));
    if (!m && size < 8)
        v->value &= (UINT64_C(1) << 8 * size) - 1;
    if (v->known && v->is_signed && size < 8 && v->value >> (8 * size - 1) & 1)
        v->value |= UINT64_MAX << 8 * size;
}

/* Reads a variable. False: it has no name or no type. */
static bool variable_read(const struct frame *f, Dwarf_Die *die,
                          struct variable *v)
{
    const char *name = dwarf_diename(die);
    Dwarf_Die type;
    uint64_t at;
    bool is_value;
    if (!name || !type_of(die, &type))
        return false;
    *v = (struct variable){0};
    snprintf(v->name, sizeof v->name, "%s", name);
    type_read(&type, v);
    if (!place_of_die(f, die, DW_AT_location, &at, &is_value))
        return true;
    *(is_value ? &v->value : &v->address) = at;
    value_read(is_value ? NULL : f->threads->source->memory, v);
    return true;
}

size_t variables_of(struct threads *threads, uint64_t address,
                    const struct registers *registers, uint64_t cfa,
                    struct variable to[VARIABLES_MAX])
{
    struct frame f = {.threads = threads, .registers = registers, .cfa = cfa};
    Dwarf_Die *unit = place_unit(threads, address, &f.bias);
    Dwarf_Die *scopes = NULL, die;
    size_t count = 0;
    unsigned inlined = 0;
    int depth;
    bool is_value;
    f.pc = address - f.bias;
    depth = unit ? place_scopes(unit, f.pc, &scopes) : 0;
    for (int i = 0; i < depth; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            place_of_die(&f, &scopes[i], DW_AT_frame_base, &f.base, &is_value);
    for (int i = 0, tag = 0; i < depth && tag != DW_TAG_subprogram; i++) {
        int more = dwarf_child(&scopes[i], &die);
        tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_compile_unit)
            break;
        for (; more == 0 && count < VARIABLES_MAX;
             more = dwarf_siblingof(&die, &die))
            if ((dwarf_tag(&die) == DW_TAG_formal_parameter ||
                 dwarf_tag(&die) == DW_TAG_variable) &&
                variable_read(&f, &die, &to[count]))
                to[count++].inlined = inlined;
        inlined += tag == DW_TAG_inlined_subroutine;
    }
    free(scopes);
    return count;
}

/* True if the code has an offset from the next instruction into these bytes. The
 * instruction ends with it, or has a constant of 1, 2 or 4 bytes after it. */
static bool code_has(const unsigned char *code, size_t count, uint64_t start,
                     uint64_t address, uint64_t size)
{
    for (size_t i = 0; i + 4 <= count; i++) {
        int32_t offset;
        uint64_t to;
        memcpy(&offset, code + i, 4);
        to = start + i + 4 + (uint64_t)(int64_t)offset;
        if (to - address < size || to + 1 == address || to + 2 == address ||
            to + 4 == address)
            return true;
    }
    return false;
}

struct statics {
    struct frame f;
    uint64_t start; /* of the function */
    unsigned char code[1 << 14];
    size_t size, count;
    struct variable *to;
};
static void statics_read(struct statics *s, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;
    int more = dwarf_child(parent, &die);
    for (; more == 0 && s->count < VARIABLES_MAX;
         more = dwarf_siblingof(&die, &die)) {
        struct variable *v = &s->to[s->count];
        if (dwarf_tag(&die) == DW_TAG_namespace && depth < 4)
            statics_read(s, &die, depth + 1);
        else if (dwarf_tag(&die) == DW_TAG_variable &&
                 variable_read(&s->f, &die, v) && v->address && v->size &&
                 strncmp(v->name, "recorder_", 9) != 0 &&
                 code_has(s->code, s->size, s->start, v->address, v->size)) {
            /* A recording has not its memory, and the file of the program has
             * the value of its start. */
            bool has = !s->f.threads->source->memory->stale_order;
            v->known &= has;
            v->is_text &= has;
            s->count += has || !v->is_struct;
        }
    }
}

size_t variables_static(struct threads *threads, uint64_t address,
                        struct variable to[VARIABLES_MAX], size_t count)
{
    static const struct registers none;
    static struct statics s;
    struct memory *m = threads->source->memory;
    struct function function;
    Dwarf_Die *unit;
    s.f = (struct frame){.threads = threads, .registers = &none};
    unit = place_unit(threads, address, &s.f.bias);
    if (!unit || m->machine != EM_X86_64 ||
        !function_find(&threads->unwind, address, &function) ||
        address - function.start >= sizeof s.code - 15)
        return count;
    s.start = function.start;
    s.size = m->read(m, s.start, s.code, address - s.start + 15);
    s.count = count;
    s.to = to;
    statics_read(&s, unit, 0);
    return s.count;
}

/* Adds the members of a type at an address. Returns the count with them. */
static size_t members_read(struct memory *m, Dwarf_Die *type, uint64_t base,
                           const char *before, unsigned depth,
                           struct variable *to, size_t count)
{
    enum { DEPTH_MAX = 8 };
    Dwarf_Die member, inner;
    int more = depth < DEPTH_MAX ? dwarf_child(type, &member) : 1;
    if (is_string(type) && count < VARIABLES_MAX) {
        struct variable *v = &to[count];
        *v = (struct variable){.address = base};
        type_read(type, v);
        value_read(m, v);
        snprintf(v->name, sizeof v->name, "%.*s", (int)strcspn(before, "-"),
                 before);
        return count + 1;
    }
    for (; more == 0 && count < VARIABLES_MAX;
         more = dwarf_siblingof(&member, &member)) {
        struct variable *v = &to[count];
        const char *name = dwarf_diename(&member);
        Dwarf_Attribute attribute;
        Dwarf_Word at = 0;
        int tag = dwarf_tag(&member);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            dwarf_hasattr(&member, DW_AT_external) ||
            dwarf_hasattr(&member, DW_AT_bit_size) ||
            !type_of(&member, &inner) ||
            (dwarf_attr(&member, DW_AT_data_member_location, &attribute) &&
             dwarf_formudata(&attribute, &at) != 0))
            continue;
        *v = (struct variable){.address = base + at};
        if (tag == DW_TAG_inheritance || !name ||
            strncmp(name, "_M_", 3) == 0) /* of libstdc++ */
            snprintf(v->name, sizeof v->name, "%.*s",
                     (int)strlen(before) - (strchr(before, '.') ? 1 : 2),
                     before);
        else
            snprintf(v->name, sizeof v->name, "%.50s%.40s", before, name);
        type_read(&inner, v);
        if (v->is_struct) {
            char inside[VARIABLE_NAME_MAX + 2];
            snprintf(inside, sizeof inside, "%s.", v->name);
            count = members_read(m, &inner, base + at, inside, depth + 1, to,
                                 count);
            continue;
        }
        value_read(m, v);
        count++;
    }
    return count;
}

size_t variable_members(struct memory *m, const struct variable *v,
                        struct variable to[VARIABLES_MAX])
{
    Dwarf_Die type = v->target;
    char before[VARIABLE_NAME_MAX + 3];
    uint64_t base = !m ? 0 : v->is_struct ? v->address : v->value;
    if (!v->target.addr)
        return 0;
    snprintf(before, sizeof before, "%s%s", v->name, v->is_struct ? "." : "->");
    return members_read(m, &type, base, before, 0, to, 0);
}

bool variable_member(const struct variable *v, uint64_t offset,
                     struct variable *to)
{
    struct variable members[VARIABLES_MAX];
    size_t count = variable_members(NULL, v, members);
    for (size_t i = 0; i < count; i++)
        if (offset >= members[i].address &&
            offset - members[i].address < (members[i].size | !members[i].size))
            return *to = members[i], true;
    return false;
}

bool variable_text(struct memory *m, const struct variable *v,
                   char to[VARIABLE_TEXT_MAX])
{
    uint64_t at = v->is_pointer ? v->value : v->address;
    size_t most = VARIABLE_TEXT_MAX - 1, size;
    if (!v->is_text || !at || (v->is_pointer && !v->known))
        return false;
    if (!v->is_pointer && v->size && v->size < most)
        most = v->size;
    size = m->read(m, at, to, most);
    to[size] = '\0';
    return *to;
}
