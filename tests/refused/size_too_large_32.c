/* expect: the size must be at most 2^30 (32-bit: 2^16) */
/* flags: -m32 */
/* SPDX-License-Identifier: MIT */
#include "recorder.h"
#ifdef RIGHT
RECORDER(net, 1 << 16, "Too large a recorder for 32 bits")
#else
RECORDER(net, (1 << 16) + 1, "Too large a recorder for 32 bits")
#endif
extern int end;
