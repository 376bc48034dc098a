/* expect: RECORDER(net, -1): the size must be at least 1 */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
#ifdef RIGHT
RECORDER(net, 1, "Less than nothing")
#else
RECORDER(net, -1, "Less than nothing")
#endif
extern int end;
