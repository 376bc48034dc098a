/* compat_long.c - lines longer than 255 bytes, traced and then dumped. */
/* SPDX-License-Identifier: MIT */
#include "recorder/recorder.h"

#include <string.h>

RECORDER(longer, 256, "Long lines");

#define X50 "..................................................%d"

int main(void)
{
    static char text[1201];
    recorder_trace_set("recorder_order=0:recorder_reltime=0:"
                       "recorder_location=60:/recorder.*:longer");
    memset(text, 'x', sizeof text - 1);
    record(longer, "%.230s|", text);
    record(longer, "%.254s|", text);
    record(longer, ">%.255s|", text);
    record(longer, "%.256s|", text);
    record(longer, "%s|", text);
    record(longer, "<%s|", RECORDER_COPY(longer, text + 200));
    record(longer, "%.253s|", RECORDER_COPY(longer, text));
    record(longer, "%.0s" X50 X50 X50 X50 X50 X50, text, 1, 2, 3, 4, 5, 6);
    recorder_trace_set("-longer");
    return recorder_dump_for("longer") != 8;
}
