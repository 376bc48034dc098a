/* recorder.c - for -DRECORDER_COMPILE_ONCE: all functions, once. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_COMPILE_ONCE
#define RECORDER_COMPILE_ONCE
#endif
#define RECORDER_COMPILE_HERE
#include "recorder_1x.h"
