/* expect: record(): the format must be a string literal */
/* SPDX-License-Identifier: MIT */
#include "format_variable.c"
