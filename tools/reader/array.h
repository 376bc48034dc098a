/* array.h - an array that grows. */
/* SPDX-License-Identifier: MIT */
#ifndef ARRAY_H
#define ARRAY_H

#include <stddef.h>
#include <stdlib.h>

/* Makes room for `count` elements of `size` bytes, and for as many more; *max
 * says how many there is room for. Returns the array, which may have moved;
 * null: there is no memory, and the array is as it was. */
static inline void *array_room(void *array, size_t *max, size_t count,
                               size_t size)
{
    const size_t least = 16;
    size_t more = count < least ? least : 2 * count;
    if (count <= *max)
        return array;
    array = realloc(array, more * size);
    if (array)
        *max = more;
    return array;
}

#endif
