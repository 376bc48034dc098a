/* Makes COUNT records of two recorders, nine of ten for `net`. */
/* SPDX-License-Identifier: MIT */
/*
    many COUNT         and ends
    many COUNT stay    prints its id, and stays
*/
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "recorder_dump.h"

RECORDER(net, 16384)
RECORDER(disk, 2048)

int main(int count, char **what)
{
    int records = count > 1 ? atoi(what[1]) : 0;
    for (int i = 0; i < records; i++) {
        if (i % 10)
            record(net, "%d bytes from %s", i, "host");
        else
            record(disk, "load %.2f, %u blocks", 0.75, 12u);
    }
    if (count > 2) {
        printf("PID %d\n", (int)getpid());
        fflush(stdout);
        sleep(300);
    }
    return 0;
}
