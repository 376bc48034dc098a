/* expect: record(): at most 12 arguments; use two records */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
uintptr_t use(int n);
uintptr_t use(int n)
{
#ifdef RIGHT
    return record(net, "%d", n);
#else
    return record(net, "%d%d%d%d%d%d%d%d%d%d%d%d%d%d", n, 2, 3, 4, 5, 6, 7, 8, 9,
                  10, 11, 12, 13, 14);
#endif
}
