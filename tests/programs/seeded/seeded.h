/* seeded.h - for programs that crash in one of 15 kinds: the oracle. */
/* SPDX-License-Identifier: MIT */
/*
    ./server KIND SEED [u]
    cause(ring, "close id=%u", id)   the record with the cause: the file
                                     "oracle" has it too
    note(ring, "open id=%u", id)     another record about the object
    A third argument leaves both out: then no record concerns the crash.
*/
#ifndef SEEDED_H
#define SEEDED_H

#include "recorder_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_unrelated;
static const char *kind_asked;

#define note(ring, ...)                                                        \
    do {                                                                       \
        if (!is_unrelated)                                                     \
            record(ring, __VA_ARGS__);                                         \
    } while (0)
#define oracle(...)                                                            \
    do {                                                                       \
        FILE *file = fopen("oracle", "a");                                     \
        if (file) {                                                            \
            fprintf(file, __VA_ARGS__);                                        \
            fclose(file);                                                      \
        }                                                                      \
    } while (0)
#define cause(ring, ...)                                                       \
    do {                                                                       \
        oracle(#ring ": " __VA_ARGS__);                                        \
        note(ring, __VA_ARGS__);                                               \
    } while (0)

static int pick(int least, int most)
{
    return least + rand() % (most - least + 1);
}

static int is_kind(const char *name)
{
    return strcmp(kind_asked, name) == 0;
}

static void seeded_begin(int argc, char **argv)
{
    if (argc < 3)
        exit(2);
    kind_asked = argv[1];
    srand((unsigned)atoi(argv[2]));
    is_unrelated = argc > 3;
    recorder_dump_on_common_signals(0, 0);
}

#endif
