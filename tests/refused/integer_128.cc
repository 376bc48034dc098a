/* expect: record(): an integer wider than a machine word; cast it, or record its halves */
/* SPDX-License-Identifier: MIT */
#include "integer_128.c"
