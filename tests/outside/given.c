/* Texts are shown as they were when they were recorded. */
/* SPDX-License-Identifier: MIT */
#include "harness/command.h"

TestSuite(given, .init = build_begin, .fini = build_end, .timeout = 300);

/* The messages of a dump are what printf() made of them, up to the record that
 * counts the copies. */
static void must_be_as_expected(const char *file, const char *what)
{
    cr_assert_eq(build_run("sed -n \"/given: counted/q; s/.* given: //p\" %s "
                           ">shown; test -s shown && diff expected shown",
                           file),
                 0, "%s: printf() is <, the dump is >\n%s", what, build_text);
}

static void all_readers(const char *compiler, const char *flags)
{
    pid_t pid;
    if (!build_can(compiler, flags))
        return;
    build_must("gcc -shared -fPIC -DGIVEN_PART " BUILD_PROGRAMS
               "/given.c -o libpart.so && %s -Wall -Wextra -Wconversion "
               "-Werror %s " BUILD_INCLUDE BUILD_PROGRAMS
               "/given.c -o given -ldl",
               compiler, flags);
    build_must("rm -f recording");
    pid = command_start("env RECORDER_FILE=recording ./given");
    must_be_as_expected("in.txt", "in the program");
    command_must("dump %d >live", pid);
    must_be_as_expected("live", "live");
    build_must("gdb -p %d --batch -ex \"generate-core-file core\" && " RECORDER
               " dump core >of_core",
               pid);
    must_be_as_expected("of_core", "of a core");
    command_stop(pid);
    command_must("dump recording >killed");
    must_be_as_expected("killed", "of a killed program");
    build_must("! grep -q \"[a-z]: .*~\" killed");
}

/* Goal: each text is shown as printf() would have shown it when it was
 * recorded, and texts that cannot change are not copied. Method: a program
 * records texts of all kinds, changes and frees them; all readers. It says
 * something else than its PID where a literal was copied. */
Test(given, texts_are_as_they_were)
{
    build_needs("gcc", "gdb");
    all_readers("gcc", "-O2");
    all_readers("gcc", "-O0");
    all_readers("g++", "-x c++ -std=c++11 -O1");
}
Test(given, texts_are_as_they_were_by_clang, .init = build_long)
{
    build_needs("gcc", "gdb");
    all_readers("clang", "-O2");
    all_readers("clang++", "-x c++ -std=c++20 -O0");
}

/* Goal: the same however the program is linked. */
Test(given, by_all_linkers, .init = build_long)
{
    static const char *const linkers[] = {"bfd", "gold", "lld"};
    char flags[100];
    build_needs("gcc", "gdb");
    for (int i = 0; i < 3; i++) {
        static const char *const how[] = {
            "", "-static -DGIVEN_STATIC -no-pie -fno-pie", "-Wl,-z,norelro"};
        for (int k = 0; k < 3; k++) {
            snprintf(flags, sizeof flags, "-O2 -fuse-ld=%s %s", linkers[i],
                     how[k]);
            if (sampled((unsigned)(3 * i + k)))
                all_readers("gcc", flags);
        }
    }
    all_readers("gcc", "-m32 -O2 -DGIVEN_STATIC");
}

/* Goal: the compiler still checks the format. */
Test(given, wrong_types_are_reported)
{
    static const char *const wrong[] = {"\"%d\", text", "\"%s\", 3",
                                        "\"%s %s\", text"};
    static const char *const compilers[] = {"gcc", "g++ -x c++", "clang"};
    for (int i = 0; i < 9; i++) {
        if (!build_has(i / 3 == 2 ? "clang" : "gcc"))
            continue;
        build_must("cat >wrong.c <<EOF\n#include <recorder.h>\n"
                   "RECORDER_DECLARE(net);\nvoid f(const char *);\n"
                   "void f(const char *text) { record(net, %s); (void)text; }\n"
                   "EOF",
                   wrong[i % 3]);
        cr_assert_neq(build_run("%s -Wall -Werror " BUILD_INCLUDE "-c wrong.c",
                                compilers[i / 3]),
                      0, "%s: %s", compilers[i / 3], wrong[i % 3]);
        cr_assert_not_null(strstr(build_text, "format"), "%s", build_text);
    }
}
