/* The target of bench/command.sh's instruction count: a dump of many lines. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

#include <fcntl.h>

enum { LINES = 100000 };
RECORDER(lines, LINES, "Records of 4 arguments");

int main(void)
{
    long i;
    for (i = 0; i < LINES; i++)
        record(lines, "%ld of %d bytes from %s:%d", i, LINES, "localhost", 1);
    recorder_dump_fd(open("/dev/null", O_WRONLY));
    return 0;
}
