/* headers.c - every header, after <stdio.h>, twice, in whatever language. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "recorder_dump.h"
#include "recorder_set.h"

#include "recorder_dump.h"

RECORDER(net, 4)
RECORDER_TWEAK_DEFINE(speed, 1, "a tweak")

int main(void)
{
    bool failed;
    record(net, "%s", RECORDER_COPY(net, "x"));
    recorder_dump_on_common_signals(0, 0);
    failed = !recorder_line("{message}") || recorder_trace_set("speed=2") != 0;
#ifdef RECORDER_OFF /* off is off */
    failed = failed || recorder_dump_for("net") != 0 ||
             RECORDER_TWEAK(speed) != 1;
#else
    failed = failed || recorder_dump_for("net") != 1 ||
             RECORDER_TWEAK(speed) != 2;
#endif
    return failed || puts("ok") < 0;
}
