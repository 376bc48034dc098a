/* expect: RECORDER_AT(net, 3): the size must be at least 4 */
/* SPDX-License-Identifier: MIT */
#include "at_size.c"
