/* Records what a writer of trace formats may trip over; then waits. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>

/* Time is what the program says, so that all who read it say the same. */
static uintptr_t fake = 1000;
#define RECORDER_TIME() (fake += 25)
#include "recorder.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

RECORDER(net, 256, "Traffic, \"quoted\"");
RECORDER(disk, 256, "Disk");
RECORDER(ui, 64, "Text of all kinds");
RECORDER(tiny, 8, "Is overwritten");
RECORDER(numbers, 64, "Integers and reals");

static char long_text[3000];

static void texts(void)
{
    static const char *const hostile[] = {
        "",
        " ",
        "plain",
        "two\nlines\r\n\tand a tab",
        "\"quoted\", 'both', `ways`, back\\slash",
        "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
        "not UTF-8: \xff\xfe \xc3( \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82",
        "</script><script>alert(1)</script><!-- &amp; ]]>",
        "a,b;c\td",
        "%s %n %d ${HOME} $(id) `id`",
        "=1+1",
        "\x1b[31mred\x1b[0m \a\b\f\v\x7f",
        "#12 1! $end"};
    unsigned i;
    for (i = 0; i < sizeof hostile / sizeof *hostile; i++)
        record(ui, "text %s", hostile[i]);
    memset(long_text, 'x', sizeof long_text - 1);
    record(ui, "long %s", long_text);
    record(ui, "copied %s", RECORDER_COPY(ui, "from a stack\n"));
    record(ui, "bad %s, none %s", RECORDER_ADDRESS((const char *)16),
           (const char *)NULL);
    record(ui, "\"format\" with \\ and \n and </script>, caf\xc3\xa9 100%%\n");
    record(ui, "%c%c %5.1s|%-4d|%*d", 'a', '\n', "cut", 7, 9, 8);
    record(ui, "<unopened: nobody opened it");
}

static void integers(void)
{
    record(numbers, "%d %d %d", 0, -1, INT_MIN);
    record(numbers, "%lld %lld %llu", LLONG_MIN, LLONG_MAX, ULLONG_MAX);
    record(numbers, "%ld %ld %lu", (1L << 53) + 1, -(1L << 53) - 1,
           (1UL << 53) + 1);
    record(numbers, "%d %d %d %d %d %d %d %d %d %d %d %d", 1, -2, 3, -4, 5, -6,
           7, -8, 9, -10, 11, -12);
    record(numbers, "%p %p", (void *)0x1234abcd, (void *)NULL);
    record(numbers, RECORDER_HW0 "no argument");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"
    record(numbers, "%hhd %hd %u %#x %o", 300, 70000, UINT_MAX, 255U, 8U);
    record(numbers, "%d %d %d %d %s", 1, 2, 3, 4); /* the fifth is lost */
#pragma GCC diagnostic pop
}

static void reals(void)
{
    static const double some[] = {
        0.0,     -0.0,   1.5,     0.1, 1.0 / 3,  1e22,      1e-310,
        1.7e308, 5e-324, -2.5e-7, NAN, INFINITY, -INFINITY, 123456789.125};
    unsigned i;
    for (i = 0; i < sizeof some / sizeof *some; i++)
        record(numbers, "real %g", some[i]);
}

static void nested(unsigned depth)
{
    record(disk, "> level %u", depth);
    record(disk, RECORDER_HW1 "at %u", depth);
    if (depth < 3)
        nested(depth + 1);
    record(disk, "< level %u", depth);
}

/* Times that go back, as where a record was interrupted after its look at the
 * clock, and that are not known. */
static void times(void)
{
    uintptr_t then = fake += 5000000;
    record(disk, RECORDER_SW3 ">on time");
    fake -= 1000;
    record(net, RECORDER_SW2 "%d, late", 1);
    fake = UINTPTR_MAX - 25; /* unknown */
    record(net, "%d, when?", 2);
    fake = then + 2000;
    record(disk, "<on time");
    record(disk, "last");
}

static void *worker(void *of)
{
    unsigned i;
    recorder_thread_name(of);
    for (i = 0; i < 20; i++) {
        record(net, ">receive %u", i);
        record(net, "%d bytes from %s, load %f", (int)(i * i) - 50, "peer",
               i / 7.0);
        if (i == 5)
            record(disk, ">never closed here");
        record(net, "<receive");
    }
    record(net, ">open at the end");
    return NULL;
}

int main(void)
{
    /* A tick is a nanosecond; at 5 s it was a Saturday in 2026. */
    static const struct recorder_moment start = {0, 5000000000,
                                                 1795219938000000000},
                                        later = {1000000000, 6000000000,
                                                 1795219939000000000};
    static const char *const names[] = {"worker", "w\"\xc3\xa9 <2>"};
    unsigned i;
    recorder_registry.start = start;
    recorder_registry.later = later;
    recorder_registry.later_sequence = 2;
    prctl(PR_SET_PTRACER, -1UL, 0, 0, 0); /* a test is no ancestor of ours */
    recorder_thread_name("main");
    nested(0);
    for (i = 0; i < 30; i++)
        record(tiny, "tick %u", i);
    integers();
    reals();
    for (i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, worker, (void *)(uintptr_t)names[i]);
        pthread_join(thread, NULL);
    }
    for (i = 0; i < 30; i++)
        record(tiny, "tock %u %u", i, i + 1);
    texts();
    times();
    puts("ready");
    fflush(stdout);
    alarm(300); /* longer than any test of it */
    for (;;)
        pause();
}
