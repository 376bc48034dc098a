/* basics.c - records and dumps on any processor, in C and in C++. */
/* SPDX-License-Identifier: MIT */
#include "recorder_dump.h"
#include "recorder_set.h"
#include "recorder_dump.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gather.h"

RECORDER(basics, 16, "All kinds of arguments");
RECORDER_LANES(lanes, 4, 2, "Two rings");

#define MUST(condition)                                                        \
    ((condition) ? (void)0                                                     \
                 : (fprintf(stderr, "basics.c:%d: %s\n%s\n", __LINE__,         \
                            #condition, text),                                 \
                    exit(1)))

static int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
/* Ticks run as the system's clock does, whatever their rate is. Method: between
 * two records it says no less than is sure to have passed, and no more than may
 * have. */
static bool clock_ran(int ms)
{
    struct recorder_cursor *cursor =
        (struct recorder_cursor *)calloc(1, sizeof *cursor);
    struct recorder_event first, second;
    struct recorder_clock_ clock;
    struct timespec rest = {ms / 1000, ms % 1000 * 1000000};
    int64_t from = clock_ns(), ours, least, most;
    uintptr_t order = record(basics, "first");
    least = clock_ns();
    nanosleep(&rest, NULL);
    least = clock_ns() - least;
    record(basics, "second");
    most = clock_ns() - from;
    MUST(cursor);
    while (recorder_next(cursor, &first) && first.order != order)
        ;
    MUST(first.order == order && recorder_next(cursor, &second));
    recorder_clock_open_(&clock);
    ours = recorder_clock_time_(&clock, second.time) -
           recorder_clock_time_(&clock, first.time);
    printf("%.0f ticks a second; %.3f ms to %.3f ms were %.3f\n",
           clock.ns_per_tick ? 1e9 * 4294967296.0 / (double)clock.ns_per_tick
                             : 0.0,
           1e-6 * (double)least, 1e-6 * (double)most, 1e-6 * (double)ours);
    free(cursor);
    return ours > least - least / 50 && ours < most + most / 50;
}

int main(void)
{
    const char *null = NULL, *bad = (const char *)(uintptr_t)8;
    char buffer[] = "copied, and longer than what a record holds of a text";
    int ms;
    recorder_line("{order} {recorder} {name} {thread}: {message}");
    record(basics, "%d %u %ld %zx %c", INT_MIN, UINT_MAX, LONG_MIN, SIZE_MAX,
           'x');
    record(basics, "%f %g %.3e", 0.5, -1e10f, 1.25);
    record(basics, "<%s>", RECORDER_COPY(basics, buffer));
    memset(buffer, '!', sizeof buffer - 1);
    record(basics, "%s %s %5s %p", null, RECORDER_ADDRESS(bad), "lives", (void *)0);
    record(lanes, "%d %d %d %d %d %d %d %d %d %d %d %s", 1, 2, 3, 4, 5, 6, 7, 8,
           9, 10, 11, "twelve");
    recorder_dump_to(gather, NULL);
    MUST(strstr(text, sizeof(long) == 8
                          ? ": -2147483648 4294967295 -9223372036854775808 "
                            "ffffffffffffffff x\n"
                          : ": -2147483648 4294967295 -2147483648 "
                            "ffffffff x\n"));
    MUST(strstr(text, ": 0.500000 -1e+10 1.250e+00\n"));
    MUST(strstr(text, "<copied, and longer than what a record holds of a "
                      "text>\n"));
    MUST(strstr(text, ": (null) 0x8 lives (nil)\n"));
    MUST(strstr(text, " lanes ") &&
         strstr(text, ": 1 2 3 4 5 6 7 8 9 10 11 twelve\n"));
    MUST(recorder_dump_on_signal(15));
    /* Where a busy host read its start late, longer rests show it less. */
    for (ms = 50; !clock_ran(ms); ms *= 4)
        MUST(ms < 10000);
    return 0;
}
