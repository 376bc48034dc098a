// explain_other.cc - "null" crashes in a namespace, where clang and rustc have
// functions; "stack" overflows a thread's stack, whose handler aborts on another,
// higher one.
// SPDX-License-Identifier: MIT
#include "recorder_dump.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>

RECORDER(bank, 64, "Accounts")

namespace accounts
{
struct account {
    int id;
    account *next;
};
__attribute__((noinline)) static int balance(const account *of, int more)
{
    record(bank, "balance of=%p", RECORDER_ADDRESS(of));
    return of->next->id + more;
}
} // namespace accounts

enum : size_t { PAGE = 4096, STACK = 1 << 18 };
static char *region; // a page that is none, the stack, the handler's stack

static void overflowed(int)
{
    abort();
}
__attribute__((noinline)) static int deeper(volatile int *of)
{
    volatile int here[64] = {*of};
    return deeper(here) + here[1];
}
static void *overflows(void *)
{
    stack_t other = {};
    volatile int start = 0;
    other.ss_sp = region + PAGE + STACK;
    other.ss_size = STACK;
    sigaltstack(&other, nullptr);
    deeper(&start);
    return nullptr;
}
static void overflow()
{
    struct sigaction action = {};
    pthread_attr_t attributes;
    pthread_t thread;
    region = static_cast<char *>(mmap(nullptr, PAGE + 2 * STACK,
                                      PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    munmap(region, PAGE);
    action.sa_handler = overflowed;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, region + PAGE, STACK);
    pthread_create(&thread, &attributes, overflows, nullptr);
    pthread_join(thread, nullptr);
}

int main(int argc, char **argv)
{
    accounts::account first = {argc, nullptr};
    if (argc > 1 && std::strcmp(argv[1], "stack") == 0)
        overflow();
    return accounts::balance(&first, argc);
}
