/* compat_rings.c - recorder 1.x's rings of plain elements. */
/* SPDX-License-Identifier: MIT */
#include "recorder/recorder.h"

#include <stdio.h>

RECORDER_RING_DEFINE(numbers, int, 8)
RECORDER_RING_TYPE_DECLARE(Doubles, double)

static unsigned blocks;
static bool block(recorder_ring_p ring, ringidx_t now, ringidx_t from,
                  ringidx_t to)
{
    (void)ring, (void)now, (void)from, (void)to;
    return ++blocks < 3;
}

int main(void)
{
    int in[20], out[20], i;
    double real = 1.5;
    ringidx_t mine = 0, counter = 5, expected = 7;
    Doubles *doubles = Doubles_new(4);
    recorder_ring_p ring = recorder_ring_new(4, sizeof(int));
    for (i = 0; i < 20; i++)
        in[i] = i;
    printf("%d %d %d\n", (int)numbers_readable(), (int)numbers_writable(),
           numbers_peek() == NULL);
    printf("%d", (int)numbers_write(in, 5));
    printf(" %d %d %d\n", (int)numbers_readable(), (int)numbers_writable(),
           *numbers_peek());
    printf("%d", (int)numbers_read(out, 3));
    printf(" %d %d %d\n", out[0], out[2], (int)numbers_readable());
    numbers_write(in + 5, 8); /* 3 and 4 are overwritten */
    printf("%d", (int)numbers_read(out, 20));
    printf(" %d %d overflow %d\n", out[0], out[7],
           (int)numbers_ring.ring.overflow);
    printf("%d", (int)Doubles_write(doubles, &real, 1));
    printf(" %d %d %g\n", (int)Doubles_readable(doubles),
           (int)Doubles_writable(doubles), *Doubles_peek(doubles));
    printf("%d", (int)Doubles_read(doubles, &real, 1));
    printf(" %g\n", real);
    Doubles_delete(doubles);
    recorder_ring_write(ring, in, 3, NULL, NULL, NULL);
    printf("%d", (int)recorder_ring_read(ring, out, 2, &mine, NULL, NULL));
    printf(" %d %d\n", (int)mine, (int)recorder_ring_readable(ring, NULL));
    recorder_ring_write(ring, in, 3, block, NULL, NULL);
    printf("blocks %u\n", blocks);
    recorder_ring_delete(ring);
    printf("%d", (int)recorder_ring_fetch_add(counter, 2));
    printf(" %d", (int)recorder_ring_add_fetch(counter, 1));
    printf(" %d", recorder_ring_compare_exchange(counter, expected, 1));
    printf(" %d", (int)expected);
    recorder_ring_store(counter, 3);
    printf(" %d\n", (int)recorder_ring_load(counter));
    return 0;
}
