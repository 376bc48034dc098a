// peers_static.cc - a static variable whose initialiser waits for a lock.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t both;
static std::mutex guarded;
struct slow {
    slow()
    {
        pthread_barrier_wait(&both);
        std::lock_guard<std::mutex> lock(guarded);
    }
};
__attribute__((noinline)) static slow &only()
{
    static slow it;
    return it;
}
static void *initialises(void *unused)
{
    only();
    return unused;
}
int main()
{
    pthread_t thread;
    pthread_barrier_init(&both, nullptr, 2);
    guarded.lock();
    pthread_create(&thread, nullptr, initialises, nullptr);
    pthread_barrier_wait(&both);
    std::printf("PID %d\n", (int)getpid());
    std::fflush(stdout);
    only();
    pthread_join(thread, nullptr);
}
