/* libc.h - the headers of the C library that nearly every file here needs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Returns `memory`. Null: there is none left, and the command ends, or the call
 * of a library (trouble.c); a program without trouble.c has its own need(). */
void *need(void *memory);
/* Ends it, too, after a call that failed: the call lacked memory. */
#define need_done(done) ((void)need((done) ? "" : NULL))
/* Waits for this time, or until a signal comes. */
static inline void sleep_ns(uint64_t ns)
{
    const struct timespec wait = {(time_t)(ns / 1000000000u),
                                  (long)(ns % 1000000000u)};
    nanosleep(&wait, NULL);
}
/* Makes a text by a format of printf(), which the caller frees. */
#define need_text(...)                                                         \
    __extension__({                                                            \
        char *text_;                                                           \
        need(asprintf(&text_, __VA_ARGS__) < 0 ? NULL : text_);                \
    })
