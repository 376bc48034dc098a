/* fuzz.h - a recording's words, by their place in the file; and the check. */
/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the bytes as a file; aborts where a promise does not hold. 1: the file
 * was refused, 0: it was not. */
int fuzz_check(const unsigned char *bytes, size_t size);

/* Changes some words that matter of a recording; false: nothing, as it is none
 * or as it is time for a blind change. */
bool fuzz_mutate(unsigned char *bytes, size_t size, unsigned seed);

enum { FUZZ_SEGMENTS = 64 };
struct fuzz_file {
    unsigned char *bytes;
    size_t size, registry; /* where the registry stands in it */
    unsigned word, segments;
    bool big;
    struct fuzz_segment {
        uint64_t address, at, size;
    } segment[FUZZ_SEGMENTS];
};

/* False: it is not like a recording. */
bool fuzz_open(struct fuzz_file *, unsigned char *bytes, size_t size);
uint64_t fuzz_number(const struct fuzz_file *, size_t at, unsigned size);
void fuzz_put(struct fuzz_file *, size_t at, uint64_t value, unsigned size);
/* Where `size` bytes of an address stand in the file; 0: they do not. */
size_t fuzz_at(const struct fuzz_file *, uint64_t address, size_t size);
/* Where a recorder stands, the one behind `skip` others or the last. */
size_t fuzz_recorder(const struct fuzz_file *, unsigned skip);

#endif
