// Fibers of Boost on two threads: a deadlock, conditions, ends of others.
// SPDX-License-Identifier: MIT
#include <boost/fiber/all.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>

#ifdef RECORDED // so that `recorder save` takes it
#include "recorder.h"
RECORDER(work, 64, "What fibers do")
__attribute__((constructor)) static void begins()
{
    record(work, "begins");
}
#endif

boost::fibers::mutex A, B, with_condition;
boost::fibers::timed_mutex C, D;
boost::fibers::condition_variable condition;
std::atomic<int> standing;
// As the memory of a scheduler that is gone: its bytes, and it is no scheduler.
static void *gone;

__attribute__((noinline)) void take(boost::fibers::mutex *one,
                                    boost::fibers::mutex *other)
{
    one->lock();
    boost::this_fiber::yield();
    standing++;
    other->lock();
}
__attribute__((noinline)) void conditional()
{
    std::unique_lock<boost::fibers::mutex> lock(with_condition);
    standing++;
    condition.wait(lock);
}
__attribute__((noinline)) void patient()
{
    C.lock();
    boost::this_fiber::yield();
    standing++;
    D.lock();
}
__attribute__((noinline)) void hurried()
{
    D.lock();
    boost::this_fiber::yield();
    standing++;
    C.try_lock_for(std::chrono::hours(1));
}
__attribute__((noinline)) void says()
{
    while (standing < 6)
        boost::this_fiber::sleep_for(std::chrono::milliseconds(10));
    boost::this_fiber::sleep_for(std::chrono::milliseconds(200));
    std::printf("PID %d\n", static_cast<int>(getpid()));
    std::fflush(stdout);
}

int main()
{
    std::thread other([] {
        boost::fibers::fiber waits(conditional);
        waits.join();
    });
    boost::fibers::fiber left(take, &A, &B), right(take, &B, &A);
    boost::fibers::fiber waits(conditional), first(patient), second(hurried);
    boost::fibers::fiber tells(says);
    enum { BYTES = sizeof(boost::fibers::scheduler) };
    void *here = boost::fibers::context::active()->get_scheduler();
    gone = std::memcpy(std::malloc(BYTES), here, BYTES);
    left.join();
}
