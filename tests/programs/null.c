/* null.c - a null pointer in an inlined function, and another that the fault
 * did not use. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

RECORDER(lists, 16, "Lists that are cut")

struct list {
    int length;
    int far[200]; /* a recording has less of it than the next member needs */
    struct list *next;
};
static struct list list, *volatile all = &list;

static inline __attribute__((always_inline)) void cut(struct list *of)
{
    char *volatile name = NULL;
    of->next->length++;
    *name = 1;
}

int main(void)
{
    volatile int outer = 77;
    recorder_dump_on_common_signals(0, 0);
    record(lists, "cut list=%p", &list);
    cut(all);
    return outer;
}
