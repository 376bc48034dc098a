/* How much of a test to run, and random numbers that can be repeated. */
/* SPDX-License-Identifier: MIT */
/*
    RECORDER_TEST_SCALE is the part of the repetitions that a test does: all of
    them where it is not set, 0.4 in `make test-all`, a tenth in `make test`, a
    hundredth where code is slow: under a sanitizer, in an emulator. What is
    asserted is the same. SEED=n repeats a random test that failed with n.
*/
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((unused)) static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((unused)) static double test_scale(void)
{
    const char *scale = getenv("RECORDER_TEST_SCALE");
    return scale ? atof(scale) : 1;
}

/* True under a sanitizer or an emulator, whose stacks are larger. */
__attribute__((unused)) static bool instrumented(void)
{
    return test_scale() <= 0.01;
}

/* True where long tests run: in `make test-all`. */
__attribute__((unused)) static bool is_long_run(void)
{
    return test_scale() >= 0.3;
}

/* `count` turned down or up by RECORDER_TEST_SCALE; at least 1. */
__attribute__((unused)) static unsigned scaled(double count)
{
    count *= test_scale();
    return count < 1 ? 1 : (unsigned)count;
}

/* For lists of cases that are alike: true for case 0, and for one in 1 / scale
 * of the others, each day for others. */
__attribute__((unused)) static bool sampled(unsigned i)
{
    unsigned from = i + (unsigned)(time(NULL) / 86400 % 1000);
    return i == 0 || (unsigned)(from * test_scale()) !=
                         (unsigned)((from - 1) * test_scale());
}

/* The same for short tests of many rounds, which sanitizers run whole. */
__attribute__((unused)) static unsigned rounds(double count)
{
    if (test_scale() < 0.01)
        count *= test_scale();
    return count < 1 ? 1 : (unsigned)count;
}

/* The seed of a random test, printed so that a failure can be repeated. */
__attribute__((unused)) static uint64_t seed_of(const char *test)
{
    const char *given = getenv("SEED");
    struct timespec now;
    uint64_t seed;
    clock_gettime(CLOCK_REALTIME, &now);
    seed = given ? strtoull(given, NULL, 0)
                 : (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 20;
    fprintf(stderr, "%s: SEED=%" PRIu64 "\n", test, seed);
    return seed;
}

__attribute__((unused)) static uint64_t random_of(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
