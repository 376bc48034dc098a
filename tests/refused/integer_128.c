/* expect: record(): an integer wider than a machine word; cast it, or record its halves */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
#ifdef __SIZEOF_INT128__
typedef __int128 wide;
#else
typedef long long wide;
#endif
void use(wide x);
void use(wide x)
{
#ifdef RIGHT
    record(net, "%lx", (unsigned long)x);
#else
    record(net, "%lx", x);
#endif
}
