/* requests.c - which requests a recording has records of, in a note. */
/* SPDX-License-Identifier: MIT */
#include "requests.h"
#include "array.h"
#include "command.h"

enum { BITS_EACH = 12, BITS_SET = 7, BYTES_LEAST = 16 };

static uint64_t hash_of(const char *id, size_t size)
{
    uint64_t hash = text_digest(TEXT_DIGEST, id, size);
    hash = (hash ^ hash >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 29;
}

/* Returns the number of a bit, of a power of two. */
static uint64_t bit_of(uint64_t hash, int i, uint64_t bits)
{
    return ((hash >> 32) + (uint64_t)i * (hash | 1)) & (bits - 1);
}

void requests_add(struct requests *to, struct reader *reader,
                  const struct reader_event *event)
{
    struct context c;
    if (!context_of(reader, event, &c) || !c.id_size)
        return;
    *array_add(to->hashes, to->count, to->max) = hash_of(c.id, c.id_size);
}

unsigned char *requests_note(struct requests *of, size_t *size)
{
    unsigned char *note;
    size_t ids = 0;
    array_sort(of->hashes, of->count, array_compare);
    for (size_t i = 0; i < of->count; i++)
        ids += !i || of->hashes[i] != of->hashes[i - 1];
    *size = BYTES_LEAST;
    while (*size * 8 < ids * BITS_EACH)
        *size *= 2;
    note = need(calloc(1, *size));
    for (size_t i = 0; i < of->count; i++)
        for (int k = 0; k < BITS_SET; k++) {
            uint64_t bit = bit_of(of->hashes[i], k, *size * 8);
            note[bit / 8] |= (unsigned char)(1u << bit % 8);
        }
    free(of->hashes);
    *of = (struct requests){0};
    return note;
}

static bool may_have(const unsigned char *note, size_t size, const char *id,
                     size_t id_size)
{
    uint64_t hash = hash_of(id, id_size);
    for (int k = 0; k < BITS_SET; k++) {
        uint64_t bit = bit_of(hash, k, size * 8);
        if (!(note[bit / 8] >> bit % 8 & 1))
            return false;
    }
    return true;
}

bool requests_may_have(const unsigned char *note, size_t size, const char *id)
{
    struct context_wanted w = contexts_wanted(id);
    const char *equal = memchr(w.text, '=', w.size);
    if (size < BYTES_LEAST || (size & (size - 1)))
        return true; /* it is no note of ours */
    return may_have(note, size, w.text, w.size) ||
           (equal && may_have(note, size, equal + 1,
                              (size_t)(w.text + w.size - equal - 1)));
}
