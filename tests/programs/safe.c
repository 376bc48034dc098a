/* Calls all that may be called in a signal handler, with and without traps. */
/* SPDX-License-Identifier: MIT */
/*
 * safe           dumps in every way while `forbidden` is set: with forbid.c
 *                preloaded, a call of malloc(), stdio or a locale aborts
 * safe malloc    calls malloc() then; must abort, so that the trap is one
 * safe printf    the same for snprintf()
 * safe locks     dumps while a thread holds the locks of stdio, and in handlers
 *                that come in the middle of malloc(), free() and printf()
 */
#define _GNU_SOURCE
#include "recorder_dump.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

RECORDER(one, 64, "One");
RECORDER(two, 64, "Two");

volatile int forbidden; /* forbid.c looks at it */

static size_t lines;
static void sink(void *context, const char *text, size_t size)
{
    (void)context;
    lines += text[size - 1] == '\n';
}

static void dump_in_all_ways(void)
{
    static struct recorder_cursor cursor;
    struct recorder_event event;
    char text[100];
    recorder_dump_to(sink, NULL);
    recorder_dump_fd(1);
    recorder_dump();
    recorder_dump_for("(one|t.o)");
    recorder_dump_for("(");
    recorder_line("{wall} {seconds} {name} {caller} {order}: {message}");
    recorder_dump();
    recorder_line("{none}");
    recorder_line(NULL);
    while (recorder_next(&cursor, &event))
        recorder_event_text(&event, text, sizeof text);
    RECORDER_TRACE(one) = 1;
    record(one, "%d %g %s", 1, 2.5, "traced");
    RECORDER_TRACE(one) = 0;
    recorder_thread_name("renamed");
    recorder_alt_stack();
    raise(SIGUSR1);
}

static void *hold_locks(void *unused)
{
    (void)unused;
    flockfile(stdout);
    flockfile(stderr);
    pause();
    return NULL;
}

static volatile sig_atomic_t dumps;
/* The next comes after each, for a dump may take longer than the time between. */
static const struct itimerval soon = {{0, 0}, {0, 200}};
static void on_timer(int sig)
{
    (void)sig;
    recorder_dump_to(sink, NULL);
    if (++dumps < 300)
        setitimer(ITIMER_REAL, &soon, NULL);
}

static int under_locks(void)
{
    FILE *null = fopen("/dev/null", "w");
    void *blocks[64] = {0};
    pthread_t thread;
    unsigned i;
    if (!null)
        return 1;
    signal(SIGALRM, on_timer);
    setitimer(ITIMER_REAL, &soon, NULL);
    for (i = 0; dumps < 300; i++) {
        free(blocks[i % 64]);
        blocks[i % 64] = malloc(i * 7919 % 200000);
        fprintf(null, "%u %g\n", i, i / 7.0);
        fflush(null);
    }
    if (pthread_create(&thread, NULL, hold_locks, NULL) != 0)
        return 1;
    while (ftrylockfile(stderr) == 0) {
        funlockfile(stderr);
        usleep(1000);
    }
    dump_in_all_ways();
    return lines > 300 * 3 ? 0 : 1;
}

int main(int argc, char **argv)
{
    char text[100] = "a text";
    alarm(60);
    recorder_dump_on_signal(SIGUSR1);
    record(one, "%d %s %g %a", 1, text, 1e300, 0.1);
    record(two, "%s", RECORDER_COPY(two, text));
    record(two, "%d %d %d %d %d", 1, 2, 3, 4, 5);
    record(two, "%s", RECORDER_ADDRESS((const char *)1));
    if (argc > 1 && strcmp(argv[1], "locks") == 0)
        _exit(under_locks());
    forbidden = 1;
    if (argc > 1 && strcmp(argv[1], "malloc") == 0)
        free(malloc(strlen(argv[1])));
    else if (argc > 1)
        snprintf(text, sizeof text, "%d", argc);
    dump_in_all_ways();
    forbidden = 0;
    return lines > 3 ? 0 : 1;
}
