/* expect: record(): an integer wider than a machine word; cast it, or record its halves */
/* flags: -m32 */
/* SPDX-License-Identifier: MIT */
#include "integer_64.c"
