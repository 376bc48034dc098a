/* expect: record(): a struct is no argument; record its members */
/* SPDX-License-Identifier: MIT */
#include "union.c"
