/* shim.h: Google Benchmark for C: a benchmark is a function that loops. */
/* SPDX-License-Identifier: MIT */
/*
    static void nothing(long n, int thread)
    {
        for (long i = 0; i < n; i++)    // all of a run in one call: measuring
            ...                         // costs nothing per time round
    }
    BENCH(nothing, "subject/action")

    Members of struct bench may follow the name: `.setup = open_it`. run.sh
    finds each benchmark; those with `.threads` have a separate table. A name is
    "group/action", without commas.
*/
#ifndef BENCH_SHIM_H
#define BENCH_SHIM_H

#ifdef __cplusplus
extern "C" {
#endif

struct bench {
    void (*run)(long n, int thread); /* in `thread` 0, 1 ...: do it n times */
    const char *name;
    void (*setup)(int thread), (*teardown)(int thread); /* not measured */
    int threads[8]; /* how many at once: a run for each up to the first 0 */
    long batch;     /* n is a multiple of this */
    struct bench *next;
};

void bench_enter(struct bench *bench);

#define BENCH(function, ...)                                                   \
    static struct bench bench_of_##function = {.run = function,                \
                                               .name = __VA_ARGS__};           \
    __attribute__((constructor)) static void bench_enter_##function(void)      \
    {                                                                          \
        bench_enter(&bench_of_##function);                                     \
    }

/* The same of a loop around a statement, which may use i, n and thread. */
#define BENCH_LOOP(function, statement, ...)                                   \
    static void function(long n, int thread)                                   \
    {                                                                          \
        (void)thread;                                                          \
        for (long i = 0; i < n; i++)                                           \
            statement;                                                         \
    }                                                                          \
    BENCH(function, __VA_ARGS__)
#define BENCH_RECORD(to)                                                       \
    record(to, "%ld of %ld bytes from %s:%d", i, n, "localhost", thread)

/* The compiler must believe that this value is used and all memory changed. */
#define BENCH_USE(value) __asm__ volatile("" : : "r"(value) : "memory")

#ifdef __cplusplus
}
#endif
#endif
