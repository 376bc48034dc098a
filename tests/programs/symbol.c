/* A function whose symbol is SYMBOL records. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

RECORDER(net, 16, "")
void function(void) __asm__(SYMBOL);
void function(void)
{
    record(net, "x");
}

int main(void)
{
    function();
    return 0;
}
