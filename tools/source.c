/* source.c - opens what a user names and finds the registry of recorders. */
/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *source_wrong(struct source *source, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(source->why, sizeof source->why, format, arguments);
    va_end(arguments);
    return source->why;
}

bool source_module(struct source *source, uint64_t start, uint64_t end,
                   uint64_t offset, const char *path, size_t path_size,
                   bool writable)
{
    struct module *modules = source->modules;
    size_t count = source->modules_count;
    if ((count & (count + 1)) == 0) { /* room for twice as many */
        modules = realloc(modules, (2 * count + 1) * sizeof *modules);
        if (!modules)
            return false;
        source->modules = modules;
    }
    modules[count] = (struct module){start, end, offset,
                                     strndup(path, path_size), writable};
    if (!modules[count].path)
        return false;
    source->modules_count++;
    return true;
}

/* ---------------------------------------------------------------- registry -- */

/* What stands at an address that has the magic. A registry without recorders is
 * that of a library that uses the program's. */
static void candidate(struct source *source, uint64_t address)
{
    struct memory *m = source->memory;
    unsigned char bytes[64];
    unsigned word = m->word_bytes, i;
    uint64_t self = 0, first = 0;
    if (m->read(m, address, bytes, sizeof bytes) != sizeof bytes)
        return;
    for (i = 0; i < word; i++) {
        unsigned at = m->big_endian ? i : word - 1 - i;
        self = self << 8 | bytes[16 + at];
        first = first << 8 | bytes[(word == 8 ? 40 : 36) + at];
    }
    if (self != address)
        return; /* what the program's file holds of it, not the registry */
    if (first)
        source->registries++;
    if (!source->registry || (first && source->registries == 1))
        source->registry = address;
}

void source_scan(struct source *source, uint64_t start, uint64_t end)
{
    static const unsigned char magic[16] = RECORDER_MAGIC;
    enum { PIECE = 1 << 20 };
    struct memory *m = source->memory;
    unsigned char *bytes = malloc(PIECE + sizeof magic);
    while (bytes && start < end) {
        size_t size = end - start < PIECE ? (size_t)(end - start) : PIECE, got;
        const unsigned char *found = bytes;
        size += end - start - size < sizeof magic - 1
                    ? (size_t)(end - start - size)
                    : sizeof magic - 1; /* one may stand across the pieces */
        got = m->read(m, start, bytes, size);
        while ((found = memmem(found, got - (size_t)(found - bytes), magic,
                               sizeof magic))) {
            candidate(source, start + (uint64_t)(found - bytes));
            found++;
        }
        if (got == 0)
            got = 4096 - start % 4096; /* a page that is not there */
        if (end - start <= PIECE && got >= end - start)
            break;
        start += got < PIECE ? got : PIECE;
    }
    free(bytes);
}

/* -------------------------------------------------------------------- open -- */

static bool is_number(const char *name)
{
    return *name && strspn(name, "0123456789") == strlen(name);
}

const char *source_open(struct source *source, const char *name,
                        const struct source_how *how)
{
    const char *wrong;
    char *end;
    memset(source, 0, sizeof *source);
    errno = 0;
    if (is_number(name)) {
        unsigned long pid = strtoul(name, NULL, 10);
        wrong = pid == 0 || pid > INT32_MAX || errno
                    ? source_wrong(source, "no such process")
                    : source_open_process(source, (int)pid);
    } else {
        wrong = source_open_file(source, name, how);
    }
    if (!wrong && how->registry) {
        source->registry = strtoull(how->registry, &end, 0);
        source->registries = 1;
        if (*end || !*how->registry)
            wrong = source_wrong(source, "%s is no address", how->registry);
    }
    if (!wrong && !source->registry)
        wrong = source_wrong(source, "no recorder in it");
    if (wrong)
        source_close(source);
    else if (source->registries > 1)
        snprintf(source->warning, sizeof source->warning,
                 "%zu programs in one: libraries that do not share their "
                 "recorders; this is the first, at 0x%llx",
                 source->registries, (unsigned long long)source->registry);
    return wrong;
}

void source_close(struct source *source)
{
    size_t i;
    if (source->close)
        source->close(source);
    for (i = 0; i < source->modules_count; i++)
        free(source->modules[i].path);
    free(source->modules);
    source->modules = NULL;
    source->modules_count = 0;
    source->close = NULL;
    source->memory = NULL;
}
