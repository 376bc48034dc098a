/* go_name.c - a function whose symbol is one of Go. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

int waits(void) __asm__("main.server.handle.func1");
int waits(void)
{
    pause();
    return 1;
}
int main(void)
{
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    return waits() + 1;
}
