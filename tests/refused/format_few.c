/* expect: format '%d' expects a matching 'int' argument || more '%' conversions than data arguments */
/* flags: -Werror=format */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
void use(int n);
void use(int n)
{
#ifdef RIGHT
    record(net, "%d %d", n, n);
#else
    record(net, "%d %d", n);
#endif
}
