/* expect: record(): at most 12 arguments; use two records */
/* SPDX-License-Identifier: MIT */
#include "arguments_20.c"
