/* A library with a recorder and a tweak of its own: -DPART=name. */
/* SPDX-License-Identifier: MIT */
#include "recorder_set.h"

#define NAME_2(part, rest) part##rest
#define NAME(part, rest) NAME_2(part, rest)

#define TWEAK(name) RECORDER_TWEAK_DEFINE(name, 3, "Of a library")

RECORDER(PART, 64, "Of a library");
TWEAK(NAME(PART, _depth));

/* Records `count` numbers. */
void NAME(PART, _work)(int count);
void NAME(PART, _work)(int count)
{
    int i;
    for (i = 1; i <= count; i++)
        record(PART, "library %s, %d", "says", i);
}
