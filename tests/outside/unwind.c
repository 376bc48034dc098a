/* Stacks that a program recorded of itself, walked later (run/snapshot.h). */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(unwind, .init = build_begin, .fini = build_end, .timeout = 300);

static const char *const functions[] = {
    "innermost", "fills",        "large",   "grows",      "keeps", "takes_any",
    "reals",     "leaves_early", "chooses", "by_pointer", "main"};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* All functions of programs/chain.c, in this order. */
static void must_be_whole(const char *how)
{
    const char *at = build_text;
    for (int i = 0; i < FUNCTIONS; i++) {
        char line[64];
        snprintf(line, sizeof line, "\n    %s ", functions[i]);
        at = strstr(at, line);
        cr_assert(at, "%s: no %s in\n%s", how, functions[i], build_text);
    }
    cr_assert_null(strstr(build_text, "is not known"), "%s", build_text);
}

static void record_chain(const char *compiler)
{
    build_must("rm -f c.rec; %s -w " BUILD_INCLUDE "-o chain " BUILD_PROGRAMS
               "/chain.c && RECORDER_FILE=c.rec ./chain",
               compiler);
}

/* Goal: by CFI, whatever the compiler does with frame pointers. */
Test(unwind, chains_are_whole)
{
    static const char *const levels[] = {"-O0", "-O2", "-Os"};
    static const char *const compilers[] = {"gcc", "clang"};
    for (int i = 0; i < 6; i++) {
        char compiler[64];
        if (i != 1 && !sampled(2))
            continue;
        snprintf(compiler, sizeof compiler, "%s %s", compilers[i / 3],
                 levels[i % 3]);
        if (!build_has(compilers[i / 3]))
            continue;
        record_chain(compiler);
        command_must("threads c.rec");
        must_be_whole(compiler);
    }
}

/* Goal: a partially recorded stack is reported as such, and invents nothing; a
 * file in another place is found there, or named. */
Test(unwind, what_is_missing_is_said)
{
    record_chain("gcc -O2");
    build_must(RECORDER
               " threads c.rec --json | python3 -c \""
               "import json,sys; t=json.loads(sys.stdin.readline());"
               "print(t[\\\"whole\\\"], len(t[\\\"stack\\\"]) > 12)\"");
    cr_assert_str_eq(build_text, "True True\n");
    build_must("rm c.rec; RECORDER_FILE=c.rec ./chain 4096");
    command_must("threads c.rec");
    cr_assert(strstr(build_text, "\n    large "), "%s", build_text);
    cr_assert_null(strstr(build_text, "\n    grows "), "%s", build_text);
    cr_assert(strstr(build_text, "(its caller is unknown)"), "%s", build_text);
    build_must("rm c.rec; RECORDER_FILE=c.rec ./chain; mkdir -p root$PWD &&"
               " mv chain root$PWD && ldd root$PWD/chain |"
               " grep -o \"/lib[^ ]*\" | xargs -I {} cp -L --parents {} root");
    command_must("threads --sysroot root c.rec");
    must_be_whole("sysroot");
    build_must("rm root/lib/*/libc.so*");
    command_must("threads --sysroot root c.rec");
    cr_assert(strstr(build_text, "a file that was not found: --sysroot DIR)"),
              "%s", build_text);
}
