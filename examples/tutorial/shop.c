/* shop.c - sells from a stock, until it crashes: docs/tutorial.md. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <stdio.h>
#include <stdlib.h>

RECORDER(orders, 256, "What customers want");
RECORDER(stock, 256, "Stock on the shelves");

struct item {
    unsigned id, left;
};
static struct item *shelf[8];

static void restock(unsigned id)
{
    struct item *item = malloc(sizeof *item);
    if (!item)
        exit(1);
    item->id = id;
    item->left = 3;
    shelf[id] = item;
    record(stock, "restock item=%u left=%u", id, item->left);
}

/* Takes one; the last one takes its item off the shelf. */
static void sell(unsigned order, unsigned id)
{
    struct item *item = shelf[id];
    record(orders, "order=%u of item=%u", order, id);
    item->left--;
    record(stock, "sold item=%u left=%u", id, item->left);
    if (item->left == 0) {
        shelf[id] = NULL;
        record(stock, "item=%u is off the shelf", id);
        free(item);
    }
}

int main(void)
{
    recorder_dump_on_common_signals(0, 0);
    for (unsigned id = 0; id < 8; id++)
        restock(id);
    for (unsigned order = 1; order <= 100; order++) {
        unsigned id = order * order % 8;
        sell(order, id);
        if (order % 4 == 0 && !shelf[order / 4 % 8])
            restock(order / 4 % 8);
    }
    puts("All orders are served");
    return 0;
}
