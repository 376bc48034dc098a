/* unrelated.h - for programs whose records do not concern their two crashes. */
/* SPDX-License-Identifier: MIT */
/*
    ./program a|b
    The comments "a:" and "b:" of each have a regular expression for its end.
*/
#ifndef UNRELATED_H
#define UNRELATED_H

#include "recorder_dump.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define A(p) RECORDER_ADDRESS(p)
__attribute__((constructor)) static void begin(void)
{
    recorder_dump_on_common_signals(0, 0);
}
#define NOINLINE __attribute__((noinline))

#endif
