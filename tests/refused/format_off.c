/* expect: format '%d' expects argument of type 'int', but argument 2 has type 'double' || format specifies type 'int' but the argument has type 'double' || argument 2 has type 'recorder_plain_<double, false>::type' {aka 'double'} || the argument has type 'typename recorder_plain_<double, recorder_scoped_<double>::value>::type' (aka 'double') */
/* flags: -Werror=format -DRECORDER_OFF */
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
