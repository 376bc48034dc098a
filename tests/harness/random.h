/* How much of a test to run, and random numbers that can be repeated. */
/* SPDX-License-Identifier: MIT */
/*
    RECORDER_TEST_SCALE=0.01 makes the long tests a hundred times shorter, for
    builds with a sanitizer. SEED=n repeats a random test that failed with n.
*/
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <inttypes.h>
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

/* `count` turned down or up by RECORDER_TEST_SCALE; at least 1. */
__attribute__((unused)) static unsigned scaled(double count)
{
    const char *scale = getenv("RECORDER_TEST_SCALE");
    if (scale)
        count *= atof(scale);
    return count < 1 ? 1 : (unsigned)count;
}

/* The same for short tests of many rounds, which sanitizers run whole. */
__attribute__((unused)) static unsigned rounds(double count)
{
    const char *scale = getenv("RECORDER_TEST_SCALE");
    if (scale && atof(scale) < 0.01)
        count *= atof(scale);
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
