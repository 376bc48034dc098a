/* core.h - lays out a recording: the headers and notes of a core file. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"
#include "inside.h"
#include "requests.h"

/* Bytes of an address; `offset`: their place in the file. */
struct piece {
    uint64_t address, size, offset;
    const void *bytes;
    void *owned; /* to be freed, or null */
};
struct pieces {
    struct piece *all;
    size_t count, max;
};
void piece_add(struct pieces *, uint64_t address, uint64_t size,
               const void *bytes, void *owned);
void pieces_sort(struct pieces *); /* by address */

struct notes {
    unsigned char *bytes;
    size_t size, max;
    /* NT_PRSTATUS of threads, which debuggers show, one after the other; none:
     * one of zeros is written. */
    unsigned char *statuses;
    size_t statuses_count, statuses_max, status_bytes;
};
void note_add(struct notes *, const struct memory *, const char *owner,
              uint32_t type, const void *, size_t size);
/* Adds NT_FILE, by which readers find the program and its libraries. */
void note_files(struct notes *, const struct memory *, const struct source *);
/* Adds the notes of a recording, in the order in which a program writes
 * them. No note of requests, if they are null: none is known. */
void notes_make(struct notes *, struct call *, struct requests *);

/* Reads the head of a module's file, from its first byte to its build ID, but
 * no byte after it. Returns its size, 0: the piece has no head. */
size_t module_head(struct memory *, const struct module *,
                   unsigned char to[PAGE_BYTES]);

/* Writes all of `size` bytes at an offset; false, and errno. */
bool core_put(int fd, const void *from, size_t size, uint64_t at);
/* The rate of the program's ticks, as known here: the reader of a recording may
 * have no access to these clocks. The bytes of the registry's `later`, and of
 * its sequence; false: unknown. */
bool core_later(const struct reader *, unsigned char moment[3 * 8],
                unsigned char sequence[4]);

/* Writes a file of them, of which call_option(call, 'o') is the name. Fails by
 * fail(). */
void core_write(struct call *, int fd, const struct notes *, struct pieces *);

/* Writes the headers alone: pieces are at their offsets, and the file ends
 * after the headers. */
void core_headers(struct call *, int fd, const struct piece *notes,
                  const struct pieces *);
