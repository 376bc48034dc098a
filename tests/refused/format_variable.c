/* expect: record(): the format must be a string literal */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
RECORDER(net, 16, "Network")
void use(const char *format);
void use(const char *format)
{
#ifdef RIGHT
    record(net, "%s", format);
#else
    record(net, format);
#endif
}
