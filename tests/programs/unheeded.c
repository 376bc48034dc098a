/* unheeded.c - records and waits; reads RECORDER_FILE only with -DREADS. */
/* SPDX-License-Identifier: MIT */
#ifdef READS
#include "recorder_dump.h"
#else
#include "recorder.h"
#endif
#include <stdio.h>
#include <unistd.h>

RECORDER(net, 16, "Network")

int main(void)
{
    record(net, "waits");
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    for (;;)
        pause();
}
