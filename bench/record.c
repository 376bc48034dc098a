/* record.c: the price of a record for the thread that makes it. */
/* SPDX-License-Identifier: MIT */
#include "../recorder_dump.h"
#include "shim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

RECORDER(on, 1024, "Recorded");
RECORDER(off, 1024, "Switched off");
RECORDER(traced, 1024, "Recorded and printed");
RECORDER_LANES(laned, 1024, 4, "Recorded in the lane of one thread");

BENCH_LOOP(record_0, record(on, "nothing to add"), "record/0 arguments")

BENCH_LOOP(record_4, BENCH_RECORD(on), "record/4 arguments")

/* The main thread takes its lane before others do (steps.c). */
static void must_own_lane(int thread)
{
    (void)thread;
    if (!recorder_writer_lane_(recorder_writer_(&recorder_for_laned)))
        abort();
}
BENCH_LOOP(record_lane, BENCH_RECORD(laned), "record/4 arguments; in a lane",
           .setup = must_own_lane)

BENCH_LOOP(record_12,
           record(on, "%ld %ld %d %ld %ld %d %ld %ld %d %ld %ld %d", i, n,
                  thread, i, n, thread, i, n, thread, i, n, thread),
           "record/12 arguments")

static char record_copy_text[] = "16 bytes of text";
BENCH_LOOP(record_copy, record(on, "%s", RECORDER_COPY(on, record_copy_text)),
           "record/RECORDER_COPY of 16 bytes")

static char record_copy_128_text[] =
    "128 bytes of text: 4 slots. 128 bytes of text: 4 slots. "
    "128 bytes of text: 4 slots. 128 bytes of text: 4 slots. "
    "It is enough now";
BENCH_LOOP(record_copy_128,
           record(on, "%s", RECORDER_COPY(on, record_copy_128_text)),
           "record/RECORDER_COPY of 128 bytes")

static char record_array_text[] = "16 bytes of text";
BENCH_LOOP(record_array, record(on, "%s", record_array_text),
           "record/an array of 16 bytes")

static void record_text(long n, int thread)
{
    static char bytes[] = "16 bytes of text";
    char *text = bytes;
    for (long i = 0; i < n; i++) {
        __asm__("" : "+r"(text));
        record(on, "%ld of %ld bytes from %s:%d", i, n, text, thread);
    }
}
BENCH(record_text, "record/4 arguments; one a text of 16 bytes")

static void record_literal(long n, int thread)
{
    const char *text = "localhost";
    for (long i = 0; i < n; i++) {
        __asm__("" : "+r"(text));
        record(on, "%ld of %ld bytes from %s:%d", i, n, text, thread);
    }
}
BENCH(record_literal, "record/4 arguments; one a pointer to a literal")

static void switch_off(int thread)
{
    (void)thread;
    RECORDER_TRACE(off) = -1;
}
BENCH_LOOP(record_off, BENCH_RECORD(off), "record/off", .setup = switch_off)

/* The price of the loop alone. */
BENCH_LOOP(loop_only, BENCH_USE(i), "record/an empty loop")

static int standard_error;

static void to_null(int thread)
{
    int null = open("/dev/null", O_WRONLY);
    (void)thread;
    standard_error = dup(2);
    dup2(null, 2);
    close(null);
    RECORDER_TRACE(traced) = 1;
}
static void to_standard_error(int thread)
{
    (void)thread;
    dup2(standard_error, 2);
    close(standard_error);
}
BENCH_LOOP(record_traced, BENCH_RECORD(traced), "record/traced to /dev/null",
           .setup = to_null, .teardown = to_standard_error)

/* The floor: a record with a sequence number, a time and eight words, and no
 * safety. It lacks the parts of record(): the checks of on and trace, the
 * thread's number, the lane, the check of the slot (W3) and the two commit
 * words (W4, W7). A reader of this ring takes mixtures for records, two writers
 * a lap apart write into each other, and records have no thread. The ring is a
 * constant, too. External, so that the compiler cannot adapt it to its one
 * caller. */
extern uintptr_t floor_order, floor_write;
extern struct recorder_record floor_ring[1024];
uintptr_t floor_order __attribute__((aligned(RECORDER_CACHE_LINE)));
uintptr_t floor_write __attribute__((aligned(RECORDER_CACHE_LINE)));
struct recorder_record floor_ring[1024]
    __attribute__((aligned(RECORDER_CACHE_LINE)));

uintptr_t floor_record(const struct recorder *recorder, const char *format,
                       uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);
__attribute__((noinline)) uintptr_t
floor_record(const struct recorder *recorder, const char *format, uintptr_t a,
             uintptr_t b, uintptr_t c, uintptr_t d)
{
    uintptr_t time = RECORDER_TIME();
    uintptr_t order = recorder_add_(&floor_order, 1);
    struct recorder_record *to =
        &floor_ring[recorder_add_(&floor_write, 1) % 1024];
    (void)recorder;
    recorder_put_(&to->format, (uintptr_t)format);
    recorder_put_(&to->order, order);
    recorder_put_(&to->time, time);
    recorder_put_(&to->caller, (uintptr_t)__builtin_return_address(0));
    recorder_put_(&to->argument[0], a);
    recorder_put_(&to->argument[1], b);
    recorder_put_(&to->argument[2], c);
    recorder_put_(&to->argument[3], d);
    return order;
}
BENCH_LOOP(record_floor,
           recorder_returned_(floor_record(
               &recorder_for_on, "%ld of %ld bytes from %s:%d", (uintptr_t)i,
               (uintptr_t)n, (uintptr_t) "localhost", (uintptr_t)thread)),
           "record/floor")

BENCH_LOOP(record_clock, BENCH_USE(RECORDER_TIME()), "record/its clock")

static void clock_monotonic(long n, int thread)
{
    struct timespec now;
    (void)thread;
    for (long i = 0; i < n; i++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        BENCH_USE(&now);
    }
}
BENCH(clock_monotonic, "compare/clock_gettime(CLOCK_MONOTONIC)")
