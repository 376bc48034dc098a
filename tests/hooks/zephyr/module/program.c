/* program.c - a file that records, as zephyr's users have it. */
/* SPDX-License-Identifier: MIT */
#include "recorder_port.h"
RECORDER(net, 64, "Network traffic");
int main(void);
int main(void)
{
    record(net, "started: %d", 1);
    recorder_dump();
    return 0;
}
