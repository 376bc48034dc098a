/* view.c - records what a timeline has to show, and more of it when told to. */
/* SPDX-License-Identifier: MIT */
/*
    Records, says "ready", then reads stdin: a number n records n more, the end
    of stdin ends it. -DMILLION: a million records of 16 threads in 8 recorders,
    a tenth of them spans. -DTIMELESS: of some records the time is unknown.
    -DMANY: 500 threads, of a pool and others.
*/
#ifdef TIMELESS
#include <stdint.h>
static uintptr_t sometimes(void);
static __thread int some;
#define RECORDER_TIME() sometimes()
#endif
#include "recorder.h"
#ifdef TIMELESS
#include "recorder_dump.h"
#include <fcntl.h>
#endif

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TIMELESS
/* Of every third record of the main thread the time is not known. All moments
 * from which readers know how fast the clock runs are. */
static uintptr_t sometimes(void)
{
    static unsigned calls;
    return some && ++calls % 3 == 0
               ? UINTPTR_MAX
               : (uintptr_t)recorder_clock_ns_(RECORDER_MONOTONIC_);
}
#endif

#ifdef MANY
RECORDER(net, 64)
RECORDER(job, 8192)

static void hostile_records(void)
{
}
/* The names of most differ in numbers only; the last ones record later. */
static void *work(void *at)
{
    static unsigned count;
    unsigned i = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    char name[16];
    (void)at;
    snprintf(name, sizeof name,
             i % 50 == 7   ? "alone%c"
             : i % 5 == 3 ? "io-%u"
                          : "worker-%u",
             i % 50 == 7 ? 'a' + i / 50 : i);
    recorder_thread_name(name);
    for (unsigned k = 0; k < 1 + i % 5; k++) {
        record(job, "> job %u", i);
        record(job, "step=%u of %u", k, i);
        record(job, "< job");
    }
    return NULL;
}
enum { THREADS = 500 };

#elif !defined MILLION
RECORDER(net, 64, "Bytes on the wire")
RECORDER(disk, 256, "Reads and writes: </script><b>&amp;\"'\n\x01\xff")
RECORDER(job, 1024, "What is done, as spans")
RECORDER(hostile, 256)
RECORDER(quiet, 16, "Never used")

static void hostile_records(void)
{
    static char broken[] =
        "cut \xe2\x82 and \xff\xfe\xc0\x80 then \xe2\x82\xac";
    static const char *const texts[] = {
        "</script><script>document.title='broken'</script>",
        "<!-- <script> ]]> &lt; &#60;",
        "quotes \" ' ` and \\ back\\slash",
        "line\nfeed\r\ttab \x1b[31m red\x7f",
        "\xe2\x80\xa8separators\xe2\x80\xa9 \xc3\xa9t\xc3\xa9 "
        "\xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x9a\x80",
        broken,
        ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        record(hostile, "text %s end", RECORDER_COPY(hostile, texts[i]));
    record(hostile, "</script> <b>%s</b>\n\"%d\"", "format", -1);
    record(hostile, "%d %ld %u %lx %c %p", -2147483647 - 1, -1L, 4294967295u,
           0xfedcba9876543210ul, 'x', (void *)0x1234);
    record(hostile, RECORDER_SW2 "%f %g %e %g", (double)NAN, (double)-INFINITY,
           -0.0, 0.1 + 0.2);
    record(hostile, "%d %d %d %d %d %d %d %d %d %d %d %s", 1, 2, 3, 4, 5, 6, 7,
           8, 9, 10, 11, "twelve");
    record(hostile, RECORDER_SW3 "bad %s",
           RECORDER_ADDRESS((const char *)(uintptr_t)16));
    record(hostile, "%s %s", "</textarea>", "@DATA@ @NONCE@ @SCRIPT@");
}

static void *work(void *name)
{
    recorder_thread_name(name);
    for (int i = 0; i < 100; i++) {
        record(job, "> job %d of %s", i, (char *)name);
        record(net, "%d bytes from %s", 100 * i, "example.org");
        if (i % 3 == 0) {
            record(job, ">seek %d", i);
            record(disk, RECORDER_HW1 "read block=%u, load=%.2f",
                   7u * (unsigned)i, sin(i / 10.0));
            record(job, "< seek");
        }
        record(job, "<job %d", i);
    }
    record(job, "< nothing");
    record(job, "> outer");
    record(disk, RECORDER_HW2 ">inner, closed with outer");
    record(job, "< outer");
    record(disk, "< nothing");
    record(disk, ">never closed");
    return NULL;
}
enum { THREADS = 2 };

#else

RECORDER_LANES(alpha, 16384, 32, "Requests")
RECORDER_LANES(beta, 16384, 32)
RECORDER_LANES(net, 16384, 32)
RECORDER_LANES(delta, 16384, 32)
RECORDER_LANES(epsilon, 16384, 32)
RECORDER_LANES(zeta, 16384, 32)
RECORDER_LANES(eta, 16384, 32)
RECORDER_LANES(theta, 16384, 32)

enum { THREADS = 16, EACH = 1000000 / THREADS };

static void *work(void *unused)
{
    unsigned n = RECORDER_THREAD() * 2654435761u;
    char name[16];
    snprintf(name, sizeof name, "worker-%u", (unsigned)RECORDER_THREAD());
    recorder_thread_name(name);
    for (unsigned i = 0; i < EACH; i += 10) {
        n = n * 1664525 + 1013904223;
        record(alpha, ">request %u from %s", n >> 12, "client");
        record(beta, "parse %u bytes at %p", n >> 20, (void *)(uintptr_t)n);
        record(net, "cache %s for key %08x", n & 4096 ? "hit" : "miss", n);
        record(delta, "lock %d taken after %u ns", (int)(n >> 28), n >> 18);
        record(epsilon, "read(%d) = %d", (int)(n >> 24), (int)(n >> 17));
        record(zeta, "load %.3f, %u waiting", n / 4294967296.0, n >> 29);
        record(eta, "state %s -> %s", "idle", n & 8192 ? "busy" : "wait");
        record(theta, "retry %d", (int)(n >> 30));
        record(beta, "write %u bytes", n >> 19);
        record(alpha, "<request %u", n >> 12);
    }
    return unused;
}

static void hostile_records(void)
{
}
#endif

int main(void)
{
    static char names[][16] = {"worker", "</script>\"'&"};
    pthread_t threads[THREADS];
    char line[32];
    recorder_thread_name("main");
#ifdef TIMELESS
    some = 1;
#endif
    hostile_records();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, names[i & 1]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    record(net, ">wait for input");
#ifdef TIMELESS
    some = 0;
    recorder_dump_fd(open("/dev/null", O_WRONLY)); /* notes how fast it runs */
#endif
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        for (int i = 0, n = atoi(line); i < n; i++)
            record(net, "live %d of %d", i, n);
        puts("done");
        fflush(stdout);
    }
    return 0;
}
