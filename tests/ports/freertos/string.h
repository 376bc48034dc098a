/* string.h - what the kernel includes of a libc, where there is none. */
/* SPDX-License-Identifier: MIT */
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
