/* expect: RECORDER_LANES(net, 16, 0): the lanes must be a power of two */
/* SPDX-License-Identifier: MIT */
#include "lanes_zero.c"
