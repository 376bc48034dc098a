/* body.c - with RECORDER_LIBRARY: has the functions that all files call. */
/* SPDX-License-Identifier: MIT */
#define RECORDER_LIBRARY_BODY
#include "recorder_dump.h"
