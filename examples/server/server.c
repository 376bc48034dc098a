/* server.c - the program of docs/server.md: answers requests for two
 * minutes. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <time.h>

RECORDER(net, 1024, "Requests and answers");
RECORDER(disk, 256, "Reads");
RECORDER(errors, 64, "Errors; no flood evicts them");

int main(void)
{
    struct timespec wait = {0, 1000000};
    recorder_dump_on_common_signals(0, 0);
    recorder_thread_name("io");
    for (unsigned i = 0; i < 100000; i++) {
        record(net, "request %u from %s", i, "example.org");
        record(disk, "latency %u ms", i % 60);
        if (i % 60 == 50)
            record(errors, RECORDER_SW1 "request %u was slow", i);
        nanosleep(&wait, NULL);
        record(net, "answer %u", i);
    }
    return 0;
}
