/* heap.c - the block of the heap at an address. */
/* SPDX-License-Identifier: MIT */
/*
   glibc's malloc/malloc.c: the word before a block is its size, with three
   flags. A freed block in a thread's cache begins with a pointer to the next
   one, combined by exclusive or with its own address >> 12, and a key that all
   blocks of the cache share. Another freed block is noted in the flag of the
   block after it.
*/
#include "bytes.h"
#include "explain.h"

enum { BEFORE_IN_USE = 1, MAPPED = 2, FLAGS = 7, NEAR = 1 << 30 };

static bool is_size(const struct memory *m, uint64_t size)
{
    unsigned align = 2 * m->word_bytes;
    size &= ~(uint64_t)FLAGS;
    return size >= 2 * align && size % align == 0 && size < UINT64_C(1) << 40;
}

/* True for a block in a cache of freed blocks. */
static bool is_cached(struct memory *m, uint64_t start)
{
    uint64_t next, key, next_key;
    if (!bytes_read_word(m, start, &next) ||
        !bytes_read_word(m, start + m->word_bytes, &key) || !key)
        return false;
    next ^= start >> 12;
    if (!next)
        return true;
    if (next % (2 * m->word_bytes) || next == start)
        return false;
    if (bytes_read_word(m, next + m->word_bytes, &next_key))
        return next_key == key;
    /* A recording has not all blocks: an address near by and a number that is
     * no address are enough. */
    return next - start + NEAR < UINT64_C(2) * NEAR && m->word_bytes == 8 &&
           key >> 47 != 0 && key >> 47 != 0x1ffff;
}

bool heap_block(struct memory *m, uint64_t start, struct block *to)
{
    uint64_t word = m->word_bytes, head, size, next;
    *to = (struct block){0};
    if (start % (2 * word) || start < 65536 ||
        !bytes_read_word(m, start - word, &head) || !is_size(m, head))
        return false;
    size = head & ~(uint64_t)FLAGS;
    if (head & MAPPED) {
        to->size = start % 4096 == 2 * word ? size - 2 * word : 0;
        return to->size != 0;
    }
    to->size = size - word;
    if (!bytes_read_word(m, start - word + size, &next) || !is_size(m, next))
        return false; /* its end was perhaps overwritten */
    to->freed = !(next & BEFORE_IN_USE) || is_cached(m, start);
    return true;
}
