/* shim.cc: runs the benchmarks of the C files under Google Benchmark. */
/* SPDX-License-Identifier: MIT */
#include "shim.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <mutex>

static struct bench *first, **last = &first;

void bench_enter(struct bench *bench)
{
    *last = bench;
    last = &bench->next;
}

/* The time of a run: from the first thread's start to the last one's end.
 * Google Benchmark would take the mean of the threads' run times: with more
 * threads than cores that is far too small. */
using when = std::chrono::steady_clock::time_point;
static std::mutex lock;
static when start, end;

static void run(benchmark::State &state, const struct bench *bench)
{
    const int thread = state.thread_index();
    const long batch = std::max(bench->batch, 1L);
    const long n = (state.max_iterations + batch - 1) / batch * batch;
    if (thread == 0)
        start = when::max(), end = when::min();
    if (bench->setup)
        bench->setup(thread);
    while (state.KeepRunningBatch(n)) { /* once; all threads wait here twice */
        when mine = std::chrono::steady_clock::now();
        bench->run(n, thread);
        when now = std::chrono::steady_clock::now();
        std::lock_guard<std::mutex> hold(lock);
        start = std::min(start, mine);
        end = std::max(end, now);
    }
    state.SetIterationTime(std::chrono::duration<double>(end - start).count());
    state.SetItemsProcessed(state.iterations());
    if (bench->teardown)
        bench->teardown(thread);
}

int main(int argc, char **argv)
{
    for (const struct bench *bench = first; bench; bench = bench->next) {
        auto *b = benchmark::RegisterBenchmark(bench->name, run, bench);
        b->UseManualTime();
        for (const int *threads = bench->threads; *threads; threads++)
            b->Threads(*threads);
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
