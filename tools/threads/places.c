/* places.c - the function, source line or variable of an address. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "threads.h"

#include <dwarf.h>

const char *place_plain(const char *function)
{
    static const char internal[] = "GI_";
    if (!function)
        return "";
    function += strspn(function, "_");
    if (strncmp(function, internal, sizeof internal - 1) == 0)
        function += sizeof internal - 1;
    return function + strspn(function, "_");
}

bool place_is_libc(const char *path)
{
    static const char *const names[] = {"libc.so", "libc-", "libc.musl",
                                        "ld-musl", "libpthread"};
    const char *name = basename(path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* -------------------------------------------------------------- inlined -- */

/* The file and line of the call that was replaced by a function's body. */
static void call_line(Dwarf_Die *unit, Dwarf_Die *inlined, struct place *place)
{
    Dwarf_Attribute attribute;
    Dwarf_Files *files;
    Dwarf_Word file, line;
    size_t count;
    if (!dwarf_attr(inlined, DW_AT_call_file, &attribute) ||
        dwarf_formudata(&attribute, &file) != 0 ||
        !dwarf_attr(inlined, DW_AT_call_line, &attribute) ||
        dwarf_formudata(&attribute, &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
        return;
    place->file = dwarf_filesrc(files, file, NULL, NULL);
    place->line = (int)line;
}

/* The unit of debug information for an address. The table of units may lack some,
 * or have dropped functions at address 0: then all units are searched. */
Dwarf_Die *place_unit_in(Dwfl_Module *module, uint64_t address,
                         Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);
    if (unit && dwarf_haspc(unit, address - *bias) > 0)
        return unit;
    for (unit = NULL; (unit = dwfl_module_nextcu(module, unit, bias));)
        if (dwarf_haspc(unit, address - *bias) > 0)
            return unit;
    return NULL;
}

/* Finds the innermost function or block with an address. dwarf_getscopes() does
 * not look into namespaces, in which clang and rustc have functions. */
static bool scope_find(Dwarf_Die *parent, uint64_t address, unsigned depth,
                       Dwarf_Die *found)
{
    enum { DEPTH_MAX = 256 };
    Dwarf_Die die;
    int more = depth < DEPTH_MAX ? dwarf_child(parent, &die) : 1;
    for (; more == 0; more = dwarf_siblingof(&die, &die)) {
        int tag = dwarf_tag(&die);
        bool has = (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
                    tag == DW_TAG_inlined_subroutine) &&
                   dwarf_haspc(&die, address) > 0;
        if (has)
            *found = die; /* unless it has an inner one */
        if ((has || tag == DW_TAG_namespace) &&
            (scope_find(&die, address, depth + 1, found) || has))
            return true;
    }
    return false;
}

int place_scopes(Dwarf_Die *unit, uint64_t address, Dwarf_Die **scopes)
{
    Dwarf_Die innermost;
    return scope_find(unit, address, 0, &innermost)
               ? dwarf_getscopes_die(&innermost, scopes)
               : 0;
}

/* Puts the functions that were inlined at a place before it. Returns the
 * innermost. */
static struct place *place_inlined(struct place *place, Dwarf_Die *unit,
                                   uint64_t address)
{
    Dwarf_Die *scopes = NULL;
    int count = place_scopes(unit, address, &scopes);
    struct place *innermost = NULL, **end = &innermost;
    struct place at = *place; /* the line, at first of the innermost */
    for (int i = 0; i < count; i++) {
        const char *name = dwarf_diename(&scopes[i]);
        struct place *inner;
        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine || !name)
            continue;
        inner = need(calloc(1, sizeof *inner));
        inner->function = need(strdup(name));
        inner->address = place->address;
        inner->module = place->module;
        inner->file = at.file;
        inner->line = at.line;
        *end = inner;
        end = &inner->outer;
        call_line(unit, &scopes[i], &at);
    }
    if (count > 0)
        free(scopes);
    place->file = at.file;
    place->line = at.line;
    *end = place;
    return innermost;
}

/* ---------------------------------------------------------------- places -- */

struct search {
    uint64_t address;
    Dwfl_Module *found;
};
static int module_has(Dwfl_Module *module, void **data, const char *name,
                      Dwarf_Addr start, void *context)
{
    struct search *search = context;
    Dwarf_Addr end;
    (void)data, (void)name;
    dwfl_module_info(module, NULL, NULL, &end, NULL, NULL, NULL, NULL);
    if (search->address < start || search->address >= end)
        return DWARF_CB_OK;
    search->found = module;
    return DWARF_CB_ABORT;
}

/* The module at an address. dwfl_addrmodule() searches a table of segments that has
 * gaps at variables for some address spaces (0.188). */
static Dwfl_Module *dwfl_module_of(Dwfl *dwfl, uint64_t address)
{
    struct search search = {address, NULL};
    if (dwfl)
        dwfl_getmodules(dwfl, module_has, &search, 0);
    return search.found;
}

Dwarf_Die *place_unit(const struct threads *threads, uint64_t address,
                      Dwarf_Addr *bias)
{
    Dwfl_Module *module = dwfl_module_of(threads->unwind.dwfl, address);
    return module ? place_unit_in(module, address, bias) : NULL;
}

/* Finds the source line. Lines of the system's own libraries are of no use, and
 * reading them takes longer than all other work. A line of another function
 * does not count: the file may not describe this one. */
static struct place *place_line(struct place *place, Dwfl_Module *module)
{
    Dwarf_Line *line;
    Dwarf_Addr start = 0, bias = 0;
    Dwarf_Die *unit;
    if (place->module && place_is_libc(place->module))
        return place;
    unit = place_unit_in(module, place->address, &bias);
    line = unit ? dwarf_getsrc_die(unit, place->address - bias) : NULL;
    if (!line || dwarf_lineaddr(line, &start) != 0 ||
        (place->function && start + bias < place->address - place->offset))
        return place;
    place->file = dwarf_linesrc(line, NULL, NULL);
    dwarf_lineno(line, &place->line);
    return place_inlined(place, unit, place->address - bias);
}

