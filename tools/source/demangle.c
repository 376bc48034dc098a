/* demangle.c - a function's name as its source has it, of C++ and of Rust. */
/* SPDX-License-Identifier: MIT */
/*
   By libiberty, as in binutils and gdb. A symbol comes from a file that may be
   hostile: libiberty takes stack in proportion to its length, and a short one
   may expand to a text of any length, so both are limited.
*/
#include "source.h"

#include <setjmp.h>

enum { SYMBOL_MAX = 2048 };

/* Their header has another path on each distribution. */
typedef void demangle_write(const char *text, size_t size, void *to);
extern int cplus_demangle_v3_callback(const char *symbol, int options,
                                      demangle_write *, void *to);
extern int rust_demangle_callback(const char *symbol, int options,
                                  demangle_write *, void *to);

struct demangled {
    char *text;
    size_t size;
    jmp_buf full; /* both functions have nothing to free */
};

static void append(const char *text, size_t size, void *of)
{
    struct demangled *to = of;
    size_t room = DEMANGLED_MAX - 1 - to->size;
    bool is_full = size > room;
    size = is_full ? room : size;
    if (size) /* the text may be null */
        memcpy(to->text + to->size, text, size);
    to->size += size;
    if (is_full)
        longjmp(to->full, 1);
}

static bool demangle(const char *symbol, char *text,
                     int (*how)(const char *, int, demangle_write *, void *))
{
    struct demangled to = {.text = text};
    if (setjmp(to.full))
        memcpy(text + DEMANGLED_MAX - 4, "...", 3);
    else if (!how(symbol, 0, append, &to))
        return false;
    text[to.size] = '\0';
    return to.size > 0;
}

/* True if a symbol has a tag and a number of base 62 above 61; `clear` sets
 * their digits to 0. */
static bool has_number(char *symbol, const char *tag, bool clear)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    bool has = false;
    while ((symbol = strstr(symbol, tag))) {
        size_t size = strspn(symbol += strlen(tag), digits);
        if (size < 2 || symbol[size] != '_')
            continue;
        has = true;
        if (clear)
            memset(symbol, '0', size);
    }
    return has;
}

/* libiberty counts up to a number of lifetimes (G), also where it prints none.
 * The hash of a crate (Cs), which may have a G in it, is not shown. */
static bool rust_is_endless(char *symbol)
{
    if (!has_number(symbol, "G", false))
        return false;
    has_number(symbol, "Cs", true);
    return has_number(symbol, "G", false);
}

bool source_demangle(const char *symbol, char to[DEMANGLED_MAX])
{
    char whole[SYMBOL_MAX];
    size_t size = strcspn(symbol, "@"); /* its version follows */
    if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R') ||
        size >= sizeof whole)
        return false;
    memcpy(whole, symbol, size);
    whole[size] = '\0';
    if (whole[1] == 'R' && rust_is_endless(whole))
        return false;
    if (demangle(whole, to, rust_demangle_callback))
        return true;
    whole[strcspn(whole, ".")] = '\0'; /* ".cold": gcc's, of a part */
    return demangle(whole, to, cplus_demangle_v3_callback);
}
