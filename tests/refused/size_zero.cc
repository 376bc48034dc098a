/* expect: RECORDER(net, 0): the size must be at least 1 */
/* SPDX-License-Identifier: MIT */
#include "size_zero.c"
