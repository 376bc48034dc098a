/* expect: format '%d' expects argument of type 'int', but argument 2 has type 'double' || format specifies type 'int' but the argument has type 'double' */
/* flags: -Werror=format -DRECORDER_OFF */
/* SPDX-License-Identifier: MIT */
#include "format_off.c"
