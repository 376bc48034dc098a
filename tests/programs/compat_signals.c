/* compat_signals.c - recorder 1.x's variables, background dump and signals. */
/* SPDX-License-Identifier: MIT */
#include "recorder/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

RECORDER(MyRec, 32, "My recorder");
RECORDER(Other, 32, "Another");
RECORDER(Much, 4096, "More than a dump of a crash shows");
RECORDER_TWEAK_DEFINE(my_limit, 7, "A limit")

static RECORDER_CONSTRUCTOR void early(void)
{
    record(Other, "in a constructor");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int i;
    RECORDER_TWEAK(recorder_order) = 0;
    RECORDER_TWEAK(recorder_reltime) = 0;
    recorder_dump_on_common_signals(0, 0);
    record(MyRec, "limit %ld", RECORDER_TWEAK(my_limit));
    record(MyRec, ">in");
    record(Other, "deeper");
    for (i = 0; i < 2000 && strcmp(what, "much") == 0; i++)
        record(Much, "%d", i);
    if (strcmp(what, "crash") == 0 || strcmp(what, "much") == 0)
        abort();
    if (strcmp(what, "background") == 0) {
        recorder_background_dump("MyRec");
        for (i = 0; i < 1000; i++)
            record(MyRec, "%d", i);
        recorder_background_dump_stop();
        fprintf(stderr, "--\n");
        record(MyRec, "not shown");
        recorder_background_dump("all");
        recorder_background_stop();
    }
    if (strcmp(what, "stop") == 0)
        recorder_background_dump_stop();
    return 0;
}
