/* six.c - a file of a program of six: FILE 1 to 5 record, 6 contains dumps.
 * NOTHING: the same program without a recorder. */
/* SPDX-License-Identifier: MIT */
#if !defined(NOTHING) && FILE_NUMBER == 6
#include "recorder_dump.h"
#elif !defined(NOTHING)
#include "recorder.h"
#endif
#define JOIN(a, b) JOINED(a, b)
#define JOINED(a, b) a##b
#define NAME JOIN(part_, FILE_NUMBER)

#ifdef __cplusplus
extern "C" {
#endif
int part_1(int n);
int part_2(int n);
int part_3(int n);
int part_4(int n);
int part_5(int n);
int part_6(int n);
#ifdef __cplusplus
}
#endif

#ifndef NOTHING
#define SIX JOIN(six_, FILE_NUMBER)
RECORDER(SIX, 64, "Of each file")
#endif

int NAME(int n)
{
#ifndef NOTHING
    RECORDER_RECORD(SIX, "part %d, %s", n, "here");
#endif
    return n + 1;
}

#if FILE_NUMBER == 1 /* only declares what shows the records */
int main(void)
{
    int n = part_6(part_5(part_4(part_3(part_2(part_1(1))))));
#ifndef NOTHING
    recorder_dump_on_common_signals(0, 0);
    recorder_dump_fd(1);
#endif
    return n != 7;
}
#endif
