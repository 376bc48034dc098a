/* libc.c - binds the library's own calls to libc, whatever a program defines. */
/* SPDX-License-Identifier: MIT */
/*
   A program may define any function of libc, as uC++ does dl_iterate_phdr():
   the loader would bind the library's calls to the program's function, which
   may be called before the program has set it up. So each function that the
   library calls is hidden here, under its own name: functions of memory and
   strings are code of this file, and the loader finds the others in libc when
   it relocates the library (IFUNC), before any constructor runs. A test
   compares this list with the library's imports.
*/
#include "libc.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden"), used))
/* Keeps the compiler from making a loop a call of the function itself. */
#define NO_CALL() __asm__ volatile("")

/* ---------------------------------------------------------------- memory -- */

HIDDEN void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        NO_CALL();
        ((char *)to)[i] = ((const char *)from)[i];
    }
    return to;
}
/* By words, where it can: a child of fork() clears 128 KB. */
HIDDEN void *memset(void *to, int byte, size_t size)
{
    typedef uintptr_t __attribute__((may_alias)) word;
    const word words = (word)-1 / 255 * (unsigned char)byte;
    size_t i = 0;
    if ((uintptr_t)to % sizeof words == 0)
        for (; size - i >= sizeof words; i += sizeof words) {
            NO_CALL();
            *(word *)(void *)((char *)to + i) = words;
        }
    for (; i < size; i++) {
        NO_CALL();
        ((char *)to)[i] = (char)byte;
    }
    return to;
}
HIDDEN int memcmp(const void *left, const void *right, size_t size)
{
    const unsigned char *a = left, *b = right;
    for (; size && *a == *b; size--, a++, b++)
        NO_CALL();
    return size ? *a - *b : 0;
}
HIDDEN size_t strlen(const char *text)
{
    size_t size = 0;
    for (; text[size]; size++)
        NO_CALL();
    return size;
}
HIDDEN char *strchr(const char *text, int byte)
{
    for (; *text != (char)byte; text++)
        if (!*text)
            return NULL;
    return (char *)(uintptr_t)text;
}
HIDDEN char *strstr(const char *text, const char *part)
{
    const size_t size = strlen(part);
    for (; size && *text; text++)
        for (size_t i = 0; text[i] == part[i]; i++)
            if (i + 1 == size)
                return (char *)(uintptr_t)text;
    return size ? NULL : (char *)(uintptr_t)text;
}

/* Before 2.32, glibc had none: a number in a dump of this library is enough. */
HIDDEN const char *strerrordesc_np(int error)
{
    (void)error;
    return NULL;
}

/* ------------------------------------------------------------------ find -- */

/* A library's tables of symbols. */
struct library {
    const char *strings, *name;
    const ElfW(Sym) * symbols;
    const uint32_t *hash;
    const ElfW(Half) * versions;
};

static struct library library_of(const struct link_map *map)
{
    struct library l = {0};
    uintptr_t name = 0;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        /* Some loaders have added the address of the library. */
        const uintptr_t at =
            d->d_un.d_ptr + (d->d_un.d_ptr < map->l_addr ? map->l_addr : 0);
        if (d->d_tag == DT_STRTAB)
            l.strings = (const char *)at;
        else if (d->d_tag == DT_SYMTAB)
            l.symbols = (const void *)at;
        else if (d->d_tag == DT_GNU_HASH)
            l.hash = (const void *)at;
        else if (d->d_tag == DT_VERSYM)
            l.versions = (const void *)at;
        else if (d->d_tag == DT_SONAME)
            name = d->d_un.d_val;
    }
    if (l.strings && l.symbols && l.hash)
        l.name = name ? l.strings + name : "";
    return l;
}

static int begins(const char *text, const char *with)
{
    return memcmp(text, with, strlen(with)) == 0;
}

/* Returns true for a library with functions of libc: before glibc 2.34, libc
 * had several. */
static int is_libc(const struct library *l)
{
    return l->name &&
           (begins(l->name, "libc.so.") || begins(l->name, "libpthread.so.") ||
            begins(l->name, "libdl.so.") || begins(l->name, "ld-linux") ||
            begins(l->name, "libgcc_s.so."));
}

