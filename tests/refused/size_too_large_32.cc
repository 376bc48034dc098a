/* expect: the size must be at most 2^30 (32-bit: 2^16) */
/* flags: -m32 */
/* SPDX-License-Identifier: MIT */
#include "size_too_large_32.c"
