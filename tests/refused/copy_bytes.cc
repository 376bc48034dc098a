/* expect: cannot convert 'int*' to 'const char*' || no matching function for call to 'recorder_copy_bytes_' */
/* flags: -Werror */
/* SPDX-License-Identifier: MIT */
#include "copy_bytes.c"
