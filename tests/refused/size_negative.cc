/* expect: RECORDER(net, -1): the size must be at least 1 */
/* SPDX-License-Identifier: MIT */
#include "size_negative.c"
