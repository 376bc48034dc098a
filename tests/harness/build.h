/* Compiles and runs the programs that a test needs, in a private folder. */
/* SPDX-License-Identifier: MIT */
/*
    Test(suite, promise, .init = build_begin, .fini = build_end)
    {
        build_must("gcc " BUILD_FLAGS " -o x " BUILD_PROGRAMS "/x.c");
        cr_assert_eq(build_run("./x"), 0, "%s", build_text);
    }

    A command runs in a shell, in the folder; its output is build_text. A test
    without a program that it needs is skipped. If one variant of several cannot
    be tried, the test says so on stderr, and fails where CI is set.
*/
#ifndef BUILD_H
#define BUILD_H

#include <criterion/criterion.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "random.h"

#ifndef TEST_ROOT
#error "compile with -DTEST_ROOT='\"folder of recorder.h\"'"
#endif
#define BUILD_PROGRAMS TEST_ROOT "/tests/programs"
#define BUILD_INCLUDE "-I" TEST_ROOT " "
/* In a command: no other program takes the processor from the one that follows,
 * where the system allows such a priority. */
#define BUILD_FIRST "$(chrt -f 1 true 2>/dev/null && echo chrt -f 1) "
#define BUILD_WARNINGS                                                         \
    "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror "

static char build_folder[64];
static char build_command[8192];
static char *build_text; /* the output of the last command */

/* Seconds that a command may take: a hang is a failure, not a wait. */
#ifndef BUILD_SECONDS
#define BUILD_SECONDS 120
#endif

static inline void build_begin(void)
{
    strcpy(build_folder, "/tmp/recorder-test-XXXXXX");
    cr_assert_not_null(mkdtemp(build_folder));
}

