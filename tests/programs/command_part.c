/* A library with a recorder of its own: -DPART=name. */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#define NAME_2(part, rest) part##rest
#define NAME(part, rest) NAME_2(part, rest)

RECORDER(PART, 64, "Of a library");

/* Records `count` numbers. */
void NAME(PART, _work)(int count);
void NAME(PART, _work)(int count)
{
    int i;
    for (i = 1; i <= count; i++)
        record(PART, "library %s, %d", "says", i);
}
