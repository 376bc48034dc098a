/* expect: record(): a long double does not fit a word; cast it to double */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
void use(long double x);
void use(long double x)
{
#ifdef RIGHT
    record(net, "%f", (double)x);
#else
    record(net, "%Lf", x);
#endif
}
