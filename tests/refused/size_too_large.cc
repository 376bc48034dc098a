/* expect: RECORDER(net, (1ll << 30) + 1): the size must be at most 2^30 */
/* SPDX-License-Identifier: MIT */
#include "size_too_large.c"
