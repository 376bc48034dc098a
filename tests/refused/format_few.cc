/* expect: format '%d' expects a matching 'int' argument || more '%' conversions than data arguments */
/* flags: -Werror=format */
/* SPDX-License-Identifier: MIT */
#include "format_few.c"
