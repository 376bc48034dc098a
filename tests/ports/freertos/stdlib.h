/* stdlib.h - what the kernel includes of a libc, where there is none. */
/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>
