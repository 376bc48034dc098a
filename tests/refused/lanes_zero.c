/* expect: RECORDER_LANES(net, 16, 0): the lanes must be a power of two */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
#ifdef RIGHT
RECORDER_LANES(net, 16, 1, "No lanes")
#else
RECORDER_LANES(net, 16, 0, "No lanes")
#endif
extern int end;
