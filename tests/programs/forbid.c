/* To be preloaded: calls that are not async-signal-safe abort, when told so. */
/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern volatile int forbidden; /* the program's */

static void look(const char *what)
{
    if (!forbidden)
        return;
    forbidden = 0;
    (void)!write(2, "forbidden: ", 11);
    (void)!write(2, what, strlen(what));
    (void)!write(2, "\n", 1);
    abort();
}

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);
void *malloc(size_t size)
{
    look("malloc");
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size)
{
    look("calloc");
    return __libc_calloc(count, size);
}
void *realloc(void *old, size_t size)
{
    look("realloc");
    return __libc_realloc(old, size);
}
void free(void *memory)
{
    look("free");
    __libc_free(memory);
}

/* Nobody calls these but under the trap: they need not work. */
#define FORBID(type, name, ...)                                                \
    type name(__VA_ARGS__)                                                     \
    {                                                                          \
        look(#name);                                                           \
        return 0;                                                              \
    }
FORBID(int, printf, const char *format, ...)
FORBID(int, fprintf, FILE *file, const char *format, ...)
FORBID(int, vfprintf, FILE *file, const char *format, va_list list)
FORBID(int, snprintf, char *to, size_t size, const char *format, ...)
FORBID(int, vsnprintf, char *to, size_t size, const char *format, va_list list)
FORBID(int, sprintf, char *to, const char *format, ...)
FORBID(int, puts, const char *text)
FORBID(int, fputs, const char *text, FILE *file)
FORBID(size_t, fwrite, const void *from, size_t size, size_t count, FILE *file)
FORBID(int, fflush, FILE *file)
FORBID(char *, setlocale, int category, const char *name)
FORBID(struct lconv *, localeconv, void)
FORBID(struct tm *, localtime, const time_t *time)
FORBID(struct tm *, gmtime, const time_t *time)
FORBID(struct tm *, localtime_r, const time_t *time, struct tm *to)
FORBID(struct tm *, gmtime_r, const time_t *time, struct tm *to)
FORBID(size_t, strftime, char *to, size_t max, const char *format,
       const struct tm *tm)
