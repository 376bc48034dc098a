/* expect: format '%s' expects argument of type 'char *', but argument 2 has type 'int' || format '%s' expects argument of type 'char*', but argument 2 has type 'int' || format specifies type 'char *' but the argument has type 'int' */
/* flags: -Werror=format */
/* SPDX-License-Identifier: MIT */
#include "format_string.c"
