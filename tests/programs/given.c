/* Records texts of all kinds, changes them, dumps into in.txt and waits. */
/* SPDX-License-Identifier: MIT */
/*
 * Writes into "expected" what printf() made of each message at its time. With
 * GIVEN_PART it is a library that has a text.
 */
#ifdef GIVEN_PART
const char *given_text(void);
const char *given_text(void)
{
    return "text of a library";
}
#else
#include "recorder_dump.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __cplusplus
#include <string>
static std::string operator""_text(const char *text, size_t size)
{
    return std::string(text, size);
}
#endif

RECORDER(given, 256, "Texts of all kinds");

static FILE *expected;
static const char table[][8] = {"zero", "one"};
static const char *volatile by_variable = "literal by a variable";

#define SAY(...)                                                               \
    (fprintf(expected, __VA_ARGS__), fputc('\n', expected),                    \
     record(given, __VA_ARGS__))

/* Three bytes that no NUL ends: the page after them cannot be read. */
static char *unterminated(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(at + page, page, PROT_NONE);
    memcpy(at + page - 3, "abc", 3);
    return at + page - 3;
}

/* A copy takes a slot, and an order, more. */
static void must_copy_only_what_changes(char *text)
{
    uintptr_t order = record(given, "counted");
    const char *literal = by_variable;
    record(given, "%s %s %s %s", literal, table[1], "a literal", __func__);
    if (record(given, "%s", RECORDER_ADDRESS(text)) != order + 2)
        puts("a literal or an address was copied");
    if (record(given, "%s", text) != order + 4)
        puts("a text that changes was not copied");
    if (record(given, "%p %.0s", text, text) != order + 5)
        puts("a pointer was copied");
}

/* printf() says "Unknown error 4098". */
static void say_error(int error)
{
    errno = error;
    record(given, "%d is %m", error);
    fprintf(expected, "%d is errno %d\n", error, error);
}

__attribute__((noinline)) static void say(char *heap, const char *literal,
                                          char *bytes, const char *none)
{
    char buffer[] = "buffer", other[] = "others", *stack = buffer;
    char *__stack = stack;
    const unsigned char *octets = (const unsigned char *)heap;
    volatile char *device = heap;
    __asm__("" : "+r"(stack), "+r"(none));
    SAY("literal %s", "literal");
    SAY("choice %s", none ? "one" : "the other");
    SAY("begins as a literal %s", "x"[0] == 'x' ? heap : stack);
    SAY("begins as a literal %s", "x"[0] == 'x' ? buffer : other);
    SAY("begins as a name %s", __stack);
    SAY("function %s", __func__);
    SAY("variable %s", literal);
    SAY("table %s", table[none ? 0 : 1]);
    SAY("buffer %s, its address %s", buffer, stack);
    SAY("heap %s, unsigned %s, volatile %s", heap, octets,
        (const char *)device);
    SAY("null %s", none);
    SAY("precision %.3s, of an argument %.*s", bytes, 3, bytes);
    SAY("width %-12s|%12s|%*s|%-*.*s|", heap, stack, 9, heap, 5, 2, heap);
#ifndef GIVEN_STATIC /* a static program has no texts of errors */
    errno = ENOENT;
    SAY("error %m");
    SAY("|%22m|%-30m|%.3m|%*m|%-*.*m|", 29, 9, 3);
    SAY("%1$d of %2$d: %m, %1$d", 1, 2);
    SAY("%d of 100%% more %%m %s: %-12.4m", 3, "text");
    SAY("%d %d %d %d %d %d %d %d %d %d %s: %m", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
        heap);
    errno = EAGAIN;
    SAY("%d %s %d %d: %m, %m", 1, heap, 3, 4);
#endif
    say_error(4095);
    say_error(4098);
    say_error(156384763);
    say_error(-5);
    say_error(INT_MIN);
    SAY("100%% of %hhd %5.1f %ld %s", (signed char)1, 1.5, 5L, heap);
    SAY("pointers %p %20p %p", (void *)heap, (void *)stack, (void *)bytes);
    SAY("%d %s %d %s %d %.1s %d %s %d %.*s %s", 1, heap, 2, stack, 3, bytes, 4,
        literal, 5, 2, bytes, "end");
    record(given, "pointer %p", heap);
    fprintf(expected, "pointer %p\n", (void *)heap);
    {
        RECORDER_SPAN(given, "span %s %.2s", stack, bytes);
        fprintf(expected, "> span buffer ab\n");
        memset(buffer, '#', sizeof buffer - 1);
    }
    fprintf(expected, "< span buffer ab\n");
#ifdef __cplusplus
    {
        std::string text("a string");
        record(given, "%s, %s, %.3s", text, text.c_str(), text.c_str());
        fprintf(expected, "a string, a string, a s\n");
        record(given, "%s", "/"_text.append(text).c_str());
        fprintf(expected, "/a string\n");
        text[0] = '#';
    }
#endif
}

static void say_of_library(void)
{
#ifndef GIVEN_STATIC
    void *library = dlopen("./libpart.so", RTLD_NOW);
    const char *(*text)(void) =
        (const char *(*)(void))dlsym(library, "given_text");
    SAY("library %s", text());
    dlclose(library);
#endif
}

int main(void)
{
    char *heap = strdup("heap"), *bytes = unterminated();
    int out = open("in.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    expected = fopen("expected", "w");
    say(heap, by_variable, bytes, NULL);
    say_of_library();
    fclose(expected);
    memset(heap, '#', 4);
    memcpy(bytes - 2, "####", 5);
    recorder_dump_fd(out);
    must_copy_only_what_changes(bytes - 2);
    free(heap);
    printf("PID %d\n", (int)getpid());
    fflush(stdout);
    pause();
    return 0;
}
#endif
