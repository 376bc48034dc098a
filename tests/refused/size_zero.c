/* expect: RECORDER(net, 0): the size must be at least 1 */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
#ifdef RIGHT
RECORDER(net, 1, "A recorder of no records")
#else
RECORDER(net, 0, "A recorder of no records")
#endif
extern int end;
