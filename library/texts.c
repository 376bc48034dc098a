/* texts.c - numbers texts, so that a column of them is one of numbers. */
/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "handle.h"

/* Returns the piece that a text ends in, or IDS_NONE. A piece is known by the
 * one before it, up to 15 bytes, and how many they are. */
static size_t piece_of(struct texts *texts, const char *text, size_t size)
{
    size_t piece = IDS_NONE, some;
    bool is_new;
    do {
        unsigned char bytes[16] = {0};
        uint64_t low, high;
        some = size < 15 ? size : 15;
        memcpy(bytes, text, some);
        bytes[15] = (unsigned char)some;
        memcpy(&low, bytes, 8);
        memcpy(&high, bytes + 8, 8);
        piece = ids_add(&texts->pieces, piece, low, high, &is_new);
        text += some;
        size -= some;
    } while (piece != IDS_NONE && some == 15);
    return piece;
}

uint32_t texts_add(struct texts *texts, const char *text, size_t size)
{
    size_t piece = piece_of(texts, text, size), was = texts->number_max;
    uint32_t *number;
    struct text *all;
    char *copy;
    if (piece == IDS_NONE)
        return 0;
    number = array_room(texts->number, &texts->number_max, piece + 1,
                        sizeof *number);
    if (!number)
        return 0;
    texts->number = number;
    memset(number + was, 0, (texts->number_max - was) * sizeof *number);
    if (number[piece])
        return number[piece];
    all = array_room(texts->all, &texts->max, texts->count + 2, sizeof *all);
    if (all)
        texts->all = all;
    copy = all && texts->count < UINT32_MAX - 1 ? malloc(size + 1) : NULL;
    if (!copy)
        return 0;
    memcpy(copy, text, size);
    copy[size] = '\0';
    all[++texts->count] = (struct text){copy, size};
    return number[piece] = (uint32_t)texts->count;
}

void texts_free(struct texts *texts)
{
    for (size_t i = 1; i <= texts->count; i++)
        free(texts->all[i].at);
    free(texts->all);
    free(texts->number);
    ids_free(&texts->pieces);
}

const char *recorder_reader_text(const struct recorder_reader *r,
                                 uint32_t number, size_t *size)
{
    if (!number || number > r->texts.count)
        return NULL;
    if (size)
        *size = r->texts.all[number].size;
    return r->texts.all[number].at;
}
