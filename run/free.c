/* free.c - memory that a program gives back: the locks in it have ended. */
/* SPDX-License-Identifier: MIT */
/*
   std::mutex calls no function when it begins or ends, nor does a mutex of
   PTHREAD_MUTEX_INITIALIZER. Memory of free() that has another lock later would
   otherwise join the orders of both.
*/
#include "libc.h"
#include "run.h"

#include <malloc.h>

/* The program's allocator, which may not be libc's; its second function is not
 * called if another library defines it. */
static __typeof__(&free) give;
static __typeof__(&malloc_usable_size) size_of;

static RUN_SELDOM void bind(void)
{
    void *found = run_find_beside("malloc_usable_size", "free");
    __builtin_memcpy(&size_of, &found, sizeof found);
    found = run_find_beside("free", "free");
    __builtin_memcpy(&give, &found, sizeof found);
}

RUN_EXPORT void free(void *memory)
{
    if (RUN_UNLIKELY(!give))
        bind();
    if (RUN_UNLIKELY(recorder_get_(&run_lives_count) != 0) && memory &&
        size_of) {
        const uintptr_t start = (uintptr_t)memory, bytes = size_of(memory);
        if (bytes > RUN_PAGE || run_bit(run_pages, start / RUN_PAGE) ||
            run_bit(run_pages, (start + bytes - 1) / RUN_PAGE))
            run_order_freed(start, bytes);
    }
    give(memory);
}