/* Of several versions the one that programs of today are linked with; else any,
 * as of names that are internal now. */
static const ElfW(Sym) * symbol_find(const struct library *l, const char *name)
{
    const uint32_t buckets = l->hash[0], first = l->hash[1];
    const uint32_t *bucket = l->hash + 4 + l->hash[2] * sizeof(void *) / 4;
    const ElfW(Sym) *found = NULL;
    uint32_t hash = 5381, i;
    for (const char *at = name; *at; at++)
        hash = hash * 33 + (unsigned char)*at;
    i = bucket[hash % buckets];
    for (; i >= first; i++) {
        const uint32_t is = bucket[buckets + i - first];
        const ElfW(Sym) *symbol = &l->symbols[i];
        if ((is | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            begins(l->strings + symbol->st_name, name) &&
            !l->strings[symbol->st_name + strlen(name)]) {
            found = symbol;
            if (!l->versions || !(l->versions[i] & 0x8000))
                break;
        }
        if (is & 1)
            break;
    }
    return found;
}

static void *address_of(const struct link_map *map, const ElfW(Sym) * symbol)
{
    const uintptr_t at = map->l_addr + symbol->st_value;
    return symbol->st_info % 16 == STT_GNU_IFUNC ? ((void *(*)(void))at)()
                                                 : (void *)at;
}
void *run_libc_find(const char *name)
{
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
        const struct library library = library_of(map);
        const ElfW(Sym) *symbol =
            is_libc(&library) ? symbol_find(&library, name) : NULL;
        if (symbol)
            return address_of(map, symbol);
    }
    return NULL;
}
void *run_find_beside(const char *name, const char *other)
{
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
        const struct library library = library_of(map);
        const ElfW(Sym) * symbol;
        if (!library.name || map->l_ld == _DYNAMIC ||
            !symbol_find(&library, other))
            continue;
        symbol = symbol_find(&library, name);
        return symbol ? address_of(map, symbol) : NULL;
    }
    return NULL;
}
void *run_find_any(const char *name)
{
    return run_find_beside(name, name);
}

/* ----------------------------------------------------------------- calls -- */

/* clang-format off: columns */
#define CALLS(X)                                                               \
    X(_Unwind_Backtrace) X(_Unwind_GetCFA) X(_Unwind_GetGR) X(_Unwind_GetIP)   \
    X(_Unwind_Resume) X(_Unwind_VRS_Get) X(__errno_location)                   \
    X(__gcc_personality_v0) X(__register_atfork) X(_longjmp)                   \
    X(_setjmp) X(clock_gettime) X(dl_iterate_phdr) X(dlerror) X(dlsym)         \
    X(dlvsym) X(fcntl) X(fcntl64) X(getauxval) X(getcwd) X(getenv)             \
    X(getpeername) X(getrlimit) X(inet_ntop) X(madvise) X(mmap) X(mprotect)    \
    X(munmap) X(on_exit) X(pipe) X(pthread_attr_destroy)                       \
    X(pthread_attr_getdetachstate) X(pthread_attr_getstacksize)                \
    X(pthread_attr_init) X(pthread_key_create)                                 \
    X(pthread_self) X(pthread_setspecific) X(pthread_testcancel) X(readlink)   \
    X(rename) X(sigaction) X(sigaltstack) X(sigpending) X(sigprocmask)         \
    X(sigtimedwait) X(sysconf) X(unlink)
/* clang-format on */

static int missing(void)
{
    return ENOSYS;
}
void *run_libc_missing(const char *name)
{
    (void)name;
    return (void *)(uintptr_t)missing;
}
typedef void call(void);
/* In C the functions have other names: none of them is declared here. */
#define CALL(name)                                                             \
    static call *find_##name(void)                                             \
    {                                                                          \
        void *found = run_libc_find(#name);                                    \
        return (call *)(uintptr_t)(found ? found : run_libc_missing(#name));   \
    }                                                                          \
    HIDDEN void libc_##name(void) __asm__(#name)                               \
        __attribute__((ifunc("find_" #name)));
CALLS(CALL)

/* That of the compiler's start files, which import functions, too. */
HIDDEN __attribute__((weak)) void *const __dso_handle =
    (void *)(uintptr_t)&__dso_handle;
