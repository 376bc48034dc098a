/* recorder.h - the name that programs of 1.x include. */
/* SPDX-License-Identifier: MIT */
#include "recorder_1x.h"
