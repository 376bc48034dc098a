/* watch_absence.c - packets, then silence; a span in 100 takes long. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "recorder_dump.h"

RECORDER(net, 256, "Packets")
RECORDER(http, 256, "Requests")

int main(void)
{
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (int turn = 0;; turn++) {
        for (int i = 0; i < 100; i++) {
            record(net, "packet %d", i);
            record(http, "> request id=%d", i);
            usleep(i == 50 ? 400000 : 1000);
            record(http, "< request id=%d", i);
        }
        usleep(500000);
    }
}
