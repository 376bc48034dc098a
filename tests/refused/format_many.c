/* expect: too many arguments for format || data argument not used by format string */
/* flags: -Werror=format -Werror=format-extra-args */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
void use(int n);
void use(int n)
{
#ifdef RIGHT
    record(net, "%d", n);
#else
    record(net, "%d", n, n);
#endif
}
