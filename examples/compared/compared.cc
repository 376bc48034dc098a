// compared.cc - ns of one event: recorder, spdlog's backtrace, LTTng, uftrace.
// SPDX-License-Identifier: MIT
// bench/compared.sh builds it, and runs it; docs/compared.md has its figures.
#include "recorder.h"

#include <cstdio>
#include <cstring>
#include <ctime>

#ifdef WITH_SPDLOG
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>
#endif
#ifdef WITH_LTTNG
#include "event.h"
#endif

RECORDER(net, 4096, "Network traffic");
enum { EVENTS = 1000000 };

// The CPU time of one of many events.
template <typename Event> static void measure(const char *name, Event event)
{
    timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (int i = 0; i < EVENTS; i++)
        event(i);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    std::printf("%s\t%.1f\n", name,
                ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) /
                    EVENTS);
}

// uftrace follows the calls of this function.
__attribute__((noinline)) void traced(int i)
{
    __asm__ volatile("" : : "r"(i) : "memory");
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    if (!std::strcmp(only, "uftrace")) {
        measure("uftrace, a call of a function", traced);
        return 0;
    }
    measure("recorder", [](int i) {
        record(net, "%d of %d bytes from %s:%d", i, 2 * i, "localhost", 80);
    });
#ifdef WITH_LTTNG
    measure("LTTng, snapshot mode", [](int i) {
        lttng_ust_tracepoint(compared, event, i, 2 * i, "localhost", 80);
    });
#endif
#ifdef WITH_SPDLOG
    spdlog::logger log("net", std::make_shared<spdlog::sinks::null_sink_mt>());
    log.enable_backtrace(4096);
    measure("spdlog, backtrace", [&](int i) {
        log.debug("{} of {} bytes from {}:{}", i, 2 * i, "localhost", 80);
    });
#endif
    measure("clock_gettime(CLOCK_MONOTONIC)", [](int) {
        timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        __asm__ volatile("" : : "r"(&now) : "memory");
    });
}
