/* null_member.c - the address of a null pointer's member, and a null pointer that
 * the fault did not use. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

RECORDER(items, 16, "Items that are found")

struct node {
    struct node *next;
    long size;
};
struct item {
    long id;
    char name[16];
};
static struct item *volatile none;

static __attribute__((noinline)) int total(const struct node *node,
                                           const char *name)
{
    return (int)node->size + *name;
}

int main(void)
{
    const struct node node = {NULL, 5};
    recorder_dump_on_common_signals(0, 0);
    record(items, "find id=%d", 1);
    return total(&node, none->name);
}
