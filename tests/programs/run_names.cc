/* Threads of C++ that stand still, with names that compilers mangle. */
/* SPDX-License-Identifier: MIT */
#include <cstdio>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace bank {
struct account {
    std::mutex lock;
    template <typename amount> __attribute__((noinline)) int take(amount sum)
    {
        std::lock_guard<std::mutex> guard(lock);
        return static_cast<int>(sum);
    }
};
account first;
} // namespace bank

int main()
{
    std::lock_guard<std::mutex> guard(bank::first.lock);
    std::thread thread([] { return bank::first.take(1.5); });
    std::printf("PID %d\n", static_cast<int>(getpid()));
    std::fflush(stdout);
    pause();
    return 0;
}
