/* expect: RECORDER_AT(net, 3): the size must be at least 4 */
/* SPDX-License-Identifier: MIT */
#define RECORDER_TIME() 0
#define RECORDER_THREAD() 1
#include "recorder.h"
#ifdef RIGHT
RECORDER_AT(net, 4, 0x20000)
#else
RECORDER_AT(net, 3, 0x20000, "Its memory has room for 3")
#endif
extern int end;
