// Locks of std::mutex in memory that is freed and used again; "turned": two
// that are really taken both ways; at -O0, "waits": a wait in a header of C++;
// "dies": a lock that is held at the end.
// SPDX-License-Identifier: MIT
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <unistd.h>

struct buffer {
    std::mutex lock;
    char bytes[40];
};
static void *place[2];

// Two buffers in the places of malloc(), in this order.
static void serve(int first)
{
    auto *outer = new (place[first]) buffer, *inner = new (place[!first]) buffer;
    std::lock_guard<std::mutex> one(outer->lock);
    std::lock_guard<std::mutex> two(inner->lock);
}
static void both_ways(bool anew)
{
    for (int first = 0; first < 2; first++) {
        for (void *&at : place)
            if (anew || !at)
                at = std::malloc(sizeof(buffer));
        if (place[1] < place[0])
            std::swap(place[0], place[1]);
        std::thread one(serve, first), other([] { usleep(1000); });
        one.detach();
        other.join();
        usleep(100000);
        for (void *&at : place)
            if (anew)
                std::free(at);
    }
}

static std::mutex held;
static void waits()
{
    std::lock_guard<std::mutex> guard(held);
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";
    if (std::strcmp(how, "waits") == 0) {
        std::unique_lock<std::mutex> guard(held);
        std::thread thread(waits);
        usleep(300000);
        guard.unlock();
        thread.join();
    } else if (std::strcmp(how, "dies") == 0) {
        std::thread([] {}).join(); // recorder run makes a file now
        std::unique_lock<std::mutex> guard(held);
        std::raise(SIGKILL);
    } else {
        both_ways(std::strcmp(how, "turned") != 0);
    }
}
