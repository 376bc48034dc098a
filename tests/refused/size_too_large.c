/* expect: RECORDER(net, (1ll << 30) + 1): the size must be at most 2^30 */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
#ifdef RIGHT
RECORDER(net, 1 << 10, "Too large a recorder")
#else
RECORDER(net, (1ll << 30) + 1, "Too large a recorder")
#endif
extern int end;
