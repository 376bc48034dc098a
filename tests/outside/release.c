/* The headers of make release, one file each, are the headers. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

#include <criterion/criterion.h>

TestSuite(release, .init = build_begin, .fini = build_end, .timeout = 300);

static const char *const compilers[] = {"gcc", "clang", "g++ -x c++",
                                        "clang++ -x c++"};
enum { COMPILERS = sizeof compilers / sizeof *compilers };

static void make_release(void)
{
    build_must("for door in " TEST_ROOT "/recorder*.h; do awk -f " TEST_ROOT
               "/release/amalgamate.awk $door >${door##*/} || exit; done");
}

/* Goal: a program made with the single files is the program made with the
 * folder. Method: the same file, compiled with each, is the same object, byte
 * for byte; -g0, as only debug information names the headers. */
static void same_object(const char *compiler, const char *ways)
{
    char language[100];
    snprintf(language, sizeof language, "%.90s", compiler);
    if (!build_has(strtok(language, " ")))
        return;
    build_must("for file in " BUILD_PROGRAMS "/everything.c " BUILD_PROGRAMS
               "/headers.c; do "
               "cp $file file.c && for from in . " TEST_ROOT "; do "
               "%s %s -g0 -I" BUILD_PROGRAMS " -I$from -c file.c -o object && mv object "
               "object-$(test $from = . && echo one || echo many) || exit 1; "
               "done && cmp object-one object-many || exit 1; done",
               compiler, ways);
}
Test(release, objects_are_the_same, .init = build_long)
{
    unsigned i;
    make_release();
    for (i = 0; i < COMPILERS; i++) {
        same_object(compilers[i], "-O2");
        if (sampled(i))
            same_object(compilers[i],
                        "-O2 -DRECORDER_POSIX -D_XOPEN_SOURCE=700");
        if (sampled(COMPILERS + i))
            same_object(compilers[i], "-O2 -DRECORDER_OFF");
    }
}

/* Goal: no compiler has a word to say of them, in any language. */
Test(release, no_word, .init = build_long)
{
    static const char *const languages[] = {
        "gcc -std=c11",         "gcc -std=c17",          "gcc -std=c2x",
        "gcc -std=gnu11",       "clang -std=c11",        "clang -std=c17",
        "clang -std=c2x",       "clang -std=gnu11",      "g++ -x c++ -std=c++11",
        "g++ -x c++ -std=c++14", "g++ -x c++ -std=c++17", "g++ -x c++ -std=c++20",
        "clang++ -x c++ -std=c++11", "clang++ -x c++ -std=c++20"};
    unsigned i;
    make_release();
    build_must("for door in recorder*.h; do "
               "echo \"#include \\\"$door\\\"\" >$door.c; done");
    for (i = 0; i < sizeof languages / sizeof *languages; i++)
        build_must("for door in recorder*.h; do "
                   "%s " BUILD_WARNINGS "-I. -fsyntax-only $door.c || exit; "
                   "done", languages[i]);
}

/* Goal: two of them in one program are no two recorders. */
Test(release, one_after_the_other)
{
    make_release();
    build_must("echo \"#include \\\"recorder.h\\\"\n#include "
               "\\\"recorder_dump.h\\\"\nRECORDER(net, 16);\n"
               "int main(void) { record(net, \\\"%%s\\\", \\\"one\\\"); "
               "return recorder_dump() != 1; }\" >both.c && "
               "gcc " BUILD_WARNINGS "-I. both.c -o both && ./both");
}

/* Goal: a release is of one version: the headers' text and numbers, the newest
 * chapter of CHANGELOG, and the archive, which has all that is committed. */
Test(release, one_version)
{
    make_release();
    build_must("cp " BUILD_PROGRAMS "/version.c . && "
               "gcc -I. version.c -o version && ./version >said && "
               "sed -n \"s/^## \\([0-9][0-9.]*\\).*/\\1/p\" " TEST_ROOT
               "/CHANGELOG.md | head -n 1 >newest && "
               "cat newest newest | diff - said");
    if (build_run("git -C " TEST_ROOT " rev-parse HEAD") != 0)
        build_skip("not a checkout: no archive can be made of it");
    build_must("env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C " TEST_ROOT
               " dist && name=recorder-$(cat newest) && "
               "tar -xf " TEST_ROOT "/build/$name.tar.gz && cd $name && "
               "test ! -e build && test -e tests/run.sh && "
               "for door in recorder*.h; do test -s release/$door || exit; done "
               "&& gcc -Irelease ../version.c -o again && ./again");
}
