/* scan.c - finds the registry of recorders in a program's memory. */
/* SPDX-License-Identifier: MIT */
#include "bytes.h"
#include "source.h"

void source_candidate(struct source *source, uint64_t address)
{
    struct memory *m = source->memory;
    const struct offsets *at = offsets_of(m);
    unsigned char bytes[64];
    uint64_t first;
    if (!bytes_read(m, address, bytes, at->registry_first + m->word_bytes))
        return;
    first = bytes_word(m, bytes + at->registry_first);
    if (bytes_word(m, bytes + at->registry_self) != address)
        return; /* a copy of it: it is not at its own address */
    if (source->registries && address == source->registry)
        return; /* memory may be scanned twice: an image over a file */
    if (first && source->registries < sizeof source->all / sizeof *source->all)
        source->all[source->registries] = address;
    if (first && source->registries++ && strlen(source->others) < 100)
        snprintf(strchr(source->others, '\0'), 24, " 0x%" PRIx64, address);
    if (!source->registry || (first && source->registries == 1))
        source->registry = address;
}

void source_scan(struct source *source, uint64_t start, uint64_t end)
{
    static const unsigned char magic[16] = RECORDER_MAGIC;
    enum { PIECE = 1 << 20 };
    struct memory *m = source->memory;
    unsigned char *bytes = need(malloc(PIECE + sizeof magic));
    while (start < end) {
        size_t size = end - start < PIECE ? (size_t)(end - start) : PIECE, got;
        const unsigned char *found = bytes;
        size += end - start - size < sizeof magic - 1
                    ? (size_t)(end - start - size)
                    : sizeof magic - 1; /* a registry may cross the end of a
                                         * piece */
        got = m->read(m, start, bytes, size);
        while ((found = memmem(found, got - (size_t)(found - bytes), magic,
                               sizeof magic))) {
            source_candidate(source, start + (uint64_t)(found - bytes));
            found++;
        }
        if (got == 0)
            got = 4096 - start % 4096; /* skips a missing page */
        if (end - start <= PIECE && got >= end - start)
            break;
        start += got < PIECE ? got : PIECE;
    }
    free(bytes);
}

void source_several(struct source *source)
{
    if (source->registries > 1)
        snprintf(source->warning, sizeof source->warning,
                 "%zu programs in one: libraries that do not share their "
                 "recorders; this is the first, at 0x%" PRIx64
                 "; --registry (in gdb: "
                 "set recorder-registry) shows another:%s",
                 source->registries, source->registry, source->others);
}
