/* order.h - locks that are taken in a circle: deadlocks that did not happen. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "recorded.h"

enum { CIRCLE_MAX = 5, CIRCLES_MAX = 100 };

/* A thread took a lock, holding another. */
struct taking {
    const struct chain *chain;
    unsigned held; /* which of the chain's */
};
struct circle {
    struct taking takings
        [CIRCLE_MAX]; /* each thread takes a lock that the next one holds */
    unsigned count;
    bool of_class; /* perhaps: it may be another lock of its place */
};
struct order {
    struct circle *circles;
    size_t count, max;
    bool more; /* the search was given up before its end */
};

/* Finds the circles. */
void order_find(struct order *, const struct recorded *);
void order_free(struct order *);
