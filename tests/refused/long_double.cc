/* expect: record(): a long double does not fit a word; cast it to double */
/* SPDX-License-Identifier: MIT */
#include "long_double.c"
