/* The program of a user who installed the headers by whatever package. */
/* SPDX-License-Identifier: MIT */
#include <recorder_dump.h>

RECORDER(net, 16, "Network")

int main(void)
{
    record(net, "%d bytes from %s", 42, "example.org");
    return recorder_dump_fd(1) > 0 ? 0 : 1;
}
