/* expect: RECORDER_LANES(net, 16, 3): the lanes must be a power of two */
/* SPDX-License-Identifier: MIT */
#include "lanes.c"
