/* texts.h - numbers texts from 1 up: equal texts have equal numbers. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "ids.h"

/* A text is a chain of pieces of 15 bytes, and equal texts end in the same
 * piece: no file can be made of texts that all have the same hash. */
struct texts {
    struct ids pieces;
    uint32_t *number; /* of the text that ends in a piece; 0: none does */
    size_t number_max;
    struct text {
        char *at; /* with a NUL after it */
        size_t size;
    } * all; /* the first is no text */
    size_t count, max;
};

/* Returns the number of a text. */
uint32_t texts_add(struct texts *, const char *text, size_t size);
/* Returns an argument as a word, equal words for equal values: a real's bits, with
 * a float widened, or the number of a string, whose marks the caller removes. */
struct reader_argument;
uint64_t texts_word(struct texts *, const struct reader_argument *);
void texts_free(struct texts *);

/* A digest of bytes that is the same everywhere, so that files may keep it:
 * FNV-1a of 64 bits (draft-eastlake-fnv). It begins with TEXT_DIGEST, or with
 * another digest. */
#define TEXT_DIGEST UINT64_C(14695981039346656037)
uint64_t text_digest(uint64_t from, const char *text, size_t size);
