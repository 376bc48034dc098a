/* Programs whose calls nest in many ways, by their number. */
/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HOOKS
#include "recorder_dump.h"
#include "recorder_functions.h"
RECORDER(net, 64, "Records among calls")
#else
#define record(...) ((void)0)
#endif
#define KEPT __attribute__((noinline, noclone))

static volatile int sink;
KEPT static int leaf(int x)
{
    sink += x;
    return x + 1;
}
KEPT static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
KEPT static int is_odd(int n);
KEPT static int is_even(int n)
{
    return n == 0 ? 1 : is_odd(n - 1);
}
KEPT static int is_odd(int n)
{
    return n == 0 ? 0 : is_even(n - 1);
}
KEPT static int ackermann(int m, int n)
{
    return m == 0   ? n + 1
           : n == 0 ? ackermann(m - 1, 1)
                    : ackermann(m - 1, ackermann(m, n - 1));
}
KEPT static int by_size(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
KEPT static void sorts(void)
{
    int all[20];
    for (int i = 0; i < 20; i++)
        all[i] = i * 7 % 20;
    qsort(all, 20, sizeof *all, by_size);
}
KEPT static void frames(int n)
{
    char big[3000];
    memset(big, n, sizeof big);
    if (n)
        frames(n - 1);
    sink += big[n];
}
KEPT static int varies(int n)
{
    char some[n + 1];
    memset(some, 1, (size_t)n + 1);
    return some[n] + leaf(n);
}
struct list {
    struct list *next;
    int value;
};
KEPT static int sum(const struct list *l)
{
    return l ? l->value + sum(l->next) : 0;
}
KEPT static void lists(void)
{
    struct list all[10];
    for (int i = 0; i < 10; i++)
        all[i] = (struct list){i < 9 ? &all[i + 1] : NULL, leaf(i)};
    sink += sum(all);
}
KEPT static void hanoi(int n, int from, int to)
{
    if (n == 0)
        return;
    hanoi(n - 1, from, 6 - from - to);
    leaf(from);
    hanoi(n - 1, 6 - from - to, to);
}
KEPT static void slow(void)
{
    usleep(1000);
    leaf(1);
}
KEPT static int (*chosen(int i))(int)
{
    return i % 2 ? leaf : fib;
}

/* ------------------------------------------------------------ out of order -- */

static jmp_buf back;
KEPT static void jumps(int n)
{
    if (n == 0)
        longjmp(back, 1);
    jumps(n - 1);
    leaf(n);
}
KEPT static void catches(void)
{
    if (!setjmp(back))
        jumps(2);
    record(net, "caught");
}
KEPT static void on_signal(int sig)
{
    leaf(sig);
}
KEPT static void *thread(void *none)
{
    leaf(1);
    return none;
}
KEPT static void waits(void)
{
    leaf(2);
    for (;;)
        pause();
}
KEPT static void *cancelled(void *none)
{
    waits();
    return none;
}
KEPT static void odd(void)
{
    static char other[65536];
    stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    pthread_t t;
    int status;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &act, NULL);
    catches();
    catches();
    raise(SIGUSR1);
    record(net, "a signal came");
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    pthread_create(&t, NULL, cancelled, NULL);
    usleep(100000);
    pthread_cancel(t);
    pthread_join(t, NULL);
    if (fork() == 0) {
        leaf(3);
        _exit(0);
    }
    wait(&status);
    leaf(4);
}

/* ------------------------------------------------------------------ killed -- */

KEPT static void third(int i)
{
    sink += i;
}
KEPT static void second(int i)
{
    third(i);
    third(i + 1);
}
KEPT static void first(int i)
{
    second(i);
}
KEPT static void on_alarm(int sig)
{
    third(sig);
}
KEPT static void for_ever(void)
{
    struct sigaction act = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGVTALRM, &act, NULL);
    if (write(1, "ready\n", 6) != 6)
        return;
    for (int i = 0;; i++) {
        first(i);
        if (i % 64 == 0)
            raise(SIGVTALRM);
    }
}

int main(int count, char **arguments)
{
    switch (count > 1 ? atoi(arguments[1]) : 0) {
    case 0: leaf(fib(1)); break;
    case 1: fib(9); break;
    case 2: is_even(30); break;
    case 3: ackermann(2, 3); break;
    case 4: sorts(); break;
    case 5: frames(200); break;
    case 6:
        for (int i = 1; i < 3000; i += i)
            varies(i);
        break;
    case 7: lists(); break;
    case 8: hanoi(6, 1, 2); break;
    case 9:
        slow();
        slow();
        break;
    case 10:
        for (int i = 0; i < 6; i++)
            chosen(i)(i);
        break;
    case 20: odd(); break;
    case 30: for_ever(); break;
    }
    return 0;
}
