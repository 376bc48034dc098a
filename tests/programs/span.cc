// span.cc - functions of many kinds, for recorder run --span.
// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdexcept>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEEN __attribute__((noinline))

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static jmp_buf place;
static volatile int ten = 10;

SEEN static void flush_all(void)
{
    pthread_mutex_lock(&table);
    usleep(15000);
    pthread_mutex_unlock(&table);
}
static void *flusher(void *)
{
    for (;;) {
        usleep(20000);
        flush_all();
    }
}
SEEN static void look_up(void)
{
    pthread_mutex_lock(&table);
    pthread_mutex_unlock(&table);
}
SEEN long double mixed(int a, double b, const long double *c, float d)
{
    return a + b + *c + d + ten;
}
SEEN int throws(int n)
{
    if (n % 3 == 0)
        throw std::runtime_error("third");
    return n + ten;
}
SEEN int jumps(int n)
{
    if (n % 2)
        longjmp(place, n);
    return n + ten;
}
SEEN int tests_first(const char *text)
{
    if (!text)
        return 1;
    return *text + ten;
}
SEEN int calls_first(void) { return getppid() > 0 ? ten : 0; }
SEEN int global_first(void) { return ten ? ten * 3 : 0; }
SEEN int switches(int n)
{
    switch (n) {
    case 0: return ten;
    case 1: puts("one"); return 2;
    case 2: return getpid() > 0;
    case 3: return ten * ten;
    case 4: return ten - 3;
    case 5: usleep(1); return 5;
    default: return n;
    }
}
SEEN int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
SEEN int on_stack(int a, int b, int c, int d, int e, int f, int g)
{
    return a + b + c + d + e + f + g + ten;
}
SEEN int variadic(int count, ...)
{
    va_list all;
    int sum = 0;
    va_start(all, count);
    while (count--)
        sum += va_arg(all, int);
    va_end(all);
    return sum;
}
namespace shop {
struct cart {
    int sum;
    SEEN int add(int n) { return sum += n + ten; }
    SEEN int add(const char *text) { return sum += *text + ten; }
};
}
SEEN static void handler(int)
{
    look_up();
    ten = ten + 1;
}
static void *worker(void *)
{
    for (int i = 0; i < 100; i++)
        fibonacci(5);
    return NULL;
}

int main(int count, char **)
{
    pthread_t threads[4], one;
    long double real = 2.5L;
    volatile int caught = 0, sum = 0, jumped = 0;
    shop::cart cart = {1};
    pthread_create(&one, NULL, flusher, NULL);
    for (int i = 0; i < 50; i++, usleep(1000))
        look_up();
    for (pthread_t &thread : threads)
        pthread_create(&thread, NULL, worker, NULL);
    for (pthread_t thread : threads)
        pthread_join(thread, NULL);
    for (int i = 0; i < 30; i++)
        try {
            sum = sum + throws(i);
        } catch (const std::exception &) {
            caught = caught + 1;
        }
    for (volatile int i = 0; i < 10; i = i + 1)
        if (setjmp(place))
            jumped = jumped + 1;
        else
            sum = sum + jumps(i);
    for (int i = 0; i < 8; i++)
        sum = sum + switches(i);
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    printf("%.3Lf %d %d %d\n", mixed(1, 0.25, &real, 7), caught, sum, jumped);
    printf("%d %d %d\n", tests_first(NULL), tests_first("a"), calls_first());
    printf("%d %d\n", global_first(), fibonacci(12));
    printf("%d %d\n", on_stack(1, 2, 3, 4, 5, 6, 7), variadic(3, 4, 5, 6));
    printf("%d %d\n", cart.add(4), cart.add("b"));
    fflush(stdout);
    if (count == 1 && fork() == 0) { // in the child, and in another program
        printf("%d\n", fibonacci(10));
        fflush(stdout);
        usleep(1000); // a child has its file when it waits
        execl("/bin/echo", "echo", "other", (char *)NULL);
    }
    wait(NULL);
}
