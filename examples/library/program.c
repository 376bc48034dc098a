/* program.c - uses zap.c, and dumps its records. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"
#include "zap.h"

int main(void)
{
    recorder_dump_on_common_signals(0, 0);
    zap(1);
    zap(2);
    recorder_dump();
    return 0;
}
