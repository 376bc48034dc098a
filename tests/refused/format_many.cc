/* expect: too many arguments for format || data argument not used by format string */
/* flags: -Werror=format -Werror=format-extra-args */
/* SPDX-License-Identifier: MIT */
#include "format_many.c"
