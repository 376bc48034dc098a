/* compat_part.c - the other file of the programs in 1.x's words. */
/* SPDX-License-Identifier: MIT */
#include "compat_everything.h"
RECORDER(part_rec, 16, "Of another file");
void part(void)
{
    RECORDER_TRACE(part_rec) = 1;
    RECORDER_TWEAK(my_limit) = 8;
    record(part_rec, "limit %ld", RECORDER_TWEAK(my_limit));
    record(MyRec, "from the part");
}
