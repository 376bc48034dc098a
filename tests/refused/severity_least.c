/* expect: format '%d' expects argument of type 'int' || format specifies type 'int' but the argument has type */
/* flags: -Werror=format -DRECORDER_SEVERITY_LEAST=3 */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
void use(const char *text);
void use(const char *text)
{
#ifdef RIGHT
    record(net, RECORDER_HW1 "%s", text);
#else
    record(net, RECORDER_HW1 "%d", text);
#endif
}
