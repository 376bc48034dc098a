/* What tests/programs/recording.c shows of its threads to
 * tests/outside/recording.c. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDING_H
#define RECORDING_H

enum { THREADS = 8, TINY = 0, SHARED = 1, OWN = 2, RINGS = 3 };
#ifndef OWN_SLOTS
#define OWN_SLOTS 64
#endif
#define MIX ((unsigned long)0x9e3779b97f4a7c15ull)

/* The last records that returned, by their number: even and odd, so that one is
 * always whole. `write` is the ring's before the record. */
struct last {
    unsigned long count; /* 0: none; the last is number count - 1 */
    unsigned long order[2], key[2], write[2];
};
struct published {
    unsigned running, stop, ready;
    struct last last[THREADS][RINGS];
};

#endif
