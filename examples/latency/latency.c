/* latency.c - a server whose requests are fast, but for a few of them. */
/* SPDX-License-Identifier: MIT */
/*
 * There is a bug in here: docs/python.md finds it.
 *
 *     RECORDER_FILE=latency.rec build/examples/latency/latency
 */
#include "recorder_dump.h"

#include <time.h>

enum { REQUESTS = 600, LINE = 80, BUFFER = 64 * LINE };

RECORDER(server, 4096, "Requests, from > to <");
RECORDER(cache, 4096, "Pages in memory");
RECORDER(journal, 4096, "Lines on their way to the disk");

static unsigned buffered; /* bytes of the journal that are not on the disk */

static void spend(long us)
{
    const struct timespec time = {0, us * 1000};
    nanosleep(&time, NULL);
}

/* Lines are gathered, as the disk is slow. */
static void journal_append(unsigned bytes)
{
    record(journal, "append %u bytes", bytes);
    buffered += bytes;
    if (buffered >= BUFFER) {
        record(journal, "flush %u bytes", buffered);
        spend(40000);
        buffered = 0;
    }
}

static void request_serve(unsigned request)
{
    unsigned page = request * 7919 % 100;
    record(server, "> request %u", request);
    if (page < 90) {
        record(cache, "page %u is here", page);
    } else {
        record(cache, "page %u is read", page);
        spend(200);
    }
    journal_append(LINE);
    record(server, "< request %u", request);
}

int main(void)
{
    recorder_thread_name("server");
    for (unsigned request = 1; request <= REQUESTS; request++) {
        request_serve(request);
        spend(100);
    }
    return 0;
}
