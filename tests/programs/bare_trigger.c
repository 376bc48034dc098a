/* bare_trigger.c - triggers by the macros of a port, without a system. */
/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

/* A clock of 1 MHz that the program sets. */
extern uintptr_t bare_now;
void bare_write(const char *text, size_t size);
#define RECORDER_TIME() bare_now
#define RECORDER_TIME_HZ 1000000
#define RECORDER_THREAD() 1u
#define RECORDER_READABLE(address) ((address) >= 4096)
#define RECORDER_WRITE(text, size) bare_write(text, size)
#ifdef BARE_MASKS /* a processor without atomic instructions */
#define RECORDER_ENTER() ((uintptr_t)0)
#define RECORDER_LEAVE(was) ((void)(was))
#endif
#include "recorder_trigger.h"

#include <stdio.h>

uintptr_t bare_now = 1;
void bare_write(const char *text, size_t size)
{
    fwrite(text, 1, size, stdout);
}

RECORDER(net, 16, "Network");

int main(void)
{
    int i;
    recorder_trigger("net: \"n\" 1>5 3x10us: freeze; net: : stop; net: 17x1s");
    for (i = 0; i < 20; i++) {
        bare_now += 100; /* too slow for 3 in 10 us */
        record(net, "n %d", 6);
    }
    for (i = 0; i < 20; i++) {
        bare_now += 4;
        record(net, "n %d", i);
    }
    recorder_dump();
    return 0;
}
