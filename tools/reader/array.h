/* array.h - arrays that grow or are sorted. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "libc.h"

/* Makes room for `count` elements of `size` bytes, and for as many more; *max
 * says how many there is room for. Returns the array, which may have moved. */
static inline void *array_room(void *array, size_t *max, size_t count,
                               size_t size)
{
    const size_t least = 16;
    size_t more = count < least ? least : 2 * count;
    if (count <= *max)
        return array;
    array = need(realloc(array, more * size));
    *max = more;
    return array;
}

/* Does so for an array in a variable or member, which then has the new one. */
#define ARRAY_NEED(array, count, max)                                          \
    ((array) = array_room(array, &(max), count, sizeof *(array)))

/* Adds an element, zeroed, to an array with room for *max; returns its place. */
#define array_add(array, count, max)                                           \
    (ARRAY_NEED(array, (count) + 1, max),                                      \
     memset(&(array)[(count)++], 0, sizeof *(array)), &(array)[(count)-1])

/* The element of a key of three words, in an array that `ids` numbers: zeroed
 * and *is_new if the key is new. */
#define array_at_key(array, ids, max, a, b, c, is_new)                         \
    __extension__({                                                            \
        size_t at_ = (ARRAY_NEED(array, (ids)->count + 1, max),                \
                      ids_add(ids, a, b, c, is_new));                          \
        if (*(is_new))                                                         \
            memset(&(array)[at_], 0, sizeof *(array));                         \
        &(array)[at_];                                                         \
    })

/* Compares two numbers for qsort(): the lower one is first. Equal numbers leave
 * the order to `next`, another comparison or 0. */
#define array_order(a, b, next) ((a) < (b) ? -1 : (a) > (b) ? 1 : (next))

/* Compares elements by the uint64_t that each begins with, for qsort(). */
static inline int array_compare(const void *a, const void *b)
{
    return array_order(*(const uint64_t *)a, *(const uint64_t *)b, 0);
}

/* Sorts it by a function of qsort(); it may be null if it has no elements. */
#define array_sort(array, count, compare)                                      \
    ((count) ? qsort(array, count, sizeof *(array), compare) : (void)0)

/* The lowest of `count` indices `i` for which a condition is true, which is true
 * for all after it, too; `count`: there is none. */
#define array_first(count, i, condition)                                       \
    __extension__({                                                            \
        size_t low_ = 0, high_ = (count);                                      \
        while (low_ < high_) {                                                 \
            const size_t i = low_ + (high_ - low_) / 2;                        \
            if (condition)                                                     \
                high_ = i;                                                     \
            else                                                               \
                low_ = i + 1;                                                  \
        }                                                                      \
        low_;                                                                  \
    })

/* Returns how many of `count` sorted elements of `size` bytes begin with no
 * more than `value`. */
static inline size_t array_count_to(const void *array, size_t count,
                                    size_t size, uint64_t value)
{
    return array_first(
        count, i, *(const uint64_t *)((const char *)array + i * size) > value);
}
