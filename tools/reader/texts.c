/* texts.c - numbers texts, so that a column of them is one of numbers. */
/* SPDX-License-Identifier: MIT */
#include "texts.h"
#include "array.h"
#include "reader.h"

/* Returns the piece that a text ends in. A piece is known by the
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
    } while (some == 15);
    return piece;
}

uint32_t texts_add(struct texts *texts, const char *text, size_t size)
{
    size_t piece = piece_of(texts, text, size), was = texts->number_max;
    uint32_t *number;
    char *copy;
    ARRAY_NEED(texts->number, piece + 1, texts->number_max);
    number = &texts->number[piece];
    memset(texts->number + was, 0,
           (texts->number_max - was) * sizeof *texts->number);
    if (*number)
        return *number;
    ARRAY_NEED(texts->all, texts->count + 2, texts->max);
    copy = need(texts->count < UINT32_MAX - 1 ? malloc(size + 1) : NULL);
    memcpy(copy, text, size);
    copy[size] = '\0';
    texts->all[++texts->count] = (struct text){copy, size};
    return *number = (uint32_t)texts->count;
}

uint64_t texts_word(struct texts *texts, const struct reader_argument *argument)
{
    uint64_t word = argument->word;
    if (argument->kind == READER_REAL)
        memcpy(&word, &argument->real, sizeof word);
    else if (argument->kind == READER_STRING)
        word = texts_add(texts, argument->text, argument->text_size);
    return word;
}

void texts_free(struct texts *texts)
{
    for (size_t i = 1; i <= texts->count; i++)
        free(texts->all[i].at);
    free(texts->all);
    free(texts->number);
    ids_free(&texts->pieces);
    *texts = (struct texts){0};
}

uint64_t text_digest(uint64_t from, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        from = (from ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return from;
}
