/* compare.c: the prices of other things that a program could do in that
 * time. */
/* SPDX-License-Identifier: MIT */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static void print_to_memory(long n, int thread)
{
    char line[80];
    (void)thread;
    for (long i = 0; i < n; i++) {
        snprintf(line, sizeof line, "%d bytes from %s", (int)i, "localhost");
        BENCH_USE(line);
    }
}
BENCH(print_to_memory, "compare/snprintf of %d bytes from %s")

static FILE *null;

static void open_null(int thread)
{
    (void)thread;
    null = fopen("/dev/null", "w");
}
static void close_null(int thread)
{
    (void)thread;
    fclose(null);
}
BENCH_LOOP(print_to_null,
           fprintf(null, "%d bytes from %s", (int)i, "localhost"),
           "compare/fprintf of it to /dev/null", .setup = open_null,
           .teardown = close_null)

static void copy_memory(long n, int thread)
{
    static char from[512], to[512];
    (void)thread;
    for (long i = 0; i < n; i++) {
        memcpy(to, from, sizeof to);
        BENCH_USE(to);
    }
}
BENCH(copy_memory, "compare/memcpy of 512 bytes")

static void allocate(long n, int thread)
{
    (void)thread;
    for (long i = 0; i < n; i++) {
        void *memory = malloc(64);
        BENCH_USE(memory);
        free(memory);
    }
}
BENCH(allocate, "compare/malloc and free of 64 bytes")
