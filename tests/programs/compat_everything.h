/* compat_everything.h - what two files of a program share. */
/* SPDX-License-Identifier: MIT */
#ifndef COMPAT_EVERYTHING_H
#define COMPAT_EVERYTHING_H
#include "recorder/recorder.h"
#include <sys/mman.h>
RECORDER_DECLARE(MyRec);
RECORDER_DECLARE(part_rec);
RECORDER_TWEAK_DECLARE(my_limit);
enum { part_recorders = 1 };
#ifdef __cplusplus
extern "C"
#endif
void part(void);
#endif
