/* qnx_closed.c - a library of trace events (LIBRARY), and a program that opens
 * two copies of it, closes one after the other, and dumps after each step. */
/* SPDX-License-Identifier: MIT */
#ifdef LIBRARY
#include "trace.h"

void hit(int n);
void hit(int n)
{
    Trace1(0x123401, _TRACE_HW_SEVERITY2, n);
}
#else
#include "recorder_dump.h"

#include <dlfcn.h>

static void *library(const char *name, int n)
{
    void *opened = dlopen(name, RTLD_NOW);
    void (*hit)(int) = (void (*)(int))(intptr_t)dlsym(opened, "hit");
    hit(n);
    return opened;
}
int main(void)
{
    void *a = library("./a.so", 1), *b = library("./b.so", 2);
    recorder_dump_fd(1);
    dlclose(a);
    library("./b.so", 3);
    recorder_dump_fd(1);
    dlclose(b);
    dlclose(b);
    recorder_dump_fd(1);
    return 0;
}
#endif
