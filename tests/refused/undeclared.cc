/* expect: 'recorder_for_net' || use of undeclared identifier 'recorder_for_net' */
/* SPDX-License-Identifier: MIT */
#include "undeclared.c"
