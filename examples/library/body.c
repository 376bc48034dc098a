/* body.c - with RECORDER_COMPILE_ONCE: has the functions that all files call. */
/* SPDX-License-Identifier: MIT */
#define RECORDER_COMPILE_HERE
#include "recorder_dump.h"
