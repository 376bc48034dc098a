/* free.c - memory that a program gives back: the locks in it have ended. */
/* SPDX-License-Identifier: MIT */
/*
   std::mutex calls no function when it begins or ends, nor does a mutex of
   PTHREAD_MUTEX_INITIALIZER. Memory of free() that has another lock later would
   otherwise join the orders of both.
*/
#include "real_functions.h"

#include <malloc.h>

static __typeof__(&free) give;
static __typeof__(&malloc_usable_size) size_of;

/* The allocator may not be libc's. The second function must be of the same. */
static RUN_SELDOM void free_seldom(void *memory)
{
    const uintptr_t start = (uintptr_t)memory;
    if (!give) {
        run_put_found(&size_of, run_find_beside("malloc_usable_size", "free"));
        run_put_found(&give, run_find_beside("free", "free"));
    }
    if (run_bit(run_blocks, start / RUN_PAGE) && memory && size_of)
        run_order_freed(start, size_of(memory));
    give(memory);
}
RUN_EXPORT void free(void *memory)
{
    if (RUN_LIKELY(give && !run_bit(run_blocks, (uintptr_t)memory / RUN_PAGE)))
        give(memory);
    else
        free_seldom(memory);
}
