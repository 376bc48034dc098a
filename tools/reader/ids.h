/* ids.h - numbers keys from 0 up, in the order in which they come. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "libc.h"

/* A hash table with open addressing; zeros: an empty one. */
struct ids {
    struct id {
        uint64_t key[3];
        size_t number; /* from 1; 0: free */
    } * at;
    size_t count, max; /* max: a power of two */
    uint64_t chance;   /* odd; so that no file can be made of equal hashes */
};
#define IDS_NONE SIZE_MAX

/* Returns the number of a key; *is_new, unless null, is true if it is new. */
size_t ids_add(struct ids *, uint64_t a, uint64_t b, uint64_t c, bool *is_new);
/* The number of a key, or IDS_NONE. */
size_t ids_find(const struct ids *, uint64_t a, uint64_t b, uint64_t c);
void ids_free(struct ids *);
