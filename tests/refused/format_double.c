/* expect: format '%d' expects argument of type 'int', but argument 2 has type 'double' || format specifies type 'int' but the argument has type 'double' */
/* flags: -Werror=format */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
void use(double real);
void use(double real)
{
#ifdef RIGHT
    record(net, "%f", real);
#else
    record(net, "%d", real);
#endif
}
