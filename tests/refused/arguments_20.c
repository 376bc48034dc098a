/* expect: record(): at most 12 arguments; use two records */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
void use(const char *text, double real);
void use(const char *text, double real)
{
#ifdef RIGHT
    record(net, "%s%f", text, real);
#else
    record(net, "%s%f%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", text, real, 3, 4, 5,
           6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20);
#endif
}
