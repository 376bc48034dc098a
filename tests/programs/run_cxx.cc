/* Threads, locks and waits as C++ has them. */
/* SPDX-License-Identifier: MIT */
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <queue>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static std::mutex mutex;
static std::condition_variable changed;
static std::queue<int> queue;
static thread_local std::string name;

int main(int argc, char **)
{
    std::vector<std::thread> threads;
    long sum = 0;
    bool done = false;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&, i] {
            long own = 0;
            name = "worker " + std::to_string(i);
            for (;;) {
                std::unique_lock<std::mutex> lock(mutex);
                while (queue.empty() && !done)
                    changed.wait_for(lock, 50ms);
                if (queue.empty())
                    break;
                own += queue.front();
                queue.pop();
            }
            std::lock_guard<std::mutex> lock(mutex);
            sum += own;
        });
    for (int i = 0; i < 10000; i++) {
        std::lock_guard<std::mutex> lock(mutex);
        queue.push(i);
        changed.notify_one();
    }
    {
        std::lock_guard<std::mutex> lock(mutex);
        done = true;
    }
    changed.notify_all();
    for (auto &thread : threads)
        thread.join();
    auto failing = std::async(std::launch::async, []() -> int {
        throw std::runtime_error("async");
    });
    try {
        failing.get();
    } catch (const std::exception &e) {
        std::printf("%s\n", e.what());
    }
    if (argc < 2) { /* this hangs under ThreadSanitizer, without us, too */
        std::once_flag once;
        int tries = 0;
        for (int i = 0; i < 3; i++)
            try {
                std::call_once(once, [&] {
                    if (++tries < 2)
                        throw std::runtime_error("once");
                });
            } catch (const std::exception &e) {
                std::printf("%s %d\n", e.what(), tries);
            }
    }
    if (argc < 2) { /* and this it does not know */
        std::shared_timed_mutex shared;
        std::recursive_timed_mutex recursive;
        std::shared_lock<std::shared_timed_mutex> reads(shared);
        std::printf("%d\n", shared.try_lock_for(5ms));
        recursive.lock();
        std::printf("%d\n", recursive.try_lock_for(5ms));
        recursive.unlock();
        recursive.unlock();
    }
    std::unique_lock<std::mutex> lock(mutex);
    auto until = std::chrono::system_clock::now() + 5ms;
    std::printf("%d %ld\n",
                changed.wait_until(lock, until) == std::cv_status::timeout,
                sum);
    return 3;
}
