/* types.c - offsets of structure members, by a program's debug information. */
/* SPDX-License-Identifier: MIT */
#include <dwarf.h>

#include "stacks.h"

/* Limits for debug information that is damaged: siblings, and typedefs of
 * typedefs. */
enum { SIBLINGS_MAX = 1 << 22, TYPEDEFS_MAX = 16 };

static bool is_struct(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_union_type;
}

/* Leaves typedefs and qualifiers of a type. False: there is none. */
static bool type_strip(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    for (int i = 0; i < TYPEDEFS_MAX; i++) {
        int tag = dwarf_tag(die);
        if (tag != DW_TAG_typedef && tag != DW_TAG_volatile_type &&
            tag != DW_TAG_const_type)
            return true;
        if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
            !dwarf_formref_die(&attribute, die))
            return false;
    }
    return false;
}

/* Looks for a structure of that name, or a typedef, in a unit. */
static bool unit_find(Dwarf_Die *unit, const char *name, bool is_tag,
                      Dwarf_Die *found)
{
    Dwarf_Die die;
    int steps = 0, left = dwarf_child(unit, &die);
    for (; left == 0 && steps < SIBLINGS_MAX; steps++) {
        const char *said =
            (is_tag ? is_struct(&die) : dwarf_tag(&die) == DW_TAG_typedef)
                ? dwarf_diename(&die)
                : NULL;
        *found = die;
        if (said && strcmp(said, name) == 0 &&
            !dwarf_hasattr(&die, DW_AT_declaration) && type_strip(found) &&
            is_struct(found) && dwarf_haschildren(found) == 1)
            return true;
        left = dwarf_siblingof(&die, &die);
    }
    return false;
}

struct search {
    const char *name;
    bool is_tag, is_found;
    Dwarf_Die *found;
};
static int module_find(Dwfl_Module *module, void **data, const char *name,
                       Dwarf_Addr start, void *of)
{
    struct search *search = of;
    Dwarf_Addr bias;
    Dwarf *debug =
        place_is_libc(name) ? NULL : dwfl_module_getdwarf(module, &bias);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    (void)data, (void)start;
    while (debug && !search->is_found &&
           dwarf_get_units(debug, unit, &unit, NULL, NULL, &die, NULL) == 0)
        search->is_found =
            unit_find(&die, search->name, search->is_tag, search->found);
    return search->is_found ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* Goes from a structure to a member of it: adds its offset. */
static bool member_find(Dwarf_Die *die, const char *name, size_t size,
                        uint64_t *offset)
{
    Dwarf_Die member;
    Dwarf_Attribute attribute;
    int steps = 0, left;
    if (!is_struct(die))
        return false;
    left = dwarf_child(die, &member);
    for (; left == 0 && steps < SIBLINGS_MAX; steps++) {
        const char *said = dwarf_diename(&member);
        Dwarf_Word at = 0; /* unions give none */
        if (dwarf_tag(&member) == DW_TAG_member && said &&
            strlen(said) == size && memcmp(said, name, size) == 0) {
            if (dwarf_attr(&member, DW_AT_data_member_location, &attribute))
                dwarf_formudata(&attribute, &at);
            *offset += at;
            *die = member;
            return dwarf_attr_integrate(&member, DW_AT_type, &attribute) &&
                   dwarf_formref_die(&attribute, die) && type_strip(die);
        }
        left = dwarf_siblingof(&member, &member);
    }
    return false;
}

bool type_member(struct source *source, struct type_found *known,
                 const char *type, const char *member, uint64_t *offset,
                 unsigned *bytes)
{
    Dwfl *dwfl = source_dwfl(source);
    Dwarf_Die die;
    Dwarf_Word size;
    if (!dwfl)
        return false;
    if (!known->type || strcmp(known->type, type) != 0) {
        struct search search = {.name = type, .found = &known->die};
        if (strncmp(type, "struct ", 7) == 0) {
            search.name += 7;
            search.is_tag = true;
        }
        known->type = type;
        dwfl_getmodules(dwfl, module_find, &search, 0);
        known->is_there = search.is_found;
    }
    die = known->die;
    *offset = 0;
    for (; known->is_there && *member;
         member += strcspn(member, "."), member += *member == '.')
        if (!member_find(&die, member, strcspn(member, "."), offset))
            return false;
    if (!known->is_there || dwarf_aggregate_size(&die, &size) != 0 ||
        size > UINT32_MAX)
        return false;
    *bytes = (unsigned)size;
    return true;
}
