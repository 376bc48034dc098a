/* expect: format '%s' expects argument of type 'char *', but argument 2 has type 'int' || format '%s' expects argument of type 'char*', but argument 2 has type 'int' || format specifies type 'char *' but the argument has type 'int' */
/* flags: -Werror=format */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
void use(int n);
void use(int n)
{
#ifdef RIGHT
    record(net, "%d", n);
#else
    record(net, "%s", n);
#endif
}
