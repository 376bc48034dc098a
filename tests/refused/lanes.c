/* expect: RECORDER_LANES(net, 16, 3): the lanes must be a power of two */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
#ifdef RIGHT
RECORDER_LANES(net, 16, 4, "Three lanes")
#else
RECORDER_LANES(net, 16, 3, "Three lanes")
#endif
extern int end;
