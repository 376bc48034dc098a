/* expect: expected ')' */
/* SPDX-License-Identifier: MIT */
#include "format_variable.c"
