/* Has no recorders, but asks for a dump; then it waits, as "PID n". */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <stdio.h>
#include <unistd.h>

int main(void)
{
    recorder_dump_fd(2);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    pause();
}
