/* Uses all of recorder.h and nothing else: its symbols are the header's. */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"

RECORDER(net, 64, "Network")
RECORDER_LANES(disk, 64, 4, "Disk")
RECORDER_DECLARE(net)

int main(void)
{
    int n = (int)record(net, "begin");
    recorder_thread_name("main");
    record(net, "%d %f", n, 1.5);
    record(net, "%d %d %d %d %d %s", 1, 2, 3, 4, 5, "six");
    record(disk, "%d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9);
    record(disk, "%s", RECORDER_COPY(disk, "copied"));
    RECORDER_TRACE(net) = 0;
    return 0;
}
