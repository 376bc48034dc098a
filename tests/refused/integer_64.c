/* expect: record(): an integer wider than a machine word; cast it, or record its halves */
/* flags: -m32 */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
void use(uint64_t bytes);
void use(uint64_t bytes)
{
#ifdef RIGHT
    record(net, "%lu", (unsigned long)bytes);
#else
    record(net, "%llu", (unsigned long long)bytes);
#endif
}