/* Runs a command. Returns its exit status, 128 + n where signal n ended it. */
__attribute__((format(printf, 1, 2), unused)) static int
build_run(const char *format, ...)
{
    size_t size = 0, room = 4096, got;
    char *line;
    va_list arguments;
    FILE *pipe;
    int status;
    va_start(arguments, format);
    status = vsnprintf(build_command, sizeof build_command, format, arguments);
    va_end(arguments);
    cr_assert_lt((size_t)status, sizeof build_command, "command too long");
    line = malloc(sizeof build_command + 256);
    cr_assert_not_null(line);
    sprintf(line,
            "exec 2>&1; cd %s && export LC_ALL=C && exec timeout -k 1 %d "
            "sh -c '%s'",
            build_folder[0] ? build_folder : "/tmp", BUILD_SECONDS,
            build_command);
    pipe = popen(line, "r");
    free(line);
    cr_assert_not_null(pipe);
    build_text = realloc(build_text, room);
    while ((got = fread(build_text + size, 1, room - size - 1, pipe)) > 0) {
        size += got;
        if (room - size < 2048)
            build_text = realloc(build_text, room *= 2);
    }
    build_text[size] = '\0';
    status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs a command that must succeed; it must not contain a quote '. */
#define build_must(...)                                                        \
    do {                                                                       \
        int build_status_ = build_run(__VA_ARGS__);                            \
        cr_assert_eq(build_status_, 0, "status %d of: %s\n%s", build_status_,  \
                     build_command, build_text);                               \
    } while (0)

/* Makes files by a command that reads none of this folder. The first test of a
 * run that needs them runs it (tests/run.sh names a folder), others copy. */
__attribute__((format(printf, 1, 2), unused)) static void
build_once(const char *format, ...)
{
    const char *built = getenv("RECORDER_TEST_BUILT");
    char line[4096], made[256];
    uint64_t key = 14695981039346656037u; /* FNV-1a */
    va_list arguments;
    int size;
    va_start(arguments, format);
    size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    cr_assert_lt((size_t)size, sizeof line, "command too long");
    if (!built) {
        build_must("%s", line);
        return;
    }
    for (const char *at = line; *at; at++)
        key = (key ^ (unsigned char)*at) * 1099511628211u;
    snprintf(made, sizeof made, "%s/%016" PRIx64, built, key);
    build_must("( flock 9; test -d %s || { rm -rf %s.new && mkdir %s.new &&"
               " cd %s.new && %s && mv %s.new %s; } ) 9>%s.lock && cp -f %s/* .",
               made, made, made, made, line, made,
               made, made, made);
}

static inline void build_end(void)
{
    char folder[sizeof build_folder];
    strcpy(folder, build_folder);
    build_folder[0] = '\0';
    if (folder[0])
        build_run("rm -rf %s", folder);
    free(build_text);
    build_text = NULL;
}

/* Ends a test that cannot run here; no .fini follows. */
#define build_skip(...)                                                        \
    do {                                                                       \
        build_end();                                                           \
        cr_skip_test(__VA_ARGS__);                                             \
    } while (0)

/* Says that a part of a test cannot be tried here; tests/run.sh repeats it. */
__attribute__((unused)) static void build_leaves_out(const char *why)
{
    fprintf(stderr, "left out: %s\n", why);
}

/* The .init of a test that takes long and rarely fails: `make test-all` runs
 * it. The suite's .init has run before. */
static inline void build_long(void)
{
    if (!is_long_run())
        build_skip("long: RECORDER_TEST_SCALE=1 runs it");
}

/* Programs that tests use and `tests/packages.sh test` does not install: only
 * without these may a test leave something out where CI is set. */
static const char *const build_optional[] = {
    "arm-none-eabi-", "mips-linux-gnu", "arm-linux-", "aarch64-linux-",
    "riscv64-",       "qemu-",          "gdb-multi",  "musl-gcc",
    "clickhouse-",    "x86_64-w64-"};

/* A test lacks `name`: fails where CI is set, unless `name` is optional. */
__attribute__((unused)) static void build_lacks(const char *name)
{
    bool optional = !getenv("CI");
    for (size_t i = 0; i < sizeof build_optional / sizeof *build_optional; i++)
        optional |=
            strncmp(name, build_optional[i], strlen(build_optional[i])) == 0;
    cr_assert(optional, "CI installs what tests need, but not %s: see %s", name,
              "tests/packages.sh");
}

/* Is this program installed? For one variant of several: see build_needs(). */
__attribute__((unused)) static bool build_has(const char *program)
{
    if (build_run("command -v %s", program) == 0)
        return true;
    build_lacks(program);
    fprintf(stderr, "left out: no %s here\n", program);
    return false;
}

/* Skips a test of which nothing is left without these programs. */
#define build_needs(...) build_need_all(__VA_ARGS__, (const char *)NULL)
__attribute__((unused, sentinel)) static void build_need_all(const char *first,
                                                             ...)
{
    va_list others;
    va_start(others, first);
    for (; first; first = va_arg(others, const char *))
        if (build_run("command -v %s", first) != 0) {
            build_lacks(first);
            build_skip("no %s here", first);
        }
    va_end(others);
}

/* True if this compiler builds and runs an empty program with these flags. */
__attribute__((unused)) static bool build_can(const char *compiler,
                                              const char *flags)
{
    char both[256];
    int status =
        build_run("echo \"int main(void) { return 0; }\" >can.c && "
                  "%s %s -o can can.c && ./can",
                  compiler, flags);
    if (status == 0)
        return true;
    snprintf(both, sizeof both, "%s %s", compiler, flags);
    if (status != 126) /* 126: this kernel runs no programs of that kind */
        build_lacks(both);
    fprintf(stderr, "left out: %s builds nothing that runs here\n", both);
    return false;
}

/* The same, for a test of which nothing is left without. */
__attribute__((unused)) static void build_needs_flags(const char *compiler,
                                                      const char *flags)
{
    if (!build_can(compiler, flags))
        build_skip("%s %s builds nothing that runs here", compiler, flags);
}

#endif
