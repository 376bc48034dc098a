/* recorder.c - for -DRECORDER_LIBRARY: all functions, once. */
/* SPDX-License-Identifier: MIT */
#ifndef RECORDER_LIBRARY
#define RECORDER_LIBRARY
#endif
#define RECORDER_LIBRARY_BODY
#include "recorder_1x.h"
