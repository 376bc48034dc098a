/* expect: record(): at most 12 arguments; use two records */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
void use(void);
void use(void)
{
#ifdef RIGHT
    record(net, "%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
           12);
#else
    record(net, "%d%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
           12, 13);
#endif
}
