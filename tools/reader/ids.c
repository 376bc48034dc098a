/* ids.c - numbers keys from 0 up, in the order in which they come. */
/* SPDX-License-Identifier: MIT */
#include "ids.h"

#include "recorder/clock.h"

/* Returns the place of a key in the table, or the place for it. */
static struct id *id_of(const struct ids *ids, const uint64_t key[3])
{
    uint64_t hash = 0;
    size_t at;
    for (int i = 0; i < 3; i++)
        hash = ((hash ^ hash >> 32) + key[i]) * ids->chance;
    for (at = (size_t)(hash >> 32);; at++) {
        struct id *id = &ids->at[at & (ids->max - 1)];
        if (!id->number || memcmp(id->key, key, sizeof id->key) == 0)
            return id;
    }
}

/* Doubles the table. */
static void ids_grow(struct ids *ids)
{
    struct ids more = *ids;
    more.max = ids->max ? ids->max * 2 : 256;
    more.at = need(calloc(more.max, sizeof *more.at));
    if (!ids->max)
        more.chance =
            (recorder_clock_ns_(RECORDER_MONOTONIC_) * 0x9e3779b97f4a7c15u) | 1;
    for (size_t i = 0; i < ids->max; i++)
        if (ids->at[i].number)
            *id_of(&more, ids->at[i].key) = ids->at[i];
    free(ids->at);
    *ids = more;
}

size_t ids_add(struct ids *ids, uint64_t a, uint64_t b, uint64_t c,
               bool *is_new)
{
    const uint64_t key[3] = {a, b, c};
    struct id *id;
    if (ids->count * 2 >= ids->max)
        ids_grow(ids);
    id = id_of(ids, key);
    if (is_new)
        *is_new = !id->number;
    if (!id->number) {
        memcpy(id->key, key, sizeof id->key);
        id->number = ++ids->count;
    }
    return id->number - 1;
}

size_t ids_find(const struct ids *ids, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t key[3] = {a, b, c};
    return ids->max ? id_of(ids, key)->number - 1 : IDS_NONE;
}

void ids_free(struct ids *ids)
{
    free(ids->at);
    *ids = (struct ids){0};
}
