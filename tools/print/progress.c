/* progress.c - shows how far a verb is, on a terminal. */
/* SPDX-License-Identifier: MIT */
#include "print.h"

static double seconds(void)
{
    return (double)recorder_clock_ns_(RECORDER_MONOTONIC_) / 1e9;
}

void progress(struct call *call, uint64_t done, uint64_t of)
{
    enum { COLUMNS = 40 };
    static const char full[] = "########################################";
    static unsigned calls;
    static int terminal = -1;
    static double start, next;
    static bool shown;
    double now, part;
    (void)call;
    if (terminal == 0 || (++calls % 256 && done < of))
        return;
    if (terminal < 0) {
        terminal = isatty(2);
        start = seconds();
        next = start + 0.5;
    }
    now = seconds();
    if (done >= of) {
        if (shown)
            fputs("\r\033[K", stderr);
        shown = false;
        next = now + 0.5;
        return;
    }
    if (now < next)
        return;
    next = now + 0.1;
    shown = true;
    part = (double)done / (double)of;
    /* The cursor goes back, so that a message begins a line. */
    fprintf(stderr, "\r[%-*.*s] %3.0f%%\r", COLUMNS, (int)(part * COLUMNS),
            full, part * 100);
}
