/* Records whose formats name their arguments; leaves a recording in argv[1]. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"

RECORDER(net, 64, "Network traffic")
RECORDER(disk, 64, "Disk operations")

static const char *const peers[] = {"alpha", "beta", "gamma,\"delta\""};

int main(int argc, char **argv)
{
    if (argc != 2 || !recorder_file(argv[1]))
        return 1;
    for (int i = 0; i < 6; i++) {
        record(net, "sent bytes=%d to peer='%s' at addr=0x%lx, load=%.2f",
               500 * i - 500, peers[i % 3], 0xfeedul + (unsigned)i, i / 2.0);
        record(disk, "read of bytes=%llu, %d blocks, thread=%d", 1ull << 10 * i,
               i, -i);
        RECORDER_SPAN(net, "request id=%d", i);
        RECORDER_SPAN_RESULT(net, 10 * i);
    }
    record(net, "a==%d != %d, 1=%d, x=%d, X=%d, width=%*d", 1, 2, 3, 4, 5, 6,
           7);
    return 0;
}
