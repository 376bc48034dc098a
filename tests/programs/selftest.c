/* One program for all builds: records, and checks what was recorded. */
/* SPDX-License-Identifier: MIT */
/* As a library (-DSELFTEST_LIBRARY) it is called by load.c. C and C++. */
#include "read.h"

#include <pthread.h>

RECORDER(self, 256, "Arguments");
RECORDER(small, 4, "Overwritten many times");
RECORDER_LANES(lanes, 8, 4, "Two threads");

static uintptr_t bits(double value)
{
    uintptr_t word = 0;
#if __SIZEOF_POINTER__ == 8
    memcpy(&word, &value, sizeof value);
#else
    float single = (float)value;
    memcpy(&word, &single, sizeof single);
#endif
    return word;
}

#define KEEPS(call, ...)                                                       \
    do {                                                                       \
        uintptr_t order_ = call;                                               \
        const uintptr_t words_[] = {__VA_ARGS__};                              \
        read_must_be(__LINE__, order_, words_,                                 \
                     (unsigned)(sizeof words_ / sizeof words_[0]));            \
    } while (0)

static void arguments(void)
{
    static const char *const text = "text";
    signed char c = -1;
    unsigned char uc = 255;
    short s = -2;
    long l = -3;
    unsigned u = 4000000000u;
    bool b = true;
    float f = 0.1f;
    double d = -0.0;
    const void *p = &text[1];
    uintptr_t t = (uintptr_t)(const void *)text;
    KEEPS(record(self, "none"), 0);
    KEEPS(record(self, "%d", c), (uintptr_t)-1);
    KEEPS(record(self, "%d %s", uc, RECORDER_ADDRESS(text)), 255, t);
    KEEPS(record(self, "%d %ld %u", s, l, u), (uintptr_t)-2, (uintptr_t)-3,
          4000000000u);
    KEEPS(record(self, "%d %f %f %p", b, f, d, p), 1, bits(0.1f), bits(-0.0),
          t + 1);
    KEEPS(record(self, "%d %d %d %d %g", 1, 2, 3, 4, 5.5), 1, 2, 3, 4,
          bits(5.5));
    KEEPS(record(self, "%d %d %d %d %g %s", 1, 2, 3, 4, 5.5, RECORDER_ADDRESS(text)), 1, 2, 3, 4,
          bits(5.5), t);
    KEEPS(record(self, "%g %d %g %d %g %d %g", 1.5, 2, 3.5, 4, 5.5, 6, 7.5),
          bits(1.5), 2, bits(3.5), 4, bits(5.5), 6, bits(7.5));
    KEEPS(record(self, "%d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8), 1, 2,
          3, 4, 5, 6, 7, 8);
    KEEPS(record(self, "%d %d %d %d %d %d %d %d %p", 1, 2, 3, 4, 5, 6, 7, 8, p),
          1, 2, 3, 4, 5, 6, 7, 8, t + 1);
    KEEPS(record(self, "%d %d %d %d %d %d %d %d %d %hhd", 1, 2, 3, 4, 5, 6, 7,
                 8, 9, c),
          1, 2, 3, 4, 5, 6, 7, 8, 9, (uintptr_t)-1);
    KEEPS(record(self, "%g %g %g %g %g %g %g %g %g %g %g", 1., 2., 3., 4., 5.,
                 6., 7., 8., 9., 10., 11.),
          bits(1), bits(2), bits(3), bits(4), bits(5), bits(6), bits(7),
          bits(8), bits(9), bits(10), bits(11));
    KEEPS(record(self, "%d %g %s %ld %d %g %s %ld %d %g %s %ld", 1, 2., RECORDER_ADDRESS(text), l,
                 5, 6., RECORDER_ADDRESS(text), l, 9, 10., RECORDER_ADDRESS(text), l),
          1, bits(2), t, (uintptr_t)-3, 5, bits(6), t, (uintptr_t)-3, 9,
          bits(10), t, (uintptr_t)-3);
#if __SIZEOF_POINTER__ == 8
    KEEPS(record(self, "%llx", 0xfedcba9876543210ull), 0xfedcba9876543210ull);
#endif
}

/* Four slots hold the last four of many. */
static void laps(void)
{
    uintptr_t order = 0;
    unsigned i, j;
    for (i = 0; i < 1000; i++) {
        order = record(small, "%u", i);
        for (j = 0; j < 4 && j <= i; j++) {
            struct recorder_record found;
            MUST(read_in(&recorder_for_small, order - j, &found));
            MUST(found.argument[0] == i - j);
        }
    }
    MUST(recorder_for_small.rings->write == 1000);
    MUST(recorder_for_small.rings->lost == 0);
}

static void copies(void)
{
    const char whole[] = "longer than the four words of one record: 0123456789";
    char text[sizeof whole];
    const char *token =
        (memcpy(text, whole, sizeof text), RECORDER_COPY(self, text));
    uintptr_t mask = sizeof(struct recorder_record) - 1;
    uintptr_t address = (uintptr_t)token & ~mask;
    const struct recorder_record *slot;
    unsigned at = 0;
    memset(text, 'x', sizeof text - 1); /* the copy is not the text */
    while (address) {
        slot = (const struct recorder_record *)address;
        MUST(slot->format == sizeof text - at);
        MUST(memcmp(slot->argument, &whole[at],
                    slot->format - 1 < RECORDER_TEXT_BYTES_
                        ? slot->format - 1
                        : RECORDER_TEXT_BYTES_) == 0);
        at += (unsigned)RECORDER_TEXT_BYTES_;
        address = slot->caller & ~mask;
    }
    MUST(at >= sizeof text - 1);
}

static void *other(void *number)
{
    unsigned i;
    for (i = 0; i < 1000; i++)
        record(lanes, "%u", i);
    *(unsigned *)number = RECORDER_THREAD();
    return NULL;
}
static void threads(void)
{
    unsigned mine = 0, its = 0;
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, other, &its) == 0);
    other(&mine);
    MUST(pthread_join(thread, NULL) == 0);
    MUST(mine == 1 && its == 2);
    MUST(read_ring(&recorder_for_lanes, 1)->write == 1000);
    MUST(read_ring(&recorder_for_lanes, 2)->write == 1000);
    MUST(strcmp(recorder_for_lanes.description, "Two threads") == 0);
    MUST(read_listed("self") == 1 && read_listed("small") == 1);
}

#ifdef __cplusplus
extern "C"
#endif
    int
    selftest(void);
int selftest(void)
{
    arguments();
    laps();
    copies();
    threads();
    puts("ok");
    return 0;
}

#ifndef SELFTEST_LIBRARY
int main(void) { return selftest(); }
#endif
