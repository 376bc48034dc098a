// Waits of C++ and of raw futexes: "alike" answers all calls, else the argument
// says what hangs.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <future>
#include <latch>
#include <linux/futex.h>
#include <mutex>
#include <semaphore>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

static std::latch a_latch{3};
static std::barrier<> a_barrier{3};
static std::promise<int> promise;
static std::atomic<int> word;
static std::binary_semaphore semaphore{0};
static int raw;
static std::mutex other;

static int fails(int count)
{
    if (count < 3)
        throw count;
    return count;
}
static int tries(int count)
{
    static int made = fails(count);
    return made;
}
struct Slow {
    Slow()
    {
        pause();
    }
};
static void makes()
{
    static Slow slow;
}
static void first();
struct Inner {
    Inner()
    {
        usleep(200000);
        first();
    }
};
static void second()
{
    static Inner inner;
}
struct Outer {
    Outer()
    {
        usleep(200000);
        second();
    }
};
static void first()
{
    static Outer outer;
}
static void writes()
{
    flockfile(stdout);
    other.lock();
}
static long futex(int *at, int operation, int value, const timespec *until)
{
    errno = 0;
    return syscall(SYS_futex, at, operation, value, until, nullptr, 7);
}

static void alike()
{
    const timespec soon = {0, 20000000}, wrong = {0, -1};
    int zero = 0;
    for (int i = 0; i < 5; i++)
        try {
            printf("made %d\n", tries(i));
        } catch (int count) {
            printf("threw %d\n", count);
        }
    for (int operation : {FUTEX_WAIT, FUTEX_WAIT_PRIVATE, FUTEX_WAIT_BITSET,
                          FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 70, 134}) {
        long result = futex(&zero, operation, 1, nullptr);
        printf("%d: %ld %d", operation, result, errno);
        result = futex(nullptr, operation, 1, nullptr);
        printf(", %ld %d", result, errno);
        result = futex(&zero, operation, 0, &soon);
        printf(", %ld %d", result, errno);
        result = futex(&zero, operation, 0, &wrong);
        printf(", %ld %d\n", result, errno);
    }
    flockfile(stdout);
    flockfile(stdout);
    std::thread([] { fprintf(stderr, "%d\n", ftrylockfile(stdout)); }).join();
    funlockfile(stdout);
    funlockfile(stdout);
    std::thread([] {
        printf("%d\n", ftrylockfile(stdout));
        funlockfile(stdout);
    }).join();
    std::thread notifies([] {
        usleep(20000);
        word = 1;
        word.notify_all();
    });
    word.wait(0);
    notifies.join();
    printf("notified %d\n", word.load());
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "alike";
    auto is = [&](const char *name) { return strcmp(what, name) == 0; };
    std::thread t;
    if (is("alike"))
        return alike(), 42;
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    if (is("latch"))
        t = std::thread([] { a_latch.arrive_and_wait(); });
    if (is("barrier"))
        t = std::thread([] { a_barrier.arrive_and_wait(); });
    if (is("future"))
        t = std::thread([] { promise.get_future().wait(); });
    if (is("atomic"))
        t = std::thread([] { word.wait(0); });
    if (is("semaphore"))
        t = std::thread([] { semaphore.acquire(); });
    if (is("raw"))
        t = std::thread([] { futex(&raw, FUTEX_WAIT, 0, nullptr); });
    if (is("self"))
        t = std::thread([] {
            pthread_setname_np(pthread_self(), "selfish");
            static int (*call)(int) = [](int i) { return i; };
            struct Again {
                Again(int i)
                {
                    if (i)
                        again(i);
                }
                static void again(int i)
                {
                    static Again it(i);
                }
            };
            Again::again(call(1));
        });
    if (is("guard")) {
        t = std::thread(makes);
        usleep(200000);
        std::thread(makes).join();
    }
    if (is("guards")) {
        t = std::thread(first);
        std::thread(second).join();
    }
    if (is("stream")) {
        other.lock();
        t = std::thread(writes);
        usleep(200000);
        flockfile(stdout);
    }
    t.join();
}
