/* windows.c - two files of a Windows program record and dump by a port's
 * macros. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static char dumped[4000];
#define RECORDER_TIME() ((uintptr_t)__builtin_ia32_rdtsc())
#define RECORDER_THREAD() 1u
#define RECORDER_READABLE(address) ((address) >= 65536)
#define RECORDER_WRITE(from, size) strncat(dumped, from, size)
#include "recorder_dump.h"

uintptr_t other_record(int number);
#ifdef OTHER
RECORDER(other, 16, "Of the other file");
uintptr_t other_record(int number)
{
    (void)dumped;
    return record(other, "%d %s", number, "from there");
}
#else
RECORDER(here, 16, "Of this file");
int main(void)
{
    int i;
    for (i = 1; i < 10; i++)
        if (record(here, "%d %.1f", i, 0.5 * i) != 2 * (uintptr_t)i - 1 ||
            other_record(i) != 2 * (uintptr_t)i)
            return puts("the orders are two rows"), 1;
    recorder_dump();
    if (!strstr(dumped, "17 [? windows.c:") ||
        !strstr(dumped, "here: 9 4.5\n18 [? windows.c:") ||
        !strstr(dumped, "other: 9 from there\n"))
        return puts(dumped), 1;
    return puts("ok"), 0;
}
#endif
