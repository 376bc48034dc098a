/* expect: format '%s' expects argument of type 'char *', but argument 2 has type 'int' || format '%s' expects argument of type 'char*', but argument 2 has type 'int' || format specifies type 'char *' but the argument has type 'int' || argument 2 has type 'recorder_plain_<int, false>::type' {aka 'int'} || the argument has type 'typename recorder_plain_<int, recorder_scoped_<int>::value>::type' (aka 'int') */
/* flags: -Werror=format */
/* SPDX-License-Identifier: MIT */
#include "format_string.c"