/* The name without the version that a library adds, "@@GLIBC_2.34", and without
 * the suffix that gcc and clang add to a part or a copy of a function. Names of
 * Go contain dots: "main.(*server).handle". */
static char *function_name(const char *symbol)
{
    static const char *const added[] = {".cold",       ".part.", ".constprop.",
                                        ".isra.",      ".llvm.", ".lto_priv.",
                                        ".localalias", ".clone."};
    size_t size = *symbol ? 1 + strcspn(symbol + 1, "@") : 0;
    const char *dot = size ? memchr(symbol + 1, '.', size - 1) : NULL;
    for (size_t i = 0; i < sizeof added / sizeof *added; i++) {
        const char *at = size ? strstr(symbol + 1, added[i]) : NULL;
        if (at && (size_t)(at - symbol) < size)
            size = (size_t)(at - symbol);
    }
    if (dot && dot[1 + strspn(dot + 1, "0123456789")] == '\0')
        size = (size_t)(dot - symbol); /* a nested function of C: "inner.0" */
    return size ? need(strndup(symbol, size)) : NULL;
}

/* Names the function of a symbol, as its source does if that is known. */
static void place_name(struct place *place, const char *symbol)
{
    char plain[DEMANGLED_MAX];
    if (source_demangle(symbol, plain)) {
        place->function = need(strdup(plain));
        place->symbol = need(strdup(symbol));
    } else {
        place->function = function_name(symbol);
    }
}

static struct place *place_new(struct threads *threads, uint64_t address)
{
    struct place *place = need(calloc(1, sizeof *place));
    Dwfl *dwfl = threads->unwind.dwfl;
    Dwfl_Module *module = dwfl_module_of(dwfl, address);
    const struct module *mapped = module_at(threads->source, address);
    const char *name;
    GElf_Sym symbol;
    GElf_Addr bias, odd;
    place->address = address;
    place->module = mapped ? mapped->path : NULL;
    if (!module && mapped) {
        mapped = module_first(threads->source, mapped->path);
        if (mapped)
            module_unopened(threads->source, mapped);
    }
    if (!module)
        return place;
    /* Bit 0 of a symbol's value says that its instructions are Thumb's. */
    odd = threads->unwind.memory->machine == EM_ARM;
    name = dwfl_module_addrinfo(module, address | odd, &place->offset, &symbol,
                                NULL, NULL, NULL);
    place->offset = address - (((address | odd) - place->offset) & ~odd);
    /* The end of a symbol without a size is unknown. */
    if (name && symbol.st_size)
        place_name(place, name);
    if (!place->function && dwfl_module_getelf(module, &bias))
        place->offset = address - bias;
    return place_line(place, module);
}

void place_free(struct place *place)
{
    while (place) {
        struct place *outer = place->outer;
        free(place->function);
        free(place->symbol);
        free(place);
        place = outer;
    }
}

const struct place *place_of(struct threads *threads, uint64_t address)
{
    bool is_new;
    struct place **place =
        array_at_key(threads->places, &threads->ids, threads->places_max,
                     address, 0, 0, &is_new);
    if (is_new)
        *place = place_new(threads, address);
    return *place;
}

const struct place *place_of_call(struct threads *threads, uint64_t returns)
{
    return place_of(threads, unwind_call(&threads->unwind, returns));
}

bool place_variable(Dwfl *dwfl, uint64_t address, char *to, size_t size)
{
    Dwfl_Module *module = dwfl_module_of(dwfl, address);
    GElf_Off offset = 0;
    GElf_Sym symbol = {0};
    char plain[DEMANGLED_MAX];
    const char *name = module ? dwfl_module_addrinfo(module, address, &offset,
                                                     &symbol, NULL, NULL, NULL)
                              : NULL;
    int type = GELF_ST_TYPE(symbol.st_info);
    if (!name || !(type == STT_OBJECT ? offset < symbol.st_size
                                      : type == STT_FUNC && !offset))
        return false;
    if (source_demangle(name, plain))
        name = plain;
    snprintf(to, size, offset ? "%.*s%s+0x%" PRIx64 : "%.*s%s", (int)size - 24,
             name, strlen(name) > size - 24 ? "..." : "", offset);
    return true;
}

/* A symbol to find in the libc of a program. */
struct symbol_search {
    const struct threads *threads;
    const char *name;
    uint64_t found; /* its address; 0: none */
};
static int symbol_in_module(Dwfl_Module *module, void **unused,
                            const char *unused_too, Dwarf_Addr start,
                            void *context)
{
    struct symbol_search *search = context;
    const struct module *mapped = module_at(search->threads->source, start);
    int count;
    (void)unused, (void)unused_too;
    if (search->threads->has_libc && (!mapped || !place_is_libc(mapped->path)))
        return DWARF_CB_OK;
    count = dwfl_module_getsymtab(module);
    for (int i = 0; i < count && !search->found; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address,
                                                   NULL, NULL, NULL);
        if (name && symbol.st_shndx != SHN_UNDEF &&
            strncmp(name, search->name, strlen(search->name)) == 0)
            search->found = address;
    }
    return search->found ? DWARF_CB_ABORT : DWARF_CB_OK;
}

uint64_t place_libc_symbol(const struct threads *threads, const char *name)
{
    struct symbol_search search = {.threads = threads, .name = name};
    dwfl_getmodules(threads->unwind.dwfl, symbol_in_module, &search, 0);
    return search.found;
}
