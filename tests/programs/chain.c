/* chain.c - ten functions of different frames; the last takes a snapshot. */
/* SPDX-License-Identifier: MIT */
/*
    RECORDER_FILE=x.rec ./chain        leaves the snapshot in x.rec
    ./chain 4096                       of so many bytes; else 32768
*/
#include "recorder_dump.h"

#include <alloca.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

RECORDER(call_stack, 8192, "Stacks")

#include "run/snapshot.h"

#define APART __attribute__((noinline, noclone))
extern void *__libc_stack_end;
static volatile int zero;
static volatile char *seen;
static uintptr_t bytes = 32768;

APART static int innermost(int n)
{
    snapshot_take(7, (uintptr_t)__libc_stack_end, bytes);
    return n + zero;
}
APART static int fills(int n)
{
    char text[333];
    memset(text, n & 15, sizeof text);
    seen = text;
    n = innermost(text[n & 63]);
    return n + text[n & 127];
}
APART static int large(int n)
{
    char page[5120];
    memset(page, n & 7, 64);
    seen = page;
    n = fills(page[n & 31] + zero);
    return n + page[n & 255];
}
APART static int grows(int n)
{
    char *room = alloca((size_t)(200 + (n & 31)));
    memset(room, 1, 200);
    seen = room;
    n = large(room[n & 15] + n);
    return n - room[n & 63];
}
APART static int keeps(int a, int b, int c, int d, int e, int f)
{
    int g = zero + a, h = zero * b, i = zero - c, j = zero ^ d, k = zero + e;
    int n = grows(a + f);
    return n + a * b + c * d - e * f + g * h + i * j - k + zero;
}
APART static int takes_any(int count, ...)
{
    va_list list;
    int sum = 0, first;
    va_start(list, count);
    first = va_arg(list, int);
    for (int i = 1; i < count; i++)
        sum += va_arg(list, int);
    va_end(list);
    return keeps(first, sum, count, zero, 5, 6) + sum;
}
APART static double reals(double x, double y)
{
    double a = x * 1.5 + zero, b = y / 3 - zero, c = a * b, d = a + b;
    int n = takes_any(4, (int)x, (int)y, 3, zero);
    return n * a + b - c * d;
}
APART static int leaves_early(int n) /* its prologue is after a branch */
{
    if (n > 100000)
        return n - zero;
    if (n == 77777) {
        zero = 0;
        return 1;
    }
    return (int)reals(n * 0.5, n + 2.0) + zero;
}
APART static int chooses(int n)
{
    switch (n + zero) {
    case 0: return zero;
    case 1: return leaves_early(n) + 3;
    case 2: return leaves_early(n) * 7 + zero;
    case 3: return leaves_early(n + 4) - zero;
    case 4: return zero + 9;
    case 5: return leaves_early(zero - n) ^ 12;
    default: return leaves_early(n * 3) + n;
    }
}
static int (*volatile pointer)(int) = chooses;
APART static int by_pointer(int n)
{
    n = pointer(n);
    return n + zero;
}
int main(int argc, char **argv)
{
    if (argc > 1)
        bytes = strtoul(argv[1], NULL, 10);
    return by_pointer(3 + zero) == 123456789;
}
